// Null directions of the last block: one a connected component at most, since it is an M-matrix. A component that may be
// singular is pinned (one diagonal made larger), which makes it regular.
#include "pc/rrb/pcrrb_coarse.h"

#include "petsc/compat.h"

#include <petsc/private/petscimpl.h>

namespace petscrrb::rrb {

namespace {

// part of a pinned diagonal; for components that have negative row sums and so may lose digits
constexpr double singular_below = 1e-11;

} // namespace

// Components of the graph of nonzero values. One whose row sums are all 0 is singular, one that has positive ones and
// no negative one is not; for the rest the factorization decides. Pins the node of largest diagonal in all others.
PetscErrorCode CoarseSolver::FindComponents() {
  const PetscInt n = block_->size();
  PetscInt *stack = pin_.data(); // free until the components are known

  PetscFunctionBegin;
  std::fill(component_.begin(), component_.end(), -1);
  std::fill(kind_.begin(), kind_.end(), Kind::singular);
  components_ = 0;
  for (PetscInt seed = 0; seed < n; ++seed) {
    if (component_[seed] >= 0) continue;
    PetscInt top = 0;
    stack[top++] = seed;
    component_[seed] = components_++;
    while (top) {
      const PetscInt i = stack[--top];
      for (PetscInt p = block_->ia[i]; p < block_->ia[i + 1]; ++p) {
        const PetscInt j = block_->ja[p];
        if (block_->a[p] == 0.0 || component_[j] >= 0) continue;
        component_[j] = component_[seed];
        stack[top++] = j;
      }
    }
  }
  for (PetscInt i = 0; i < n; ++i) {
    Kind &kind = kind_[component_[i]];
    if (block_->excess[i] > 0 && kind == Kind::singular) kind = Kind::regular;
    if (block_->excess[i] < 0) kind = Kind::unknown;
  }
  std::fill(pin_.begin(), pin_.end(), -1);
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt &p = pin_[component_[i]];
    if (kind_[component_[i]] != Kind::regular && (p < 0 || Diagonal(i) > Diagonal(p))) p = i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Pinned means d e e^T added at node p of a component, d its diagonal, which makes the component regular. Its null
// vector is 1 where the row sums say so. Otherwise w = d S^-1 e tells: w_p = d / (s_p + d), s_p the Schur complement of
// p; S is singular where s_p = 0, and w is then its null vector.
PetscErrorCode CoarseSolver::FindNullDirections(PetscBool *spd) {
  const PetscInt n = block_->size();
  PetscBool unpinned = PETSC_FALSE;

  PetscFunctionBegin;
  std::fill(work_.begin(), work_.end(), 0.0);
  for (PetscInt c = 0; c < components_; ++c) {
    const PetscInt p = pin_[c];
    if (p < 0) continue;
    work_[p] = Diagonal(p) > 0 ? Diagonal(p) : 1.0;
    pinned_[DiagonalPlace(p)] += work_[p];
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
    const double schur = kind_[c] == Kind::singular ? 0.0 : 1.0 / null_vector_[p] - 1.0; // s_p / d
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
  std::fill(work_.begin(), work_.end(), 0.0); // |null vector|^2 of each component
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt c = component_[i];
    null_vector_[i] = pin_[c] < 0 ? 0.0 : (kind_[c] == Kind::singular ? 1.0 : null_vector_[i]);
    work_[c] += null_vector_[i] * null_vector_[i];
  }
  for (PetscInt i = 0; i < n; ++i)
    if (pin_[component_[i]] >= 0) null_vector_[i] /= std::sqrt(work_[component_[i]]);
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

// For the inner KSP: the constant vector on each component whose row sums are 0.
PetscErrorCode CoarseSolver::AttachNullSpace() {
  const PetscInt n = block_->size();
  MatNullSpace space = nullptr;
  Vec *basis;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateIncrease((PetscObject)S_));
  for (PetscInt c = 0; c < components_; ++c)
    if (kind_[c] == Kind::singular) ++null_;
  if (!null_) {
    PetscCall(MatSetNullSpace(S_, nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(null_, &basis));
  PetscInt m = 0;
  for (PetscInt c = 0; c < components_; ++c) {
    if (kind_[c] != Kind::singular) continue;
    PetscScalar *x;
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &basis[m]));
    PetscCall(VecGetArray(basis[m], &x));
    for (PetscInt i = 0; i < n; ++i) x[i] = component_[i] == c ? 1.0 : 0.0;
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

} // namespace petscrrb::rrb
