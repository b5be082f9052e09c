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
    estimates_.clear();
    begun_ = false;
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
      (void)refresh_.capture(
          on,
          [&] {
            core.refresh(s, lumping);
            return 0;
          },
          true);
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

  // What estimate() would launch first, where there is that already: so that it does not wait for the host, which first looks how the
  // factorization went.
  void begin_estimate(Cuda &on) {
    begun_ = !estimates_.empty() && !estimates_.back().few.empty();
    if (begun_) estimates_.back().few.launch(on);
  }
  template <class Core, class Solve> auto estimate(Cuda &on, Core &core, const Solve &solve) {
    auto error = decltype(solve(Part::whole))(0);
    if (!core.steps()) return error;
    if (!core.has_own_vectors(0))
      return Cycle(core).estimate(solve); // an application's z is the vector of all grids, and changes
    const Cycle cycle(core);
    estimates_.resize(core.steps());
    for (int k = core.steps() - 1; k >= 0 && !error; --k) {
      Estimate &made = estimates_[k];
      if (made.later != cycle.used(k + 1)) made = {};
      made.later = cycle.used(k + 1);
      error = cycle.estimate(k, [&](int from, int to) {
        cuda::Graph &graph = from ? made.more : made.few;
        auto failed = decltype(error)(0);
        if (graph.empty()) failed = graph.capture(on, [&] { return cycle.take_estimate_steps(k, from, to, solve); });
        if (!failed && !std::exchange(begun_, false)) graph.launch(on);
        return failed;
      });
    }
    return error;
  }

private:
  template <class Core> static const double *schur_of(const Core &core) {
    return core.schur() ? core.schur()->s.X[b1].p : nullptr;
  }
  static bool same_arrays(const PreparedStencil &a, const PreparedStencil &b) {
    return a.X == b.X && a.E == b.E && a.N == b.N && a.NE == b.NE && a.NW == b.NW && a.v == b.v &&
           a.rows.start == b.rows.start && a.rows.column == b.rows.column && a.rows.w == b.rows.w &&
           a.rows.e == b.rows.e;
  }

  cuda::Graph refresh_, below_;
  PreparedStencil refreshed_; // with
  Lumping lumping_;
  const double *schur_ = nullptr; // where S1 was made
  // Of one of AMLI's steps, by a cycle with those of the later ones that are used.
  struct Estimate {
    cuda::Graph few, more;
    unsigned later = 0;
  };
  std::vector<Estimate> estimates_;
  bool begun_ = false; // the last one's, since the last factorization
  unsigned used_ = 0;  // steps of AMLI in the cycle that was captured
};

} // namespace petscrrb::rrb
