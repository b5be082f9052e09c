// The coarse solver. Null directions of an M-matrix: one a connected component at most. A component that may be
// singular is pinned (one diagonal made larger), which makes it regular; the pinned factor then tells whether it was.
#include "rrb/coarse.hpp"

#include "glue/petsc_compat.h"

#include <petsc/private/petscimpl.h>

namespace petscrrb::rrb {

namespace {

constexpr PetscInt largest_inverse = 4096;
// relative to the original diagonal; the block's rounding errors add up over all nodes above it
constexpr double singular_below = 1e-11;

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

PetscErrorCode CoarseSolver::SetUp(LastBlock<PetscInt> *block, PCRRBCoarse type, KSP ksp) {
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
  pinned_.assign(block->a.begin(), block->a.end());
  component_.assign(n, 0);
  pin_.assign(n, -1);
  excess_min_.assign(n, 0);
  excess_max_.assign(n, 0);
  work_.assign(n, 0);
  rhs_.assign(n, 0);
  null_vector_.assign(n, 0);
  inverse_.assign(type == PC_RRB_COARSE_INVERSE ? std::size_t(n) * n : 0, 0);
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, block->ia.data(), block->ja.data(), pinned_.data(), &S_));
  PetscCall(MatSetOption(S_, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, nullptr, &r_));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, nullptr, &z_));
  bytes_ = (pinned_.size() + inverse_.size() + work_.size() + rhs_.size() + null_vector_.size()) * sizeof(PetscScalar) +
           (component_.size() + pin_.size()) * sizeof(PetscInt) + 2.0 * n * sizeof(double);
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

// Components of the graph of nonzero values, and how far each is from having v as its null vector.
PetscErrorCode CoarseSolver::FindComponents() {
  const PetscInt n = block_->size();
  PetscInt *stack = pin_.data(); // free until the components are known

  PetscFunctionBegin;
  std::fill(component_.begin(), component_.end(), -1);
  components_ = 0;
  for (PetscInt seed = 0; seed < n; ++seed) {
    if (component_[seed] >= 0) continue;
    PetscInt top = 0;
    stack[top++] = seed;
    component_[seed] = components_;
    excess_min_[components_] = PETSC_MAX_REAL;
    excess_max_[components_] = -PETSC_MAX_REAL;
    while (top) {
      const PetscInt i = stack[--top];
      double sum = 0.0;
      for (PetscInt p = block_->ia[i]; p < block_->ia[i + 1]; ++p) {
        const PetscInt j = block_->ja[p];
        sum += block_->a[p] * Weight(j);
        if (block_->a[p] == 0.0 || component_[j] >= 0) continue;
        component_[j] = components_;
        stack[top++] = j;
      }
      const double excess = sum / (Weight(i) != 0.0 ? Weight(i) * block_->original[i] : block_->original[i]);
      excess_min_[components_] = std::min(excess_min_[components_], excess);
      excess_max_[components_] = std::max(excess_max_[components_], excess);
    }
    ++components_;
  }
  std::fill(pin_.begin(), pin_.end(), -1);
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt &p = pin_[component_[i]];
    if (p < 0 || block_->original[i] > block_->original[p]) p = i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// No for irreducibly diagonally dominant components, which is nearly all of them; the factorization decides the rest.
bool CoarseSolver::MaybeSingular(PetscInt c) const { return !(excess_min_[c] > -1e-13 && excess_max_[c] > 1e-6); }

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
  PetscInt pins = 0;

  PetscFunctionBegin;
  *spd = PETSC_TRUE;
  null_ = 0;
  for (PetscInt i = 0; i < PetscInt(block_->a.size()); ++i) {
    pinned_[i] = block_->a[i];
    if (PetscIsInfOrNanScalar(pinned_[i])) *spd = PETSC_FALSE;
  }
  if (!*spd || !n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindComponents());
  for (PetscInt c = 0; c < components_; ++c)
    if (MaybeSingular(c)) ++pins;
    else pin_[c] = -1;
  if (type_ == PC_RRB_COARSE_KSP) {
    PetscCall(AttachNullSpace());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pins) PetscCall(FindNullDirections(spd));
  else PetscCall(Factor(spd));
  if (*spd && type_ == PC_RRB_COARSE_INVERSE) PetscCall(Invert());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// With c0 e e^T added at node p of a component, w = c0 S^-1 e has w_p = c0 / (s_p + c0), s_p the Schur complement of
// p: S is singular where s_p = 0, and then w is its null vector.
PetscErrorCode CoarseSolver::FindNullDirections(PetscBool *spd) {
  const PetscInt n = block_->size();
  const auto diagonal = [&](PetscInt i) -> PetscScalar & {
    const auto first = block_->ja.begin() + block_->ia[i], end = block_->ja.begin() + block_->ia[i + 1];
    return pinned_[std::lower_bound(first, end, i) - block_->ja.begin()];
  };
  PetscBool unpinned = PETSC_FALSE;

  PetscFunctionBegin;
  std::fill(work_.begin(), work_.end(), 0.0);
  for (PetscInt c = 0; c < components_; ++c) {
    const PetscInt p = pin_[c];
    if (p < 0) continue;
    work_[p] = block_->original[p] > 0 ? block_->original[p] : 1.0;
    diagonal(p) += work_[p];
  }
  PetscCall(Factor(spd));
  if (!*spd) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecPlaceArray(r_, work_.data()));
  PetscCall(VecPlaceArray(z_, null_vector_.data()));
  PetscCall(MatSolve(factor_, r_, z_));
  PetscCall(VecResetArray(r_));
  PetscCall(VecResetArray(z_));
  for (PetscInt c = 0; c < components_; ++c) {
    const PetscInt p = pin_[c];
    if (p < 0) continue;
    const double schur = 1.0 / null_vector_[p] - 1.0; // s_p / c0
    if (schur < -singular_below) *spd = PETSC_FALSE;
    if (schur <= singular_below) {
      ++null_;
      continue;
    }
    diagonal(p) -= work_[p];
    pin_[c] = -1;
    unpinned = PETSC_TRUE;
  }
  if (!*spd) PetscFunctionReturn(PETSC_SUCCESS);
  if (unpinned) PetscCall(Factor(spd));
  std::fill(work_.begin(), work_.end(), 0.0); // |null vector|^2 of each component
  for (PetscInt i = 0; i < n; ++i)
    if (pin_[component_[i]] >= 0) work_[component_[i]] += null_vector_[i] * null_vector_[i];
  for (PetscInt i = 0; i < n; ++i)
    null_vector_[i] = pin_[component_[i]] >= 0 ? null_vector_[i] / std::sqrt(work_[component_[i]]) : 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// x -= the null directions' share of x
void CoarseSolver::Project(PetscScalar *x) const {
  if (!null_) return;
  PetscScalar *dot = const_cast<PetscScalar *>(work_.data());
  std::fill_n(dot, components_, 0.0);
  for (PetscInt i = 0; i < block_->size(); ++i) dot[component_[i]] += null_vector_[i] * x[i];
  for (PetscInt i = 0; i < block_->size(); ++i) x[i] -= dot[component_[i]] * null_vector_[i];
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

// For the inner KSP: a component whose rows all vanish on v has v as its null vector.
PetscErrorCode CoarseSolver::AttachNullSpace() {
  const PetscInt n = block_->size();
  MatNullSpace space = nullptr;
  Vec *basis;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateIncrease((PetscObject)S_));
  for (PetscInt c = 0; c < components_; ++c) {
    if (PetscMax(PetscAbsReal(excess_min_[c]), PetscAbsReal(excess_max_[c])) > singular_below) pin_[c] = -1;
    else ++null_;
  }
  if (!null_) {
    PetscCall(MatSetNullSpace(S_, nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(null_, &basis));
  PetscInt m = 0;
  for (PetscInt c = 0; c < components_; ++c) {
    if (pin_[c] < 0) continue;
    PetscScalar *x;
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &basis[m]));
    PetscCall(VecGetArray(basis[m], &x));
    for (PetscInt i = 0; i < n; ++i) x[i] = component_[i] == c ? Weight(i) : 0.0;
    PetscCall(VecRestoreArray(basis[m], &x));
    PetscCall(VecNormalize(basis[m++], nullptr));
  }
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, m, basis, &space));
  PetscCall(MatSetNullSpace(S_, space));
  PetscCall(MatNullSpaceDestroy(&space));
  for (PetscInt i = 0; i < m; ++i) PetscCall(VecDestroy(&basis[i]));
  PetscCall(PetscFree(basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseSolver::Solve(const PetscScalar *r, PetscScalar *z, Part part) {
  const PetscInt n = block_->size();

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  if (type_ == PC_RRB_COARSE_INVERSE) {
#pragma omp parallel for schedule(static) if (n > 256)
    for (PetscInt i = 0; i < n; ++i) {
      const PetscScalar *row = inverse_.data() + std::size_t(i) * n;
      PetscScalar sum = 0.0;
#pragma omp simd reduction(+ : sum)
      for (PetscInt j = 0; j < n; ++j) sum += row[j] * r[j];
      z[i] = sum;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::copy_n(r, n, rhs_.data());
  if (part != Part::right && !ksp_) Project(rhs_.data());
  PetscCall(VecPlaceArray(r_, rhs_.data()));
  PetscCall(VecPlaceArray(z_, z));
  if (ksp_) {
    MatNullSpace space;
    PetscCall(MatGetNullSpace(S_, &space));
    if (space) PetscCall(MatNullSpaceRemove(space, r_));
    PetscCall(KSPSolve(ksp_, r_, z_));
  } else if (part == Part::whole) PetscCall(MatSolve(factor_, r_, z_));
  else if (part == Part::left) PetscCall(MatForwardSolve(factor_, r_, z_));
  else PetscCall(MatBackwardSolve(factor_, r_, z_));
  PetscCall(VecResetArray(r_));
  PetscCall(VecResetArray(z_));
  if (part != Part::left && !ksp_) Project(z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petscrrb::rrb
