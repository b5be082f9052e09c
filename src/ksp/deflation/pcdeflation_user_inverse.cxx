/* The first rank inverts E for all: they have the same bits, whatever processors and threads they run on. */
#include "ksp/deflation/pcdeflation_user_inverse.h"

#include "petsc/agree.h"
#include "petsc/compat.h"

#include <algorithm>

using namespace petscrrb::deflation;

static const PetscRRBSay say("E = Z^T A Z");

static PetscErrorCode Read(Mat E, std::vector<PetscScalar> *e) {
  const PetscScalar *from;
  Mat dense;

  PetscFunctionBegin;
  if (!E) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvert(E, MATSEQDENSE, MAT_INITIAL_MATRIX, &dense));
  PetscCall(MatDenseGetArrayRead(dense, &from));
  std::copy_n(from, e->size(), e->begin());
  PetscCall(MatDenseRestoreArrayRead(dense, &from));
  PetscCall(MatDestroy(&dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Share(MPI_Comm comm, std::vector<PetscScalar> *e, UserInverse *made) {
  int words[] = {(int)made->result, (int)made->type, made->null_directions, (int)made->why.size()};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(words, 4, MPI_INT, 0, comm));
  made->result = (Result)words[0];
  made->type = (Inverse)words[1];
  made->null_directions = words[2];
  made->why.resize((std::size_t)words[3]);
  PetscCallMPI(MPI_Bcast(&made->why[0], words[3], MPI_CHAR, 0, comm));
  if (made->result == Result::ok) PetscCallMPI(MPI_Bcast(e->data(), (PetscMPIInt)e->size(), MPIU_SCALAR, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationInvertUser(MPI_Comm comm, Mat E, PetscInt n, PetscReal floor, Inverse wanted,
                                     std::vector<PetscScalar> *e, UserInverse *made) {
  PetscMPIInt rank, ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(PetscRRBTryTogether(comm, say, [&] { e->assign((std::size_t)n * n, 0.0); }));
  PetscCall(Read(E, e));
  if (ranks > 1)
    PetscCallMPI(
        MPI_Reduce(rank ? e->data() : MPI_IN_PLACE, e->data(), (PetscMPIInt)e->size(), MPIU_SCALAR, MPIU_SUM, 0, comm));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  const PetscErrorCode code = PetscRRBTryTogether(comm, say, [&] {
    if (!rank) *made = invert_user(*e, (int)n, floor, wanted);
  });
  PetscCall(PetscFPTrapPop());
  PetscCall(code);
  if (ranks > 1) PetscCall(Share(comm, e, made));
  PetscFunctionReturn(PETSC_SUCCESS);
}
