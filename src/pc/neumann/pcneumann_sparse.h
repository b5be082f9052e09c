/* PCNEUMANN by PETSc's products with sparse matrices: what is the same wherever they are. */
#pragma once

#include "pc/neumann/pcneumann_data.h"
#include "pc/neumann/core/sparse_values.hpp"

/* Of one matrix: that of the rank's own columns, which is the matrix itself on one rank, and that of ghosts' columns. NULL
   where there are no entries. */
struct PCNeumannBlocks {
  Mat own = nullptr, ghost = nullptr;
};

class PCNeumannSparse : public PCNeumannForm {
public:
  ~PCNeumannSparse() override;
  PetscErrorCode Refresh(PC, const petscrrb::Csr &, petscrrb::RowFacts *) override;
  PetscErrorCode Apply(PC, Vec, Vec) override;
  PetscErrorCode Bytes(PetscLogDouble *) override;

protected:
  /* overlap: of a matrix on several ranks, or NULL; types: of the matrices, on one rank and on several */
  PetscErrorCode Create(PC, PetscRRBOverlap *overlap, const MatType types[2], const petscrrb::neumann::SparsePlan &,
                        const petscrrb::neumann::Series &);
  virtual PetscErrorCode Exchange(PetscRRBOverlap &, Mat,
                                  petscrrb::Csr *) = 0; /* rows with values, where the matrix is */
  virtual PetscErrorCode GetArray(Mat, PetscScalar **) = 0;
  virtual PetscErrorCode RestoreArray(Mat, PetscScalar **) = 0;
  virtual PetscErrorCode Fill(const petscrrb::Csr &, PetscScalar *s, petscrrb::neumann::SparseArrays lower,
                              petscrrb::neumann::SparseArrays second, petscrrb::RowFacts *) = 0;
  virtual PetscBool on_device() const = 0;

  std::unique_ptr<petscrrb::neumann::SparseValues> values_;

private:
  PetscErrorCode FillHere(const petscrrb::Csr &, petscrrb::RowFacts *);
  PetscErrorCode Scaled(petscrrb::neumann::Scale, Vec from, Vec to);
  PetscErrorCode Horner(petscrrb::neumann::Triangle, Vec *y);
  PetscErrorCode ApplyHere(Vec, Vec);
  Vec Unused(Vec, Vec) const;

  petscrrb::neumann::Series series_ = {};
  PetscRRBOverlap *overlap_ = nullptr;
  Mat lower_ = nullptr, second_ = nullptr; /* without the lower one, the second one is M^-1 */
  PCNeumannBlocks blocks_[2];              /* of them */
  Vec s_ = nullptr, work_[3] = {}, x_ = nullptr, y_ = nullptr;
};
