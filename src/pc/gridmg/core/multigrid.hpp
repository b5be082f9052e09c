// The hierarchy of grids, its refresh and the V-cycle (docs/pcgridmg.md), for any backend.
#pragma once

#include "pc/gridmg/core/choose.hpp"
#include "pc/gridmg/core/smooth.hpp"
#include "pc/gridmg/core/halo.hpp"

#include <memory>

namespace petscrrb::gridmg {

// What each backend has its own of: the sums that choices are made by, and zebra lines.
// start(on, Matrix, Shape, i), which does not wait, for up to `most` grids, and const double *read(on), which does, with
// Strengths::count numbers of each grid
template <class Backend> class Strength;
template <class Backend, class T> class ZebraLines;

// A grid's arrays of the matrix in double precision.
template <class Backend> class MatrixArrays {
public:
  MatrixArrays() = default;
  explicit MatrixArrays(const Layout &x) : layout_(x), memory_(4 * x.size()) {}

  const Layout &layout() const { return layout_; }
  Matrix get() const { return {{array(0), array(1), array(2)}, array(3)}; }
  std::size_t bytes() const { return memory_.bytes(); }

private:
  Field<double> array(int i) const { return {memory_.data() + i * layout_.size(), layout_}; }

  Layout layout_;
  typename Backend::template Array<double> memory_;
};

// Copies what is around periodic sides; the directions one after the other, so that corners are right.
template <class T, int N> struct FillRing {
  Field<T> f[N];
  int q;
  index_t n;

  PETSCRRB_HD void operator()(index_t a, index_t b) const {
    const auto at = [&](index_t i) { return Point::of_line(q, i, a, b); };
    for (int i = 0; i < N; ++i) {
      f[i](at(-1).a) = f[i](at(n - 1).a);
      f[i](at(n).a) = f[i](at(0).a);
    }
  }
};
template <class Backend, class T, int N> void fill_rings(const Backend &on, const Shape &x, const Field<T> (&f)[N]) {
  for (int q = 0; q < 3; ++q) {
    if (!x.ring[q]) continue;
    FillRing<T, N> fill{{}, q, x.n[q]};
    std::copy(f, f + N, fill.f);
    on.for_each({-1, x.n[first_across(q)] + 1, -1, x.n[second_across(q)] + 1}, fill);
  }
}

template <class T> struct Clear {
  T *to;

  PETSCRRB_HD void operator()(index_t i, index_t, index_t) const { to[i] = T(0); }
};

template <class T> struct ClearColour {
  Field<T> x;
  index_t colour;

  PETSCRRB_HD void operator()(index_t h, index_t j, index_t k) const { x.row((colour + j + k) & 1, j, k)[h] = T(0); }
};

// A grid. T: the precision of the cycle.
template <class Backend, class T> struct Level {
  template <class V> using Array = typename Backend::template Array<V>;

  Shape shape;
  Sizes whole = {0, 0, 0}; // of all ranks
  Layout layout;
  bool smooth = false;    // else it is between two directions of one coarsening, or the coarsest
  std::vector<int> lines; // directions in which it is smoothed; none: points
  int direction = -1;     // that is coarsened to the next one; -1: the coarsest
  Array<T> matrix, vectors, shares;
  // of several ranks, NULL on one: what is around the box on its faces, and on all sides
  const Halo<Backend> *faces = nullptr, *around = nullptr;
  std::array<int, 3> parts = {1, 1, 1}, part = {0, 0, 0}; // in how many each direction is cut, and which one this is
  Sizes first = {0, 0, 0};                                // point of all

  void allocate() {
    vectors.resize((2 + smooth) * layout.size());
    if (smooth) matrix.resize((4 + lines.size()) * layout.size());
    if (direction >= 0) shares.resize(2 * share_layout().size());
  }
  Layout share_layout() const {
    Sizes n = shape.n;
    n[direction] = (n[direction] + 1) / 2;
    return Layout(n);
  }
  Field<T> b() const { return {vectors.data(), layout}; }
  Field<T> x() const { return {vectors.data() + layout.size(), layout}; }
  Field<T> r() const { return {vectors.data() + 2 * layout.size(), layout}; }
  Field<T> array(int i) const { return {matrix.data() + i * layout.size(), layout}; }
  Smoothed<T> smoothed() const { return {{array(0), array(1), array(2)}, array(3)}; }
  Field<T> pivots(std::size_t line) const { return array(4 + int(line)); }
  Transfer<T> transfer() const { return transfer(shares.data()); }
  template <class V> Transfer<V> transfer(V *memory) const {
    const Layout x = share_layout();
    return {{memory, x},
            {memory + x.size(), x},
            direction,
            shape.n[direction],
            shape.coarser(direction).n[direction],
            shape.ring[direction],
            shape.more_before[direction],
            shape.more_after[direction]};
  }
  std::size_t bytes() const { return matrix.bytes() + vectors.bytes() + shares.bytes(); }
};

template <class Backend, class T> class Multigrid {
public:
  using L = Level<Backend, T>;

  // dealt: of a part of a grid, on one of several ranks; its coarsest grid is then one that all ranks are to have
  Multigrid(const Backend &on, const Shape &finest, const Options &o, const Dealt *dealt = nullptr)
      : on_(on), options_(o), shape_(finest), dealt_(dealt), finest_(Layout(finest.n)) {}

  // Own points of the finest matrix are to be put here before refresh().
  Matrix finest() const { return finest_.get(); }
  const Layout &finest_layout() const { return finest_.layout(); }

  // How often a level was made: what is known of their memory holds until then.
  long made() const { return made_; }
  // Builds what does not fit any more; allocates nothing where the same grids and smoothers are chosen. False: a diagonal of
  // some grid is not positive. Smoothers are those of `scale` times the matrix.
  bool refresh(double scale) {
    Place here{shape_, {}};
    if (dealt_) each_alone([&] { here.cuts = dealt_->cuts; });
    const MatrixArrays<Backend> *A = &finest_;
    std::vector<int> group;
    int groups = 0;
    std::size_t l = 0;
    spread_ = 1.0;
    complete_ = false;
    for (;; ++l) {
      const Shape whole = here.whole(dealt_);
      fill_around(here, {A->get().w[0], A->get().w[1], A->get().w[2], A->get().e});
      const bool coarsest = is_small(whole, group.empty()) || (group.empty() && groups + 1 >= options_.grids);
      Wish wish;
      if (!coarsest && group.empty()) {
        const Strengths s = strengths(A->get(), here.shape);
        if (s.bad > 0.0) return false;
        if (l == 0) spread_ = gridmg::spread(s);
        each_alone([&] {
          group = coarsened(s, whole, options_);
          if (!group.empty()) wish = {true, smoothed(s, whole, options_), -1};
          if (dealt_ && !here.cuts.even()) group.clear(), wish = {};
        });
        groups += !group.empty();
      }
      if (!coarsest && !group.empty()) wish.direction = group.front(), group.erase(group.begin());
      L &level = level_at(l, here, wish);
      if (level.smooth) set_smoother(level, *A, scale);
      if (level.direction < 0) break;
      A = coarsen(l, here, level, *A);
    }
    groups_ = groups;
    levels_.resize(l + 1);
    matrices_.resize(l);
    coarsest_ = A;
    coarsest_cuts_ = std::move(here.cuts);
    complete_ = true;
    return true;
  }

  // The same on a device where the last refresh has been to its end, for the same grids and smoothers: nothing waits, so that it can be
  // a graph. Whether they are the ones to be chosen is what is_as_before() says then, which waits; else refresh() is to be called.
  bool is_complete() const { return complete_ && !dealt_ && int(levels_.size()) <= Strength<Backend>::most; }
  void refresh_as_before(double scale) {
    Place here{shape_, {}};
    const MatrixArrays<Backend> *A = &finest_;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      L &level = *levels_[l];
      fill_around(here, {A->get().w[0], A->get().w[1], A->get().w[2], A->get().e});
      if (is_chosen(l)) strength_.start(on_, A->get(), level.shape, int(l));
      if (level.smooth) set_smoother(level, *A, scale);
      if (level.direction >= 0) A = coarsen(l, here, level, *A);
    }
  }
  bool is_as_before() {
    const double *numbers = strength_.read(on_);
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const L &level = *levels_[l];
      if (!is_chosen(l)) continue;
      const Strengths s = Strengths::of(numbers + l * Strengths::count);
      if (s.bad > 0.0) return false;
      if (l == 0) spread_ = gridmg::spread(s);
      const std::vector<int> group = coarsened(s, level.shape, options_);
      if (group.empty() == level.smooth) return false;
      if (level.smooth && smoothed(s, level.shape, options_) != level.lines) return false;
      std::size_t i = 0;
      for (; i < group.size() && levels_[l + i]->direction >= 0; ++i) // the coarsest one may come before
        if (levels_[l + i]->direction != group[i] || (i && levels_[l + i]->smooth)) return false;
      if (levels_[l + i]->direction >= 0 && !levels_[l + i]->smooth) return false; // there were more
    }
    return true;
  }

  int smoothed_grids() const { return groups_; }
  const Cuts &coarsest_cuts() const { return coarsest_cuts_; }
  double spread() const { return spread_; } // of the finest matrix' diagonal, unless that is solved directly
  const std::vector<std::unique_ptr<L>> &levels() const { return levels_; }
  const L &coarsest() const { return *levels_.back(); }
  Matrix coarsest_matrix() const { return coarsest_->get(); }

  // From b() of the finest level to its x(). solve() is to solve with the coarsest one, from its b() to its x().
  template <class Solve> void cycle(const Solve &solve) const { cycle_from(0, solve); }

  // Whether the finest grid is smoothed by points of two colours that have no neighbours of their own.
  bool red_black() const { return levels_.size() > 1 && red_black(*levels_.front()); }
  // The same cycle of b() that is 0 on red points, for x() on black ones: the finest grid's first half-sweeps, x = 0 on red points and
  // b / d on black ones, have been done; relax() does the last one on black points, which leaves out the red ones after it. Of b() on
  // red points nothing is read where there is one sweep.
  template <class Solve, class Relax> void black_cycle(const Solve &solve, const Relax &relax) const {
    const L &finest = *levels_.front();
    for (int n = 1; n < options_.smooths; ++n) relax_points(finest, 0, false), relax_points(finest, 1, false);
    residual(finest);
    restrict_from(0);
    cycle_from(below(0), solve);
    prolong_to(0, options_.smooths > 1);
    for (int n = 1; n < options_.smooths; ++n) relax_points(finest, 1, false), relax_points(finest, 0, false);
    fill(finest, finest.x());
    relax();
  }
  bool reads_red() const { return options_.smooths > 1; } // b() on red points

  // of a cycle: 13 a point and half-sweep of all, as many for a residual, 4 for transfers
  double flops() const {
    double n = 0.0;
    for (const auto &l : levels_) {
      const double sweeps = l->lines.empty() ? 1.0 : 1.5 * double(l->lines.size());
      n += double(l->shape.points()) * (l->smooth ? 26.0 * options_.smooths * sweeps + 13.0 : 0.0);
      n += double(l->shape.points()) * (l->direction >= 0 ? 4.0 : 0.0);
    }
    return n;
  }
  std::size_t bytes() const {
    std::size_t n = finest_.bytes() + shares_.bytes() + halos_.bytes();
    for (const auto &m : matrices_) n += m->bytes();
    for (const auto &l : levels_) n += l->bytes();
    return n;
  }

private:
  // A grid, and where it is cut.
  struct Place {
    Shape shape;
    Cuts cuts;

    Shape whole(const Dealt *dealt) const { return dealt ? cuts.whole() : shape; }
    Place coarser(int q, const Dealt *dealt) const {
      if (!dealt) return {shape.coarser(q), {}};
      const Cuts c = cuts.coarser(q);
      return {c.box(dealt->ranks->rank()), c};
    }
  };
  struct Wish {
    bool smooth = false;
    std::vector<int> lines;
    int direction = -1;
  };

  L &level_at(std::size_t l, const Place &here, const Wish &wish) {
    const Shape &x = here.shape;
    if (l < levels_.size()) {
      L &old = *levels_[l];
      if (old.whole == here.whole(dealt_).n && old.smooth == wish.smooth && old.lines == wish.lines &&
          old.direction == wish.direction)
        return old;
      levels_.resize(l);
    }
    each_alone([&] {
      auto level = std::make_unique<L>();
      level->shape = x, level->whole = here.whole(dealt_).n;
      level->layout = Layout(x.n);
      level->smooth = wish.smooth, level->lines = wish.lines, level->direction = wish.direction;
      level->allocate();
      levels_.push_back(std::move(level));
    });
    if (dealt_) {
      levels_.back()->faces = &halos_.of(*dealt_, here.cuts, 1);
      levels_.back()->around = &halos_.of(*dealt_, here.cuts, 3);
      levels_.back()->part = here.cuts.parts_of(dealt_->ranks->rank());
      for (int q = 0; q < 3; ++q) {
        levels_.back()->parts[q] = here.cuts.parts(q);
        levels_.back()->first[q] = here.cuts.first(dealt_->ranks->rank(), q);
      }
    }
    ++made_;
    return *levels_.back();
  }

  // Of several ranks, where it throws on one, all throw.
  template <class F> void each_alone(const F &f) const {
    if (dealt_)
      dealt_->together(f);
    else
      f();
  }

  static Range3 numbers(std::size_t n) { return {{index_t(n), 1, 1}}; } // as they are in memory

  void set_smoother(L &level, const MatrixArrays<Backend> &A, double scale) const {
    const Smoothed<T> g = level.smoothed();
    on_.for_each_point(level.shape.halves_of_both(), SetSmoother<T>{A.get(), g, scale});
    fill_rings(on_, level.shape, {g.w[0], g.w[1], g.w[2]});
    if (level.faces)
      for (const Field<T> &f : {g.w[0], g.w[1], g.w[2], g.dinv}) level.faces->fill(on_, *dealt_->ranks, f);
    for (std::size_t i = 0; i < level.lines.size(); ++i) {
      const int q = level.lines[i];
      for_each_part(
          level, q, true,
          [&](const PartOfLines &part) {
            on_.for_each(across(level, q),
                         Pivots<T>{A.get(), level.pivots(i), level.r(), q, level.shape.n[q], scale, part});
          },
          [&] { level.faces->fill(on_, *dealt_->ranks, level.r()); });
    }
  }

  // here: the level's place, and then that of what is returned
  const MatrixArrays<Backend> *coarsen(std::size_t l, Place &here, L &level, const MatrixArrays<Backend> &A) {
    const Layout pairs = level.share_layout();
    Place between, coarse; // shares are read across lines
    const Shape &x = coarse.shape;
    each_alone([&] {
      coarse = here.coarser(level.direction, dealt_);
      between.shape = level.shape;
      if (dealt_) between.cuts = here.cuts.coarser(level.direction, true);
      if (matrices_.size() <= l) matrices_.push_back(std::make_unique<MatrixArrays<Backend>>());
      if (matrices_[l]->layout().n != x.n) *matrices_[l] = MatrixArrays<Backend>(Layout(x.n));
      if (shares_.size() < std::size_t(2 * pairs.size())) shares_.resize(2 * pairs.size());
    });
    MatrixArrays<Backend> &to = *matrices_[l];
    const Transfer<double> by = level.transfer(shares_.data());
    between.shape.n = pairs.n, between.shape.ring[by.q] = false;
    const Transfer<T> rounded = level.transfer();
    on_.for_each_point(between.shape.all(), FindShares<T>{A.get(), by, rounded});
    fill_around(between, {by.left, by.right});
    fill_around(between, {rounded.left, rounded.right});
    on_.for_each_point(x.all(), CoarsenLines{A.get(), to.get(), by});
    fill_around(coarse, {to.get().w[by.q]});
    in_direction(by.q, [&](auto direction) {
      constexpr int q = decltype(direction)::value;
      on_.for_each_point(x.halves_of_both(), CoarsenAcross<q, first_across(q)>{A.get(), to.get(), by});
      on_.for_each_point(x.halves_of_both(), CoarsenAcross<q, second_across(q)>{A.get(), to.get(), by});
    });
    here = std::move(coarse);
    return &to;
  }

  // Whether a grid's couplings say what becomes of it.
  bool is_chosen(std::size_t l) const {
    const L &level = *levels_[l];
    return level.smooth || (level.direction < 0 && !is_small(level.shape, true) && groups_ + 1 < options_.grids);
  }

  // --- what is around a grid: its own other side where it goes around, and other ranks' points ---

  template <class V, int N> void fill_around(const Place &here, const Field<V> (&f)[N]) {
    if (dealt_)
      for (const Field<V> &x : f) halos_.of(*dealt_, here.cuts, 3).fill(on_, *dealt_->ranks, x);
    fill_rings(on_, here.shape, f);
  }
  // What all ranks have begins with a grid that is smoothed, or solved.
  bool is_small(const Shape &whole, bool all_directions) const {
    return dealt_ ? all_directions && whole.points() <= dealt_->gather_size : whole.points() <= options_.coarse_size;
  }
  // All ranks have the same.
  Strengths strengths(const Matrix &A, const Shape &x) {
    Strengths mine;
    each_alone([&] {
      strength_.start(on_, A, x, 0);
      mine = Strengths::of(strength_.read(on_));
    });
    if (!dealt_) return mine;
    const std::vector<double> numbers = dealt_->ranks->gather_numbers(mine.numbers());
    Strengths all;
    for (std::size_t i = 0; i < numbers.size(); i += Strengths::count) all.add(Strengths::of(&numbers[i]));
    return all;
  }

  // --- lines, of which ranks may have parts: these work one after the other ---

  static Range2 across(const L &level, int q) {
    return {0, level.shape.n[first_across(q)], 0, level.shape.n[second_across(q)]};
  }
  // work(part) where it is this rank's turn, on or back along direction q; between two turns all call pass().
  template <class Work, class Pass>
  void for_each_part(const L &level, int q, bool on, const Work &work, const Pass &pass) const {
    PartOfLines mine;
    mine.first = !level.first[q], mine.last = level.first[q] + level.shape.n[q] == level.whole[q];
    for (int turn = 0; turn < level.parts[q]; ++turn) {
      if (turn) pass();
      if (level.part[q] == (on ? turn : level.parts[q] - 1 - turn) && level.shape.n[q]) work(mine);
    }
  }

  // --- the cycle ---

  // Whether it is smoothed by points of two colours that have no neighbours of their own. Then black points have no residual after
  // smoothing, and what they are before it does not matter.
  static bool red_black(const L &level) { return level.smooth && level.lines.empty() && !level.shape.odd_ring(); }
  // Before anybody reads what is around a grid: on its faces, or on all sides.
  void fill(const L &level, const Field<T> &x) const {
    if (level.faces) level.faces->fill(on_, *dealt_->ranks, x);
    fill_rings(on_, level.shape, {x});
  }
  void fill_around(const L &level, const Field<T> &x) const {
    if (level.around) level.around->fill(on_, *dealt_->ranks, x);
    fill_rings(on_, level.shape, {x});
  }
  // first: x is 0
  void relax_points(const L &level, index_t colour, bool first) const {
    if (!first) fill(level, level.x());
    if (first)
      on_.for_each_point(level.shape.halves(colour),
                         RelaxPoints<T, true>{level.smoothed(), level.b(), level.x(), colour});
    else
      on_.for_each_point(level.shape.halves(colour), RelaxPoints<T>{level.smoothed(), level.b(), level.x(), colour});
  }
  void relax_lines(const L &level, std::size_t line, index_t colour) const {
    const int q = level.lines[line];
    const auto relax = [&](PartOfLines part, bool forward, bool backward) {
      part.forward = forward, part.backward = backward;
      ZebraLines<Backend, T>{level.smoothed(), level.pivots(line), level.b(), level.x(), level.shape, part}.relax(
          on_, q, colour);
    };
    fill(level, level.x());
    if (level.parts[q] == 1) return relax({}, true, true);
    for_each_part(
        level, q, true,
        [&](const PartOfLines &part) {
          if (!part.first) on_.for_each(across(level, q), BeginLines<T>{level.r(), level.x(), q});
          relax(part, true, false);
          on_.for_each(across(level, q), EndLines<T>{level.pivots(line), level.x(), level.r(), q, level.shape.n[q]});
        },
        [&] { level.faces->fill(on_, *dealt_->ranks, level.r()); });
    for_each_part(
        level, q, false, [&](const PartOfLines &part) { relax(part, false, true); }, [&] { fill(level, level.x()); });
  }

  void smooth_before(const L &level) const {
    const bool points = level.lines.empty();
    if (!points || level.shape.odd_ring())
      on_.for_each_point(numbers(level.layout.size()), Clear<T>{level.x().p - level.layout.first()});
    for (int n = 0; n < options_.smooths; ++n) {
      if (points) relax_points(level, 0, n == 0), relax_points(level, 1, false);
      for (std::size_t i = 0; i < level.lines.size(); ++i)
        for (const index_t colour : {0, 1}) relax_lines(level, i, colour);
    }
  }
  void smooth_after(const L &level) const {
    for (int n = 0; n < options_.smooths; ++n) {
      if (level.lines.empty()) relax_points(level, 1, false), relax_points(level, 0, false);
      for (std::size_t i = level.lines.size(); i-- > 0;)
        for (const index_t colour : {1, 0}) relax_lines(level, i, colour);
    }
  }

  void residual(const L &level) const {
    const Smoothed<T> g = level.smoothed();
    fill(level, level.x());
    if (red_black(level)) { // the black points' is 0
      if (options_.smooths == 1)
        on_.for_each_point(level.shape.halves(0), Residual<T, true>{g, level.b(), level.x(), level.r(), 0});
      else
        on_.for_each_point(level.shape.halves(0), Residual<T>{g, level.b(), level.x(), level.r(), 0});
      return;
    }
    for (const index_t colour : {0, 1})
      on_.for_each_point(level.shape.halves(colour), Residual<T>{g, level.b(), level.x(), level.r(), colour});
  }

  template <int q> void restrict_to(const L &level, const L &next) const {
    const Field<T> r = level.smooth ? level.r() : level.b();
    on_.for_each_point(next.shape.halves_of_both(), Restrict<T, q>{level.transfer(), r, next.b(), red_black(level)});
    if (q == 0 && level.shape.ring[0])
      on_.for_each({0, next.shape.n[1], 0, next.shape.n[2]},
                   RestrictAround<T>{level.transfer(), r, next.b(), red_black(level)});
  }
  // add: to what is there
  template <int q> void prolong_from(const L &level, const L &next, bool add) const {
    const Shape pairs{level.share_layout().n, {}};
    if (add)
      on_.for_each_point(pairs.halves_of_both(),
                         Prolong<T, q, true>{level.transfer(), next.x(), level.x(), red_black(level)});
    else
      on_.for_each_point(pairs.halves_of_both(),
                         Prolong<T, q, false>{level.transfer(), next.x(), level.x(), red_black(level)});
  }

  // --- between grids: one step of coarsening at a time, or three where no ring is in the way ---

  bool three_at_once(std::size_t l) const {
    if (l + 3 >= levels_.size() || !levels_[l]->smooth) return false;
    for (int q = 0; q < 3; ++q)
      if (levels_[l + q]->direction != q || (q && levels_[l + q]->smooth) || shape_.ring[q]) return false;
    return true;
  }
  // the level whose right-hand side comes of l's
  std::size_t below(std::size_t l) const { return l + (three_at_once(l) ? 3 : 1); }
  TransferOfAll<T> transfers(std::size_t l) const {
    return {levels_[l]->transfer(), levels_[l + 1]->transfer(), levels_[l + 2]->transfer()};
  }
  void restrict_from(std::size_t l) const {
    const L &level = *levels_[l], &next = *levels_[below(l)];
    if (dealt_) fill_around(level, level.smooth ? level.r() : level.b());
    if (!three_at_once(l))
      in_direction(level.direction, [&](auto q) { restrict_to<decltype(q)::value>(level, next); });
    else if (red_black(level))
      on_.for_each_point(next.shape.halves_of_both(), RestrictAll<T, true>{transfers(l), level.r(), next.b()});
    else
      on_.for_each_point(next.shape.halves_of_both(), RestrictAll<T, false>{transfers(l), level.r(), next.b()});
  }
  // add: to what is there
  void prolong_to(std::size_t l, bool add) const {
    const L &level = *levels_[l], &next = *levels_[below(l)];
    if (three_at_once(l))
      fill_around(next, next.x());
    else
      fill(next, next.x());
    if (!three_at_once(l))
      in_direction(level.direction, [&](auto q) { prolong_from<decltype(q)::value>(level, next, add); });
    else if (!red_black(level))
      prolong_all<false, Onto::x>(l);
    else if (!add)
      prolong_all<true, Onto::nothing>(l);
    else if (first_is_known(l))
      prolong_all<true, Onto::first>(l);
    else
      prolong_all<true, Onto::x>(l);
  }
  template <bool reds, Onto onto> void prolong_all(std::size_t l) const {
    const L &level = *levels_[l];
    const Shape pairs{level.share_layout().n, {}};
    on_.for_each_point(pairs.halves_of_both(), ProlongAll<T, reds, onto>{transfers(l), levels_[below(l)]->x(),
                                                                         level.x(), level.b(), level.smoothed().dinv});
  }
  // Whether red points' values of the first half-sweep are not stored: who needs them computes them.
  bool first_is_known(std::size_t l) const {
    return options_.smooths == 1 && three_at_once(l) && red_black(*levels_[l]);
  }

  template <class Solve> void cycle_from(std::size_t l, const Solve &solve) const {
    if (l + 1 == levels_.size()) return solve();
    const L &level = *levels_[l];
    if (first_is_known(l)) {
      fill(level, level.b());
      on_.for_each_point(level.shape.halves(1), RelaxBlackFirst<T>{level.smoothed(), level.b(), level.x()});
    } else if (level.smooth) {
      smooth_before(level);
    }
    if (level.smooth) residual(level);
    restrict_from(l);
    cycle_from(below(l), solve);
    prolong_to(l, level.smooth);
    if (level.smooth) smooth_after(level);
  }
  template <class F> static void in_direction(int q, const F &f) {
    if (q == 0)
      f(std::integral_constant<int, 0>());
    else if (q == 1)
      f(std::integral_constant<int, 1>());
    else
      f(std::integral_constant<int, 2>());
  }

  const Backend &on_;
  Options options_;
  Shape shape_;
  const Dealt *dealt_;
  Halos<Backend> halos_;
  MatrixArrays<Backend> finest_;
  std::vector<std::unique_ptr<MatrixArrays<Backend>>> matrices_; // of the coarser grids
  typename Backend::template Array<double> shares_;              // of the grid that is coarsened
  const MatrixArrays<Backend> *coarsest_ = nullptr;
  std::vector<std::unique_ptr<L>> levels_;
  Strength<Backend> strength_;
  Cuts coarsest_cuts_;
  long made_ = 0;
  int groups_ = 0;
  bool complete_ = false;
  double spread_ = 1.0;
};

} // namespace petscrrb::gridmg
