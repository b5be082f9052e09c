// Where the neighbours of a grid point stand in the matrix: column minus row, a direction each.
#pragma once

#include "grid/csr.hpp"
#include "grid/grid.hpp"

#include <algorithm>

namespace petscrrb {

enum Direction {
  Centre,
  West,
  East,
  South,
  North,
  SouthWest,
  SouthEast,
  NorthWest,
  NorthEast,
  directions
};
constexpr int Down = 5, Up = 6; // in 3D, in place of the corners, which follow

constexpr int step2d[directions][3] = {{0, 0, 0},   {-1, 0, 0}, {1, 0, 0},  {0, -1, 0}, {0, 1, 0},
                                       {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}, {1, 1, 0}};
constexpr int most_directions = 27;
// the neighbours at edges and corners after the others, in natural order
constexpr int step3d[most_directions][3] = {
    {0, 0, 0},   {-1, 0, 0},  {1, 0, 0},  {0, -1, 0},  {0, 1, 0},  {0, 0, -1}, {0, 0, 1},   {-1, -1, -1}, {0, -1, -1},
    {1, -1, -1}, {-1, 0, -1}, {1, 0, -1}, {-1, 1, -1}, {0, 1, -1}, {1, 1, -1}, {-1, -1, 0}, {1, -1, 0},   {-1, 1, 0},
    {1, 1, 0},   {-1, -1, 1}, {0, -1, 1}, {1, -1, 1},  {-1, 0, 1}, {1, 0, 1},  {-1, 1, 1},  {0, 1, 1},    {1, 1, 1}};

// The directions of the stencil that step by `sign` along side x, a bit each.
inline unsigned towards(const Grid &g, int x, int sign) {
  unsigned mask = 0;
  for (int m = 1; m < g.points; ++m)
    if ((g.dim == 3 ? step3d : step2d)[m][x] == sign) mask |= 1u << m;
  return mask;
}

// Calling all of a side periodic that may be: couplings around it then have a place.
inline Grid all_around(Grid g) {
  for (int d = 0; d < 3; ++d) g.periodic[d] = d < g.dim && g.n[d] > 2;
  return g;
}

// A grid as a device sees it, without the tables above.
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
  // The directions that leave the grid over side x from a point with this coordinate, a bit each.
  PETSCRRB_HD unsigned across(int x, PetscInt at) const {
    return (at == 0 ? towards[x][0] : 0) | (at == n[x] - 1 ? towards[x][1] : 0);
  }
};

// Of the point with a place in the natural order. most: directions, 9, or 27 for a stencil of as many points
template <int most> struct Neighbours {
  PetscInt d[most]; // `none` where there is no neighbour

  PETSCRRB_HD Neighbours(const Geometry &g, PetscInt p) {
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
      PETSCRRB_UNROLL
      for (int k = 0; k < most_directions; ++k) {
        const int x = k % 3 - 1, y = k / 3 % 3 - 1, z = k / 9 - 1;
        if (x * x + y * y + z * z > 1) d[m++] = both(both(along(0, x), along(1, y)), along(2, z));
      }
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

#ifdef __CUDACC__
  // A bit for the direction, none if there is no neighbour.
  __device__ unsigned bit(PetscInt difference) const {
    unsigned bits = 0;
  #pragma unroll
    for (int m = 0; m < most; ++m) bits |= d[m] == difference ? 1u << m : 0u;
    return bits;
  }
  __device__ int direction(PetscInt difference) const { return __ffs(static_cast<int>(bit(difference))) - 1; }
#endif
};

// The same on the host, for any stencil.
struct Reach {
  PetscInt d[most_directions];
  unsigned across[3] = {}; // the directions that leave the grid over a side, a bit each
  int count = 0;

  Reach() = default;
  Reach(const Geometry &g, PetscInt p) : count(g.points) {
    const PetscInt at[3] = {p % g.n[0], p / g.n[0] % g.n[1], p / g.n[0] / g.n[1]};
    for (int x = 0; x < 3; ++x) across[x] = g.across(x, at[x]);
    if (count > directions)
      take(Neighbours<most_directions>(g, p));
    else
      take(Neighbours<directions>(g, p));
  }
  PETSCRRB_HD int direction(PetscInt difference) const {
    for (int m = 0; m < count; ++m)
      if (d[m] == difference) return m;
    return -1;
  }
  // guess: that of the same entry of the row before
  int direction(PetscInt difference, int &guess) const {
    if (d[guess] == difference) return guess;
    const int m = direction(difference);
    if (m >= 0) guess = m;
    return m;
  }

private:
  template <int most> void take(const Neighbours<most> &n) { std::copy_n(n.d, most, d); }
};

// For points in the order of their lines: a reach is made when the line changes.
class LineReach {
public:
  explicit LineReach(const Grid &grid) : g_(grid), begin_(-g_.n[0]) {}

  // of the point with this place in the natural order
  const Reach &operator()(PetscInt place) {
    if (place < begin_ || place >= begin_ + g_.n[0]) begin_line(place / g_.n[0]);
    return place == begin_ ? first_ : place == begin_ + g_.n[0] - 1 ? last_ : inner_;
  }

private:
  void begin_line(PetscInt line) {
    begin_ = line * g_.n[0];
    first_ = Reach(g_, begin_);
    last_ = Reach(g_, begin_ + g_.n[0] - 1);
    inner_ = g_.n[0] > 2 ? Reach(g_, begin_ + 1) : first_;
  }

  const Geometry g_;
  PetscInt begin_; // the place of the line's first point
  Reach first_, inner_, last_;
};

} // namespace petscrrb
