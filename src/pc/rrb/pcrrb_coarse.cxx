// Factors, inverts and solves with the last block. It has one null direction a connected component at most, since it is an
// M-matrix; a component that may be singular is pinned (one diagonal made larger), which makes it regular.
#include "pc/rrb/pcrrb_coarse.h"

#include "pc/pc.h"
#include "petsc/compat.h"
#include "stencil/scales.hpp"

#include <petsc/private/petscimpl.h>

namespace petscrrb::rrb {

constexpr PetscInt largest_inverse = 4096;
// part of a pinned diagonal; for components that have negative row sums and so may lose digits
constexpr double singular_below = 1e-11;

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

PetscErrorCode CoarseSolver::SetUp(PC, Core &core, PCRRBCoarse type, KSP ksp) {
  LastBlock *const block = &core.last_block();
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
    components_.resize(n);
    pin_.assign(n, -1);
    work_.assign(n, 0);
    rhs_.assign(n, 0);
    null_vector_.assign(n, 0);
    dots_.assign(n, 0);
    inverse_.assign(type == PC_RRB_COARSE_INVERSE ? std::size_t(n) * n : 0, 0);
  }));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, block->ia.data(), block->ja.data(), pinned_.data(), &S_));
  PetscCall(MatSetOption(S_, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, nullptr, &r_));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, nullptr, &z_));
  bytes_ = (pinned_.size() + inverse_.size() + work_.size() + rhs_.size() + null_vector_.size() + dots_.size()) *
               sizeof(PetscScalar) +
           components_.bytes() + pin_.size() * sizeof(PetscInt);
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
  *spd = (PetscBool)(!negative && !zero);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseSolver::Refresh(Core &, double null_inverse, PetscBool *spd) {
  const PetscInt n = block_->size();
  PetscBool all_regular = PETSC_TRUE;

  PetscFunctionBegin;
  *spd = PETSC_TRUE;
  null_ = 0;
  null_inverse_ = null_inverse;
  left_null_.clear();
  for (std::size_t i = 0; i < block_->a.size(); ++i) {
    pinned_[i] = block_->a[i];
    if (PetscIsInfOrNanScalar(pinned_[i])) *spd = PETSC_FALSE;
  }
  if (!*spd || !n) PetscFunctionReturn(PETSC_SUCCESS);
  components_.find(block_->ia.data(), block_->ja.data(), block_->a.data(), block_->excess.data());
  if (type_ == PC_RRB_COARSE_KSP) {
    ScaleForKSP();
    PetscCall(AttachNullSpace());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt c = 0; c < components_.count(); ++c)
    if (KindOf(c) != Kind::regular) all_regular = PETSC_FALSE;
  PetscCall(all_regular ? Factor(spd) : FindNullDirections(spd));
  if (*spd && type_ == PC_RRB_COARSE_INVERSE) PetscCall(Invert());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// z = the factor's solve of r, or the KSP, which may scale r
PetscErrorCode CoarseSolver::SolveBy(PetscErrorCode (*solve)(Mat, Vec, Vec), PetscScalar *r, PetscScalar *z) {
  PetscFunctionBegin;
  PetscCall(VecPlaceArray(r_, r));
  PetscCall(VecPlaceArray(z_, z));
  if (ksp_) PetscCall(VecScale(r_, scale_));
  PetscCall(ksp_ ? KSPSolve(ksp_, r_, z_) : solve(factor_, r_, z_));
  PetscCall(VecResetArray(r_));
  PetscCall(VecResetArray(z_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseSolver::Invert() {
  const PetscInt n = block_->size();

  PetscFunctionBegin;
  for (PetscInt j = 0; j < n; ++j) {
    PetscScalar *column = inverse_.data() + std::size_t(j) * n;
    std::fill(rhs_.begin(), rhs_.end(), 0.0);
    rhs_[j] = 1.0;
    Project(rhs_.data(), dots_.data());
    PetscCall(SolveBy(MatSolve, rhs_.data(), column));
    Project(column, work_.data());
    AddNull(column, dots_.data(), null_inverse_);
  }
  dense::make_symmetric(inverse_.data(), n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseSolver::Solve(const PetscScalar *r, PetscScalar *z, Part part) {
  const PetscInt n = block_->size();

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  std::copy_n(r, n, rhs_.data()); // z may be r
  if (type_ == PC_RRB_COARSE_INVERSE) {
    dense::multiply(inverse_.data(), n, rhs_.data(), [&](PetscInt i, double value) { z[i] = value; });
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (part != Part::whole && null_ && left_null_.empty()) PetscCall(FindLeftNull());
  if (part == Part::right && null_) {
    std::fill_n(dots_.data(), components_.count(), 0.0);
    for (PetscInt i = 0; i < n; ++i) dots_[of_left_[i]] += left_null_[i] * rhs_[i];
  }
  if (part != Part::right) Project(rhs_.data(), dots_.data());
  PetscCall(SolveBy(part == Part::whole  ? MatSolve
                    : part == Part::left ? MatForwardSolve
                                         : MatBackwardSolve,
                    rhs_.data(), z));
  if (part != Part::left) Project(z, work_.data());
  if (part == Part::whole) AddNull(z, dots_.data(), null_inverse_);
  if (part == Part::right) AddNull(z, dots_.data(), std::sqrt(null_inverse_));
  if (part == Part::left && null_)
    for (PetscInt i = 0; i < n; ++i) z[i] += std::sqrt(null_inverse_) * dots_[of_left_[i]] * left_null_[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// --- null directions ---

// The node of largest diagonal of each component that may be singular.
void CoarseSolver::Pin() {
  std::fill(pin_.begin(), pin_.end(), -1);
  for (PetscInt i = 0; i < block_->size(); ++i) {
    PetscInt &p = pin_[components_.of(i)];
    if (KindOf(components_.of(i)) != Kind::regular && (p < 0 || Diagonal(i) > Diagonal(p))) p = i;
  }
}

// Pinned means d e e^T added at node p of a component, d its diagonal, which makes the component regular. Its null
// vector is 1 where the row sums say so. Otherwise w = d S^-1 e tells: w_p = d / (s_p + d), s_p the Schur complement of
// p; S is singular where s_p = 0, and w is then its null vector.
PetscErrorCode CoarseSolver::FindNullDirections(PetscBool *spd) {
  const PetscInt n = block_->size();
  PetscBool unpinned = PETSC_FALSE;

  PetscFunctionBegin;
  Pin();
  std::fill(work_.begin(), work_.end(), 0.0);
  for (PetscInt c = 0; c < components_.count(); ++c) {
    const PetscInt p = pin_[c];
    if (p < 0) continue;
    work_[p] = Diagonal(p) > 0 ? Diagonal(p) : 1.0;
    pinned_[DiagonalPlace(p)] += work_[p];
  }
  PetscCall(Factor(spd));
  if (!*spd) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SolveBy(MatSolve, work_.data(), null_vector_.data()));
  for (PetscInt c = 0; c < components_.count(); ++c) {
    const PetscInt p = pin_[c];
    if (p < 0) continue;
    const double schur = KindOf(c) == Kind::singular ? 0.0 : 1.0 / null_vector_[p] - 1.0; // s_p / d
    if (schur < -singular_below) *spd = PETSC_FALSE;
    if (schur <= singular_below) {
      ++null_;
      continue;
    }
    pinned_[DiagonalPlace(p)] -= work_[p];
    pin_[c] = -1;
    unpinned = PETSC_TRUE;
  }
  if (!*spd) PetscFunctionReturn(PETSC_SUCCESS);
  if (unpinned) PetscCall(Factor(spd));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt c = components_.of(i);
    null_vector_[i] = pin_[c] < 0 ? 0.0 : (KindOf(c) == Kind::singular ? 1.0 : null_vector_[i]);
  }
  Normalize(null_vector_, [&](PetscInt i) { return components_.of(i); });
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Each component's part of x to length 1, where it is not 0. component(i): that of x_i
template <class Component> void CoarseSolver::Normalize(std::vector<PetscScalar> &x, const Component &component) {
  std::fill(work_.begin(), work_.end(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) work_[component(i)] += x[i] * x[i];
  for (std::size_t i = 0; i < x.size(); ++i)
    if (const double square = work_[component(i)]; square > 0) x[i] /= std::sqrt(square);
}

// x -= the null directions' share of x, a number a component, which is kept
void CoarseSolver::Project(PetscScalar *x, PetscScalar *dots) const {
  if (!null_) return;
  std::fill_n(dots, components_.count(), 0.0);
  for (PetscInt i = 0; i < block_->size(); ++i) dots[components_.of(i)] += null_vector_[i] * x[i];
  for (PetscInt i = 0; i < block_->size(); ++i) x[i] -= dots[components_.of(i)] * null_vector_[i];
}
void CoarseSolver::AddNull(PetscScalar *x, const PetscScalar *dots, double times) const {
  if (!null_) return;
  for (PetscInt i = 0; i < block_->size(); ++i) x[i] += times * dots[components_.of(i)] * null_vector_[i];
}

// L^-1 e of the pinned unknown of each component, of length 1: nothing that L^-1 makes of projected vectors has a share of it, and
// L^-T makes a null vector of it.
PetscErrorCode CoarseSolver::FindLeftNull() {
  const PetscInt n = block_->size(), *order;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBSay("the last block of RRB"), [&] { left_null_.resize(n), of_left_.resize(n); }));
  std::fill(work_.begin(), work_.end(), 0.0);
  for (PetscInt c = 0; c < components_.count(); ++c)
    if (pin_[c] >= 0) work_[pin_[c]] = 1.0;
  PetscCall(SolveBy(MatForwardSolve, work_.data(), left_null_.data()));
  PetscCall(ISGetIndices(row_, &order));
  for (PetscInt i = 0; i < n; ++i) of_left_[i] = components_.of(order[i]);
  PetscCall(ISRestoreIndices(row_, &order));
  Normalize(left_null_, [&](PetscInt i) { return of_left_[i]; });
  PetscFunctionReturn(PETSC_SUCCESS);
}

// For the inner KSP the largest diagonal is brought to between 1 and 2, since what PETSc takes for a zero pivot is absolute.
void CoarseSolver::ScaleForKSP() {
  double largest = 0.0;
  for (PetscInt i = 0; i < block_->size(); ++i) largest = std::max(largest, Diagonal(i));
  scale_ = Scales::of(largest).to;
  for (PetscScalar &value : pinned_) value *= scale_;
}

// For the inner KSP: the constant vector on each component whose row sums are 0.
PetscErrorCode CoarseSolver::AttachNullSpace() {
  const PetscInt n = block_->size();
  MatNullSpace space = nullptr;
  Vec *basis;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateIncrease((PetscObject)S_));
  for (PetscInt c = 0; c < components_.count(); ++c) null_ += KindOf(c) == Kind::singular;
  for (PetscInt i = 0; i < n; ++i) null_vector_[i] = KindOf(components_.of(i)) == Kind::singular ? 1.0 : 0.0;
  if (!null_) {
    PetscCall(MatSetNullSpace(S_, nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Normalize(null_vector_, [&](PetscInt i) { return components_.of(i); });
  PetscCall(PetscMalloc1(null_, &basis));
  PetscInt m = 0;
  for (PetscInt c = 0; c < components_.count(); ++c) {
    if (KindOf(c) != Kind::singular) continue;
    PetscScalar *x;
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &basis[m]));
    PetscCall(VecGetArray(basis[m], &x));
    for (PetscInt i = 0; i < n; ++i) x[i] = components_.of(i) == c ? null_vector_[i] : 0.0;
    PetscCall(VecRestoreArray(basis[m++], &x));
  }
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, m, basis, &space));
  PetscCall(MatSetNullSpace(S_, space));
  PetscCall(MatNullSpaceDestroy(&space));
  for (PetscInt i = 0; i < m; ++i) PetscCall(VecDestroy(&basis[i]));
  PetscCall(PetscFree(basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petscrrb::rrb
