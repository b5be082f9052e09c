/* PCNEUMANN by PETSc's products with sparse matrices: what is the same wherever they are. */
#pragma once

#include "neumann/pcneumann_impl.h"
#include "neumann/sparse_values.hpp"

class PCNeumannSparse : public PCNeumannForm {
public:
  ~PCNeumannSparse() override;
  PetscErrorCode Refresh(PC, const petscrrb::Csr &, petscrrb::CouplingFindings *) override;
  PetscErrorCode Apply(PC, Vec, Vec) override;
  PetscErrorCode Bytes(PetscLogDouble *) override;

protected:
  /* type: of the matrices */
  PetscErrorCode Create(PetscInt rows, MatType type, const petscrrb::neumann::SparsePlan &,
                        const petscrrb::neumann::Series &);
  /* the arrays of the matrices and of s to values_->refresh() */
  virtual PetscErrorCode Fill(const petscrrb::Csr &, Vec s, Mat lower, Mat second, petscrrb::CouplingFindings *) = 0;
  virtual PetscBool on_device() const = 0;

  std::unique_ptr<petscrrb::neumann::SparseValues> values_;

private:
  PetscErrorCode Scaled(petscrrb::neumann::Scale, Vec from, Vec to);
  PetscErrorCode Horner(petscrrb::neumann::Triangle, Vec *y);
  PetscErrorCode ApplyHere(Vec, Vec);
  Vec Unused(Vec, Vec) const;

  petscrrb::neumann::Series series_ = {};
  Mat lower_ = nullptr, second_ = nullptr; /* without the lower one, the second one is M^-1 */
  Vec s_ = nullptr, work_[3] = {}, x_ = nullptr, y_ = nullptr;
};
