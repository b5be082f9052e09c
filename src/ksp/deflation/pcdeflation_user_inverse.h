/* E of a user's vectors, of which each rank has a summand, inverted for all ranks. */
#pragma once

#include "ksp/deflation/core/deflation.hpp"

#include <petscmat.h>

class PCDeflationUserInverse {
public:
  /* E: this rank's summand, n x n, NULL where it has none. Eigenvalues below floor are rounding. The same on all ranks to the
     last bit. Collective. */
  PetscErrorCode SetUp(MPI_Comm, Mat E, PetscInt n, PetscReal floor, petscrrb::deflation::Inverse wanted,
                       PetscBool device);
  PetscErrorCode Solve(Vec c, Vec solution) const;
  PetscErrorCode Reset() { return MatDestroy(&inverse_); }

  /* of the last set-up */
  petscrrb::deflation::Result result = petscrrb::deflation::Result::ok;
  std::string why; /* of refused and failed */
  petscrrb::deflation::Inverse type = petscrrb::deflation::Inverse::explicit_inverse;
  int null_directions = 0;

private:
  void Invert(std::vector<PetscScalar> &e, PetscInt n, PetscReal floor, petscrrb::deflation::Inverse wanted);
  PetscErrorCode Share(MPI_Comm, std::vector<PetscScalar> *e);
  PetscErrorCode Keep(const std::vector<PetscScalar> &e, PetscInt n, PetscBool device);

  Mat inverse_ = nullptr; /* E^+ or E's factor, all of it */
};
