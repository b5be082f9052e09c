// The order in which an application of RRB visits the grids: the V-cycle of the papers, or AMLI, which repeats its lower
// part. Solving with the last block is the caller's: solve(part) does it and returns 0, or an error that ends the work.
#pragma once

#include "pc/rrb/core/rrb.hpp"

namespace petscrrb::rrb {

template <class Core> class Cycle {
public:
  explicit Cycle(Core &core) : core_(core) {}

  // z = M^-1 r in natural order, z not r. A half of the application is a V.
  template <class Solve> auto apply(const double *r, double *z, Part part, const Solve &solve) const {
    return apply(0, r, z, part, solve, Energy::no);
  }
  // The same from core.right_hand_side(g), which is lost, to core.solution(g); g from 1 on, at most AMLI's. Energy::yes:
  // core.energy() is their product then.
  template <class Solve> auto apply_below(int g, const Solve &solve, Energy energy = Energy::no) const {
    return apply(g, nullptr, nullptr, Part::whole, solve, energy);
  }

  // After a refresh of the core and of what solve() uses, where there is a grid for AMLI: finds out whether it pays.
  template <class Solve> auto estimate(const Solve &solve) const {
    auto error = decltype(solve(Part::whole))(0);
    if (!core_.amli().nx) return error;
    error = take_estimate_steps(solve);
    if (!error) core_.finish_estimate();
    return error;
  }
  // What of it depends on nothing that the host must see.
  template <class Solve> auto take_estimate_steps(const Solve &solve) const {
    auto error = decltype(solve(Part::whole))(0);
    core_.start_estimate();
    for (int j = 0; j < estimate_steps && !error; ++j) {
      core_.put_residual();
      error = visit(core_.options().amli_grid, nullptr, core_.work(), Part::whole, solve, Energy::no);
      if (!error) core_.estimate_step(j);
    }
    return error;
  }

private:
  template <class Solve>
  auto apply(int from, const double *r, double *z, Part part, const Solve &solve, Energy energy) const {
    const bool twice = part == Part::whole && core_.amli().used;
    if (!twice) return visit(from, r, z, part, solve, energy);
    const int g = core_.options().amli_grid;
    core_.down(from, g, r, z, part);
    core_.keep_right_hand_side(z);
    auto error = visit(g, r, z, part, solve, Energy::no);
    if (error) return error;
    core_.second_right_hand_side(z);
    error = visit(g, r, z, part, solve, Energy::no);
    if (!error) core_.up(g, from, r, z, part, energy);
    return error;
  }

  // down from grid g, the last block, and up again
  template <class Solve>
  auto visit(int g, const double *r, double *z, Part part, const Solve &solve, Energy energy) const {
    core_.down(g, core_.grids(), r, z, part);
    const auto error = solve(part);
    if (!error) core_.up(core_.grids(), g, r, z, part, energy);
    return error;
  }

  Core &core_;
};

} // namespace petscrrb::rrb
