// RRB's cycle on a device with few launches: between the sweeps of the finest grid, which work on PETSc's arrays, an
// application is always the same, and so is AMLI's estimate.
#pragma once

#include "exec/cuda/graph.hpp"
#include "pc/rrb/core/cycle.hpp"

#include <vector>

namespace petscrrb::rrb {

class CycleGraphs {
public:
  void reset() {
    refresh_.reset();
    refreshed_ = {}, schur_ = nullptr;
    below_.reset();
    estimate_.reset();
    begun_ = false;
    repeated_.clear();
  }

  // A refresh, of which a graph is made once two have had the same arrays.
  template <class Core> void refresh(Cuda &on, Core &core, const PreparedStencil &s, Lumping lumping) {
    if (!is_of(core, s, lumping)) {
      refresh_.reset();
      core.refresh(s, lumping);
      refreshed_ = s, lumping_ = lumping, schur_ = schur_of(core);
      return;
    }
    if (refresh_.empty())
      (void)refresh_.capture(on, [&] {
        core.refresh(s, lumping);
        return 0;
      });
    refresh_.launch(on);
  }

  // The same where there is a graph of that and the matrix stays as it is, so that it does no harm if it was wrong to do so: true.
  template <class Core> bool begin_refresh(Cuda &on, Core &core, const PreparedStencil &s, const Lumping &lumping) {
    if (refresh_.empty() || !core.keeps_matrix() || !is_of(core, s, lumping)) return false;
    refresh_.launch(on);
    return true;
  }
  // The last refresh was with these.
  template <class Core> bool is_of(const Core &core, const PreparedStencil &s, const Lumping &lumping) const {
    return lumping == lumping_ && same_arrays(s, refreshed_) && schur_of(core) == schur_;
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

  // What estimate() would launch, where there is that already: so that it does not wait for the host, which first looks how the
  // factorization went.
  void begin_estimate(Cuda &on) {
    begun_ = !estimate_.empty();
    if (begun_) estimate_.launch(on);
  }
  template <class Core, class Solve> auto estimate(Cuda &on, Core &core, const Solve &solve) {
    auto error = decltype(solve(Part::whole))(0);
    if (!core.steps()) return error;
    if (!core.has_own_vectors(0))
      return Cycle(core).estimate(solve); // an application's z is the vector of all grids, and changes
    if (core.steps() > 1) {
      for (int k = core.steps() - 1; k >= 0 && !error; --k) error = estimate(on, core, k, solve);
      return error;
    }
    if (estimate_.empty()) error = estimate_.capture(on, [&] { return Cycle(core).take_estimate_steps(0, solve); });
    if (error) return error;
    if (!std::exchange(begun_, false)) estimate_.launch(on);
    core.step(0).finish_estimate();
    return error;
  }

private:
  // Of a step whose repeated part has later ones in it.
  template <class Core, class Solve> auto estimate(Cuda &on, Core &core, int k, const Solve &solve) {
    auto error = decltype(solve(Part::whole))(0);
    if (!core.step(k).amli().nx) return error;
    if (repeated_.size() < std::size_t(core.steps())) repeated_.resize(core.steps());
    Repeated &repeated = repeated_[k];
    const unsigned later = Cycle(core).used(k + 1);
    // Made within the estimate, where ranks do not share sweeps.
    error = Cycle(core).take_estimate_steps_by(k, [&] {
      cuda::Graph &graph = repeated.graph;
      if (graph.empty() || repeated.used != later)
        error = graph.capture(on, [&] { return Cycle(core).repeat(k, solve); });
      if (error) return error;
      repeated.used = later;
      graph.launch(on);
      return error;
    });
    if (!error) core.step(k).finish_estimate();
    return error;
  }

  template <class Core> static const double *schur_of(const Core &core) {
    return core.schur() ? core.schur()->s.X[b1].p : nullptr;
  }
  static bool same_arrays(const PreparedStencil &a, const PreparedStencil &b) {
    return a.X == b.X && a.E == b.E && a.N == b.N && a.NE == b.NE && a.NW == b.NW && a.v == b.v &&
           a.rows.start == b.rows.start && a.rows.column == b.rows.column && a.rows.w == b.rows.w &&
           a.rows.e == b.rows.e;
  }

  cuda::Graph refresh_, below_, estimate_;
  bool begun_ = false;        // the estimate, since the last factorization
  PreparedStencil refreshed_; // with
  Lumping lumping_;
  const double *schur_ = nullptr; // where S1 was made
  struct Repeated {
    cuda::Graph graph;
    unsigned used = 0;
  };
  std::vector<Repeated> repeated_; // by each step, with those of the later ones that are used
  unsigned used_ = 0;              // steps of AMLI in the cycle that was captured
};

} // namespace petscrrb::rrb
