// Where the neighbours of a grid point stand in the matrix: column minus row, a direction each.
#pragma once

#include "exec/range.hpp"
#include "grid/csr.hpp"
#include "grid/grid.hpp"

#include <cmath>

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

struct Reach {
  PetscInt d[most_directions]; // no difference of two rows where there is no neighbour
  int count;

  PETSCRRB_HD int direction(PetscInt difference) const {
    for (int m = 0; m < count; ++m)
      if (d[m] == difference) return m;
    return -1;
  }
};

inline Reach reach(const Grid &g, index_t i, index_t j, index_t k) {
  const index_t at[3] = {i, j, k}, stride[3] = {1, g.n[0], g.n[0] * g.n[1]};
  const index_t none = stride[2] * g.n[2];
  Reach r{};
  r.count = g.points;
  for (int m = 0; m < g.points; ++m) {
    const int *step = g.dim == 3 ? step3d[m] : step2d[m];
    index_t sum = 0;
    bool inside = true;
    for (int x = 0; x < 3; ++x) {
      const index_t to = at[x] + step[x];
      const bool leaves = to < 0 || to >= g.n[x];
      inside = inside && (!leaves || g.periodic[x]);
      sum += (step[x] - (leaves ? step[x] * g.n[x] : 0)) * stride[x];
    }
    r.d[m] = static_cast<PetscInt>(inside ? sum : none);
  }
  return r;
}

// The points of lines [first, last) in order: visit(row, reach, i) until it returns false. Three reaches serve a line.
template <class Visit> bool walk(const Grid &g, index_t first, index_t last, Visit &&visit) {
  const index_t nx = g.n[0];
  for (index_t line = first; line < last; ++line) {
    const index_t j = line % g.n[1], k = line / g.n[1];
    const Reach left = reach(g, 0, j, k), right = reach(g, nx - 1, j, k);
    const Reach inner = nx > 2 ? reach(g, 1, j, k) : left;
    for (index_t i = 0; i < nx; ++i) {
      const Reach &r = i == 0 ? left : i == nx - 1 ? right : inner;
      if (!visit(static_cast<PetscInt>(line * nx + i), r, i)) return false;
    }
  }
  return true;
}

// Below this waking the threads costs more than reading the matrix.
constexpr PetscInt rows_for_threads = 2048;

// A running test for infinities and NaNs without a branch: 0 as long as all were finite.
inline double not_finite(double value) { return value * 0.0; }

} // namespace petscrrb
