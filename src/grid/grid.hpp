// A structured grid and the symmetric stencil of a matrix on it. No PETSc objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace petscrrb {

using index_t = std::int64_t; // of grid points; matrix indices are PetscInt

// Unknown (k * n[1] + j) * n[0] + i sits at (i, j, k).
struct Grid {
  int dim = 2;              // 2 or 3
  index_t n[3] = {0, 0, 1}; // points a side
  bool periodic[3] = {};    // couplings go around this side; never on a side of 1 or 2 points
  int points = 5;           // of the stencil: 5 or 9 in 2D, 7 or 27 in 3D
  std::string source;       // who named it, for -ksp_view: "option", "PC's DMDA", "Mat's DMDA", "matrix pattern"
};

// The symmetric matrix of a 2D grid, in natural order: one array a direction, each grid.n[0] * grid.n[1] long.
// E couples (i,j) with (i+1,j), N with (i,j+1), NE with (i+1,j+1), NW with (i-1,j+1), indices taken around a periodic
// side. A coupling that leaves the grid is zero.
struct Stencil {
  std::vector<double> C, E, N;
  std::vector<double> NE, NW; // empty for a 5-point matrix
  std::vector<double> v;      // near-null-space vector; empty means 1
};

} // namespace petscrrb
