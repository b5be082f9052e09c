/* PCNEUMANN by PETSc products: Horner's rule with the triangles, or one product with what is kept of theirs. */
#include "pc/neumann/pcneumann_sparse.h"

using namespace petscrrb;
using neumann::Scale;
using neumann::SparsePattern;
using neumann::Triangle;

PCNeumannSparse::~PCNeumannSparse() {
  (void)MatDestroy(&lower_);
  (void)MatDestroy(&second_);
  for (Vec *v : {&s_, &work_[0], &work_[1], &work_[2]}) (void)VecDestroy(v);
}

static PetscErrorCode CreateHere(PetscInt n, MatType type, const SparsePattern &pattern, Mat *A) {
  const std::vector<PetscScalar> zeros(pattern.ja.size(), 0.0);

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, pattern.ia.data(), pattern.ja.data(), zeros.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Global columns in order: ghosts before the own ones, the own ones, ghosts after them. */
static PetscErrorCode CreateOnRanks(PC pc, MatType type, const PetscRRBOverlap &rows, const SparsePattern pattern[2],
                                    Mat *A) {
  const PetscInt n = rows.own(), first = n ? rows.global(0) : 0;
  std::vector<PetscInt> ia, ja;
  std::vector<PetscScalar> zeros;
  PetscInt N;

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), "PCNEUMANN", [&] {
    const SparsePattern &own = pattern[0], &ghost = pattern[1];
    ia.push_back(0);
    for (PetscInt p = 0; p < n; ++p) {
      PetscInt e = ghost.ia[p];
      for (; e < ghost.ia[p + 1] && rows.global(ghost.ja[e]) < first; ++e) ja.push_back(rows.global(ghost.ja[e]));
      for (PetscInt f = own.ia[p]; f < own.ia[p + 1]; ++f) ja.push_back(first + own.ja[f]);
      for (; e < ghost.ia[p + 1]; ++e) ja.push_back(rows.global(ghost.ja[e]));
      ia.push_back((PetscInt)ja.size());
    }
    zeros.resize(ja.size());
  }));
  PetscCall(MatGetSize(pc->pmat, &N, nullptr));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)pc), A));
  PetscCall(MatSetSizes(*A, n, n, N, N));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatMPIAIJSetPreallocationCSR(*A, ia.data(), ja.data(), zeros.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNeumannSparse::CreateMatrix(PC pc, PetscInt n, const SparsePattern pattern[2], Mat *A,
                                             PCNeumannBlocks *blocks) {
  PetscFunctionBegin;
  *blocks = PCNeumannBlocks();
  if (overlap_) {
    PetscCall(CreateOnRanks(pc, matrices_.parallel, *overlap_, pattern, A));
    PetscCall(MatMPIAIJGetSeqAIJ(*A, &blocks->own, &blocks->ghost, nullptr));
  } else {
    PetscCall(CreateHere(n, matrices_.sequential, pattern[0], A));
    blocks->own = *A;
  }
  if (!pattern[0].entries()) blocks->own = nullptr;
  if (!pattern[1].entries()) blocks->ghost = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNeumannSparse::Create(PC pc, PetscRRBOverlap *overlap, const neumann::SparsePlan &plan,
                                       const neumann::Series &series) {
  PetscInt n;

  PetscFunctionBegin;
  series_ = series;
  overlap_ = overlap;
  PetscCall(MatGetLocalSize(pc->pmat, &n, nullptr));
  PetscCall(CreateMatrix(pc, n, plan.second, &second_, &blocks_[1]));
  PetscCall(MatCreateVecs(second_, &s_, nullptr));
  if (plan.kept != neumann::Kept::triangles) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateMatrix(pc, n, plan.lower, &lower_, &blocks_[0]));
  for (Vec &v : work_) PetscCall(VecDuplicate(s_, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNeumannSparse::Refresh(PC pc, const Csr &rows_here, RowFacts *found) {
  Csr rows = rows_here;

  PetscFunctionBegin;
  if (overlap_) PetscCall(Exchange(*overlap_, ((PC_Neumann *)pc->data)->state->rows.on_ranks, &rows));
  PetscCall(PetscRRBCallTogether(PetscObjectComm((PetscObject)pc), "PCNEUMANN", [&] { return FillHere(rows, found); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On this rank. */
PetscErrorCode PCNeumannSparse::FillHere(const Csr &rows, RowFacts *found) {
  neumann::SparseArrays values[2];
  PetscScalar *s;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWriteAndMemType(s_, &s, nullptr));
  for (int m = 0; m < 2; ++m) {
    if (blocks_[m].own) PetscCall(matrices_.get(blocks_[m].own, &values[m].own));
    if (blocks_[m].ghost) PetscCall(matrices_.get(blocks_[m].ghost, &values[m].ghost));
  }
  const PetscErrorCode filled = Fill(rows, s, values[0], values[1], found);
  for (int m = 0; m < 2; ++m) {
    if (blocks_[m].ghost) PetscCall(matrices_.restore(blocks_[m].ghost, &values[m].ghost));
    if (blocks_[m].own) PetscCall(matrices_.restore(blocks_[m].own, &values[m].own));
  }
  PetscCall(VecRestoreArrayWriteAndMemType(s_, &s));
  PetscCall(filled);
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

PetscErrorCode PCNeumannSparse::Apply(PC pc, Vec x, Vec y) {
  return vectors_.Use(pc, "PCNEUMANN", x, y, [&](Vec r, Vec z) { return ApplyHere(r, z); });
}

PetscErrorCode PCNeumannSparse::Bytes(PetscLogDouble *bytes) {
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(s_, &n));
  *bytes = values_->bytes() + (lower_ ? 4.0 : 1.0) * (double)n * sizeof(PetscScalar);
  if (overlap_) *bytes += (double)overlap_->entries() * (sizeof(PetscScalar) + sizeof(PetscInt));
  for (const Mat A : {lower_, second_}) {
    MatInfo info;
    if (!A) continue;
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    *bytes += info.nz_allocated * (sizeof(PetscScalar) + sizeof(PetscInt)) + ((double)n + 1) * sizeof(PetscInt);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
