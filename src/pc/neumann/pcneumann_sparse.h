/* PCNEUMANN by PETSc's products with sparse matrices: what is the same wherever they are. */
#pragma once

#include "pc/neumann/pcneumann_data.h"
#include "pc/neumann/core/sparse_values.hpp"

/* The type of matrices of one place, and how the values of a block are got, to write them all. */
struct PCNeumannMatrices {
  MatType type;
  PetscErrorCode (*get)(Mat, PetscScalar **), (*restore)(Mat, PetscScalar **);
};

class PCNeumannSparse : public PCNeumannForm {
public:
  ~PCNeumannSparse() override;
  PetscErrorCode Refresh(PC, const petscrrb::Csr &, petscrrb::RowFacts *) override;
  PetscErrorCode Apply(PC, Vec, Vec) override;
  PetscErrorCode Bytes(PetscLogDouble *) override;

protected:
  PCNeumannSparse(PetscBool device, const PCNeumannMatrices &matrices) : matrices_(matrices), vectors_(device) {}
  /* overlap: of a matrix on several ranks, or NULL */
  PetscErrorCode Create(PC, PetscRRBOverlap *overlap, const petscrrb::neumann::SparsePlan &,
                        const petscrrb::neumann::Series &);
  /* rows with values, where the matrix is */
  virtual PetscErrorCode Exchange(PetscRRBOverlap &, Mat, petscrrb::Csr *) = 0;
  virtual PetscErrorCode Fill(const petscrrb::Csr &, PetscScalar *s, PetscScalar *const values[2][2],
                              petscrrb::RowFacts *) = 0;

  std::unique_ptr<petscrrb::neumann::SparseValues> values_;

private:
  PetscErrorCode CreateMatrix(PC, const petscrrb::neumann::SparsePattern[2], Mat *, Mat blocks[2]);
  PetscErrorCode FillHere(const petscrrb::Csr &, petscrrb::RowFacts *);
  PetscErrorCode Scaled(petscrrb::neumann::Scale, Vec from, Vec to);
  PetscErrorCode Horner(petscrrb::neumann::Triangle, Vec *y);
  PetscErrorCode ApplyHere(Vec, Vec);
  Vec Unused(Vec, Vec) const;

  const PCNeumannMatrices matrices_;
  PetscRRBVectors vectors_;
  petscrrb::neumann::Series series_ = {};
  PetscRRBOverlap *overlap_ = nullptr;
  Mat lower_ = nullptr, second_ = nullptr; /* without the lower one, the second one is M^-1 */
  Mat blocks_[2][2] =
      {}; /* of them: of the rank's own columns, on one rank all of them, and of ghosts'; NULL without entries */
  Vec s_ = nullptr, work_[3] = {};
};
