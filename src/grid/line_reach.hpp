// Where the neighbours of points stand, for points in the order of their lines: a reach is made when the line changes.
#pragma once

#include "reach.hpp"

namespace petscrrb {

class LineReach {
public:
  explicit LineReach(const Grid &grid) : g_(grid) {}

  // of the point with this place in the natural order
  const Reach &operator()(index_t place) {
    const index_t nx = g_.n[0], i = place % nx, line = place / nx;
    if (line != line_) {
      const index_t j = line % g_.n[1], k = line / g_.n[1];
      first_ = reach(g_, 0, j, k);
      last_ = reach(g_, nx - 1, j, k);
      inner_ = nx > 2 ? reach(g_, 1, j, k) : first_;
      line_ = line;
    }
    return i == 0 ? first_ : i == nx - 1 ? last_ : inner_;
  }

private:
  Grid g_;
  index_t line_ = -1;
  Reach first_{}, inner_{}, last_{};
};

} // namespace petscrrb
