// The grids that are made of a matrix, and their refresh (docs/numerics_gridmg.md), for any backend.
#pragma once

#include "pc/gridmg/core/choose.hpp"
#include "pc/gridmg/core/level.hpp"

#include <memory>

namespace petscrrb::gridmg {

// What each backend has its own of: the sums that choices are made by.
// start(on, Matrix, Shape, i), which does not wait, of grid i, and const double *read(on), which does, with Strengths::count numbers of
// each of most_strengths grids
template <class Backend> class Strength;
constexpr int most_strengths = 48;

template <class Backend, class T> class Hierarchy {
public:
  using L = Level<Backend, T>;

  // dealt: of a part of a grid, on one of several ranks; its coarsest grid is then one that all ranks are to have
  Hierarchy(const Backend &on, const Shape &finest, const Options &o, const Dealt *dealt = nullptr)
      : on_(on), options_(o), shape_(finest), dealt_(dealt), finest_(Layout(finest.n)) {}

  // Own points of the finest matrix are to be put here before refresh().
  Matrix finest() const { return finest_.get(); }
  const Layout &finest_layout() const { return finest_.layout(); }

  // How often a level was made: what is known of their memory holds until then.
  long made() const { return made_; }
  // Builds what does not fit any more; allocates nothing where the same grids and smoothers are chosen. False: a diagonal of
  // some grid is not positive. Smoothers are those of `scale` times the matrix.
  bool refresh(double scale) {
    Place here = finest_place();
    const MatrixArrays<Backend> *A = &finest_;
    std::vector<int> group;
    int groups = 0;
    std::size_t l = 0;
    spread_ = reach_ = 1.0;
    complete_ = false;
    fill_around(here, {finest().w[0], finest().w[1], finest().w[2], finest().e});
    for (;; ++l) {
      const Shape whole = here.whole(dealt_);
      const bool coarsest = is_small(whole, group.empty()) || (group.empty() && groups + 1 >= options_.grids);
      Wish wish;
      if (!coarsest && group.empty()) {
        const Strengths s = strengths(1, [&] { strength_.start(on_, A->get(), here.shape, 0); }).front();
        if (s.bad > 0.0) return false;
        if (l == 0) spread_ = gridmg::spread(s), reach_ = gridmg::reach(s);
        each_alone([&] {
          group = coarsened(s, whole, options_);
          if (!group.empty()) wish = {true, smoothed(s, whole, options_), -1};
          if (dealt_ && !here.cuts.even()) group.clear(), wish = {};
        });
        groups += !group.empty();
      }
      if (!coarsest && !group.empty()) wish.direction = group.front(), group.erase(group.begin());
      L &level = level_at(l, here, wish);
      if (level.smooth) set_smoother(on_, here, level, *A, scale);
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

  // The same where the last refresh has been to its end, for the same grids and smoothers: on a device nothing waits, so that it can be
  // a graph. Whether they are the ones to be chosen is what is_as_before() says then, which waits; else refresh() is to be called.
  bool is_complete() const { return complete_ && int(levels_.size()) <= most_strengths; }
  void refresh_as_before(double scale) {
    Place here = finest_place();
    const MatrixArrays<Backend> *A = &finest_;
    fill_around(here, {finest().w[0], finest().w[1], finest().w[2], finest().e});
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      L &level = *levels_[l];
      const Backend &aside = aside_.after(on_); // the next grid needs neither
      if (is_chosen(l)) strength_.start(aside, A->get(), level.shape, int(l));
      if (level.smooth) set_smoother(dealt_ ? on_ : aside, here, level, *A, scale);
      if (level.direction >= 0) A = coarsen(l, here, level, *A);
    }
    aside_.join(on_);
  }
  bool is_as_before() {
    const std::vector<Strengths> all = strengths(levels_.size(), [] {});
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const L &level = *levels_[l];
      if (!is_chosen(l)) continue;
      const Strengths &s = all[l];
      const Shape whole{level.whole};
      if (s.bad > 0.0) return false;
      if (l == 0) spread_ = gridmg::spread(s), reach_ = gridmg::reach(s);
      std::vector<int> group = coarsened(s, whole, options_);
      if (dealt_ && level.direction < 0 && !coarsest_cuts_.even()) group.clear();
      if (group.empty() == level.smooth) return false;
      if (level.smooth && smoothed(s, whole, options_) != level.lines) return false;
      std::size_t i = 0;
      for (; i < group.size() && levels_[l + i]->direction >= 0; ++i) // the coarsest one may come before
        if (levels_[l + i]->direction != group[i] || (i && levels_[l + i]->smooth)) return false;
      if (levels_[l + i]->direction >= 0 && !levels_[l + i]->smooth) return false; // there were more
    }
    return true;
  }

  int smoothed_grids() const { return groups_; }
  const Cuts &coarsest_cuts() const { return coarsest_cuts_; }
  // Of the finest matrix, unless that is solved directly.
  double spread() const { return spread_; }
  double reach() const { return reach_; }
  const std::vector<std::unique_ptr<L>> &levels() const { return levels_; }
  const L &coarsest() const { return *levels_.back(); }
  Matrix coarsest_matrix() const { return coarsest_->get(); }

  std::size_t bytes() const {
    std::size_t n = finest_.bytes() + shares_.bytes() + halos_.bytes();
    for (const auto &m : matrices_) n += m->bytes();
    for (const auto &l : levels_) n += l->bytes();
    return n;
  }

protected:
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
  Place finest_place() const {
    Place here{shape_, {}};
    if (dealt_) each_alone([&] { here.cuts = dealt_->cuts; });
    return here;
  }
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
      L &level = *levels_.back();
      level.faces = &halos_.of(*dealt_, here.cuts, 1);
      level.around = &halos_.of(*dealt_, here.cuts, 3);
      if (level.red_black()) {
        for (const index_t colour : {0, 1}) level.faces_of[colour] = &halos_.of(*dealt_, here.cuts, 1, colour);
        level.red_around = &halos_.of(*dealt_, here.cuts, 3, 0);
      }
      level.part = here.cuts.parts_of(dealt_->ranks->rank());
      for (int q = 0; q < 3; ++q) {
        level.parts[q] = here.cuts.parts(q);
        level.first[q] = here.cuts.first(dealt_->ranks->rank(), q);
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

  void set_smoother(const Backend &on, const Place &here, L &level, const MatrixArrays<Backend> &A, double scale) {
    const Smoothed<T> g = level.smoothed();
    on.for_each_point(level.shape.halves_of_both(), SetSmoother<T>{A.get(), g, scale});
    fill_rings(on, level.shape, {g.w[0], g.w[1], g.w[2]});
    exchange_around(here, {g.w[0], g.w[1], g.w[2], g.dinv});
    for (std::size_t i = 0; i < level.lines.size(); ++i) {
      const int q = level.lines[i];
      for_each_part(
          level, q, true,
          [&](const PartOfLines &part) {
            on.for_each(across(level, q),
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
    in_direction(by.q, [&](auto direction) {
      on_.for_each_point(x.halves_of_both(), Coarsen<decltype(direction)::value>{A.get(), to.get(), by});
    });
    const Matrix made = to.get();
    fill_around(coarse, {made.w[0], made.w[1], made.w[2], made.e});
    here = std::move(coarse);
    return &to;
  }

  // Whether a grid's couplings say what becomes of it.
  bool is_chosen(std::size_t l) const {
    const L &level = *levels_[l];
    return level.smooth || (level.direction < 0 && !is_small({level.whole}, true) && groups_ + 1 < options_.grids);
  }

  // --- what is around a grid: its own other side where it goes around, and other ranks' points ---

  template <class V, int N> void exchange_around(const Place &here, const Field<V> (&f)[N]) {
    if (dealt_) halos_.of(*dealt_, here.cuts, 3, all_colours, N).fill(on_, *dealt_->ranks, f);
  }
  template <class V, int N> void fill_around(const Place &here, const Field<V> (&f)[N]) {
    exchange_around(here, f);
    fill_rings(on_, here.shape, f);
  }
  // What all ranks have begins with a grid that is smoothed, or solved.
  bool is_small(const Shape &whole, bool all_directions) const {
    return dealt_ ? all_directions && whole.points() <= dealt_->gather_size : whole.points() <= options_.coarse_size;
  }
  // Of the first grids that start() or somebody before has begun with. All ranks have the same.
  template <class Start> std::vector<Strengths> strengths(std::size_t grids, const Start &start) {
    std::vector<double> numbers;
    std::vector<Strengths> all;
    each_alone([&] {
      start();
      const double *mine = strength_.read(on_);
      numbers.assign(mine, mine + grids * Strengths::count);
      all.resize(grids);
    });
    if (dealt_) numbers = dealt_->ranks->gather_numbers(numbers);
    for (std::size_t i = 0; i * Strengths::count < numbers.size(); ++i)
      all[i % grids].add(Strengths::of(&numbers[i * Strengths::count]));
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
  typename Backend::Branch aside_;
  Cuts coarsest_cuts_;
  long made_ = 0;
  int groups_ = 0;
  bool complete_ = false;
  double spread_ = 1.0, reach_ = 1.0;
};

} // namespace petscrrb::gridmg
