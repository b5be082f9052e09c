/* Deflation with the columns of a matrix that an application gives, by PETSc's own products: wherever these can be made. */
#include "deflation/pcdeflation_backend.h"
#include "grid/text.hpp"

#include <petscblaslapack.h>

#include <cmath>

using namespace petscrrb;
using namespace petscrrb::deflation;

namespace {

/* Smaller eigenvalues of E, as a part of the largest, and pivots, as a part of their diagonal, are null directions. So are
   those that are rounding beside A's diagonal. */
constexpr PetscReal nothing = 1e-12, rounding = 1e-14;

class UserBackend final : public PCDeflationBackend {
public:
  ~UserBackend() override {
    PetscBool up = PETSC_FALSE;
    if (PetscInitialized(&up) == PETSC_SUCCESS && up) (void)Reset();
  }
  PetscBool on_device() const override { return device_; }
  PetscErrorCode SetUp(PC, Mat, const KSPDeflationChoice &, PetscObject, PetscBool, Result *) override;
  const Report &report() const override { return report_; }
  std::string subdomains() const override { return "none, the columns of a matrix of type " + type_; }
  KSPDeflationInverse inverse() const override { return inverse_; }

  PetscErrorCode Restrict(Vec, Vec) override;
  PetscErrorCode Solve() override;
  PetscErrorCode Prolong(Vec, Vec) override;
  PetscErrorCode Subtract(Vec) override;

private:
  PetscErrorCode Reset();
  PetscErrorCode Check(PC, Mat A, Mat Z);
  PetscErrorCode Multiply(Mat A, PetscBool rebuild);
  PetscErrorCode Measure(Mat A);
  PetscErrorCode Invert(KSPDeflationInverse);
  PetscErrorCode PseudoInvert(std::vector<PetscScalar> &e);
  PetscErrorCode Keep(const std::vector<PetscScalar> &e, PetscBool factor);
  PetscErrorCode Describe();

  Mat Z_ = nullptr, AZ_ = nullptr, E_ = nullptr, inverse_of_E_ = nullptr; /* inverse_of_E_: E's factor or E^+ */
  Vec c_ = nullptr, other_ = nullptr, w_ = nullptr;
  PetscBool device_ = PETSC_FALSE;
  PetscReal floor_ = 0; /* eigenvalues of E below it are rounding */
  KSPDeflationInverse inverse_ = KSP_DEFLATION_EXPLICIT;
  std::string type_;
  Report report_;
  Result result_ = Result::ok;
};

PetscErrorCode UserBackend::Reset() {
  PetscFunctionBegin;
  PetscCall(MatDestroy(&Z_));
  PetscCall(MatDestroy(&AZ_));
  PetscCall(MatDestroy(&E_));
  PetscCall(MatDestroy(&inverse_of_E_));
  PetscCall(VecDestroy(&c_));
  PetscCall(VecDestroy(&other_));
  PetscCall(VecDestroy(&w_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Check(PC pc, Mat A, Mat Z) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt ranks;
  PetscInt rows, n, columns;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCheck(
      ranks == 1, comm, PETSC_ERR_SUP,
      "-ksp_deflation user works on one rank so far, and the matrix is on %d: use -ksp_deflation block or stripe",
      (int)ranks);
  PetscCall(MatGetSize(A, &rows, nullptr));
  PetscCall(MatGetSize(Z, &n, &columns));
  PetscCheck(n == rows, comm, PETSC_ERR_ARG_SIZ,
             "The deflation space has vectors of length %" PetscInt_FMT ", the matrix has %" PetscInt_FMT " rows", n,
             rows);
  PetscCheck(columns >= 1 && columns <= most_subdomains, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The deflation space has %" PetscInt_FMT " vectors: it may have from 1 to %d", columns, most_subdomains);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Multiply(Mat A, PetscBool rebuild) {
  const MatReuse reuse = rebuild ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX;

  PetscFunctionBegin;
  PetscCall(MatMatMult(A, Z_, reuse, PETSC_DEFAULT, &AZ_));
  PetscCall(MatTransposeMatMult(Z_, AZ_, reuse, PETSC_DEFAULT, &E_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Measure(Mat A) {
  PetscInt n;
  PetscReal largest;

  PetscFunctionBegin;
  PetscCall(MatGetDiagonal(A, w_));
  PetscCall(VecNorm(w_, NORM_INFINITY, &largest));
  PetscCall(VecGetSize(c_, &n));
  std::vector<PetscReal> norm(n);
  PetscCall(MatGetColumnNorms(Z_, NORM_2, norm.data()));
  floor_ = 0;
  for (const PetscReal z : norm) floor_ = PetscMax(floor_, rounding * largest * z * z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* e, or its Cholesky factor, as a Mat where c is. */
PetscErrorCode UserBackend::Keep(const std::vector<PetscScalar> &e, PetscBool factor) {
  PetscScalar *to;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetSize(c_, &n));
  PetscCall(MatDestroy(&inverse_of_E_));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, nullptr, &inverse_of_E_));
  PetscCall(MatDenseGetArrayWrite(inverse_of_E_, &to));
  std::copy(e.begin(), e.end(), to);
  PetscCall(MatDenseRestoreArrayWrite(inverse_of_E_, &to));
  PetscCall(MatAssemblyBegin(inverse_of_E_, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(inverse_of_E_, MAT_FINAL_ASSEMBLY));
#if PETSCRRB_ON_DEVICES
  if (device_) PetscCall(MatConvert(inverse_of_E_, MATSEQDENSECUDA, MAT_INPLACE_MATRIX, &inverse_of_E_));
#endif
  PetscCall(MatSetOption(inverse_of_E_, MAT_SPD, PETSC_TRUE));
  if (factor) PetscCall(MatCholeskyFactor(inverse_of_E_, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By eigenvectors: columns of Z that depend on one another, and a singular A, are no errors. */
PetscErrorCode UserBackend::PseudoInvert(std::vector<PetscScalar> &e) {
  PetscInt size;
  PetscBLASInt n, most, info;

  PetscFunctionBegin;
  PetscCall(VecGetSize(c_, &size));
  PetscCall(PetscBLASIntCast(size, &n));
  PetscCall(PetscBLASIntCast(34 * (PetscInt)n, &most));
  std::vector<PetscReal> value(n);
  std::vector<PetscScalar> work(most), inverse(e.size(), 0.0);
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  LAPACKsyev_("V", "U", &n, e.data(), &n, value.data(), work.data(), &most, &info);
  PetscCall(PetscFPTrapPop());
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "Error in LAPACK's xSYEV: info %d", (int)info);
  const PetscReal least = PetscMax(nothing * value[n - 1], floor_);
  if (value[0] < -least) {
    report_.why = "E = Z^T A Z is not positive definite: it has the eigenvalue " + text(value[0]);
    result_ = Result::failed;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < n; ++k) {
    if (value[k] <= least) {
      ++report_.null_directions;
      continue;
    }
    const PetscScalar *v = e.data() + (size_t)k * n;
    for (PetscInt j = 0; j < n; ++j)
      for (PetscInt i = 0; i < n; ++i) inverse[(size_t)j * n + i] += v[i] * v[j] / value[k];
  }
  e = inverse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Invert(KSPDeflationInverse wanted) {
  const PetscScalar *from;
  PetscInt size;
  PetscBLASInt n, info;
  Mat dense;

  PetscFunctionBegin;
  PetscCall(VecGetSize(c_, &size));
  PetscCall(PetscBLASIntCast(size, &n));
  PetscCall(MatConvert(E_, MATSEQDENSE, MAT_INITIAL_MATRIX, &dense));
  PetscCall(MatDenseGetArrayRead(dense, &from));
  std::vector<PetscScalar> e(from, from + (size_t)n * n);
  PetscCall(MatDenseRestoreArrayRead(dense, &from));
  PetscCall(MatDestroy(&dense));
  PetscReal largest = 0, skew = 0;
  for (PetscInt j = 0; j < n; ++j)
    for (PetscInt i = 0; i <= j; ++i) {
      PetscScalar &a = e[(size_t)j * n + i], &b = e[(size_t)i * n + j];
      if (PetscIsInfOrNanScalar(a)) report_.why = "E = Z^T A Z is not finite";
      largest = PetscMax(largest, PetscAbsScalar(a));
      skew = PetscMax(skew, PetscAbsScalar(a - b));
      a = b = 0.5 * (a + b);
    }
  if (skew > 1e-8 * largest)
    report_.why = "it is not symmetric, as E = Z^T A Z shows, and deflation needs a symmetric one";
  result_ = report_.why.empty() ? Result::ok : Result::refused;
  if (result_ != Result::ok) PetscFunctionReturn(PETSC_SUCCESS);
  std::vector<PetscScalar> factor = e;
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  LAPACKpotrf_("U", &n, factor.data(), &n, &info);
  PetscCall(PetscFPTrapPop());
  bool regular = !info;
  for (PetscInt i = 0; i < n && regular; ++i) {
    const PetscScalar pivot = factor[(size_t)i * n + i];
    regular = pivot * pivot > PetscMax(nothing * e[(size_t)i * n + i], floor_);
  }
  inverse_ = regular ? wanted : KSP_DEFLATION_EXPLICIT;
  if (!regular)
    PetscCall(PseudoInvert(e));
  else if (wanted == KSP_DEFLATION_EXPLICIT) {
    LAPACKpotri_("U", &n, factor.data(), &n, &info);
    for (PetscInt j = 0; j < n; ++j)
      for (PetscInt i = 0; i <= j; ++i) e[(size_t)i * n + j] = e[(size_t)j * n + i] = factor[(size_t)j * n + i];
  }
  if (result_ == Result::ok) PetscCall(Keep(e, (PetscBool)(inverse_ == KSP_DEFLATION_CHOLESKY)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Describe() {
  MatInfo info;
  PetscInt n;
  MatType type;

  PetscFunctionBegin;
  PetscCall(MatGetType(Z_, &type));
  type_ = type;
  PetscCall(VecGetSize(c_, &n));
  report_.subdomains = (int)n;
  PetscCall(MatGetInfo(AZ_, MAT_LOCAL, &info));
  report_.stored = (index_t)info.nz_used;
  report_.inverse = inverse_ == KSP_DEFLATION_EXPLICIT ? "explicit inverse, dense" : "Cholesky, dense";
  report_.bytes = info.memory + (double)n * n * sizeof(PetscScalar);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::SetUp(PC pc, Mat A, const KSPDeflationChoice &choice, PetscObject space, PetscBool rebuild,
                                  Result *result) {
  PetscFunctionBegin;
  PetscCall(Check(pc, A, (Mat)space));
  if (rebuild) {
    PetscCall(Reset());
    Z_ = (Mat)space;
    PetscCall(PetscObjectReference((PetscObject)Z_));
    PetscCall(MatCreateVecs(Z_, &c_, &w_));
    PetscCall(VecDuplicate(c_, &other_));
    PetscCall(PetscRRBVecOnDevice(c_, &device_));
  }
  report_ = Report();
  PetscCall(Multiply(A, rebuild));
  PetscCall(Measure(A));
  PetscCall(Invert(choice.inverse_set ? choice.inverse : KSP_DEFLATION_EXPLICIT));
  PetscCall(Describe());
  *result = result_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Restrict(Vec r, Vec y) {
  PetscFunctionBegin;
  if (r)
    PetscCall(MatMultTranspose(Z_, r, c_));
  else
    PetscCall(VecSet(c_, 0.0));
  if (y) {
    PetscCall(MatMultTranspose(AZ_, y, other_));
    PetscCall(VecAXPY(c_, -1.0, other_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Solve() {
  PetscFunctionBegin;
  PetscCall(inverse_ == KSP_DEFLATION_EXPLICIT ? MatMult(inverse_of_E_, c_, other_)
                                               : MatSolve(inverse_of_E_, c_, other_));
  std::swap(c_, other_);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Prolong(Vec y, Vec z) {
  PetscFunctionBegin;
  if (y)
    PetscCall(MatMultAdd(Z_, c_, y, z));
  else
    PetscCall(MatMult(Z_, c_, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Subtract(Vec w) {
  PetscFunctionBegin;
  PetscCall(MatMult(AZ_, c_, w_));
  PetscCall(VecAXPY(w, -1.0, w_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCDeflationCreateUser(std::unique_ptr<PCDeflationBackend> *backend) {
  PetscFunctionBegin;
  *backend = std::make_unique<UserBackend>();
  PetscFunctionReturn(PETSC_SUCCESS);
}
