/* The first rank that is in trouble tells the others, and the first of all what a sum is. */
#include "petsc/agree.h"

#if PETSCRRB_ON_DEVICES
  #include "exec/cuda/cuda.hpp"
#endif

#include <new>
#include <stdexcept>

static PetscErrorCode CodeOf(const std::exception &e, PetscErrorCode otherwise) {
#if PETSCRRB_ON_DEVICES
  if (const auto *error = dynamic_cast<const petscrrb::cuda::Error *>(&e))
    return error->out_of_memory() ? PETSC_ERR_MEM : PETSC_ERR_GPU;
#endif
  if (dynamic_cast<const std::domain_error *>(&e)) return PETSC_ERR_SUP;
  if (dynamic_cast<const std::bad_alloc *>(&e) || dynamic_cast<const std::length_error *>(&e)) return PETSC_ERR_MEM;
  return otherwise;
}

PetscRRBTrouble PetscRRBSay::operator()(const std::exception &e) const {
  if (const auto *error = dynamic_cast<const PetscRRBError *>(&e)) {
    const std::string why = error->what();
    return {why.compare(0, 8, "on rank ") ? type_ + (": " + why) : why, error->code, error->settled};
  }
  const PetscErrorCode code = CodeOf(e, otherwise_);
  return {(code == PETSC_ERR_MEM ? std::string("No memory for ") : std::string()) + type_ + ": " + e.what(), code};
}

PetscRRBTrouble PetscRRBRaised(PetscErrorCode code) {
  const char *text = nullptr;
  PetscRRBWords words;

  (void)PetscErrorMessage(code, &text, words);
  if (words.text && *words.text) return {words.text, code};
  return {text ? text : "PETSc error " + std::to_string((int)code), code};
}

PetscErrorCode PetscRRBFirstTrouble(MPI_Comm comm, PetscRRBTrouble *trouble) {
  PetscMPIInt ranks, rank, mine, first, header[2];

  PetscFunctionBegin;
  if (trouble->settled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  mine = *trouble ? rank : ranks;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == ranks) PetscFunctionReturn(PETSC_SUCCESS);
  if (first == rank && trouble->why.compare(0, 8, "on rank ") != 0) /* not what ranks agreed on before */
    trouble->why = "on rank " + std::to_string(rank) + ": " + trouble->why;
  header[0] = (PetscMPIInt)trouble->why.size();
  header[1] = (PetscMPIInt)trouble->code;
  PetscCallMPI(MPI_Bcast(header, 2, MPI_INT, first, comm));
  trouble->why.resize((std::size_t)header[0]);
  trouble->code = (PetscErrorCode)header[1];
  PetscCallMPI(MPI_Bcast(&trouble->why[0], header[0], MPI_CHAR, first, comm));
  trouble->settled = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MPI does not promise that all ranks get the same bits of an MPI_Allreduce(). */
int PetscRRBSum(MPI_Comm comm, PetscScalar *x, PetscMPIInt n) {
  PetscMPIInt rank;
  int code = MPI_Comm_rank(comm, &rank);
  if (code == MPI_SUCCESS) code = MPI_Reduce(rank ? x : MPI_IN_PLACE, x, n, MPIU_SCALAR, MPIU_SUM, 0, comm);
  return code == MPI_SUCCESS ? MPI_Bcast(x, n, MPIU_SCALAR, 0, comm) : code;
}
