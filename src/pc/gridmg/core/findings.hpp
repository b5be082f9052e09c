// What PCGRIDMG finds out in a refresh.
#pragma once

#include "stencil/facts.hpp"

namespace petscrrb::gridmg {

// What a refresh found out, and made of it.
struct Findings {
  RowFacts read;
  bool failed = false;     // the diagonal of a coarser grid, or a pivot of the coarsest one, is not positive
  int null_directions = 0; // of the coarsest grid
  index_t too_large = 0;   // its points, where they are more than `most`; else 0
  index_t most = 0;
  bool useless = false;      // the near null vector is 0 or not finite somewhere: it was not used
  bool wants_double = false; // single precision would take more iterations

  // Whether a near null vector is not used: useless, or alike in each component of the grid, so that V changes nothing.
  bool drops(const RowFacts &with) {
    useless = with.useless_row != no_row;
    return useless || !with.varies;
  }
};

} // namespace petscrrb::gridmg
