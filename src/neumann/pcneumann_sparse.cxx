/* PCNEUMANN by PETSc products: Horner's rule with the triangles, or one product with what is kept of theirs. */
#include "neumann/pcneumann_sparse.h"

using namespace petscrrb;
using neumann::Scale;
using neumann::Triangle;

PCNeumannSparse::~PCNeumannSparse() {
  (void)MatDestroy(&lower_);
  (void)MatDestroy(&second_);
  for (Vec *v : {&s_, &work_[0], &work_[1], &work_[2], &x_, &y_}) (void)VecDestroy(v);
}

static PetscErrorCode CreateMatrix(PetscInt n, MatType type, const neumann::SparsePattern &pattern, Mat *A) {
  const std::vector<PetscScalar> zeros(pattern.ja.size(), 0.0);

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, pattern.ia.data(), pattern.ja.data(), zeros.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNeumannSparse::Create(PetscInt n, MatType type, const neumann::SparsePlan &plan,
                                       const neumann::Series &series) {
  PetscFunctionBegin;
  series_ = series;
  PetscCall(CreateMatrix(n, type, plan.second, &second_));
  PetscCall(MatCreateVecs(second_, &s_, nullptr));
  if (plan.kept != neumann::Kept::triangles) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateMatrix(n, type, plan.lower, &lower_));
  for (Vec &v : work_) PetscCall(VecDuplicate(s_, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNeumannSparse::Refresh(PC, const Csr &rows, CouplingFindings *found) {
  PetscFunctionBegin;
  PetscCall(Fill(rows, s_, lower_, second_, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNeumannSparse::Scaled(Scale scale, Vec from, Vec to) {
  PetscFunctionBegin;
  if (scale == Scale::none && from != to) PetscCall(VecCopy(from, to));
  if (scale == Scale::s || scale == Scale::squared) PetscCall(VecPointwiseMult(to, from, s_));
  if (scale == Scale::squared) PetscCall(VecPointwiseMult(to, to, s_));
  if (scale == Scale::inverse) PetscCall(VecPointwiseDivide(to, from, s_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Vec PCNeumannSparse::Unused(Vec a, Vec b) const {
  for (const Vec v : work_)
    if (v != a && v != b) return v;
  return nullptr; /* there are three */
}

/* *y is t first; the matrices have the minus in them */
PetscErrorCode PCNeumannSparse::Horner(Triangle triangle, Vec *y) {
  const Mat T = triangle == Triangle::lower ? lower_ : second_;
  const Vec t = *y;

  PetscFunctionBegin;
  for (int k = 0; k < series_.terms; ++k) {
    const Vec next = Unused(t, *y);
    PetscCall(MatMultAdd(T, *y, t, next));
    *y = next;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNeumannSparse::ApplyHere(Vec r, Vec z) {
  Vec y = work_[0];

  PetscFunctionBegin;
  if (!lower_) {
    PetscCall(MatMult(second_, r, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Scaled(series_.in, r, y));
  PetscCall(Horner(series_.first, &y));
  PetscCall(Scaled(series_.between, y, y));
  PetscCall(Horner(neumann::other(series_.first), &y));
  PetscCall(Scaled(series_.out, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors that are elsewhere are copied by PETSc. */
PetscErrorCode PCNeumannSparse::Apply(PC pc, Vec x, Vec y) {
  PetscBool r, z;

  PetscFunctionBegin;
  PetscCall(PetscRRBVecOnDevice(x, &r));
  PetscCall(PetscRRBVecOnDevice(y, &z));
  if (r == on_device() && z == on_device()) {
    PetscCall(ApplyHere(x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!x_) {
    PetscCall(
        PetscInfo(pc,
                  "PCNEUMANN: the matrix is on the %s and the vectors are on the %s: they are copied there and back "
                  "in every application\n",
                  on_device() ? "device" : "host", on_device() ? "host" : "device"));
    PetscCall(VecDuplicate(s_, &x_));
    PetscCall(VecDuplicate(s_, &y_));
  }
  PetscCall(VecCopy(x, x_));
  PetscCall(ApplyHere(x_, y_));
  PetscCall(VecCopy(y_, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNeumannSparse::Bytes(PetscLogDouble *bytes) {
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(s_, &n));
  *bytes = values_->bytes() + (lower_ ? 4.0 : 1.0) * (double)n * sizeof(PetscScalar);
  for (const Mat A : {lower_, second_}) {
    MatInfo info;
    if (!A) continue;
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    *bytes += info.nz_allocated * (sizeof(PetscScalar) + sizeof(PetscInt)) + ((double)n + 1) * sizeof(PetscInt);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
