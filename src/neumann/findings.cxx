// The words of a refusal.
#include "findings.hpp"

#include "grid/fit.hpp"
#include "grid/text.hpp"

#include <cmath>

namespace petscrrb::neumann {
namespace {

double entry(const Csr &A, PetscInt row, PetscInt column) {
  for (PetscInt e = A.ia[row]; e < A.ia[row + 1]; ++e)
    if (A.ja[e] == column) return A.a[e];
  return 0;
}

std::string place_of(PetscInt row, PetscInt column) {
  return "row " + text(index_t(row)) + ", column " + text(index_t(column));
}

std::string where_not_finite(const Csr &A) {
  for (PetscInt p = 0; p < A.n; ++p)
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e)
      if (not_finite(A.a[e]) != 0)
        return "The matrix is not finite: " + place_of(p, A.ja[e]) + " holds " + text(A.a[e]);
  return "";
}

} // namespace

std::string why_refused(const Csr &A) {
  const std::string bad = where_not_finite(A);
  if (!bad.empty()) return bad;
  Flags identity;
  (void)mark_identity(A, identity);
  double diagonal = 0;
  for (PetscInt p = 0; p < A.n; ++p)
    if (!identity[p]) diagonal = std::max(diagonal, std::fabs(entry(A, p, p)));
  PetscInt row = A.n, column = A.n;
  for (PetscInt p = 0; p < A.n; ++p)
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e], low = std::min(p, q), high = std::max(p, q);
      if (identity[p] || identity[q] || low > row || (low == row && high >= column)) continue;
      if (std::fabs(A.a[e] - entry(A, q, p)) > symmetric * diagonal) row = low, column = high;
    }
  if (row == A.n) return "The matrix is not symmetric";
  return "The matrix is not symmetric: " + place_of(row, column) + " holds " + text(entry(A, row, column)) +
         ", the transposed entry is " + text(entry(A, column, row)) +
         "; they may differ by 1e-10 of the largest diagonal entry, " + text(diagonal) +
         ". For a nonsymmetric matrix use another preconditioner, for example -ksp_type gmres -pc_type gamg (or ilu)";
}

} // namespace petscrrb::neumann
