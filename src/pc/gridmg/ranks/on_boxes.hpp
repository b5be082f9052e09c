// Multigrid on boxes of several ranks, with the code of one rank: large grids are each rank's box, the rest is on all of them.
#pragma once

#include "pc/gridmg/core/gridmg.hpp"
#include "pc/gridmg/ranks/gathered.hpp"

namespace petscrrb::gridmg {

// The rows that refresh() is given are those of the rank's box and of what is around it, in natural order, then one that stands for
// all others and is no identity row; vectors are the box's. Everything is collective.
std::unique_ptr<GridMG> make_gridmg(const Dealt &, int points, const Options &, bool single);
std::unique_ptr<GridMG> make_gridmg(Cuda &, const Dealt &, int points, const Options &, bool single);

template <class Backend, class T> class OnBoxes final : public GridMG {
public:
  using On = Backend;
  using Value = T;

  OnBoxes(Backend &on, const Dealt &dealt, int points, const Options &o)
      : on_(on), dealt_(dealt), options_(o), box_(dealt.cuts.box(dealt.ranks->rank())), grids_(on, box_, o, &dealt_),
        loops_(on), scales_(on) {
    for (int q = 0; q < 3; ++q) {
      first_[q] = box_.more_before[q];
      lattice_.n[q] = PetscInt(box_.n[q] + box_.more_before[q] + box_.more_after[q]);
      lattice_.periodic[q] = box_.ring[q];
    }
    lattice_.steps = points == 7 ? 3 : 2;
  }

  Findings refresh(const Csr &A, NearNull near) override {
    Findings found;
    found.read = read(A, grids_.finest(), Positive::moves, near);
    if (near.x && found.drops(found.read)) {
      near.x = nullptr;
      found.read = read(A, grids_.finest(), Positive::moves, near);
    }
    v_.use(near.x);
    if (found.read.result() != ReadResult::ok || found.read.bad_pivot != no_row) return found;
    const double scale_before = scale_.to;
    const long made_before = grids_.made();
    scale_ = Scales::of(std::is_same_v<T, float> ? found.read.norm : 1.0);
    if (!refresh_as_before(scale_.to == scale_before)) found.failed = !refresh_anew();
    if (found.failed) return found;
    if (scale_.to != scale_before || grids_.made() != made_before) forget_steps();
    const long rest_before = gathered_->cycle().grids().made();
    together([&] { gathered_->cycle().refresh(scale_, found); });
    if (gathered_->cycle().grids().made() != rest_before) forget_steps();
    if (grids_.smoothed_grids()) found.judge_precision(false, grids_.spread(), grids_.reach());
    return found;
  }

  void apply(const double *r, double *z) override {
    const auto &finest = *grids_.levels().front();
    const Scales *scales = find_scales(scales_, r);
    on_.for_each_point(box_.all(), Load<T>{r, finest.b(), scales, 1.0, box_.n[0], box_.n[1], v_.get()});
    const auto cycle = [&] { grids_.cycle([&] { solve_coarsest(); }); };
    if (dealt_.ranks->only_enqueue())
      repeated_(on_, cycle);
    else
      cycle();
    on_.for_each_point(box_.all(), Store<T>{finest.x(), z, scales, scale_.to, box_.n[0], box_.n[1], v_.get()});
  }

  std::vector<GridReport> report() const override {
    std::vector<GridReport> grids;
    for (const auto &l : grids_.levels())
      if (l->direction >= 0) grids.push_back({l->whole, l->smooth, l->lines, l->direction, true});
    if (gathered_)
      for (const auto &l : gathered_->cycle().grids().levels())
        grids.push_back({l->shape.n, l->smooth, l->lines, l->direction});
    return grids;
  }
  double flops() const override { return grids_.flops() + (gathered_ ? gathered_->cycle().grids().flops() : 0.0); }
  double bytes() const override {
    return double(grids_.bytes()) + (gathered_ ? gathered_->bytes() : 0.0) + double(v_.bytes());
  }
  bool red_black() const override { return grids_.red_black(); }
  bool single() const override { return std::is_same_v<T, float>; }
  bool scaled() const override { return v_.get().p; }
  rrb::Ranks *ranks() const override { return dealt_.ranks; }

  // --- for an iteration that works in the finest grid's arrays: as on one rank ---

  const Multigrid<Backend, T> &grids() const { return grids_; }
  void solve_coarsest() { gathered_->solve(grids_.coarsest().b(), grids_.coarsest().x()); }
  double scale() const { return scale_.to; }
  long version() const { return version_; }
  template <class F> void together(const F &f) const { dealt_.together(f); }
  // What all ranks have found.
  RowFacts read(const Csr &A, const Matrix &to, Positive positive, const NearNull &near = {}) {
    RowFacts found;
    together(
        [&] { found = lattice_.steps == 3 ? read_box<3>(A, to, positive, near) : read_box<2>(A, to, positive, near); });
    dealt_.agree(found);
    return found;
  }
  const Scales *find_scales(FindScales<Backend> &find, const double *r) {
    if (!std::is_same_v<T, float>) return nullptr;
    double most = 0.0;
    largest_[0] = find.largest(on_, r, box_.points());
    for (const double x : dealt_.ranks->gather_numbers(largest_)) most = std::max(most, x);
    return find.put(on_, most);
  }

private:
  // The matrix of the grid that all ranks have, and what is above it. False: a diagonal is not positive.
  bool refresh_anew() {
    refresh_.reset();
    refreshed_ = false;
    if (!grids_.refresh(scale_.to)) return false;
    const Cuts &cuts = grids_.coarsest_cuts();
    together([&] {
      if (gathered_ && gathered_->cuts() == cuts) return;
      gathered_ = nullptr; // its memory first
      Options rest = options_;
      rest.grids -= grids_.smoothed_grids();
      gathered_ = std::make_unique<Gathered<Backend, T>>(on_, *dealt_.ranks, cuts, rest);
    });
    gathered_->gather(grids_.coarsest_matrix());
    refreshed_ = true;
    return true;
  }
  // All at once, as on one rank; what it should have been is seen when it has been done.
  bool refresh_as_before(bool same_scale) {
    if (!refreshed_ || !grids_.is_complete()) return false;
    if (!same_scale) refresh_.reset();
    const auto steps = [&] {
      grids_.refresh_as_before(scale_.to);
      gathered_->gather(grids_.coarsest_matrix());
    };
    if (dealt_.ranks->only_enqueue())
      refresh_(on_, steps);
    else
      steps();
    return grids_.is_as_before();
  }
  void forget_steps() { repeated_.reset(), ++version_; }
  template <int steps> RowFacts read_box(const Csr &A, const Matrix &to, Positive positive, const NearNull &near) {
    const Field<double> v = near.x ? v_.room(grids_.finest_layout()) : Field<double>();
    PutBox<steps> put{{to, positive, near, lattice_, v}, {first_[0], first_[1], first_[2]}};
    loops_.clear();
    loops_.at_rows(PetscInt(box_.points()),
                   RowsOfBox<ReadCouplings<steps, PutBox<steps>>>{
                       {A, lattice_, put}, {box_.n[0], box_.n[1], box_.n[2]}, {first_[0], first_[1], first_[2]}});
    return loops_.read();
  }

  Backend &on_;
  const Dealt dealt_;
  const Options options_;
  const Shape box_;
  index_t first_[3]; // of the box, in what is around it
  Lattice lattice_;
  Multigrid<Backend, T> grids_;
  std::unique_ptr<Gathered<Backend, T>> gathered_;
  RowLoops<Backend> loops_;
  FindScales<Backend> scales_;
  ScalingVector<Backend> v_;
  std::vector<double> largest_ = {0.0}; // of r
  Scales scale_;                        // of the matrix in the cycle
  long version_ = 0;
  Repeated<Backend> repeated_, refresh_;
  bool refreshed_ = false; // all of it, on all ranks
};

} // namespace petscrrb::gridmg
