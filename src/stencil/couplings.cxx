// The words of a refusal.
#include "stencil/couplings.hpp"

#include "stencil/read_couplings.hpp"
#include "stencil/refusal.hpp"
#include "grid/text.hpp"

#include <cmath>

namespace petscrrb {

std::string why_refused(const Csr &A) {
  const auto words = [](PetscInt row, PetscInt column) {
    return "row " + text(index_t(row)) + ", column " + text(index_t(column));
  };
  const std::string bad = where_not_finite(A, words);
  if (!bad.empty()) return bad;
  Flags identity;
  (void)mark_identity(A, identity);
  double diagonal = 0;
  for (PetscInt p = 0; p < A.n; ++p)
    if (!identity[p]) diagonal = std::max(diagonal, std::fabs(entry(A, p, p)));
  return where_asymmetric(A, identity, diagonal, words);
}

} // namespace petscrrb
