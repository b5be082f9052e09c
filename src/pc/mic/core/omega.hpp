// How much of what is dropped a modified incomplete Cholesky factorization puts on the diagonal, if nobody says.
#pragma once

#include "grid/grid.hpp"

#include <algorithm>
#include <cmath>

namespace petscrrb::mic {

// 1 - 24 / n^2 with n the mean number of points a side, from 0.9 to 0.999, in 2D to 0.9995: a little below 1, the less the
// larger the grid. Within an iteration or two of the best, long grids included.
inline double default_omega(const Grid &g) {
  double points = 1;
  int sides = 0;
  for (int d = 0; d < 3; ++d) {
    points *= static_cast<double>(g.n[d]);
    sides += g.n[d] > 1;
  }
  const double n = sides > 0 ? std::pow(points, 1.0 / sides) : 1;
  return std::clamp(1 - 24 / (n * n), 0.9, sides == 3 ? 0.999 : 0.9995);
}

} // namespace petscrrb::mic
