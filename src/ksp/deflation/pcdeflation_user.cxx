/* Deflation with the columns of a matrix that an application gives, by PETSc's own products: wherever these can be made.
   Each rank multiplies with its own rows of Z and AZ; c and what solves with E are whole on all of them. */
#include "ksp/deflation/pcdeflation_backend.h"
#include "ksp/deflation/pcdeflation_user_inverse.h"
#include "petsc/agree.h"
#include "petsc/own_part.h"
#include "grid/text.hpp"

using namespace petscrrb;
using namespace petscrrb::deflation;

namespace {

const PetscRRBSay say("the deflation space");

class UserBackend final : public PCDeflationBackend {
public:
  ~UserBackend() override { (void)Reset(); }
  PetscBool on_device() const override { return device_; }
  PetscErrorCode SetUp(PC, Mat, const KSPDeflationChoice &, PetscObject, PetscBool, Result *) override;
  const Report &report() const override { return report_; }
  std::string subdomains() const override { return "none, the columns of a matrix of type " + type_; }
  KSPDeflationInverse inverse() const override { return (KSPDeflationInverse)inverse_.type; }

  PetscErrorCode Restrict(Vec, Vec) override;
  PetscErrorCode Solve() override {
    std::swap(c_, other_);
    return inverse_.Solve(other_, c_);
  }
  PetscErrorCode Prolong(Vec, Vec) override;
  PetscErrorCode Subtract(Vec) override;

private:
  PetscErrorCode Reset();
  PetscErrorCode Check(Mat A, Mat Z);
  PetscErrorCode Build(Mat A, Mat Z);
  PetscErrorCode Multiply(Mat A, PetscBool rebuild);
  PetscErrorCode FindFloor(Mat A, PetscReal *);
  PetscErrorCode Describe();
  PetscErrorCode MakeVectors();
  PetscErrorCode Sum(Vec c);
  PetscErrorCode RestrictBy(Mat M, Vec r, Vec c);

  MPI_Comm comm_ = MPI_COMM_NULL; /* the PC's */
  PetscMPIInt ranks_ = 1;
  Mat Z_ = nullptr, AZ_ = nullptr;
  Mat aij_ = nullptr;                                   /* a copy of A, or none */
  Mat own_Z_ = nullptr, own_AZ_ = nullptr;              /* rows of this rank, all columns */
  Mat E_ = nullptr;                                     /* what this rank adds to E */
  Vec c_ = nullptr, other_ = nullptr, minus_ = nullptr; /* the last is where AZ is, the others where Z is */
  Vec w_ = nullptr;                                     /* on the device if Z or AZ is there */
  PetscRRBOwnValues own_r_, own_y_, own_w_;
  PetscBool device_ = PETSC_FALSE; /* Z is there */
  PetscBool apart_ = PETSC_FALSE;  /* AZ is on the other side */
  PCDeflationUserInverse inverse_;
  std::string type_;
  Report report_;
};

PetscErrorCode UserBackend::Reset() {
  PetscFunctionBegin;
  for (Mat *M : {&Z_, &AZ_, &aij_, &own_Z_, &own_AZ_, &E_}) PetscCall(MatDestroy(M));
  for (Vec *v : {&c_, &other_, &minus_, &w_}) PetscCall(VecDestroy(v));
  for (PetscRRBOwnValues *own : {&own_r_, &own_y_, &own_w_}) PetscCall(own->Reset());
  PetscCall(inverse_.Reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether each rank has the same rows of both, and the product exists. */
PetscErrorCode UserBackend::Check(Mat A, Mat Z) {
  PetscRRBTrouble trouble;
  PetscMPIInt compared;
  PetscInt rows, n, columns;
  PetscBool known;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_compare(comm_, PetscObjectComm((PetscObject)Z), &compared));
  PetscCheck(compared == MPI_IDENT || compared == MPI_CONGRUENT, comm_, PETSC_ERR_ARG_NOTSAMECOMM,
             "The deflation space and the matrix are on different ranks");
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)Z, &known, MATSEQAIJ, MATMPIAIJ, MATSEQDENSE, MATMPIDENSE, ""));
  PetscCheck(known, comm_, PETSC_ERR_SUP, "The deflation space is a matrix of type %s, but must be aij or dense",
             ((PetscObject)Z)->type_name);
  PetscCall(MatGetSize(A, &rows, nullptr));
  PetscCall(MatGetSize(Z, &n, &columns));
  PetscCheck(n == rows, comm_, PETSC_ERR_ARG_SIZ,
             "The deflation space has vectors of length %" PetscInt_FMT ", but the matrix has %" PetscInt_FMT " rows",
             n, rows);
  PetscCheck(columns >= 1 && columns <= most_subdomains, comm_, PETSC_ERR_ARG_OUTOFRANGE,
             "The deflation space has %" PetscInt_FMT " vectors, but must have from 1 to %d", columns, most_subdomains);
  PetscCall(MatGetLocalSize(A, &rows, nullptr));
  PetscCall(MatGetLocalSize(Z, &n, nullptr));
  if (n != rows)
    trouble = {"the deflation space has " + text(index_t(n)) + " rows and the matrix " + text(index_t(rows)) +
                   ": their rows must be distributed in the same way",
               PETSC_ERR_ARG_SIZ};
  PetscCall(PetscRRBFirstTrouble(comm_, &trouble));
  PetscCheck(!trouble, comm_, trouble.code, "%s", trouble.why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A itself, or its copy where PETSc has no product of such matrices with sparse ones. A rank without rows adds nothing to E. */
PetscErrorCode UserBackend::Multiply(Mat A, PetscBool rebuild) {
  const MatReuse reuse = rebuild ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX;
  PetscBool blocks, sparse;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(
      PetscObjectBaseTypeCompareAny((PetscObject)A, &blocks, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ, ""));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)Z_, &sparse, MATSEQAIJ, MATMPIAIJ, ""));
  const bool copy = blocks && sparse;
  if (copy) PetscCall(MatConvert(A, MATAIJ, aij_ ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &aij_));
  PetscCall(MatMatMult(copy ? aij_ : A, Z_, reuse, PETSC_DEFAULT, &AZ_));
  if (!rebuild) PetscCall(PetscRRBGetOwnRows(Z_, MAT_REUSE_MATRIX, &own_Z_));
  PetscCall(PetscRRBGetOwnRows(AZ_, reuse, &own_AZ_));
  PetscCall(MatGetLocalSize(own_Z_, &rows, nullptr));
  if (rows) PetscCall(MatTransposeMatMult(own_Z_, own_AZ_, reuse, PETSC_DEFAULT, &E_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Eigenvalues of E below it are rounding. */
PetscErrorCode UserBackend::FindFloor(Mat A, PetscReal *floor) {
  constexpr PetscReal rounding = 1e-14; /* beside A's diagonal */
  PetscInt n;
  PetscReal largest;
  Vec diagonal;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &diagonal, nullptr)); /* Z, and w_ with it, may be elsewhere */
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecNorm(diagonal, NORM_INFINITY, &largest));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(VecGetSize(c_, &n));
  std::vector<PetscReal> norm;
  PetscCall(PetscRRBTryTogether(comm_, say, [&] { norm.resize((std::size_t)n); }));
  PetscCall(MatGetColumnNorms(Z_, NORM_2, norm.data()));
  *floor = 0;
  for (const PetscReal z : norm) *floor = PetscMax(*floor, rounding * largest * z * z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Describe() {
  MatInfo info;
  PetscInt n;
  MatType type;
  PetscBool copied;

  PetscFunctionBegin;
  PetscCall(MatGetType(Z_, &type));
  PetscCall(PetscRRBTryTogether(comm_, say, [&] {
    type_ = type;
    report_.inverse = inverse_.type == Inverse::explicit_inverse ? "explicit inverse, dense" : "Cholesky, dense";
  }));
  PetscCall(VecGetSize(c_, &n));
  report_.subdomains = (int)n;
  PetscCall(MatGetInfo(own_AZ_, MAT_LOCAL, &info));
  report_.stored = (index_t)info.nz_used;
  report_.bytes = info.memory + (double)n * n * sizeof(PetscScalar);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)AZ_, MATMPIAIJ, &copied));
  for (Mat M : {copied ? AZ_ : nullptr, copied ? own_Z_ : nullptr, aij_}) {
    if (!M) continue;
    PetscCall(MatGetInfo(M, MAT_LOCAL, &info));
    report_.bytes += info.memory;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Build(Mat A, Mat Z) {
  PetscFunctionBegin;
  PetscCall(Check(A, Z));
  PetscCall(Reset());
  Z_ = Z;
  PetscCall(PetscObjectReference((PetscObject)Z_));
  PetscCall(PetscRRBGetOwnRows(Z_, MAT_INITIAL_MATRIX, &own_Z_));
  PetscCall(MatCreateVecs(own_Z_, &c_, nullptr));
  PetscCall(VecDuplicate(c_, &other_));
  PetscCall(PetscRRBVecOnDevice(c_, &device_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Z may be on a device and A not, or the other way round, and AZ on either side. */
PetscErrorCode UserBackend::MakeVectors() {
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(own_AZ_, &minus_, nullptr));
  PetscCall(PetscRRBVecOnDevice(minus_, &device));
  apart_ = (PetscBool)(device != device_);
  PetscCall(MatCreateVecs(device ? AZ_ : Z_, nullptr, &w_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::SetUp(PC pc, Mat A, const KSPDeflationChoice &choice, PetscObject space, PetscBool rebuild,
                                  Result *result) {
  PetscReal floor = 0;
  PetscInt n;

  PetscFunctionBegin;
  comm_ = PetscObjectComm((PetscObject)pc);
  PetscCallMPI(MPI_Comm_size(comm_, &ranks_));
  if (rebuild) PetscCall(Build(A, (Mat)space));
  PetscCall(Multiply(A, rebuild));
  if (rebuild) PetscCall(MakeVectors());
  PetscCall(FindFloor(A, &floor));
  PetscCall(VecGetSize(c_, &n));
  report_ = Report();
  PetscCall(
      inverse_.SetUp(comm_, E_, n, floor, (Inverse)PCDeflationInverse(choice, device_), device_, &report_, result));
  PetscCall(Describe());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Sum(Vec c) {
  PetscScalar *x;
  PetscInt n;

  PetscFunctionBegin;
  if (ranks_ == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetSize(c, &n));
  PetscCall(VecGetArray(c, &x));
  PetscCallMPI(PetscRRBSum(comm_, x, (PetscMPIInt)n));
  PetscCall(VecRestoreArray(c, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* made: by a matrix, of any type. Whether that is on a device and v is not: then a product does not see what the host writes into
   v, and writes elsewhere. */
static PetscErrorCode IsOutOfReach(Vec made, Vec v, PetscBool *yes) {
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PetscRRBVecOnDevice(made, yes));
  PetscCall(PetscRRBVecOnDevice(v, &device));
  if (device) *yes = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* c = M^T r; M has made c */
PetscErrorCode UserBackend::RestrictBy(Mat M, Vec r, Vec c) {
  PetscBool copy;
  Vec own;

  PetscFunctionBegin;
  PetscCall(IsOutOfReach(c, r, &copy));
  if (copy) {
    PetscCall(VecCopy(r, w_));
    r = w_;
  }
  PetscCall(own_r_.Get(r, PETSC_FALSE, &own));
  PetscCall(MatMultTranspose(M, own, c));
  PetscCall(own_r_.Restore(r, PETSC_FALSE, &own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Restrict(Vec r, Vec y) {
  PetscFunctionBegin;
  if (r)
    PetscCall(RestrictBy(own_Z_, r, c_));
  else
    PetscCall(VecSet(c_, 0.0));
  if (y) {
    PetscCall(RestrictBy(own_AZ_, y, minus_));
    PetscCall(VecAXPY(c_, -1.0, minus_));
  }
  PetscCall(Sum(c_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Prolong(Vec y, Vec z) {
  Vec own, own_y = nullptr;
  PetscBool copy;

  PetscFunctionBegin;
  PetscCall(IsOutOfReach(c_, z, &copy));
  if (copy) {
    PetscCall(Prolong(nullptr, w_));
    if (y && y != z) PetscCall(VecCopy(y, z));
    PetscCall(y ? VecAXPY(z, 1.0, w_) : VecCopy(w_, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (y && y != z) PetscCall(own_y_.Get(y, PETSC_FALSE, &own_y));
  PetscCall(own_r_.Get(z, PETSC_TRUE, &own));
  if (y)
    PetscCall(MatMultAdd(own_Z_, c_, own_y ? own_y : own, own));
  else
    PetscCall(MatMult(own_Z_, c_, own));
  PetscCall(own_r_.Restore(z, PETSC_TRUE, &own));
  if (own_y) PetscCall(own_y_.Restore(y, PETSC_FALSE, &own_y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UserBackend::Subtract(Vec w) {
  Vec own;

  PetscFunctionBegin;
  if (apart_) PetscCall(VecCopy(c_, minus_));
  PetscCall(own_w_.Get(w_, PETSC_TRUE, &own));
  PetscCall(MatMult(own_AZ_, apart_ ? minus_ : c_, own));
  PetscCall(own_w_.Restore(w_, PETSC_TRUE, &own));
  PetscCall(VecAXPY(w, -1.0, w_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCDeflationCreateUser(MPI_Comm comm, std::unique_ptr<PCDeflationBackend> *backend) {
  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(comm, say, [&] { *backend = std::make_unique<UserBackend>(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
