// A hierarchy of grids, and its coarsest one solved: by its inverse, or as the finest one of a hierarchy that every rank has.
#pragma once

#include "pc/gridmg/core/gathered.hpp"
#include "pc/gridmg/core/multigrid.hpp"

namespace petscrrb::gridmg {

// What each backend has its own of. The inverse of the coarsest grid's matrix, of at most `most` points: refresh(on, shape, matrix,
// null_inverse), of which see dense/inverse.hpp, only enqueues where nothing is allocated; with enqueues() on a device a graph can have it. finish() waits.
template <class Backend> class CoarsestInverse;
// Work that is always the same: on a device it is launched as a whole. void operator()(on, work); void reset()
template <class Backend> class Repeated;

// Spreads of the diagonal (choose.hpp). Beyond `wide` single precision takes more iterations; measured for bubbles of 10 % whose
// coefficient is 10^4 times larger: 10^3. Beyond the other, which is for reach() as well, a coefficient of 10^8 points might be 0 or
// not finite in it.
constexpr double wide = 2000.0, far_too_wide = 1e20;

// What a refresh found out, and made of it.
struct Findings {
  RowFacts read;
  bool failed = false;     // the diagonal of a coarser grid, or a pivot of the coarsest one, is not positive
  int null_directions = 0; // of the coarsest grid
  index_t too_large = 0;   // its points, where they are more than `most`; else 0
  index_t most = 0;
  bool useless = false;      // the near null vector is 0 or not finite somewhere: it was not used
  double spread = 1.0;       // of the diagonal (choose.hpp)
  bool wants_double = false; // single precision would take more iterations
  bool needs_double = false; // its exponents might not do, or there is nothing to gain by it

  void judge_precision(bool one_grid, double of_diagonal, double reach) {
    spread = of_diagonal;
    needs_double = one_grid || !(spread < far_too_wide) || !(reach < far_too_wide);
    wants_double = needs_double || !(spread < wide);
  }

  // Whether a near null vector is not used: useless, or alike in each component of the grid, so that V changes nothing.
  bool drops(const RowFacts &with) {
    useless = with.useless_row != no_row;
    return useless || !with.varies;
  }
};

// One grid of the hierarchy, for who looks at it.
struct GridReport : Use {
  Sizes n;
  bool dealt; // each rank has a box of it; else all have all of it
};

// With several ranks everything is collective but the constructor.
template <class Backend, class T> class Cycle {
public:
  Cycle(Backend &on, const Dealt &dealt, const Options &o) : on_(on), options_(o), grids_(on, dealt, o) {}

  // Values are in grids().finest(). Smoothers, and what is solved, are those of scale.to times the matrix.
  void refresh(const Scales &scale, Findings &found) {
    const bool same_scale = scale.to == scale_.to;
    const long made = grids_.made();
    const double null_inverse = Scales::of(found.read.norm).to;
    if (!same_scale || (!ranks() && null_inverse != null_inverse_)) steps_.reset();
    scale_ = scale, null_inverse_ = null_inverse;
    if (!refresh_as_before()) refresh_anew(found);
    if (!same_scale || grids_.made() != made) ++version_;
    if (ranks()) {
      if (!solved_) return;
      const long before = rest_->version();
      grids_.dealt().together([&] { rest_->refresh(scale_, found); });
      version_ += rest_->version() != before;
      if (grids_.smoothed_grids()) found.judge_precision(false, grids_.spread(), grids_.reach());
      return;
    }
    found.judge_precision(grids_.levels().size() == 1, grids_.spread(), grids_.reach());
    if (solved_) coarsest_.finish(on_, found.failed, found.null_directions);
  }
  long version() const { return version_; } // work that was captured before is not that of another one

  // From b() of the finest grid to its x().
  void run() {
    grids_.cycle([&] { solve_coarsest(); });
  }
  void solve_coarsest() {
    const auto &l = grids_.coarsest();
    if (!ranks()) return coarsest_.solve(on_, l.b(), l.x(), scale_.from);
    const auto &whole = *rest_->grids().levels().front();
    gathered_->gather(l.b(), whole.b());
    rest_->run();
    gathered_->take_box(whole.x(), l.x());
  }

  const Multigrid<Backend, T> &grids() const { return grids_; }
  rrb::Ranks *ranks() const { return grids_.dealt().ranks; }
  std::vector<GridReport> report() const {
    std::vector<GridReport> all;
    for (const auto &l : grids_.levels())
      if (!ranks() || l->direction >= 0) all.push_back({*l, l->cuts.whole().n, bool(ranks())});
    if (!rest_) return all;
    for (const GridReport &g : rest_->report()) all.push_back(g);
    return all;
  }
  double flops() const { return grids_.flops() + (rest_ ? rest_->flops() : 0.0); }
  double bytes() const {
    return double(grids_.bytes()) + coarsest_.bytes() + (rest_ ? gathered_->bytes() + rest_->bytes() : 0.0);
  }

private:
  // All at once, as most refreshes are; what it should have been is seen when it has been done. Neither a device nor ranks need wait
  // between grids.
  bool refresh_as_before() {
    if (!solved_ || !grids_.is_complete() || !(Backend::on_device || ranks())) return false;
    const auto steps = [&] {
      grids_.refresh_as_before(scale_.to);
      refresh_coarsest();
    };
    if (ranks() ? ranks()->only_enqueue() : coarsest_.enqueues())
      steps_(on_, steps);
    else
      steps();
    return grids_.is_as_before();
  }
  void refresh_anew(Findings &found) {
    steps_.reset();
    solved_ = false;
    found.failed = !grids_.refresh(scale_.to);
    if (found.failed) return;
    const index_t points = grids_.coarsest().shape.points();
    found.most = CoarsestInverse<Backend>::most;
    if (ranks())
      make_rest();
    else if (points > found.most)
      found.too_large = points;
    if (found.too_large) return;
    refresh_coarsest();
    solved_ = true;
  }
  void make_rest() {
    const Dealt &dealt = grids_.dealt();
    dealt.together([&] {
      const Cuts &cuts = grids_.coarsest().cuts;
      if (gathered_ && gathered_->cuts() == cuts) return;
      gathered_ = nullptr, rest_ = nullptr; // their memory first
      Options rest = options_;
      rest.grids -= grids_.smoothed_grids();
      rest_ = std::make_unique<Cycle>(on_, Dealt{nullptr, Cuts::uncut(cuts.whole())}, rest);
      gathered_ = std::make_unique<Gathered<Backend>>(on_, *dealt.ranks, cuts);
    });
  }
  void refresh_coarsest() {
    const Matrix A = grids_.coarsest_matrix();
    if (!ranks()) return coarsest_.refresh(on_, grids_.coarsest().shape, A, null_inverse_);
    const Matrix to = rest_->grids().finest();
    for (int q = 0; q < 3; ++q) gathered_->gather(A.w[q], to.w[q]);
    gathered_->gather(A.e, to.e);
  }

  Backend &on_;
  const Options options_;
  Multigrid<Backend, T> grids_;
  CoarsestInverse<Backend> coarsest_;           // of one rank
  std::unique_ptr<Gathered<Backend>> gathered_; // of several: their coarsest grid,
  std::unique_ptr<Cycle> rest_;                 // and the cycle that each of them has of it
  bool solved_ = false;                         // the coarsest grid
  Scales scale_;                                // of the matrix
  double null_inverse_ = 0.0;
  long version_ = 0;
  Repeated<Backend> steps_;
};

} // namespace petscrrb::gridmg
