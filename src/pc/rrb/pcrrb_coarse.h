// Solves with the last Schur complement: PETSc's sparse Cholesky, its dense inverse, or a KSP, which has a null space attached where
// the matrix is singular. What null vectors get: dense/inverse.hpp.
#pragma once

#include "exec/not_copied.hpp"
#include "dense/host/symmetric.hpp"
#include "petscrrb.h"
#include "pc/rrb/core/rrb.hpp"

class PetscRRBStream;

namespace petscrrb::rrb {

class CoarseSolver : NotCopied {
public:
  using Core = Factorization;

  explicit CoarseSolver(PetscRRBStream * = nullptr) {}
  ~CoarseSolver();

  // The last block's arrays stay the core's and must outlive this. ksp may be NULL unless type is KSP.
  PetscErrorCode SetUp(PC, Core &, PCRRBCoarse type, KSP ksp);
  // After new values, once the core has its outcome(). spd: false where the block is not positive (semi)definite.
  PetscErrorCode Refresh(Core &, double null_inverse, PetscBool *spd);
  PetscErrorCode Solve(Core &core, Part part) { return Solve(core.coarse_r(), core.coarse_z(), part); }
  PetscErrorCode Solve(const PetscScalar *r, PetscScalar *z, Part part); // z may be r
  PetscErrorCode Reset();

  // What a solver on a device does besides (pcrrb_last_block.h): what SetUp() will be called with, unless the values say otherwise; and
  // whether Solve() only enqueues work on a stream.
  void Expect(const Extent &, int /* levels */) {}
  bool only_enqueues() const { return false; }

  PetscInt null_directions() const { return null_; }
  double bytes() const { return bytes_; }

private:
  void Pin();
  PetscErrorCode Factor(PetscBool *spd);
  PetscErrorCode FindNullDirections(PetscBool *spd);
  template <class Component> void Normalize(std::vector<PetscScalar> &, const Component &);
  PetscErrorCode SolveBy(PetscErrorCode (*)(Mat, Vec, Vec), PetscScalar *r, PetscScalar *z);
  PetscErrorCode Invert();
  void ScaleForKSP();
  PetscErrorCode AttachNullSpace();
  void Project(PetscScalar *x, PetscScalar *dots) const;
  void AddNull(PetscScalar *x, const PetscScalar *dots, double times) const;
  PetscErrorCode FindLeftNull();
  PetscInt DiagonalPlace(PetscInt i) const {
    const auto first = block_->ja.begin() + block_->ia[i], end = block_->ja.begin() + block_->ia[i + 1];
    return PetscInt(std::lower_bound(first, end, i) - block_->ja.begin());
  }
  double Diagonal(PetscInt i) const { return block_->a[DiagonalPlace(i)]; }

  using Kind = dense::Components::Kind;
  Kind KindOf(PetscInt component) const { return components_.kind(component); }

  LastBlock *block_ = nullptr;
  PCRRBCoarse type_ = PC_RRB_COARSE_CHOLESKY;
  Mat S_ = nullptr, factor_ = nullptr; // S_ shares the block's arrays, except for its values, which are pinned_
  IS row_ = nullptr, col_ = nullptr;
  MatFactorInfo info_ = {};
  Vec r_ = nullptr, z_ = nullptr;
  KSP ksp_ = nullptr;
  double scale_ = 1.0;               // of what the KSP solves, a power of 2
  std::vector<PetscScalar> pinned_;  // the values; where a component may be singular, one diagonal is larger
  std::vector<PetscScalar> inverse_; // dense, symmetric
  std::vector<PetscScalar> work_, rhs_, null_vector_; // null_vector_: the null directions of all components
  std::vector<PetscScalar> dots_;                     // of it and a right-hand side, a component each
  std::vector<PetscScalar>
      left_null_;                 // where there are parts: what the left one makes of null directions, in its order
  std::vector<PetscInt> of_left_; // the component of each place there
  double null_inverse_ = 0.0;
  dense::Components components_;
  std::vector<PetscInt> pin_; // pinned unknown of each component, or -1
  PetscInt null_ = 0;
  double bytes_ = 0;
};

} // namespace petscrrb::rrb
