// The words in which the values of a matrix are refused.
#pragma once

#include "grid/pattern.hpp"

namespace petscrrb {

// row: "row p", with coordinates where there is a grid
std::string not_positive(const std::string &row);
// The first two entries whose asymmetry() is more than `symmetric` (facts.hpp); identity rows and their columns do not count. An
// empty string if there are none.
std::string where_asymmetric(const Csr &, const Flags &identity, const PairWords &);
// Of a matrix that is not finite or not symmetric, on the host: names the first such entry.
std::string why_refused(const Csr &);

} // namespace petscrrb
