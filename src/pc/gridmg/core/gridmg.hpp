// A V-cycle of multigrid on a 3D grid, as PCGRIDMG uses it: one implementation on the host, one on a CUDA device.
#pragma once

#include "grid/csr.hpp"
#include "grid/grid.hpp"
#include "pc/gridmg/core/choose.hpp"
#include "stencil/couplings.hpp"

#include <memory>

namespace petscrrb::gridmg {

// What a refresh found out, and made of it.
struct Findings {
  CouplingFindings read;
  bool failed = false;       // the diagonal of a coarser grid, or a pivot of the coarsest one, is not positive
  index_t positive = 0;      // positive couplings, moved to both diagonals
  int null_directions = 0;   // of the coarsest grid
};

// One grid of the hierarchy, for who looks at it.
struct GridReport {
  Sizes n;
  bool smoothed = false;      // else it is between two directions of one coarsening, or the coarsest
  std::vector<int> lines;     // directions in which it is smoothed; none: points
  int coarsened = -1;         // direction
};

// M^-1 of docs/pcgridmg.md.
class GridMG {
public:
  virtual ~GridMG() = default;

  // For a matrix that lies where this does. Allocates nothing where the same grids and smoothers are chosen as before.
  // Unless the findings' result is ok and nothing has failed, it is not to be used.
  virtual Findings refresh(const Csr &) = 0;
  // z = M^-1 r; not the same
  virtual void apply(const double *r, double *z) = 0;
  virtual std::vector<GridReport> report() const = 0;
  virtual double flops() const = 0; // of an application
  virtual double bytes() const = 0;
};

// single: the cycle is in single precision.
std::unique_ptr<GridMG> make_gridmg(const Grid &, const Options &, bool single);

} // namespace petscrrb::gridmg
