// What PCGRIDMG finds out in a refresh.
#pragma once

#include "stencil/facts.hpp"

namespace petscrrb::gridmg {

// Spreads of the diagonal (choose.hpp). Beyond `wide` single precision takes more iterations; measured for bubbles of 10 % whose
// coefficient is 10^4 times larger: 10^3. Beyond the other, which is for reach() as well, a coefficient of 10^8 points might be 0 or
// not finite in it.
constexpr double wide = 2000.0, far_too_wide = 1e20;

// What a refresh found out, and made of it.
struct Findings {
  RowFacts read;
  bool failed = false;     // the diagonal of a coarser grid, or a pivot of the coarsest one, is not positive
  int null_directions = 0; // of the coarsest grid
  index_t too_large = 0;   // its points, where they are more than `most`; else 0
  index_t most = 0;
  bool useless = false;      // the near null vector is 0 or not finite somewhere: it was not used
  double spread = 1.0;       // of the diagonal (choose.hpp)
  bool wants_double = false; // single precision would take more iterations
  bool needs_double = false; // its exponents might not do, or there is nothing to gain by it

  void judge_precision(bool one_grid, double of_diagonal, double reach) {
    spread = of_diagonal;
    needs_double = one_grid || !(spread < far_too_wide) || !(reach < far_too_wide);
    wants_double = needs_double || !(spread < wide);
  }

  // Whether a near null vector is not used: useless, or alike in each component of the grid, so that V changes nothing.
  bool drops(const RowFacts &with) {
    useless = with.useless_row != no_row;
    return useless || !with.varies;
  }
};

} // namespace petscrrb::gridmg
