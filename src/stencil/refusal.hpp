// The words in which the values of a matrix are refused.
#pragma once

#include "grid/csr.hpp"
#include "grid/fit.hpp"

#include <functional>
#include <string>

namespace petscrrb {

// "row p ..., column q ...", with coordinates where there is a grid
using PairWords = std::function<std::string(PetscInt row, PetscInt column)>;
using RowWords = std::function<std::string(PetscInt row)>; // "row p ..."

// The first entry that is not finite; an empty string if all are.
std::string where_not_finite(const Csr &, const PairWords &);
// The first row whose diagonal entry is not positive; rows of zeros do not count. An empty string if there is none.
std::string where_not_positive(const Csr &, const RowWords &);
// The first two entries that differ by more than `symmetric` (stencil.hpp) of the largest diagonal entry; identity rows and
// their columns do not count. An empty string if there are none.
std::string where_asymmetric(const Csr &, const Flags &identity, double largest_diagonal, const PairWords &);

} // namespace petscrrb
