// The levels on a graph: red nodes, couplings and slides are chosen once; then they are filled with numbers as often as these change.
#pragma once

#include "pc/rrb/core/rrb.hpp"
#include "pc/rrb/graph/products.hpp"
#include "pc/rrb/graph/matrix_graph.hpp"
#include "pc/rrb/graph/red_pairs.hpp"
#include "pc/rrb/graph/slide.hpp"
#include "pc/rrb/graph/stencil_graph.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace petscrrb::rrb {

template <class Backend> struct GraphLevel {
  template <class T> using Array = typename Backend::template Array<T>;

  RowArrays<Backend> rows; // that it starts from

  // Before some couplings went, each once, with the later node; none where nothing did.
  RowArrays<Backend> before;
  Array<node_t> from;      // of each coupling of `rows`: where it is there
  Array<signed char> gone; // the pass in which it slides, or `lumped`; 0: it stays. Then there, and of a matrix alone
  std::vector<SlidePass<Backend>> passes;
  double eps = slide_eps;

  bool plain = false; // the red nodes are those of plain RRB
  node_t reds = 0;    // none: it is the last block
  Array<signed char> colour;
  Array<node_t> number; // of a black node in the next graph, of a red one ~ of that among the red ones
  Array<node_t> black;  // of the next graph's nodes
  RedPairs<Backend> pairs;

  Products<Backend> products; // by which the next graph is added up; empty: they are looked up

  // only while levels are chosen
  Array<node_t> point;         // of the grid
  Array<double> w, e, inverse; // numbers by which the next level was chosen

  bool slid() const { return before.n() != 0; }
  const RowArrays<Backend> &filled() const { return slid() ? before : rows; }
  std::size_t bytes() const {
    std::size_t n = bytes_of(rows, before, from, gone, colour, number, black, pairs, point, products);
    for (const auto &p : passes) n += p.bytes();
    return n;
  }
};

// What new numbers make of the decisions.
struct Outdated {
  index_t couplings = 0; // lumped, since they were none or positive when the graph was made, or are positive now
  index_t reds = 0;      // that lose more than in plain sets, and pairs of them, about, that have less support
  index_t slides = 0;    // along couplings that are three times too weak
};

template <class Backend> class GraphLevels {
  using Loops = GraphLoops<Backend>;
  template <class T> using Array = typename Backend::template Array<T>;

public:
  using Level = GraphLevel<Backend>;
  static constexpr int most_levels = 256;
  using Choosing = ChoiceLoops<Backend>;

  GraphLevels(const Backend &on, const Extent &x) : on_(on), extent_(x), choosing_(std::make_unique<Choosing>(on)) {}

  // All decisions, by the numbers of the matrix; most: so many levels, and none from so many unknowns on. Where a pivot is not positive outcome()
  // says so, and the levels are of no use.
  void choose(const PreparedStencil &, Lumping lumping, const Options &most);
  // Once after that, what a refresh with the same numbers would do; and there are no more choices.
  template <class At> void end_choosing(const At &at);
  // Numbers. at(l, on, graph, 1/d): of each level once its red nodes have pivots, and of what is left in the end. It may be done beside the next level,
  // which does not change those.
  template <class At> void refresh(const PreparedStencil &s, Lumping lumping, const At &at) {
    on_.clear(counts_), Loops::clear(on_, changes_);
    now_ = 0;
    fill_first(s);
    for (int l = 0; l < count(); ++l) {
      const Level &level = levels_[l], &next = levels_[l + 1];
      find_pivots(level, lumping, l);
      const Backend &beside = beside_.after(on_);
      at(l, beside, graph(level), inverse_.data());
      count_unsupported(beside, graph(level), level);
      fill_next(level, next, filled_weights(next, 1));
      finish(next, 1);
      beside_.join(on_);
      now_ ^= 1;
    }
    at(count(), on_, graph(levels_.back()), nullptr);
  }

  // of the last of the two; waits for it
  Outcome outcome() const {
    const NodeCounts *counts = on_.read(counts_);
    Outcome o;
    for (int l = 0; l < count() && o.ok; ++l) {
      o.unlumped += counts[l].unlumped;
      o.null += counts[l].null;
      o.ok = !counts[l].failed;
      o.failed_level = o.ok ? 0 : l + 1;
    }
    return o;
  }
  // of the last refresh; waits for it
  Outdated outdated() const {
    const auto changes = on_.to_host(changes_.data(), changes_.size());
    const NodeCounts *counts = on_.read(counts_);
    Outdated o{changes[0], changes[2], changes[1]};
    for (int l = 0; l < count(); ++l) o.reds += counts[l].unsupported;
    return o;
  }

  int count() const { return int(levels_.size()) - 1; }
  const Level &level(int l) const { return levels_[l]; } // 0 ... count(), the last one without red nodes
  Choosing &choosing() const { return *choosing_; }
  std::size_t bytes() const {
    std::size_t n = bytes_of(before_, inverse_, excess_, given_, counts_, changes_, w_[0], w_[1], e_[0], e_[1]);
    for (const Level &l : levels_) n += l.bytes();
    return n;
  }

private:
  template <class F> void with_matrix(const PreparedStencil &s, const F &f) const {
    if (s.rows.start) return f(MatrixGraph{s.rows});
    f(StencilGraph{s, extent_.x.n, extent_.y.n, extent_.x.periodic, extent_.y.periodic});
  }
  Graph graph(const Level &l) const { return {l.rows.n(), l.rows.rows(), w_[now_].data(), e_[now_].data()}; }
  static Graph kept_graph(const Level &l) { return {l.rows.n(), l.rows.rows(), l.w.data(), l.e.data()}; }
  template <class A> static void room(A &a, std::size_t n) {
    if (a.size() < n) a.resize(n);
  }
  bool odd_ring(int grid) const {
    Extent x = extent_;
    for (; grid > 0; --grid) x = x.coarser();
    return (x.x.odd_ring() && x.x.n > 1) || (x.y.odd_ring() && x.y.n > 1);
  }

  // choose_levels.hpp
  template <class Matrix> void make_first(const Matrix &);
  bool may_be_plain(int l) const;
  bool colour_plainly(Level &, int l);
  void colour_by_support(Level &);
  bool may_choose_others(const Level &);
  index_t most_couplings_of(node_t n) const;
  void check_couplings(const node_t *start, node_t n, index_t couplings);
  [[noreturn]] void refuse(node_t n, const char *why, double a, double b = 0) const;
  bool take_reds(Level &);
  void make_next(const Level &, Level &next);
  void swap_numbers(Level &);
  void list_pairs(Level &);
  void list_products(Level &, const Level &next);
  void make_room();

  // slide_levels.hpp
  void start_sliding(Level &);
  void let_positive_slide(Level &);
  void let_light_slide(Level &);
  template <class Mark> bool make_pass(Level &, index_t left);
  void drop_what_went(Level &);
  void list_once(Level &, const RowArrays<Backend> &all, const signed char *gone);

  // numbers: of the graph at hand if `next` is 0, else of the one after it
  double *weights(int next) const { return w_[now_ ^ next].data(); }
  // of the level's filled()
  double *filled_weights(const Level &level, int next) const { return level.slid() ? before_.data() : weights(next); }
  // Of a large graph's pairs it is enough to know about how many lack support.
  static int one_tested_in(node_t n) { return n > node_t(1) << 16 ? 8 : 1; }
  // Where one is not positive, 1/d = 0, and what follows is of no use.
  void find_pivots(const Level &level, Lumping lumping, int l) {
    Loops::count_together(on_, level.rows.n(), level.rows.on_average(),
                          FindPivot{graph(level), level.colour.data(), lumping, inverse_.data(), excess_.data()},
                          counts_.data() + l);
  }
  void count_unsupported(const Backend &on, const Graph &g, const Level &level) {
    const RedPairs<Backend> &pairs = level.pairs;
    Loops::add(on, node_t(pairs.place.size()),
               LacksSupport{pairs.place.data(), pairs.path.data(), pairs.a.data(), pairs.b.data(), g.w,
                            plain_limits.tau, one_tested_in(g.n)},
               changes_.data() + 2);
  }
  FillNext fill(const Level &level, const Level &next, double *w) const {
    return {graph(level),       level.number.data(),  level.black.data(), inverse_.data(),
            excess_.data(),     next.filled().rows(), next.slid(),        w,
            e_[now_ ^ 1].data()};
  }
  void fill_first(const PreparedStencil &s) {
    const Level &first = levels_.front();
    if (of_same_rows_) {
      Loops::add(on_, first.rows.couplings(), CopyWeights{s.rows.w, weights(0)}, changes_.data());
      return on_.copy(e_[0].data(), s.rows.e, first.rows.n());
    }
    with_matrix(s, [&](const auto &matrix) {
      using Fill = FillFirst<std::decay_t<decltype(matrix)>>;
      Loops::add(on_, first.rows.n(),
                 Fill{matrix, first.filled().rows(), first.slid(), filled_weights(first, 0), e_[0].data()},
                 changes_.data());
    });
    finish(first, 0);
  }
  void fill_next(const Level &level, const Level &next, double *w) {
    const auto &rows = next.filled();
    const FillNext f = fill(level, next, w);
    const Products<Backend> &products = level.products;
    if (products.start.size())
      return products.with_places([&](const auto &places) {
        using Place = std::remove_pointer_t<decltype(places.data())>;
        const auto add = [&](auto halved) {
          Loops::add_stored(on_, rows.n(), rows.on_average(), products.longest,
                            AddProducts<Place, halved>{f, products.added.data(), products.start.data(), places.data()});
        };
        f.halved ? add(std::true_type()) : add(std::false_type());
      });
    Loops::add_up(on_, rows.n(), level.rows.on_average(), rows.on_average(), f);
  }
  // eps: of what is counted as outdated. reverse: NULL where w has each coupling once.
  void slide(const SlidePass<Backend> &pass, double *w, double eps, const node_t *reverse) {
    const auto ahead = [&](node_t n, node_t in_all, const auto &f) {
      Loops::ahead(on_, n, double(in_all) / n, f, changes_.data() + 1);
    };
    ahead(pass.slides, pass.ways, Give{pass.place(), pass.at(), pass.near(), w, eps, given_.data()});
    ahead(pass.takers, pass.ways, Take{pass.taking(), pass.first(), pass.from(), reverse, given_.data(), w});
  }
  // From what was filled to what the level starts from.
  void finish(const Level &level, int next) {
    constexpr double far_too_weak = 3.0;
    const bool first = &level == levels_.data();
    if (level.slid()) {
      for (const auto &pass : level.passes) slide(pass, before_.data(), far_too_weak * level.eps, nullptr);
      if (first)
        Loops::add(on_, level.before.couplings(), CountChanged{level.gone.data(), before_.data()}, changes_.data());
      Loops::each(on_, level.rows.couplings(), TakeStaying{level.from.data(), before_.data(), weights(next)});
    } else if (first)
      Loops::add(on_, level.rows.couplings(), LumpPositive{weights(next)}, changes_.data());
  }

  const Backend &on_;
  Extent extent_;
  bool on_grid_ = true;
  bool of_same_rows_ = false; // the first level, as the matrix it is made of
  index_t nx_ = 0, ny_ = 0;   // of a 3D grid, whose points are the nodes of a matrix that is not on_grid_
  std::vector<Level> levels_;
  Array<double> w_[2], e_[2], before_; // of a graph and the next one, and of one before couplings slide
  int now_ = 0;
  Array<double> inverse_, excess_;
  Array<double> given_;                // along each way of a pass
  std::unique_ptr<Choosing> choosing_; // this and the following are there while levels are chosen
  Array<node_t> count_;
  struct {
    Array<node_t> row, place, slides, ways, far, order, takers, past, supports, support_places;
    Array<double> heaviest;
    Array<SupportBits> found;
  } ways_; // of a pass
  Array<node_t> reverse_, once_;
  Array<signed char> own_;
  typename Backend::Branch beside_;       // for what a refresh does beside the next level
  Array<NodeCounts> counts_{most_levels}; // of the red nodes of each level
  Array<index_t> changes_{3};             // see Outdated: couplings, slides, pairs of red nodes
};

} // namespace petscrrb::rrb
