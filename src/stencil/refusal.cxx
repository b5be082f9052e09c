// See refusal.hpp. They read the matrix again, by one thread: there will be no other use of it.
#include "stencil/refusal.hpp"

#include "stencil/stencil.hpp"
#include "grid/text.hpp"

#include <algorithm>

namespace petscrrb {

std::string not_positive(const std::string &row) {
  return "the diagonal entry of " + row + " is not positive: the matrix is not positive definite";
}

std::string where_asymmetric(const Csr &A, const Flags &identity, const PairWords &words) {
  PetscInt row = A.n, column = A.n;
  for (PetscInt p = 0; p < A.n; ++p)
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e], low = std::min(p, q), high = std::max(p, q);
      if (identity[p] || identity[q] || low > row || (low == row && high >= column)) continue;
      const double there = entry(A, q, p);
      if (differ(A.a[e], there) && asymmetry(A.a[e], there, entry(A, p, p), entry(A, q, q)) > symmetric)
        row = low, column = high;
    }
  if (row == A.n) return "";
  return "The matrix is not symmetric: " + words(row, column) + " holds " + text(entry(A, row, column)) +
         ", the transposed entry is " + text(entry(A, column, row)) +
         "; they may differ by at most 1e-10 of the smaller diagonal entry of the two rows, " +
         text(std::min(std::fabs(entry(A, row, row)), std::fabs(entry(A, column, column)))) +
         ". For a nonsymmetric matrix use another preconditioner, for example -ksp_type gmres -pc_type gamg (or ilu)";
}

std::string why_refused(const Csr &A) {
  Flags identity(std::size_t(A.n));
  if (!mark_identity(RankRows(A), identity.data())) return where_not_finite(RankRows(A), plain_words);
  return where_asymmetric(A, identity, plain_words);
}

} // namespace petscrrb
