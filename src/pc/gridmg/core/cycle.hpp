// A hierarchy of grids, and the coarsest one solved.
#pragma once

#include "pc/gridmg/core/findings.hpp"
#include "pc/gridmg/core/multigrid.hpp"
#include "pc/gridmg/core/read.hpp"

namespace petscrrb::gridmg {

// What each backend has its own of. The inverse of the coarsest grid's matrix, of at most `most` points: refresh(on, shape, matrix,
// null_inverse), of which see dense/inverse.hpp, only enqueues where nothing is allocated; with enqueues() on a device a graph can have it. finish() waits.
template <class Backend> class CoarsestInverse;
// Work that is always the same: on a device it is launched as a whole. void operator()(on, work); void reset()
template <class Backend> class Repeated;

template <class Backend, class T> class Cycle {
public:
  Cycle(Backend &on, const Shape &finest, const Options &o) : on_(on), grids_(on, finest, o) {}

  // Values are in grids().finest(). Smoothers, and what is solved, are those of scale.to times the matrix.
  void refresh(const Scales &scale, Findings &found) {
    found.most = CoarsestInverse<Backend>::most;
    const double null_inverse = Scales::of(found.read.norm).to;
    if (null_inverse != null_inverse_) steps_.reset();
    null_inverse_ = null_inverse;
    if (!refresh_as_before(scale)) {
      steps_.reset();
      solved_ = false;
      found.failed = !grids_.refresh(scale.to);
      if (!found.failed && grids_.coarsest().shape.points() > found.most)
        found.too_large = grids_.coarsest().shape.points();
      if (!found.failed && !found.too_large) {
        coarsest_.refresh(on_, grids_.coarsest().shape, grids_.coarsest_matrix(), null_inverse_);
        solved_ = true;
      }
    }
    scale_ = scale;
    found.judge_precision(grids_.levels().size() == 1, grids_.spread(), grids_.reach());
    if (solved_) coarsest_.finish(on_, found.failed, found.null_directions);
  }
  // From b() of the finest grid to its x().
  void run() {
    grids_.cycle([&] { solve_coarsest(); });
  }
  void solve_coarsest() {
    const auto &l = grids_.coarsest();
    coarsest_.solve(on_, l.b(), l.x(), scale_.from);
  }

  const Multigrid<Backend, T> &grids() const { return grids_; }
  double bytes() const { return double(grids_.bytes()) + coarsest_.bytes(); }

private:
  // All at once, as most refreshes are; what it should have been is seen when it has been done. The host need not wait between grids.
  bool refresh_as_before(const Scales &scale) {
    if constexpr (Backend::on_device) {
      if (!solved_ || !grids_.is_complete()) return false;
      if (scale.to != scale_.to) steps_.reset();
      const auto steps = [&] {
        grids_.refresh_as_before(scale.to);
        coarsest_.refresh(on_, grids_.coarsest().shape, grids_.coarsest_matrix(), null_inverse_);
      };
      if (coarsest_.enqueues())
        steps_(on_, steps);
      else
        steps();
      return grids_.is_as_before();
    }
    return false;
  }

  Backend &on_;
  Multigrid<Backend, T> grids_;
  CoarsestInverse<Backend> coarsest_;
  bool solved_ = false; // the coarsest grid
  Scales scale_;        // of the matrix
  double null_inverse_ = 0.0;
  Repeated<Backend> steps_;
};

} // namespace petscrrb::gridmg
