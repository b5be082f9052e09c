// The points of a grid in natural order, and the couplings that a matrix on it has: for host and device.
#pragma once

#include "exec/range.hpp"
#include "grid/grid.hpp"

#include <petscsystypes.h>

namespace petscrrb {

// Couplings are kept by the earlier of their ends in the window of the grid: m leads from a point by step(m), around
// periodic sides. Over a seam that is from a later point in natural order to an earlier one: such a coupling is
// reversed.
constexpr int most_steps = 4;

struct Step {
  int x, y, z;
};

struct Lattice {
  PetscInt n[3];
  bool periodic[3];
  int steps; // 2: five points, 4: nine points, 3: seven points in 3D

  PETSCRRB_HD PetscInt size() const { return n[0] * n[1] * n[2]; }
  PETSCRRB_HD bool any_periodic() const { return periodic[0] || periodic[1] || periodic[2]; }
  PETSCRRB_HD Step step(int m) const {
    if (m == 0) return {1, 0, 0};
    if (m == 1) return {0, 1, 0};
    if (steps == 3) return {0, 0, 1};
    return {m == 2 ? 1 : -1, 1, 0};
  }

  // The coordinate c of side d, taken around if it is periodic; -1 outside.
  PETSCRRB_HD PetscInt wrapped(PetscInt c, int d) const {
    if (c >= 0 && c < n[d]) return c;
    if (!periodic[d]) return -1;
    const PetscInt rest = c % n[d];
    return rest < 0 ? rest + n[d] : rest;
  }
  // The row at (i, j, k), which may be over a seam; -1 outside.
  PETSCRRB_HD PetscInt row(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt x = wrapped(i, 0), y = wrapped(j, 1), z = wrapped(k, 2);
    return x < 0 || y < 0 || z < 0 ? -1 : (z * n[1] + y) * n[0] + x;
  }
  // The row that is step m away from (i, j, k), or the one that (i, j, k) is step m away from; -1 outside.
  PETSCRRB_HD PetscInt after(PetscInt i, PetscInt j, PetscInt k, int m) const {
    const Step s = step(m);
    return row(i + s.x, j + s.y, k + s.z);
  }
  PETSCRRB_HD PetscInt before(PetscInt i, PetscInt j, PetscInt k, int m) const {
    const Step s = step(m);
    return row(i - s.x, j - s.y, k - s.z);
  }
  // Whether step m from a point inside the grid goes over the seam of its last side, and so to an earlier row.
  PETSCRRB_HD bool reversed(PetscInt i, PetscInt j, PetscInt k, int m) const {
    if (m == 0) return i == n[0] - 1;
    if (m == 2 && steps == 3) return k == n[2] - 1;
    return j == n[1] - 1;
  }
};

inline Lattice lattice_of(const Grid &g) {
  Lattice l{};
  for (int d = 0; d < 3; ++d) {
    l.n[d] = static_cast<PetscInt>(g.n[d]);
    l.periodic[d] = g.periodic[d];
  }
  l.steps = g.points == 9 ? 4 : g.points == 7 ? 3 : 2;
  return l;
}

} // namespace petscrrb
