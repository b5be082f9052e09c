/* E of a user's vectors, of which each rank has a summand, inverted for all ranks. */
#pragma once

#include "ksp/deflation/core/deflation.hpp"

#include <petscmat.h>

class PCDeflationUserInverse {
public:
  /* E: this rank's summand, n x n, NULL where it has none. Eigenvalues below floor are rounding. The same on all ranks to the
     last bit. Says in the report why it is refused or failed, and what the null directions are. Collective. */
  PetscErrorCode SetUp(MPI_Comm, Mat E, PetscInt n, PetscReal floor, petscrrb::deflation::Inverse wanted,
                       PetscBool device, petscrrb::deflation::Report *, petscrrb::deflation::Result *);
  PetscErrorCode Solve(Vec c, Vec solution) const;
  PetscErrorCode Reset() { return MatDestroy(&inverse_); }

  petscrrb::deflation::Inverse type = petscrrb::deflation::Inverse::explicit_inverse; /* of the last set-up */

private:
  PetscErrorCode Keep(const std::vector<PetscScalar> &e, PetscInt n, PetscBool device);

  Mat inverse_ = nullptr; /* E^+ or E's factor, all of it */
};
