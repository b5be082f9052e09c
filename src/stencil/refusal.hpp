// The words in which the values of a matrix are refused.
#pragma once

#include "grid/pattern.hpp"

namespace petscrrb {

using RowWords = std::function<std::string(PetscInt row)>; // "row p ..."

// The first row whose diagonal entry is not positive; rows of zeros do not count. An empty string if there is none.
std::string where_not_positive(const Csr &, const RowWords &);
// The first two entries that differ by more than `symmetric` (stencil.hpp) of the largest diagonal entry; identity rows and
// their columns do not count. An empty string if there are none.
std::string where_asymmetric(const Csr &, const Flags &identity, double largest_diagonal, const PairWords &);

} // namespace petscrrb
