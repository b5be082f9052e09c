// Which structured grid a matrix lives on, told from the values of its nonzeros.
#pragma once

#include "grid/csr.hpp"
#include "grid/grid.hpp"

namespace petscrrb {

// The widest stencils that a preconditioner takes.
enum class Widest {
  flat, // 9 points in 2D
  star, // and 7 in 3D
  box   // and 27 in 3D
};

// Both return an empty string, or the whole reason why there is no grid: the row, its coordinates, and what to do.
// Explicit zeros count as no coupling; rows with nothing off the diagonal couple with nothing, neither do their
// columns. `option` is what a user sets to name the grid ("-pc_rrb_grid"); messages point to it. find_grid() takes NULL where nobody
// reads them: not every word is looked for then.

// The only grid that fits: 2D with 5 or 9 points, chains and diagonal matrices (n x 1), 3D with 7 points or 27, as far as
// they are taken. Sets all of `grid` but its source.
std::string find_grid(const Csr &, Widest, const char *option, Grid &grid);

// Holds every row against grid.dim and grid.n, and sets grid.periodic and grid.points.
std::string check_grid(const Csr &, Widest, const char *option, Grid &grid);

} // namespace petscrrb
