// RRB's cycle on a device with few launches: between the sweeps of the finest grid, which work on PETSc's arrays, an
// application is always the same, and so is AMLI's estimate.
#pragma once

#include "backend/cuda_graph.hpp"
#include "rrb/cycle.hpp"

namespace petscrrb::rrb {

class CycleGraphs {
public:
  void reset() {
    below_.reset();
    estimate_.reset();
  }

  // solve: kernels alone
  template <class Core, class Solve> void apply(Cuda &on, Core &core, const double *r, double *z, const Solve &solve) {
    if (core.options().storage_grids < 2) { // nothing is between, or it works on PETSc's arrays as well
      (void)Cycle(core).apply(r, z, Part::whole, solve);
      return;
    }
    if (below_.empty() || amli_ != core.amli().used)
      below_.capture(on, [&] { (void)Cycle(core).apply_below(1, solve); });
    amli_ = core.amli().used;
    core.down(0, 1, r, z, Part::whole);
    below_.launch(on);
    core.up(1, 0, r, z, Part::whole);
  }

  template <class Core, class Solve> void estimate(Cuda &on, Core &core, const Solve &solve) {
    if (!core.amli().nx) return;
    if (core.options().storage_grids) {
      if (estimate_.empty()) estimate_.capture(on, [&] { (void)Cycle(core).take_estimate_steps(solve); });
      estimate_.launch(on);
    } else
      (void)Cycle(core).take_estimate_steps(solve); // an application's z is the vector of all grids there, and changes
    core.finish_estimate();
  }

private:
  cuda::Graph below_, estimate_;
  bool amli_ = false; // the cycle that was captured
};

} // namespace petscrrb::rrb
