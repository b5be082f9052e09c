// The words of a refusal.
#include "stencil/couplings.hpp"

#include "stencil/refusal.hpp"
#include "grid/text.hpp"

#include <cmath>

namespace petscrrb {

std::string why_refused(const Csr &A) {
  const auto words = [](PetscInt row, PetscInt column) {
    return "row " + text(index_t(row)) + ", column " + text(index_t(column));
  };
  Flags identity(std::size_t(A.n));
  if (!mark_identity(RankRows(A), identity.data())) return where_not_finite(A);
  double diagonal = 0;
  for (PetscInt p = 0; p < A.n; ++p)
    if (!identity[p]) diagonal = std::max(diagonal, std::fabs(entry(A, p, p)));
  return where_asymmetric(A, identity, diagonal, words);
}

} // namespace petscrrb
