// The neighbours that a cell is coupled with at 5, 7, 9 and 27 points.
#pragma once

#include "exec/range.hpp"
#include "grid/lattice.hpp"

namespace petscrrb::blockrelax {

constexpr int most_neighbours = 13;

// Half of them, those that are ahead in natural order; the others are opposite.
struct Neighbours {
  int count = 0;
  Step step[most_neighbours] = {};
  int halo[3] = {}; // how far they are away along a side

  constexpr explicit Neighbours(int points) {
    const bool corners = points == 9 || points == 27, deep = points == 7 || points == 27;
    for (int z = 0; z <= deep; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) {
          const bool ahead = z > 0 || y > 0 || (y == 0 && x > 0);
          const bool wanted = corners || x * x + y * y + z == 1;
          if (ahead && wanted) step[count++] = {x, y, z};
        }
    halo[0] = halo[1] = 1;
    halo[2] = deep;
  }

  // The step, ahead or back, or -1.
  PETSCRRB_HD int find(Step s) const {
    for (int m = 0; m < count; ++m) {
      const Step t = step[m];
      if ((t.x == s.x && t.y == s.y && t.z == s.z) || (t.x == -s.x && t.y == -s.y && t.z == -s.z)) return m;
    }
    return -1;
  }
};

// How far step s is in an array of such sides.
template <class Int> PETSCRRB_HD inline Int offset(const Int n[3], Step s) { return (s.z * n[1] + s.y) * n[0] + s.x; }

// What a row has within its patch. ahead: the means of a_pq and a_qp; none with identity rows
struct Couplings {
  double diagonal = 0, ahead[most_neighbours] = {};
};

} // namespace petscrrb::blockrelax
