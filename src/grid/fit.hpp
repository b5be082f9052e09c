// Holds the couplings of a matrix against one given grid.
#pragma once

#include "grid/csr.hpp"
#include "grid/grid.hpp"

#include <vector>

namespace petscrrb {

using Flags = std::vector<unsigned char>;

// Flags the rows with no nonzero off their diagonal. Returns the reason if an entry is not finite.
std::string mark_identity(const Csr &, Flags &identity);

struct Fit {
  PetscInt row = -1, column = -1; // the first coupling that leads to no neighbour; -1 if all do
  unsigned seen = 0;              // a bit a direction
  bool seam[3] = {};              // couplings go around this side

  bool ok() const { return row < 0; }
  bool sees(int direction) const { return seen >> direction & 1; }
};

// The grid whose periodic sides are those that couplings go around.
inline Grid with_seams(Grid g, const Fit &f) {
  for (int x = 0; x < 3; ++x) g.periodic[x] = f.seam[x];
  return g;
}

// grid.dim and grid.n are given; its points say how many directions count, its periodic sides which seams may be
// crossed.
Fit fit(const Csr &, const Flags &identity, const Grid &grid);

// The directions that some row uses, and those back, a bit each.
unsigned used_directions(const Grid &grid, const Fit &);

// Whether every direction that some row uses is used by every row, across the seams too.
bool is_complete(const Csr &, const Flags &identity, const Grid &grid, const Fit &);

} // namespace petscrrb
