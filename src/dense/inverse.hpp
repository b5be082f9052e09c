// The (pseudo-)inverse of a small symmetric matrix: the choices, and what may be wrong with the matrix.
#pragma once

namespace petscrrb::dense {

enum class Inverse {
  explicit_inverse, // dense: one product
  cholesky          // two triangular solves
};

// What becomes of the null vectors v of a semidefinite matrix, |v| = 1: the inverse is S^+ plus the sum of null_inverse v v^T. 0: the
// pseudo-inverse, which does not see them; a preconditioner that is to be definite has another number, of the size of 1 / a_ii.

// The unknown at which a matrix is seen not to be positive semidefinite.
struct BadPivot {
  int unknown = -1; // -1: none
  double value = 0, diagonal = 0;
};

} // namespace petscrrb::dense
