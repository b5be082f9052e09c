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

/* By global columns in order: ghosts before the own ones, the own ones, ghosts after them. */
static SparsePattern Joined(const PetscRRBOverlap &rows, const SparsePattern &own, const SparsePattern &ghost) {
  const PetscInt n = rows.own(), first = n ? rows.global(0) : 0;
  SparsePattern all;

  all.ia.push_back(0);
  for (PetscInt p = 0; p < n; ++p) {
    PetscInt e = ghost.ia[p];
    for (; e < ghost.ia[p + 1] && rows.global(ghost.ja[e]) < first; ++e) all.ja.push_back(rows.global(ghost.ja[e]));
    for (PetscInt f = own.ia[p]; f < own.ia[p + 1]; ++f) all.ja.push_back(first + own.ja[f]);
    for (; e < ghost.ia[p + 1]; ++e) all.ja.push_back(rows.global(ghost.ja[e]));
    all.ia.push_back(all.entries());
  }
  return all;
}

PetscErrorCode PCNeumannSparse::CreateMatrix(PC pc, const SparsePattern pattern[2], Mat *A, Mat blocks[2]) {
  const MPI_Comm comm = overlap_ ? PetscObjectComm((PetscObject)pc) : PETSC_COMM_SELF;
  const SparsePattern *rows = &pattern[0];
  SparsePattern joined;
  std::vector<PetscScalar> zeros;
  PetscInt n, N;

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(comm, "PCNEUMANN", [&] {
    if (overlap_) rows = &(joined = Joined(*overlap_, pattern[0], pattern[1]));
    zeros.resize(rows->ja.size());
  }));
  PetscCall(MatGetLocalSize(pc->pmat, &n, nullptr));
  PetscCall(MatGetSize(pc->pmat, &N, nullptr));
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, n, n, N, N));
  PetscCall(MatSetType(*A, matrices_.type));
  const auto fill = overlap_ ? MatMPIAIJSetPreallocationCSR : MatSeqAIJSetPreallocationCSR;
  PetscCall(fill(*A, rows->ia.data(), rows->ja.data(), zeros.data()));
  blocks[0] = *A;
  if (overlap_) PetscCall(MatMPIAIJGetSeqAIJ(*A, &blocks[0], &blocks[1], nullptr));
  for (int part = 0; part < 2; ++part)
    if (!pattern[part].entries()) blocks[part] = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNeumannSparse::Create(PC pc, PetscRRBOverlap *overlap, const neumann::SparsePlan &plan,
                                       const neumann::Series &series) {
  PetscFunctionBegin;
  series_ = series;
  overlap_ = overlap;
  PetscCall(CreateMatrix(pc, plan.second, &second_, blocks_[1]));
  PetscCall(MatCreateVecs(second_, &s_, nullptr));
  if (plan.kept != neumann::Kept::triangles) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateMatrix(pc, plan.lower, &lower_, blocks_[0]));
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
  PetscScalar *values[2][2] = {}, *s;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWriteAndMemType(s_, &s, nullptr));
  for (int m = 0; m < 2; ++m)
    for (int part = 0; part < 2; ++part)
      if (blocks_[m][part]) PetscCall(matrices_.get(blocks_[m][part], &values[m][part]));
  const PetscErrorCode filled = Fill(rows, s, values, found);
  for (int m = 0; m < 2; ++m)
    for (int part = 0; part < 2; ++part)
      if (blocks_[m][part]) PetscCall(matrices_.restore(blocks_[m][part], &values[m][part]));
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
