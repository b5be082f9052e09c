/* Vectors of rows and of a rank's box of grid points, where the box is not just the rank's own rows. */
#pragma once

#include "exec/not_copied.hpp"
#include "petsc/compat.h"
#include "petsc/ghosts.h"

class PetscRRBBoxVectors : petscrrb::NotCopied {
public:
  explicit PetscRRBBoxVectors(PetscBool device) : device_(device) {} /* where all arrays are */
  ~PetscRRBBoxVectors() { (void)Clear(); }

  /* rows: the global row of each point of the box, in its order. Collective. */
  PetscErrorCode Build(PetscLayout of_rows, const std::vector<PetscInt> &rows) {
    PetscFunctionBegin;
    PetscCall(Clear());
    PetscCall(PetscSFCreate(of_rows->comm, &sf_));
    PetscCall(PetscSFSetGraphLayout(sf_, of_rows, (PetscInt)rows.size(), nullptr, PETSC_COPY_VALUES, rows.data()));
    PetscCall(PetscSFSetUp(sf_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Clear() { return PetscSFDestroy(&sf_); }

  /* Whether each rank's box is its rows, in their order, as long as nothing else has been built: then nothing goes anywhere. */
  bool as_rows() const { return !sf_; }
  PetscErrorCode ToBoxes(const PetscScalar *rows, PetscScalar *box) const {
    return PetscRRBExchange(sf_, device_, MPIU_SCALAR, rows, box);
  }
  PetscErrorCode ToRows(const PetscScalar *box, PetscScalar *rows) const {
    const PetscMemType here = device_ ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;

    PetscFunctionBegin;
    PetscCall(PetscSFReduceWithMemTypeBegin(sf_, MPIU_SCALAR, here, box, here, rows, MPI_REPLACE));
    PetscCall(PetscSFReduceEnd(sf_, MPIU_SCALAR, box, rows, MPI_REPLACE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscBool device_;
  PetscSF sf_ = nullptr;
};
