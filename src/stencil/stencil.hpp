// Reads the symmetric 5- or 9-point stencil of a matrix on a 2D grid: first time and at each change of values.
#pragma once

#include "stencil/facts.hpp"

#include <vector>

namespace petscrrb {

// The symmetric matrix of a 2D grid, in natural order: one array a direction, each grid.n[0] * grid.n[1] long.
// E couples (i,j) with (i+1,j), N with (i,j+1), NE with (i+1,j+1), NW with (i-1,j+1), indices taken around a periodic
// side. A coupling that leaves the grid is zero.
struct Stencil {
  std::vector<double> C, E, N;
  std::vector<double> NE, NW; // empty for a 5-point matrix
  std::vector<double> v;      // near-null-space vector; empty means 1
  Flags identity;             // a flag a row: it has no nonzero off its diagonal

  double bytes() const { // but for the flags
    return 8.0 * static_cast<double>(C.size() + E.size() + N.size() + NE.size() + NW.size() + v.size());
  }
};

// Fills C, E, N (and NE, NW if grid.points is 9) with the means of a_ij and a_ji, and finds all facts but weights. Allocates
// only what does not have its size yet. Unless ok, `why` names the smallest row that is the reason, its column and the values,
// and the stencil is not to be used. Where it is ok and there is a bad pivot, `why` names the first such row. Same bits for
// any number of threads.
ReadResult read_stencil(const Csr &, const Grid &, Stencil &, RowFacts &, std::string &why);

} // namespace petscrrb
