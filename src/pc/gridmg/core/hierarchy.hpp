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

  // With several ranks the coarsest grid is one that all of them are to have.
  Hierarchy(const Backend &on, const Dealt &dealt, const Options &o)
      : on_(on), options_(o), dealt_(dealt), shape_(dealt.cuts.box(dealt.rank())), finest_(Layout(shape_.n)) {}

  const Dealt &dealt() const { return dealt_; }
  const Shape &shape() const { return shape_; } // of this rank's part of the finest grid
  // Own points of the finest matrix are to be put here before refresh().
  Matrix finest() const { return finest_.get(); }
  const Layout &finest_layout() const { return finest_.layout(); }

  // How often a level was made: what is known of their memory holds until then.
  long made() const { return made_; }
  // Builds what does not fit any more; allocates nothing where the same grids and smoothers are chosen. False: a diagonal of
  // some grid is not positive. Smoothers are those of `scale` times the matrix.
  bool refresh(double scale) {
    Cuts here = finest_cuts();
    const MatrixArrays<Backend> *A = &finest_;
    Choice choice;
    std::size_t l = 0;
    spread_ = reach_ = 1.0;
    complete_ = false;
    fill_around(here, shape_, {finest().w[0], finest().w[1], finest().w[2], finest().e});
    for (;; ++l) {
      Use use;
      if (is_to_choose(choice, here)) {
        const Strengths s = strengths(1, [&] { strength_.start(on_, A->get(), here.box(dealt_.rank()), 0); }).front();
        if (!take(l, s)) return false;
        dealt_.together([&] { use = next_use(choice, here, &s); });
      } else {
        use = next_use(choice, here, nullptr);
      }
      L &level = level_at(l, here, use);
      if (level.smooth) set_smoother(on_, level, *A, scale);
      if (level.direction < 0) break;
      A = coarsen(here, level, *A);
    }
    groups_ = choice.groups;
    levels_.resize(l + 1);
    coarsest_ = A;
    complete_ = true;
    return true;
  }

  // The same where the last refresh has been to its end, for the same grids and smoothers: on a device nothing waits, so that it can be
  // a graph. Whether they are the ones to be chosen is what is_as_before() says then, which waits; else refresh() is to be called.
  bool is_complete() const { return complete_ && int(levels_.size()) <= most_strengths; }
  void refresh_as_before(double scale) {
    Cuts here = finest_cuts();
    const MatrixArrays<Backend> *A = &finest_;
    fill_around(here, shape_, {finest().w[0], finest().w[1], finest().w[2], finest().e});
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      L &level = *levels_[l];
      const Backend &aside = aside_.after(on_); // the next grid needs neither
      if (level.chosen) strength_.start(aside, A->get(), level.shape, int(l));
      if (level.smooth) set_smoother(dealt_.ranks ? on_ : aside, level, *A, scale);
      if (level.direction >= 0) A = coarsen(here, level, *A);
    }
    aside_.join(on_);
  }
  bool is_as_before() {
    const std::vector<Strengths> all = strengths(levels_.size(), [] {});
    Choice choice;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const L &level = *levels_[l];
      if (level.chosen && !take(l, all[l])) return false;
      if (!(next_use(choice, level.cuts, level.chosen ? &all[l] : nullptr) == level)) return false;
    }
    return true;
  }

  int smoothed_grids() const { return groups_; }
  // Of the finest matrix, unless that is solved directly.
  double spread() const { return spread_; }
  double reach() const { return reach_; }
  const std::vector<std::unique_ptr<L>> &levels() const { return levels_; }
  const L &coarsest() const { return *levels_.back(); }
  Matrix coarsest_matrix() const { return coarsest_->get(); }

  std::size_t bytes() const {
    std::size_t n = finest_.bytes() + shares_.bytes() + halos_.bytes();
    for (const auto &l : levels_) n += l->bytes();
    return n;
  }

protected:
  Cuts finest_cuts() const {
    Cuts here;
    dealt_.together([&] { here = dealt_.cuts; });
    return here;
  }

  // --- what becomes of the grids, the finest first ---

  struct Choice {
    std::vector<int> directions; // to be coarsened before the next smoothing
    int groups = 0;              // of them so far
  };
  // What all ranks have begins with a grid that is smoothed, or solved.
  bool is_coarsest(const Choice &so_far, const Cuts &here) const {
    const bool between = !so_far.directions.empty();
    const index_t points = here.whole().points();
    const bool small = dealt_.ranks ? !between && points <= dealt_.gather_size : points <= options_.coarse_size;
    return small || (!between && so_far.groups + 1 >= options_.grids);
  }
  // Whether the grid's couplings say what becomes of it.
  bool is_to_choose(const Choice &so_far, const Cuts &here) const {
    return so_far.directions.empty() && !is_coarsest(so_far, here);
  }
  // s: of the grid's couplings, where that is so
  Use next_use(Choice &so_far, const Cuts &here, const Strengths *s) const {
    Use use;
    if (!s && is_coarsest(so_far, here)) return use;
    use.chosen = s;
    if (s && here.even()) so_far.directions = coarsened(*s, here.whole(), options_);
    if (so_far.directions.empty()) return use;
    if (s) use.smooth = true, use.lines = smoothed(*s, here.whole(), options_), ++so_far.groups;
    use.direction = so_far.directions.front();
    so_far.directions.erase(so_far.directions.begin());
    return use;
  }
  // False: a diagonal is not positive.
  bool take(std::size_t l, const Strengths &s) {
    if (l == 0 && !(s.bad > 0.0)) spread_ = gridmg::spread(s), reach_ = gridmg::reach(s);
    return !(s.bad > 0.0);
  }
  // Of the first grids that start() or somebody before has begun with. All ranks have the same.
  template <class Start> std::vector<Strengths> strengths(std::size_t grids, const Start &start) {
    std::vector<double> numbers;
    std::vector<Strengths> all;
    dealt_.together([&] {
      start();
      const double *mine = strength_.read(on_);
      numbers.assign(mine, mine + grids * Strengths::count);
      all.resize(grids);
    });
    if (dealt_.ranks) numbers = dealt_.ranks->gather_numbers(numbers);
    for (std::size_t i = 0; i * Strengths::count < numbers.size(); ++i)
      all[i % grids].add(&numbers[i * Strengths::count]);
    return all;
  }

  // --- a grid ---

  L &level_at(std::size_t l, const Cuts &here, const Use &use) {
    if (l < levels_.size()) {
      if (levels_[l]->cuts == here && use == *levels_[l]) return *levels_[l];
      levels_.resize(l);
    }
    dealt_.together([&] { levels_.push_back(std::make_unique<L>(here, dealt_.rank(), use)); });
    L &level = *levels_.back();
    if (dealt_.ranks) {
      level.faces = &halos_.of(dealt_, here, 1);
      level.around = &halos_.of(dealt_, here, 3);
      if (level.red_black()) {
        for (const index_t colour : {0, 1}) level.faces_of[colour] = &halos_.of(dealt_, here, 1, colour);
        level.red_around = &halos_.of(dealt_, here, 3, 0);
      }
    }
    ++made_;
    return level;
  }

  void set_smoother(const Backend &on, L &level, const MatrixArrays<Backend> &A, double scale) {
    const Smoothed<T> g = level.smoothed();
    on.for_each_point(level.shape.halves_of_both(), SetSmoother<T>{A.get(), g, scale});
    fill_rings(on, level.shape, {g.w[0], g.w[1], g.w[2]});
    exchange_around(level.cuts, {g.w[0], g.w[1], g.w[2], g.dinv});
    for (std::size_t i = 0; i < level.lines.size(); ++i) {
      const int q = level.lines[i];
      for_each_part(
          level, q, true,
          [&](const PartOfLines &part) {
            on.for_each(across(level, q),
                        Pivots<T>{A.get(), level.pivots(i), level.r(), q, level.shape.n[q], scale, part});
          },
          [&] { level.faces->fill(on_, *dealt_.ranks, {level.r()}); });
    }
  }

  // here: the level's cuts, and then those of what is returned
  const MatrixArrays<Backend> *coarsen(Cuts &here, L &level, const MatrixArrays<Backend> &A) {
    const Layout pairs = level.share_layout();
    const int q = level.direction;
    Cuts between; // shares are read across lines
    dealt_.together([&] {
      between = level.cuts.coarser(q, true), here = level.cuts.coarser(q);
      const Sizes n = here.sizes(dealt_.rank());
      if (level.coarse.layout().n != n) level.coarse = MatrixArrays<Backend>(Layout(n));
      if (shares_.size() < std::size_t(2 * pairs.size())) shares_.resize(2 * pairs.size());
    });
    const Matrix made = level.coarse.get();
    const Transfer<double> by = level.transfer(shares_.data());
    const Transfer<T> rounded = level.transfer();
    Shape of_pairs = level.shape;
    of_pairs.n = pairs.n, of_pairs.ring[q] = false;
    on_.for_each_point(of_pairs.all(), FindShares<T>{A.get(), by, rounded});
    fill_around(between, of_pairs, {by.left, by.right});
    fill_around(between, of_pairs, {rounded.left, rounded.right});
    const Shape coarse = here.box(dealt_.rank());
    in_direction(q, [&](auto direction) {
      on_.for_each_point(coarse.halves_of_both(), Coarsen<decltype(direction)::value>{A.get(), made, by});
    });
    fill_around(here, coarse, {made.w[0], made.w[1], made.w[2], made.e});
    return &level.coarse;
  }

  // --- what is around a grid: its own other side where it goes around, and other ranks' points ---

  template <class V, int N> void exchange_around(const Cuts &here, const Field<V> (&f)[N]) {
    if (dealt_.ranks) halos_.of(dealt_, here, 3, all_colours, N).fill(on_, *dealt_.ranks, f);
  }
  template <class V, int N> void fill_around(const Cuts &here, const Shape &x, const Field<V> (&f)[N]) {
    exchange_around(here, f);
    fill_rings(on_, x, f);
  }

  // --- lines, of which ranks may have parts: these work one after the other ---

  static Range2 across(const L &level, int q) {
    return {0, level.shape.n[first_across(q)], 0, level.shape.n[second_across(q)]};
  }
  // work(part) where it is this rank's turn, on or back along direction q; between two turns all call pass().
  template <class Work, class Pass>
  void for_each_part(const L &level, int q, bool on, const Work &work, const Pass &pass) const {
    const index_t first = level.cuts.first(level.rank, q);
    const int parts = level.cuts.parts(q), mine = level.cuts.parts_of(level.rank)[q];
    PartOfLines part;
    part.first = !first, part.last = first + level.shape.n[q] == level.cuts.at[q].back();
    for (int turn = 0; turn < parts; ++turn) {
      if (turn) pass();
      if (mine == (on ? turn : parts - 1 - turn) && level.shape.n[q]) work(part);
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
  const Dealt dealt_;
  const Shape shape_;
  Halos<Backend> halos_;
  MatrixArrays<Backend> finest_;
  typename Backend::template Array<double> shares_; // of the grid that is coarsened
  const MatrixArrays<Backend> *coarsest_ = nullptr;
  std::vector<std::unique_ptr<L>> levels_;
  Strength<Backend> strength_;
  typename Backend::Branch aside_;
  long made_ = 0;
  int groups_ = 0;
  bool complete_ = false;
  double spread_ = 1.0, reach_ = 1.0;
};

} // namespace petscrrb::gridmg
