// Which subdomain each row of a matrix on the host is in, and whether the matrix may be deflated at all.
#pragma once

#include "deflation/deflation.hpp"

namespace petscrrb::deflation {

struct Labels {
  std::vector<int> of_row; // -1: an identity row, in none
  int count = 0;           // of subdomains; some boxes may hold no row
  index_t identity_rows = 0;
};

// The reason why this matrix cannot be deflated, or an empty string.
std::string why_not(const Csr &, const std::vector<int> &of_row);

// Returns the reason where there are too many subdomains.
std::string label(const Csr &, const Space &, const double *phi, Labels &);

inline double diagonal(const Csr &a, PetscInt i) {
  for (PetscInt p = a.ia[i]; p < a.ia[i + 1]; ++p)
    if (a.ja[p] == i) return a.a[p];
  return 0.0;
}

} // namespace petscrrb::deflation
