// Conjugate gradients around multigrid, in the arrays of its finest grid: on the black points alone, where red ones have been
// eliminated and M solves them exactly (docs/ksprrb.md, "In 3D"), or on all points. On several ranks each has a box of that grid.
#pragma once

#include "exec/not_copied.hpp"
#include "comm/ranks.hpp"
#include "ksp/rrb/core/grid_iteration.hpp"
#include "ksp/rrb/core/grid_nodes.hpp"

#include <optional>

namespace petscrrb::rrbsolver {

// What each backend has its own of: q = A p at black points, where p at the red ones solves their equations, and the terms of
// (p, q). p is given at black points, also those around the grid, and at red points of other ranks around it; own red ones are left as they
// may be.
// Terms run(on, shape, A, p, q, partial), which takes parts_of(shape) terms of the partial sum
template <class Backend> struct BlackProduct;

// Preconditioner: GridMGOn; points: black, where that is red_black(), or all. On boxes everything is collective but the constructor.
template <class Preconditioner, Points points> class GridCG : NotCopied {
  using Backend = typename Preconditioner::On;
  using T = typename Preconditioner::Value;

public:
  GridCG(Backend &on, Preconditioner &inside)
      : on_(on), inside_(inside), shape_(inside.grids().levels().front()->shape), layout_(shape_.n),
        memory_(4 * layout_.size()), find_scales_(on), scalars_(slots, 0) {
    if (inside.ranks()) of_ranks_.emplace(on, *inside.ranks());
    partial_.reserve(4 * std::max(PartialSum<Backend>::parts_of(shape_.halves_of_both()),
                                  PartialSum<Backend>::parts_of(shape_.halves(0))) +
                     BlackProduct<Backend>::parts_of(shape_));
    on_.for_each({0, 1, 0, 1}, BeforeStart{scalars_.data()});
  }

  // The matrix is the preconditioner's, or another one on the same grid.
  void refresh() { take(inside_.grids().finest()); }
  RowFacts refresh(const Csr &A) {
    inside_.together([&] {
      if (!own_.bytes()) own_ = gridmg::MatrixArrays<Backend>(layout_);
    });
    take(own_.get());
    const RowFacts found = inside_.read(A, A_, Positive::stays);
    for (const Field<double> &f : {A_.w[0], A_.w[1], A_.w[2], A_.e}) fill(f, Points::all);
    return found;
  }
  long version() const { return inside_.version() + taken_; } // of what a captured step has in it

  // From the residual r0 of all points, in natural order, which is kept by the caller. The norm is that of r0; on black points the
  // preconditioned one is not taken. On one rank nothing waits. finish(terms) does the work of AfterCycle with the sum of the terms.
  template <class Solve, class Finish> int start(const double *r0, Norm norm, const Solve &, const Finish &finish) {
    const NaturalPoints<const double> natural{r0, shape_.n[0], shape_.n[1]};
    pending_ = false;
    partial_.start();
    on_.for_each({0, 1, 0, 1}, BeforeStart{scalars_.data()});
    scales_ = inside_.find_scales(find_scales_, r0);
    if (black) {
      on_.for_each_point({{index_t(layout_.size()), 1, 1}}, gridmg::Clear<double>{memory_.data()});
      solve_red<true>(p(), natural); // from 0, around the grid, too
      fill(p(), Points::red);
      if (norm == Norm::natural) put(energy_r1, sum(shape_.halves(0), TimesNatural<Points::red>{p(), natural}));
      if (norm == Norm::unpreconditioned) put(squares_r1, sum(shape_.halves_of_both(), SquareNatural{natural}));
      partial_.start();
    }
    on_.for_each_point(box(), TakeResidual<points>{A_, p(), r(), natural});
    subtract(true, black ? Norm::none : norm);
    precondition(black ? Norm::none : norm, finish);
    return 0;
  }
  template <class Solve, class Finish> int step(Norm norm, const Solve &, const Finish &finish) {
    const L &level = finest();
    pending_ = true;
    partial_.start();
    on_.for_each_point(box(), NextDirection<points, T>{level.x(), unscaled(), p(), delta(), scalars_.data()});
    const Terms curvature = multiply();
    if (of_ranks_) {
      put(curvature_b1, curvature);
      on_.for_each({0, 1, 0, 1}, AfterProduct{scalars_.data()});
    } else {
      partial_.put_then(on_, curvature, scalars_.data() + curvature_b1, AfterProduct{scalars_.data()});
    }
    subtract(false, norm);
    precondition(norm, finish);
    return 0;
  }
  // The preconditioner has been used by somebody else since.
  template <class Solve> int resume(const Solve &) {
    partial_.start();
    subtract(true, Norm::none);
    precondition(Norm::none, [](const Terms &) {});
    return 0;
  }
  void steps_taken() { pending_ = true; }
  void settle() {
    on_.for_each_point({{index_t(layout_.size()), 1, 1}}, gridmg::Clear<double>{memory_.data() + 2 * layout_.size()});
    pending_ = false;
  }
  void drop_step() { pending_ = false; }
  void solution(const double *r0, double *x, bool add) const {
    on_.for_each_point(box(), CopyCorrection<points>{delta(), p(), q(), pending_ ? scalars_.at(alpha) : nullptr});
    if (black) fill(q(), points), solve_red<true>(q(), {r0, shape_.n[0], shape_.n[1]});
    on_.for_each_point(shape_.halves_of_both(), PutCorrection{q(), {x, shape_.n[0], shape_.n[1]}, add});
  }

  const Scalars<Backend> &scalars() const { return scalars_; } // in the order of Slot
  const Terms &squares() const { return squares_; } // of the norm: on a device they are added when a step ends
  std::size_t bytes() const {
    return memory_.bytes() + own_.bytes() + scalars_.bytes() + partial_.bytes() + (of_ranks_ ? of_ranks_->bytes() : 0);
  }

private:
  static constexpr bool black = points == Points::black;
  using L = gridmg::Level<Backend, T>;

  // It may lie elsewhere than before.
  void take(const Matrix &A) {
    if (A.e.p != A_.e.p) ++taken_;
    A_ = A;
  }
  const L &finest() const { return *inside_.grids().levels().front(); }
  Range3 box() const { return black ? shape_.halves(1) : shape_.halves_of_both(); }
  Field<double> vector(int i) const { return {memory_.data() + i * layout_.size(), layout_}; }
  Field<double> p() const { return vector(0); }
  Field<double> q() const { return vector(1); }
  Field<double> delta() const { return vector(2); }
  Field<double> r() const { return vector(3); }
  Unscaled unscaled() const { return {inside_.scale(), scales_}; }

  // what is around the grid, of points that will be read there
  void fill(const Field<double> &x, Points which) const {
    inside_.grids().fill_finest(x, which == Points::all ? gridmg::all_colours : index_t(which));
  }
  // red points of x from its black ones
  template <bool with_r0> void solve_red(const Field<double> &x, const NaturalPoints<const double> &r0 = {}) const {
    on_.for_each_point(shape_.halves(0), SolveRed<with_r0>{A_, x, r0});
  }
  // q = A p, and the terms of (p, q).
  Terms multiply() {
    fill(p(), points);
    if (!black) return sum(box(), Multiply<points>{A_, p(), q()});
    if (of_ranks_) inside_.grids().exchange_finest(p(), index_t(Points::red), SolvedRed{A_, p()});
    return BlackProduct<Backend>::run(on_, shape_, A_, p(), q(), partial_);
  }
  template <class F> Terms sum(const Range3 &over, const F &f) { return partial_.terms_of(on_, over, f); }
  void put(Slot slot, const Terms &terms) {
    Sums sums;
    sums.add(terms, scalars_.data() + slot);
    if (of_ranks_)
      of_ranks_->add(sums);
    else
      partial_.put(on_, sums, scalars_.data() + slot);
  }

  void subtract(bool start, Norm norm) {
    const L &level = finest();
    const SubtractProduct<points, T> subtract{q(),
                                              r(),
                                              black ? level.smoothed() : gridmg::Smoothed<T>(),
                                              level.b(),
                                              level.x(),
                                              scales_,
                                              start ? nullptr : scalars_.data()};
    squares_ = {};
    const Terms squares = sum(box(), subtract);
    if (norm == Norm::unpreconditioned) add_squares(squares);
  }
  void add_squares(const Terms &squares) {
    if (Backend::on_device || of_ranks_) // with the energy
      squares_ = squares;
    else
      put(squares_b1, squares);
  }
  template <class Finish> void precondition(Norm norm, const Finish &finish) {
    const L &level = finest();
    Terms energy;
    const auto add_energy = [&] {
      energy = sum(box(), EnergyOf<points, T>{r(), black ? level.smoothed() : gridmg::Smoothed<T>(), level.b(),
                                              level.x(), unscaled()});
    };
    const auto solve = [&] { inside_.solve_coarsest(); };
    if (black) {
      if (inside_.grids().reads_red()) clear_red();
      inside_.grids().black_cycle(solve, add_energy);
    } else {
      inside_.grids().cycle(solve);
      add_energy();
    }
    if (norm == Norm::preconditioned) {
      on_.for_each_point(box(), CopyUnscaled<points, T>{level.x(), unscaled(), q()});
      if (black) fill(q(), points), solve_red<false>(q());
      add_squares(sum(shape_.halves_of_both(), SquareOf<Points::all>{q()}));
    }
    if (of_ranks_) energy = add_over_ranks(energy, norm);
    finish(energy);
  }
  // That and the squares of the norm: equally many sums on all ranks, those without points, too.
  Terms add_over_ranks(const Terms &energy, Norm norm) {
    Sums sums;
    sums.add(energy, scalars_.data() + energy_b1);
    if (norm == Norm::unpreconditioned || norm == Norm::preconditioned)
      sums.add(squares_, scalars_.data() + squares_b1);
    of_ranks_->add(sums);
    squares_ = {};
    return {}; // AfterCycle takes what is in energy_b1
  }
  void clear_red() const { on_.for_each_point(shape_.halves(0), gridmg::ClearColour<T>{finest().b(), 0}); }

  Backend &on_;
  Preconditioner &inside_;
  const gridmg::Shape shape_;
  const gridmg::Layout layout_;
  typename Backend::template Array<double> memory_;
  gridmg::MatrixArrays<Backend> own_; // where the matrix is not the preconditioner's
  Matrix A_;
  long taken_ = 0; // matrices
  gridmg::FindScales<Backend> find_scales_;
  const Scales *scales_ = nullptr; // of the first residual
  Scalars<Backend> scalars_;
  PartialSum<Backend> partial_;
  std::optional<rrb::RankSums<Backend>> of_ranks_; // of several
  Terms squares_;
  bool pending_ = false; // alpha p is not yet added to delta
};

// On: IterationOnHost or IterationOnDevice; with: what it is made with before the multigrid
template <class Backend, template <class, class> class On, class... With>
std::unique_ptr<GridIteration> make_on_grids(gridmg::GridMG &grids, bool black, With &&...with) {
  const auto of = [&](auto &inside) -> std::unique_ptr<GridIteration> {
    using Inside = std::decay_t<decltype(inside)>;
    if (black) return std::make_unique<OnGrids<On<GridCG<Inside, Points::black>, GridIteration>>>(with..., inside);
    return std::make_unique<OnGrids<On<GridCG<Inside, Points::all>, GridIteration>>>(with..., inside);
  };
  const auto in = [&](auto precision) {
    using T = decltype(precision);
    return of(static_cast<gridmg::GridMGOn<Backend, T> &>(grids));
  };
  return grids.single() ? in(float()) : in(double());
}

} // namespace petscrrb::rrbsolver
