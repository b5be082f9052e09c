// Where the neighbours of grid points stand, on a device.
#pragma once

#include "grid/reach.hpp"

namespace petscrrb::cuda {

struct Geometry {
  int dim, points;
  PetscInt n[3], none; // none: no difference of two rows
  bool around[3];
  unsigned towards[3][2]; // the directions that step down and up a side, a bit each

  explicit Geometry(const Grid &g) : dim(g.dim), points(g.points), none(1) {
    for (int x = 0; x < 3; ++x) {
      n[x] = static_cast<PetscInt>(g.n[x]);
      none *= n[x];
      around[x] = g.periodic[x];
      towards[x][0] = petscrrb::towards(g, x, -1);
      towards[x][1] = petscrrb::towards(g, x, 1);
    }
  }
};

// As Reach in reach.hpp, whose tables a device does not see: around the point with a place in the natural order. most:
// directions, 9 or 27
template <int most> struct Neighbours {
  PetscInt d[most];

  __device__ Neighbours(const Geometry &g, PetscInt p) {
    const PetscInt line = p / g.n[0];
    const PetscInt at[3] = {p % g.n[0], g.dim == 3 ? line % g.n[1] : line, g.dim == 3 ? line / g.n[1] : 0};
    PetscInt to[3][2], stride = 1;
    for (int x = 0; x < 3; ++x) {
      const PetscInt ring = g.around[x] ? stride * (g.n[x] - 1) : g.none;
      to[x][0] = at[x] > 0 ? -stride : ring;
      to[x][1] = at[x] < g.n[x] - 1 ? stride : g.around[x] ? -ring : g.none;
      stride *= g.n[x];
    }
    const auto both = [&](PetscInt a, PetscInt b) { return a == g.none || b == g.none ? g.none : a + b; };
    d[Centre] = 0;
    d[West] = to[0][0], d[East] = to[0][1], d[South] = to[1][0], d[North] = to[1][1];
    if constexpr (most == most_directions) {
      const auto along = [&](int x, int step) { return step == 0 ? 0 : to[x][step > 0]; };
      d[Down] = to[2][0], d[Up] = to[2][1];
      int m = Up + 1;
#pragma unroll
      for (int z = -1; z <= 1; ++z)
#pragma unroll
        for (int y = -1; y <= 1; ++y)
#pragma unroll
          for (int x = -1; x <= 1; ++x)
            if (x * x + y * y + z * z > 1) d[m++] = both(both(along(0, x), along(1, y)), along(2, z));
    } else {
      const auto corner = [&](int x, int y) { return both(to[0][x], to[1][y]); };
      for (int m = SouthWest; m < directions; ++m) d[m] = g.none;
      if (g.dim == 3) {
        d[Down] = to[2][0], d[Up] = to[2][1];
      } else if (g.points == 9) {
        d[SouthWest] = corner(0, 0), d[SouthEast] = corner(1, 0);
        d[NorthWest] = corner(0, 1), d[NorthEast] = corner(1, 1);
      }
    }
  }

  // As Reach::direction(), but a bit, none if there is no neighbour.
  __device__ unsigned bit(PetscInt difference) const {
    unsigned bits = 0;
#pragma unroll
    for (int m = 0; m < most; ++m) bits |= d[m] == difference ? 1u << m : 0u;
    return bits;
  }
  __device__ int direction(PetscInt difference) const { return __ffs(static_cast<int>(bit(difference))) - 1; }
};

} // namespace petscrrb::cuda
