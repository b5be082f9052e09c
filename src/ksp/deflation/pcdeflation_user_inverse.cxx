/* The first rank inverts E for all: they have the same bits, whatever processors and threads they run on. */
#include "ksp/deflation/pcdeflation_user_inverse.h"

#include "dense/host/lapack.hpp"
#include "grid/text.hpp"
#include "petsc/agree.h"
#include "petsc/compat.h"

#include <algorithm>
#include <cmath>

using namespace petscrrb;
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

/* Why e cannot be the E of a symmetric matrix. Makes e symmetric. */
static std::string WhyRefused(std::vector<PetscScalar> &e, std::size_t n) {
  PetscReal largest = 0, skew = 0;
  bool finite = true;

  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i <= j; ++i) {
      PetscScalar &a = e[j * n + i], &b = e[i * n + j];
      finite = finite && std::isfinite(a) && std::isfinite(b);
      largest = std::max(largest, std::abs(a));
      skew = std::max(skew, std::abs(a - b));
      a = b = 0.5 * a + 0.5 * b; /* the sum may overflow */
    }
  if (!finite) return "E = Z^T A Z is not finite";
  if (skew > 1e-8 * largest) return "it is not symmetric, as E = Z^T A Z shows, but deflation needs a symmetric one";
  return "";
}

/* Columns of Z that depend on one another, and a singular A, are no errors. type: what is wanted becomes what it is. */
static Result Invert(std::vector<PetscScalar> &e, PetscInt n, PetscReal floor, Inverse *type, Report *report) {
  report->why = WhyRefused(e, (std::size_t)n);
  if (!report->why.empty()) return Result::refused;
  const dense::Inverted made = dense::invert(e, n, floor, *type);
  *type = made.type;
  report->null_directions = made.null_directions;
  if (made.negative == 0) return Result::ok;
  report->why = "E = Z^T A Z is not positive definite: it has the eigenvalue " + text(made.negative);
  return Result::failed;
}

PetscErrorCode PCDeflationUserInverse::Keep(const std::vector<PetscScalar> &e, PetscInt n, PetscBool device) {
  PetscScalar *to;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&inverse_));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, nullptr, &inverse_));
  PetscCall(MatDenseGetArrayWrite(inverse_, &to));
  std::copy(e.begin(), e.end(), to);
  PetscCall(MatDenseRestoreArrayWrite(inverse_, &to));
  PetscCall(MatAssemblyBegin(inverse_, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(inverse_, MAT_FINAL_ASSEMBLY));
#if PETSCRRB_ON_DEVICES
  if (device) PetscCall(MatConvert(inverse_, MATSEQDENSECUDA, MAT_INPLACE_MATRIX, &inverse_));
#else
  (void)device;
#endif
  PetscCall(MatSetOption(inverse_, MAT_SPD, PETSC_TRUE));
  if (type == Inverse::cholesky) PetscCall(MatCholeskyFactor(inverse_, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationUserInverse::SetUp(MPI_Comm comm, Mat E, PetscInt n, PetscReal floor, Inverse wanted,
                                             PetscBool device, Report *report, Result *result) {
  std::vector<PetscScalar> e;
  PetscMPIInt rank;

  PetscFunctionBegin;
  type = wanted;
  *result = Result::ok;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscRRBTryTogether(comm, say, [&] { e.assign((std::size_t)n * n, 0.0); }));
  PetscCall(Read(E, &e));
  PetscCallMPI(
      MPI_Reduce(rank ? e.data() : MPI_IN_PLACE, e.data(), (PetscMPIInt)e.size(), MPIU_SCALAR, MPIU_SUM, 0, comm));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  const PetscErrorCode code = PetscRRBTryTogether(comm, say, [&] {
    if (!rank) *result = Invert(e, n, floor, &type, report);
  });
  PetscCall(PetscFPTrapPop());
  PetscCall(code);
  int words[] = {(int)*result, (int)type, report->null_directions, (int)report->why.size()};
  PetscCallMPI(MPI_Bcast(words, 4, MPI_INT, 0, comm));
  *result = (Result)words[0];
  type = (Inverse)words[1];
  report->null_directions = words[2];
  report->why.resize((std::size_t)words[3]);
  PetscCallMPI(MPI_Bcast(&report->why[0], words[3], MPI_CHAR, 0, comm));
  if (*result != Result::ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(e.data(), (PetscMPIInt)e.size(), MPIU_SCALAR, 0, comm));
  PetscCall(Keep(e, n, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationUserInverse::Solve(Vec c, Vec solution) const {
  return type == Inverse::cholesky ? MatSolve(inverse_, c, solution) : MatMult(inverse_, c, solution);
}
