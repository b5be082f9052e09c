// The order in which an application of RRB visits the grids: the V-cycle of the papers, or AMLI, which repeats the lower
// part at each of its steps. Solving with the last block is the caller's: solve(part) does it and returns 0, or an error that ends the
// work.
#pragma once

#include "pc/rrb/core/rrb.hpp"

namespace petscrrb::rrb {

template <class Core> class Cycle {
public:
  explicit Cycle(Core &core) : core_(core) {}

  // z = M^-1 r in natural order, z not r. A half of the application is a V.
  template <class Solve> auto apply(const double *r, double *z, Part part, const Solve &solve) const {
    return visit(0, part == Part::whole ? 0 : core_.steps(), r, z, part, solve, Energy::no);
  }
  // The same from core.right_hand_side(g), which is lost, to core.solution(g); g from 1 on, at most that of AMLI's first step.
  // Energy::yes: core.energy() is their product then.
  template <class Solve> auto apply_below(int g, const Solve &solve, Energy energy = Energy::no) const {
    return visit(g, 0, nullptr, nullptr, Part::whole, solve, energy);
  }

  // After a refresh of the core and of what solve() uses, where there are grids for AMLI: finds out whether it pays, from the last one
  // up, since what a step repeats has the later ones in it.
  template <class Solve> auto estimate(const Solve &solve) const {
    auto error = decltype(solve(Part::whole))(0);
    for (int k = core_.steps() - 1; k >= 0 && !error; --k)
      error = estimate(k, [&](int from, int to) { return take_estimate_steps(k, from, to, solve); });
    return error;
  }
  // That of a step; take(from, to): those of its estimate's steps.
  template <class Take> auto estimate(int k, const Take &take) const {
    auto error = decltype(take(0, 0))(0);
    AmliStep &step = core_.step(k);
    if (!step.amli().nx) return error;
    error = take(0, few_estimate_steps);
    if (error || step.finish_estimate(few_estimate_steps)) return error;
    error = take(few_estimate_steps, estimate_steps);
    if (!error) (void)step.finish_estimate(estimate_steps);
    return error;
  }
  // Depends on nothing that the host must see.
  template <class Solve> auto take_estimate_steps(int k, int from, int to, const Solve &solve) const {
    auto error = decltype(solve(Part::whole))(0);
    AmliStep &step = core_.step(k);
    if (from == 0) step.start_estimate();
    for (int j = from; j < to && !error; ++j) {
      step.put_residual();
      error = visit(step.grid(), k + 1, nullptr, core_.work(k), Part::whole, solve, Energy::no);
      if (!error) step.estimate_step(j);
    }
    return error;
  }
  // Which steps are taken, from one on, a bit each: a captured cycle is for these.
  unsigned used(int from = 0) const {
    unsigned bits = 0;
    for (int k = from; k < core_.steps(); ++k) bits |= unsigned(core_.step(k).amli().used) << k;
    return bits;
  }

private:
  // Down from grid g, the last block, and up again; from the first step on that is used, twice. k: the first that may be.
  template <class Solve>
  auto visit(int g, int k, const double *r, double *z, Part part, const Solve &solve, Energy energy) const
      -> decltype(solve(part)) {
    while (k < core_.steps() && !core_.step(k).amli().used) ++k;
    const bool twice = k < core_.steps();
    const int to = twice ? core_.step(k).grid() : core_.grids();
    core_.down(g, to, r, z, part);
    if (twice) core_.step(k).keep_right_hand_side(z);
    auto error = below(to, k, twice, r, z, part, solve);
    if (twice && !error) {
      core_.step(k).second_right_hand_side(z);
      error = below(to, k, twice, r, z, part, solve);
    }
    if (!error) core_.up(to, g, r, z, part, energy);
    return error;
  }
  template <class Solve>
  auto below(int g, int k, bool grids, const double *r, double *z, Part part, const Solve &solve) const
      -> decltype(solve(part)) {
    return grids ? visit(g, k + 1, r, z, part, solve, Energy::no) : solve(part);
  }

  Core &core_;
};

} // namespace petscrrb::rrb
