// Factors, inverts and solves with the last block; what is singular about it is in pcrrb_coarse_null.cxx.
#include "pc/rrb/pcrrb_coarse.h"

#include "pc/pc.h"

#include <petsc/private/petscimpl.h>

namespace petscrrb::rrb {

namespace {

constexpr PetscInt largest_inverse = 4096;

} // namespace

CoarseSolver::~CoarseSolver() {
  PetscBool up = PETSC_FALSE;
  if (PetscInitialized(&up) == PETSC_SUCCESS && up) (void)Reset();
}

PetscErrorCode CoarseSolver::Reset() {
  PetscFunctionBegin;
  PetscCall(MatDestroy(&S_));
  PetscCall(MatDestroy(&factor_));
  PetscCall(ISDestroy(&row_));
  PetscCall(ISDestroy(&col_));
  PetscCall(VecDestroy(&r_));
  PetscCall(VecDestroy(&z_));
  ksp_ = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseSolver::SetUp(LastBlock *block, PCRRBCoarse type, KSP ksp) {
  const PetscInt n = block->size();

  PetscFunctionBegin;
  PetscCall(Reset());
  block_ = block;
  type_ = type;
  ksp_ = type == PC_RRB_COARSE_KSP ? ksp : nullptr;
  PetscCheck(type != PC_RRB_COARSE_INVERSE || n <= largest_inverse, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The dense inverse of the last Schur complement, %" PetscInt_FMT " unknowns, would take %.1f GB; at most "
             "%" PetscInt_FMT " are allowed. Use more -pc_rrb_levels, or -pc_rrb_coarse cholesky",
             n, (double)n * (double)n * sizeof(PetscScalar) * 1e-9, largest_inverse);
  PetscCall(PetscRRBTry(PetscRRBSay("the last block of RRB"), [&] {
    pinned_.assign(block->a.begin(), block->a.end());
    component_.assign(n, 0);
    pin_.assign(n, -1);
    kind_.assign(n, Kind::regular);
    work_.assign(n, 0);
    rhs_.assign(n, 0);
    null_vector_.assign(n, 0);
    inverse_.assign(type == PC_RRB_COARSE_INVERSE ? std::size_t(n) * n : 0, 0);
  }));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, block->ia.data(), block->ja.data(), pinned_.data(), &S_));
  PetscCall(MatSetOption(S_, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, nullptr, &r_));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, nullptr, &z_));
  bytes_ = (pinned_.size() + inverse_.size() + work_.size() + rhs_.size() + null_vector_.size()) * sizeof(PetscScalar) +
           (component_.size() + pin_.size()) * sizeof(PetscInt) + kind_.size() * sizeof(Kind);
  if (type == PC_RRB_COARSE_KSP) {
    PetscCall(KSPSetOperators(ksp, S_, S_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetOrdering(S_, MATORDERINGND, &row_, &col_));
  PetscCall(MatFactorInfoInitialize(&info_));
  info_.fill = 5.0;
  info_.zeropivot = 0.0; // we look at the pivots ourselves
  info_.shifttype = (PetscReal)MAT_SHIFT_NONE;
  PetscCall(MatGetFactor(S_, MATSOLVERPETSC, MAT_FACTOR_CHOLESKY, &factor_));
  PetscCall(MatCholeskyFactorSymbolic(factor_, S_, row_, &info_));
  MatInfo filled;
  PetscCall(MatGetInfo(factor_, MAT_LOCAL, &filled));
  bytes_ += filled.nz_used * (sizeof(PetscScalar) + sizeof(PetscInt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseSolver::Factor(PetscBool *spd) {
  PetscInt negative, zero;
  MatFactorError error;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateIncrease((PetscObject)S_));
  PetscCall(MatCholeskyFactorNumeric(factor_, S_, &info_));
  PetscCall(MatFactorGetError(factor_, &error));
  *spd = PETSC_FALSE;
  if (error != MAT_FACTOR_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetInertia(factor_, &negative, &zero, nullptr));
  *spd = (negative || zero) ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseSolver::Refresh(PetscBool *spd) {
  const PetscInt n = block_->size();
  PetscBool all_regular = PETSC_TRUE;

  PetscFunctionBegin;
  *spd = PETSC_TRUE;
  null_ = 0;
  for (std::size_t i = 0; i < block_->a.size(); ++i) {
    pinned_[i] = block_->a[i];
    if (PetscIsInfOrNanScalar(pinned_[i])) *spd = PETSC_FALSE;
  }
  if (!*spd || !n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindComponents());
  if (type_ == PC_RRB_COARSE_KSP) {
    PetscCall(AttachNullSpace());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt c = 0; c < components_; ++c)
    if (kind_[c] != Kind::regular) all_regular = PETSC_FALSE;
  if (all_regular)
    PetscCall(Factor(spd));
  else
    PetscCall(FindNullDirections(spd));
  if (*spd && type_ == PC_RRB_COARSE_INVERSE) PetscCall(Invert());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseSolver::Invert() {
  const PetscInt n = block_->size();

  PetscFunctionBegin;
  for (PetscInt j = 0; j < n; ++j) {
    PetscScalar *column = inverse_.data() + std::size_t(j) * n;
    std::fill(rhs_.begin(), rhs_.end(), 0.0);
    rhs_[j] = 1.0;
    Project(rhs_.data());
    PetscCall(VecPlaceArray(r_, rhs_.data()));
    PetscCall(VecPlaceArray(z_, column));
    PetscCall(MatSolve(factor_, r_, z_));
    PetscCall(VecResetArray(r_));
    PetscCall(VecResetArray(z_));
    Project(column);
  }
  for (PetscInt j = 0; j < n; ++j)
    for (PetscInt i = 0; i < j; ++i) {
      PetscScalar &a = inverse_[std::size_t(j) * n + i], &b = inverse_[std::size_t(i) * n + j];
      a = b = 0.5 * (a + b);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseSolver::Solve(const PetscScalar *r, PetscScalar *z, Part part) {
  const PetscInt n = block_->size();

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  std::copy_n(r, n, rhs_.data()); // z may be r
  if (type_ == PC_RRB_COARSE_INVERSE) {
#pragma omp parallel for schedule(static) if (n > 256)
    for (PetscInt i = 0; i < n; ++i) {
      const PetscScalar *row = inverse_.data() + std::size_t(i) * n;
      PetscScalar sum = 0.0;
#pragma omp simd reduction(+ : sum)
      for (PetscInt j = 0; j < n; ++j) sum += row[j] * rhs_[j];
      z[i] = sum;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (part != Part::right && !ksp_) Project(rhs_.data());
  PetscCall(VecPlaceArray(r_, rhs_.data()));
  PetscCall(VecPlaceArray(z_, z));
  if (ksp_) {
    MatNullSpace space;
    PetscCall(MatGetNullSpace(S_, &space));
    if (space) PetscCall(MatNullSpaceRemove(space, r_));
    PetscCall(KSPSolve(ksp_, r_, z_));
  } else if (part == Part::whole)
    PetscCall(MatSolve(factor_, r_, z_));
  else if (part == Part::left)
    PetscCall(MatForwardSolve(factor_, r_, z_));
  else
    PetscCall(MatBackwardSolve(factor_, r_, z_));
  PetscCall(VecResetArray(r_));
  PetscCall(VecResetArray(z_));
  if (part != Part::left && !ksp_) Project(z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petscrrb::rrb
