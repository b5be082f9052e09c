// The (pseudo-)inverse of a dense symmetric matrix by LAPACK, whatever its null vectors are.
#pragma once

#include "dense/inverse.hpp"

#include <petscsys.h>

#include <vector>

namespace petscrrb::dense {

struct Inverted {
  Inverse type = Inverse::explicit_inverse;
  int null_directions = 0;
  PetscReal negative = 0; // an eigenvalue below 0: there is no inverse
};

// a, n x n and symmetric, becomes a^+; it stays where it is to be factored, which is where Cholesky is wanted and there are
// no null directions. Eigenvalues below floor are rounding. Throws where LAPACK fails.
Inverted invert(std::vector<PetscScalar> &a, PetscInt n, PetscReal floor, Inverse wanted);

} // namespace petscrrb::dense
