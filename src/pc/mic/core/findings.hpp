// What the rows and the pivots of a matrix turned out to be.
#pragma once

#include "stencil/facts.hpp"

#include <algorithm>

namespace petscrrb::mic {

struct Findings {
  RowFacts read;          // of the rows
  index_t pivot = no_row; // the first row whose pivot is not positive
  double pivot_value = 0; // that pivot over the row's diagonal entry
  index_t null_rows = 0;  // pivots that are zero: null directions of a singular matrix
  index_t shifted = 0;    // pivots that were raised
  bool constant = false;  // the couplings of each direction are all alike, and sweeps read pivots only

  bool bad_pivot() const { return read.bad_pivot != no_row || pivot != no_row; }
};

} // namespace petscrrb::mic
