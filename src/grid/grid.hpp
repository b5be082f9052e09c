// A structured grid.
#pragma once

#include "exec/range.hpp"

#include <cstddef>
#include <string>

namespace petscrrb {

// Unknown (k * n[1] + j) * n[0] + i sits at (i, j, k).
struct Grid {
  int dim = 2;              // 2 or 3
  index_t n[3] = {0, 0, 1}; // points a side
  bool periodic[3] = {};    // couplings go around this side; never on a side of 1 or 2 points
  int points = 5;           // of the stencil: 5 or 9 in 2D, 7 or 27 in 3D
  std::string source;       // who named it, for -ksp_view: "option", "PC's DMDA", "Mat's DMDA", "matrix pattern"
};

} // namespace petscrrb
