// Conjugate gradients around multigrid, in the arrays of its finest grid: on the black points alone, where red ones have been
// eliminated and M solves them exactly (docs/ksprrb.md, "In 3D"), or on all points. On several ranks each has a box of that grid.
#pragma once

#include "comm/ranks.hpp"
#include "ksp/rrb/core/grid_nodes.hpp"
#include "pc/gridmg/core/gridmg.hpp"
#include "pc/rrb/graph/couplings.hpp"

#include <optional>

namespace petscrrb::rrbsolver {

// What each backend has its own of: q = A p at black points, where p at the red ones solves their equations, and the terms of
// (p, q). p is given at black points, also those around the grid, and at red points of other ranks around it; own red ones are left as they
// may be.
// Terms run(on, shape, A, p, q, partial), which takes parts_of(shape) terms of the partial sum
template <class Backend> struct BlackProduct;

// Preconditioner: GridMGOn; points: black, where that is red_black(), or all. On boxes everything is collective but the constructor.
template <class Preconditioner, Points points>
class GridCG : public ConjugateGradients<typename Preconditioner::On, GridIteration> {
  using Backend = typename Preconditioner::On;
  using Base = ConjugateGradients<Backend, GridIteration>;
  using T = typename Preconditioner::Value;

public:
  GridCG(Backend &on, Preconditioner &inside)
      : Base(on), inside_(inside), shape_(inside.grids().levels().front()->shape), layout_(shape_.n),
        memory_(4 * layout_.size()), find_scales_(on) {
    if (inside.ranks()) of_ranks_.emplace(on, *inside.ranks());
    partial_.reserve(4 * std::max(PartialSum<Backend>::parts_of(shape_.halves_of_both()),
                                  PartialSum<Backend>::parts_of(shape_.halves(0))) +
                     BlackProduct<Backend>::parts_of(shape_));
    on_.for_each({0, 1, 0, 1}, BeforeStart{scalars_.data()});
  }

  // The matrix is the preconditioner's, or another one on the same grid.
  void refresh() override { take(inside_.grids().finest()); }
  RowFacts refresh(const Csr &A) override {
    inside_.together([&] {
      if (!own_.bytes()) own_ = gridmg::MatrixArrays<Backend>(layout_);
    });
    take(own_.get());
    const RowFacts found = inside_.read(A, A_, Positive::stays);
    for (const Field<double> &f : {A_.w[0], A_.w[1], A_.w[2], A_.e}) fill(f, Points::all);
    return found;
  }
  long version() const { return inside_.version() + taken_; }

  // From the residual r0 of all points, in natural order, which is kept by the caller. The norm is that of r0; on black points the
  // preconditioned one is not taken. On one rank nothing waits.
  template <class Solve, class Finish> int start(const double *r0, Norm norm, const Solve &, const Finish &finish) {
    const NaturalPoints<const double> natural{r0, shape_.n[0], shape_.n[1]};
    Base::begin(false);
    scales_ = inside_.find_scales(find_scales_, r0);
    if (black) {
      on_.for_each_point({{index_t(layout_.size()), 1, 1}}, gridmg::Clear<double>{memory_.data()});
      solve_red<true>(p(), natural); // from 0, around the grid, too
      fill(p(), Points::red);
      if (norm == Norm::natural) put(sum(shape_.halves(0), TimesNatural<Points::red>{p(), natural}), energy_r1);
      if (norm == Norm::unpreconditioned) put(sum(shape_.halves_of_both(), SquareNatural{natural}), squares_r1);
      partial_.start();
    }
    on_.for_each_point(box(), TakeResidual<points>{A_, p(), r(), natural});
    subtract(true, black ? Norm::none : norm);
    precondition(black ? Norm::none : norm, finish);
    return 0;
  }
  template <class Solve, class Finish> int step(Norm norm, const Solve &, const Finish &finish) {
    Base::begin(true);
    on_.for_each_point(box(), at_places(InStep{NextDirection<T>{unscaled(), p().p, delta().p}, scalars_.data()}));
    const Terms curvature = multiply();
    if (of_ranks_) {
      put(curvature, curvature_b1);
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
  void settle() override {
    on_.for_each_point({{index_t(layout_.size()), 1, 1}}, gridmg::Clear<double>{memory_.data() + 2 * layout_.size()});
    Base::drop_step();
  }
  void solution(const double *r0, double *x, bool add) const override {
    on_.for_each_point(box(), at_places(PutCorrection{delta().p, p().p, Base::pending_alpha(), q().p, false}));
    if (black) fill(q(), points), solve_red<true>(q(), {r0, shape_.n[0], shape_.n[1]});
    on_.for_each_point(shape_.halves_of_both(), PutNatural{q(), {x, shape_.n[0], shape_.n[1]}, add});
  }
  std::size_t bytes() const override {
    return memory_.bytes() + own_.bytes() + scalars_.bytes() + partial_.bytes() + (of_ranks_ ? of_ranks_->bytes() : 0);
  }

private:
  static constexpr bool black = points == Points::black;
  using L = gridmg::Level<Backend, T>;
  using Base::on_, Base::scalars_, Base::partial_, Base::squares_;

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
  Unscaled<T> unscaled() const { return {finest().x().p, inside_.scale(), scales_}; }
  template <Points of = points, class F> AtPlace<of, F> at_places(const F &f) const { return {f, p()}; }

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
  void put(const Terms &terms, Slot i) {
    if (!of_ranks_) return Base::put(terms, i);
    Sums sums;
    sums.add(terms, Base::slot(i));
    of_ranks_->add(sums);
  }

  void subtract(bool start, Norm norm) {
    const L &level = finest();
    const T *const dinv = black ? level.smoothed().dinv.p : nullptr;
    const SubtractProduct<points, T> subtract{q().p, r().p, dinv, level.b().p, level.x().p, scales_};
    const Terms squares = sum(box(), at_places(InStep{subtract, start ? nullptr : scalars_.data()}));
    if (norm == Norm::unpreconditioned) squares_ = squares;
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
      on_.for_each_point(box(), at_places(CopyUnscaled<T>{unscaled(), q().p}));
      if (black) fill(q(), points), solve_red<false>(q());
      squares_ = sum(shape_.halves_of_both(), at_places<Points::all>(ProductOf{q().p, q().p}));
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

  Preconditioner &inside_;
  const gridmg::Shape shape_;
  const gridmg::Layout layout_;
  typename Backend::template Array<double> memory_;
  gridmg::MatrixArrays<Backend> own_; // where the matrix is not the preconditioner's
  Matrix A_;
  long taken_ = 0; // matrices
  gridmg::FindScales<Backend> find_scales_;
  const Scales *scales_ = nullptr;            // of the first residual
  std::optional<RankSums<Backend>> of_ranks_; // of several
};

// On: IterationOnHost or IterationOnDevice; with: what it is made with before the multigrid
template <class Backend, template <class> class On, class... With>
std::unique_ptr<GridIteration> make_on_grids(gridmg::GridMG &grids, bool black, With &&...with) {
  const auto of = [&](auto &inside) -> std::unique_ptr<GridIteration> {
    using Inside = std::decay_t<decltype(inside)>;
    if (black) return std::make_unique<On<GridCG<Inside, Points::black>>>(with..., inside);
    return std::make_unique<On<GridCG<Inside, Points::all>>>(with..., inside);
  };
  const auto in = [&](auto precision) {
    using T = decltype(precision);
    return of(static_cast<gridmg::GridMGOn<Backend, T> &>(grids));
  };
  return grids.single() ? in(float()) : in(double());
}

} // namespace petscrrb::rrbsolver
