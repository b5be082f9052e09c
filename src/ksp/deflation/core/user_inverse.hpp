// E of vectors that a user gives: dense, and perhaps singular, whatever its null vectors are.
#pragma once

#include "ksp/deflation/core/deflation.hpp"

#include <petscsys.h>

namespace petscrrb::deflation {

struct UserInverse {
  Result result = Result::ok;
  std::string why; // of refused and failed
  Inverse type = Inverse::explicit_inverse;
  int null_directions = 0;
};

// e is E, n x n. It becomes E^+, or its own symmetric part where it is to be factored: where Cholesky is wanted and there
// are no null directions. Eigenvalues below floor are rounding. Throws where LAPACK fails.
UserInverse invert_user(std::vector<PetscScalar> &e, int n, PetscReal floor, Inverse wanted);

} // namespace petscrrb::deflation
