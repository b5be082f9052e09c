// Positive off-diagonal entries, moved to both diagonals of the matrix that RRB factors (docs/numerics.md, step 3).
#pragma once

#include "rrb/views.hpp"

namespace petscrrb::rrb {

// Adds a (v_j/v_i at i, v_i/v_j at j) for each coupling a > 0 and drops it: M stays exact for v, and what is added
// to A is positive semidefinite.
inline void move_positive(Stencil &s, const Grid &grid) {
  const index_t nx = grid.n[0], ny = grid.n[1];
  const auto move = [&](std::vector<double> &a, index_t p, index_t q) {
    if (!(a[p] > 0.0)) return;
    const double vp = s.v.empty() ? 1.0 : s.v[p], vq = s.v.empty() ? 1.0 : s.v[q];
    const double ratio = vp != 0.0 && vq != 0.0 ? vq / vp : 1.0;
    s.C[p] += a[p] * ratio;
    s.C[q] += a[p] / ratio;
    a[p] = 0.0;
  };
  for (index_t j = 0; j < ny; ++j)
    for (index_t i = 0; i < nx; ++i) {
      const index_t p = j * nx + i, east = (i + 1) % nx, west = (i + nx - 1) % nx, north = (j + 1) % ny;
      move(s.E, p, j * nx + east);
      move(s.N, p, north * nx + i);
      if (s.NE.empty()) continue;
      move(s.NE, p, north * nx + east);
      move(s.NW, p, north * nx + west);
    }
}

} // namespace petscrrb::rrb
