// A series on a grid, as PCNeumann uses it: one implementation on the host, one on a CUDA device.
#pragma once

#include "stencil/facts.hpp"
#include "pc/neumann/core/series.hpp"

#include <memory>

namespace petscrrb {
class Cuda;
}

namespace petscrrb::neumann {

class GridSeries {
public:
  virtual ~GridSeries() = default;

  // The couplings of a matrix that lies where this does. Allocates nothing. Unless the findings' result is ok and no
  // pivot is bad, they are not to be used.
  virtual RowFacts refresh(const Csr &) = 0;
  // z = M^-1 r, another vector
  virtual void apply(const double *r, double *z) = 0;
  virtual double bytes() const = 0;
};

std::unique_ptr<GridSeries> make_grid_series(const Grid &, const Series &);
// All work goes to the stream, which the owner sets before each call.
std::unique_ptr<GridSeries> make_grid_series(const Cuda &, const Grid &, const Series &);

} // namespace petscrrb::neumann
