// A hierarchy of grids, and the coarsest one solved.
#pragma once

#include "pc/gridmg/core/findings.hpp"
#include "pc/gridmg/core/multigrid.hpp"
#include "pc/gridmg/core/read.hpp"

namespace petscrrb::gridmg {

// What each backend has its own of. The pseudo-inverse of the coarsest grid's matrix, of at most `most` points:
template <class Backend> class CoarsestInverse;

template <class Backend, class T> class Cycle {
public:
  Cycle(const Backend &on, const Shape &finest, const Options &o) : on_(on), grids_(on, finest, o) {}

  // Values are in grids().finest(). Smoothers, and what is solved, are those of scale.to times the matrix.
  void refresh(const Scales &scale, Findings &found) {
    from_ = scale.from;
    found.failed = !grids_.refresh(scale.to);
    found.wants_double = !(grids_.spread() < wide);
    if (found.failed) return;
    const Shape &x = grids_.coarsest().shape;
    found.most = CoarsestInverse<Backend>::most;
    if (x.points() > found.most) found.too_large = x.points();
    if (!found.too_large) coarsest_.refresh(on_, x, grids_.coarsest_matrix(), found.failed, found.null_directions);
  }
  // From b() of the finest grid to its x().
  void run() {
    grids_.cycle([&] { solve_coarsest(); });
  }
  void solve_coarsest() {
    const auto &l = grids_.coarsest();
    on_.for_each_point(l.shape.all(), Store<T>{l.b(), coarsest_.vector(), nullptr, 1.0, l.shape.n[0], l.shape.n[1]});
    const double *solution = coarsest_.solve(on_);
    on_.for_each_point(l.shape.all(), Load<T>{solution, l.x(), nullptr, from_, l.shape.n[0], l.shape.n[1]});
  }

  const Multigrid<Backend, T> &grids() const { return grids_; }
  double bytes() const { return double(grids_.bytes()) + coarsest_.bytes(); }

private:
  const Backend &on_;
  Multigrid<Backend, T> grids_;
  CoarsestInverse<Backend> coarsest_;
  double from_ = 1.0;
};

} // namespace petscrrb::gridmg
