// See refusal.hpp. They read the matrix again, by one thread: there will be no other use of it.
#include "stencil/refusal.hpp"

#include "stencil/stencil.hpp"
#include "grid/text.hpp"

#include <algorithm>

namespace petscrrb {

std::string where_not_positive(const Csr &A, const RowWords &words) {
  for (PetscInt p = 0; p < A.n; ++p) {
    const double diagonal = entry(A, p, p);
    if (!(diagonal > 0) && (diagonal != 0 || !is_identity(A, p)))
      return "the diagonal entry of " + words(p) + " is not positive: the matrix is not positive definite";
  }
  return "";
}

std::string where_asymmetric(const Csr &A, const Flags &identity, double largest_diagonal, const PairWords &words) {
  PetscInt row = A.n, column = A.n;
  for (PetscInt p = 0; p < A.n; ++p)
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e], low = std::min(p, q), high = std::max(p, q);
      if (identity[p] || identity[q] || low > row || (low == row && high >= column)) continue;
      if (std::fabs(A.a[e] - entry(A, q, p)) > symmetric * largest_diagonal) row = low, column = high;
    }
  if (row == A.n) return "";
  return "The matrix is not symmetric: " + words(row, column) + " holds " + text(entry(A, row, column)) +
         ", the transposed entry is " + text(entry(A, column, row)) +
         "; they may differ by 1e-10 of the largest diagonal entry, " + text(largest_diagonal) +
         ". For a nonsymmetric matrix use another preconditioner, for example -ksp_type gmres -pc_type gamg (or ilu)";
}

} // namespace petscrrb
