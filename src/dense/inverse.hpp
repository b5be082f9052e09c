// The (pseudo-)inverse of a small symmetric matrix: the choices, and what may be wrong with the matrix.
#pragma once

namespace petscrrb::dense {

enum class Inverse {
  explicit_inverse, // dense: one product
  cholesky          // two triangular solves
};

// The unknown at which a matrix is seen not to be positive semidefinite.
struct BadPivot {
  int unknown = -1; // -1: none
  double value = 0, diagonal = 0;
};

} // namespace petscrrb::dense
