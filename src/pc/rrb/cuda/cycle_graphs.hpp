// RRB's cycle on a device with few launches: between the sweeps of the finest grid, which work on PETSc's arrays, an
// application is always the same, and so is AMLI's estimate.
#pragma once

#include "exec/cuda/graph.hpp"
#include "pc/rrb/core/cycle.hpp"

namespace petscrrb::rrb {

class CycleGraphs {
public:
  void reset() {
    below_.reset();
    estimate_.reset();
  }

  // solve: kernels alone. Both return its error, if it has one.
  template <class Core, class Solve> auto apply(Cuda &on, Core &core, const double *r, double *z, const Solve &solve) {
    auto error = decltype(solve(Part::whole))(0);
    if (!core.has_own_vectors(1)) // nothing is between, or it works on PETSc's arrays as well
      return Cycle(core).apply(r, z, Part::whole, solve);
    const unsigned used = Cycle(core).used();
    if (below_.empty() || used_ != used) error = below_.capture(on, [&] { return Cycle(core).apply_below(1, solve); });
    if (error) return error;
    used_ = used;
    core.down(0, 1, r, z, Part::whole);
    below_.launch(on);
    core.up(1, 0, r, z, Part::whole);
    return error;
  }

  template <class Core, class Solve> auto estimate(Cuda &on, Core &core, const Solve &solve) {
    auto error = decltype(solve(Part::whole))(0);
    if (!core.amli().nx) return error;
    // an application's z is the vector of all grids, and changes; or what a step repeats depends on later ones
    if (!core.has_own_vectors(0) || core.steps() > 1) return Cycle(core).estimate(solve);
    if (estimate_.empty()) error = estimate_.capture(on, [&] { return Cycle(core).take_estimate_steps(0, solve); });
    if (error) return error;
    estimate_.launch(on);
    core.finish_estimate();
    return error;
  }

private:
  cuda::Graph below_, estimate_;
  unsigned used_ = 0; // steps of AMLI in the cycle that was captured
};

} // namespace petscrrb::rrb
