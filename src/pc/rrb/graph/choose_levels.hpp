// How the levels on a graph are chosen.
#pragma once

#include "pc/rrb/graph/slide_levels.hpp"

#include <cstdio>
#include <stdexcept>
#include <string>

namespace petscrrb::rrb {

constexpr double fewest_reds = 0.02, fewest_off_grids = 0.1; // of a graph's nodes, for another level

// What is left of a matrix may be as dense as it likes up to so many unknowns. Larger graphs may have so many couplings each, or so many times as
// many as the matrix has in all, and none of so many at one node.
constexpr node_t small_graph = 4096, longest_row = 8192;
constexpr index_t most_couplings = 64, most_fill = 4;

struct SetPlainColour {
  const node_t *point;
  index_t nx;
  int level;
  signed char *colour;

  PETSCRRB_HD void operator()(node_t p) const {
    colour[p] = plain_level(point[p] % nx, point[p] / nx) == level ? red : black;
  }
};
struct SetPriority {
  const node_t *point;
  index_t nx;
  priority_t *priority;

  PETSCRRB_HD void operator()(node_t p) const { priority[p] = priority_of(point[p] % nx, point[p] / nx); }
};
struct IsBlack {
  const signed char *colour;
  node_t *count;

  PETSCRRB_HD void operator()(node_t p) const { count[p] = colour[p] == black; }
};
struct SetNumber {
  const signed char *colour;
  const node_t *blacks; // before each node
  node_t *number, *black_node;

  PETSCRRB_HD void operator()(node_t p) const {
    const bool is_black = colour[p] == black;
    number[p] = is_black ? blacks[p] : ~(p - blacks[p]);
    if (is_black) black_node[blacks[p]] = p;
  }
};
// A choice takes the time of couplings of couplings, and the last block has no more than some thousand unknowns.
template <class Backend> index_t GraphLevels<Backend>::most_couplings_of(node_t n) const {
  if (on_grid_ || n <= small_graph) return any_number;
  const Level &first = levels_.front();
  const index_t of_matrix = index_t(first.filled().couplings()) * (first.slid() ? 2 : 1);
  return std::max(most_couplings * n, most_fill * of_matrix);
}
template <class Backend> void GraphLevels<Backend>::check_couplings(const node_t *start, node_t n, index_t couplings) {
  const index_t most = most_couplings_of(n);
  if (most == any_number) return;
  if (couplings > most)
    refuse(n, "couple with %.0f others each, and %.0f are the most", double(couplings) / n, double(most) / n);
  if (choosing_->any(n, IsLongRow{start, longest_row}))
    refuse(n, "are left, of which one couples with more than %.0f others", longest_row);
}

// why: of the n unknowns that are left
template <class Backend> void GraphLevels<Backend>::refuse(node_t n, const char *why, double a, double b) const {
  char left[128];
  std::snprintf(left, sizeof(left), why, a, b);
  throw std::domain_error("RRB is not for this matrix: after " + std::to_string(count()) + " levels " +
                          std::to_string(n) + " unknowns " + left +
                          ". Use another preconditioner, such as -pc_type gamg");
}

template <class Backend> template <class Matrix> void GraphLevels<Backend>::make_first(const Matrix &s) {
  if (extent_.nodes() > most_points_on_graph)
    throw std::length_error("red nodes can be chosen by support on grids of at most 2^28 points only");
  Level &level = levels_.front();
  const node_t n = node_t(extent_.nodes());
  level.point.resize(n);
  Loops::each(on_, n, CountFrom{0, level.point.data()});
  level.rows.start.resize(n + 1);
  Loops::each(on_, n, CountNeighbours<Matrix>{s, level.rows.start.data()});
  const node_t couplings = choosing_->offsets(level.rows.start.data(), n, any_number);
  check_couplings(level.rows.start.data(), n, couplings);
  level.rows.column.resize(couplings);
  Loops::each(on_, n, ListNeighbours<Matrix>{s, level.rows.start.data(), level.rows.column.data()});
  room(w_[0], couplings), room(e_[0], n);
  room(excess_, n);
  Loops::each(on_, n, FillFirst<Matrix>{s, level.rows.rows(), false, w_[0].data(), e_[0].data()});
}

// Where the colours do not alternate around a ring it is not asked.
template <class Backend> bool GraphLevels<Backend>::may_be_plain(int l) const {
  return on_grid_ && (l == 0 || levels_[l - 1].plain) && (l % 2 || !odd_ring(l / 2));
}

template <class Backend> bool GraphLevels<Backend>::colour_plainly(Level &level, int l) {
  const node_t n = level.rows.n();
  level.colour.resize(n);
  Loops::each(on_, n, SetPlainColour{level.point.data(), extent_.x.n, l + 1, level.colour.data()});
  level.plain = !choosing_->any_asked(n, FailsPlainly{{graph(level), level.colour.data(), plain_limits}});
  return level.plain;
}

template <class Backend> void GraphLevels<Backend>::colour_by_support(Level &level) {
  const node_t n = level.rows.n();
  Array<priority_t> priority;
  priority.resize(n);
  level.colour.resize(n); // undecided
  level.plain = false;
  if (on_grid_)
    Loops::each(on_, n, SetPriority{level.point.data(), extent_.x.n, priority.data()});
  else if (nx_)
    Loops::each(on_, n, SetPriorityIn3D{level.point.data(), nx_, ny_, priority.data()});
  else
    Loops::each(on_, n, SetPriorityByDegree{level.rows.rows(), level.point.data(), priority.data()});
  choosing_->decide(n, level.rows.on_average(),
                    {{graph(level), level.colour.data(), choice_limits, true}, priority.data()}, level.colour.data());
}

// Of the first level, whose colours are plain ones and whose numbers are kept: whether a choice by support would give others.
template <class Backend> bool GraphLevels<Backend>::may_choose_others(const Level &level) {
  const Graph g = kept_graph(level);
  return choosing_->any(g.n, MayChooseOthers{{g, level.colour.data(), choice_limits}});
}

// A level keeps its numbers once those of the next one are there, and gives them back where that one is given up: the other side has none.
template <class Backend> void GraphLevels<Backend>::swap_numbers(Level &level) {
  std::swap(level.w, w_[now_]), std::swap(level.e, e_[now_]), std::swap(level.inverse, inverse_);
}

// False where they are too few for another level.
template <class Backend> bool GraphLevels<Backend>::take_reds(Level &level) {
  const node_t n = level.rows.n();
  room(count_, n + 1);
  Loops::each(on_, n, IsBlack{level.colour.data(), count_.data()});
  const node_t reds = n - choosing_->offsets(count_.data(), n, n);
  if (!level.plain && reds < (on_grid_ ? fewest_reds : fewest_off_grids) * n) return false;
  level.reds = reds;
  level.number.resize(n), level.black.resize(n - reds);
  Loops::each(on_, n, SetNumber{level.colour.data(), count_.data(), level.number.data(), level.black.data()});
  return true;
}

// With its numbers.
template <class Backend> void GraphLevels<Backend>::make_next(const Level &level, Level &next) {
  const node_t blacks = level.rows.n() - level.reds;
  const double each = level.rows.on_average();
  next.rows.start.resize(blacks + 1);
  room(e_[now_ ^ 1], blacks);
  MakeNext make{{level.rows.rows(), level.number.data(), level.black.data(), nullptr, next.rows.start.data()},
                fill(level, next, nullptr)};
  auto kept = Loops::count_lists(on_, blacks, each, make, most_couplings_of(blacks));
  const node_t couplings = choosing_->offsets(next.rows.start.data(), blacks, any_number);
  check_couplings(next.rows.start.data(), blacks, couplings);
  next.rows.column.resize(couplings);
  room(w_[now_ ^ 1], couplings);
  make.list.start = next.rows.start.data(), make.list.to = next.rows.column.data(), make.fill.w = weights(1);
  Loops::put_lists(on_, blacks, each, make, std::move(kept));
  if (!Loops::keeps) fill_next(level, next, weights(1));
  next.point.resize(blacks);
  Loops::each(on_, blacks, TakeFrom{level.point.data(), level.black.data(), next.point.data()});
}

template <class Backend>
void GraphLevels<Backend>::choose(const PreparedStencil &s, Lumping lumping, const Options &most) {
  levels_.clear();
  on_.clear(counts_);
  now_ = 0;
  levels_.emplace_back();
  on_grid_ = !s.rows.start, nx_ = s.rows.nx, ny_ = s.rows.ny;
  with_matrix(s, [&](const auto &matrix) { make_first(matrix); });
  let_positive_slide(levels_.front());
  const auto &first = levels_.front();
  of_same_rows_ =
      !on_grid_ && !first.slid() && first.rows.couplings() == on_.to_host(s.rows.start + first.rows.n(), 1)[0];
  bool by_support = false; // from here on
  for (;;) {
    int l = count();
    const auto is_last = [&] {
      const auto &rows = levels_[l].rows;
      return l >= std::min(most.levels, most_levels - 1) || rows.n() <= most.last_unknowns ||
             (!on_grid_ && rows.n() <= small_graph && rows.couplings() > most_couplings * rows.n());
    };
    if (!by_support && may_be_plain(l)) {
      if (l % 2 == 0 && is_last()) break;
      if (!colour_plainly(levels_[l], l)) {
        by_support = true;
        if (l == 1 && !may_choose_others(levels_[0])) {
          levels_[0].plain = false;
          let_light_slide(levels_[1]);
        } else if (l % 2) { // then the grid's first level is not plain either
          levels_.pop_back();
          now_ ^= 1;
          swap_numbers(levels_[--l]);
          counts_.set(l, {});
        }
      }
    } else
      by_support = true;
    if (is_last()) break;
    if (by_support) colour_by_support(levels_[l]);
    if (!take_reds(levels_[l])) {
      if (!on_grid_ && levels_[l].rows.n() > small_graph)
        refuse(levels_[l].rows.n(), "are left, of which hardly any may be eliminated", 0);
      break;
    }
    room(inverse_, levels_[l].rows.n());
    find_pivots(levels_[l], lumping, l);
    levels_.emplace_back();
    make_next(levels_[l], levels_[l + 1]);
    swap_numbers(levels_[l]);
    now_ ^= 1;
    if (by_support) let_light_slide(levels_[l + 1]);
  }
  swap_numbers(levels_.back());
  levels_.back().colour = {};
}

template <class Backend> template <class At> void GraphLevels<Backend>::end_choosing(const At &at) {
  for (int l = 0; l <= count(); ++l) {
    const Level &level = levels_[l];
    const Graph g = kept_graph(level);
    at(l, on_, g, level.inverse.data());
    if (l == count()) break;
    list_pairs(levels_[l]);
    if (!on_grid_ && Loops::stores_products(level.rows.on_average())) list_products(levels_[l], levels_[l + 1]);
    count_unsupported(on_, g, level);
  }
  make_room();
}

template <class Backend> void GraphLevels<Backend>::list_pairs(Level &level) {
  const Rows rows = level.rows.rows();
  const node_t n = level.rows.n();
  const RedPairsOf some{rows, level.colour.data(), one_tested_in(n)};
  RedPairs<Backend> &pairs = level.pairs;
  room(count_, n + 1);
  Loops::each(on_, n, CountCouplings<RedPairsOf>{rows, some, count_.data()});
  const node_t in_all = choosing_->offsets(count_.data(), n, level.rows.couplings());
  if (!in_all) return;
  room(ways_.row, in_all);
  pairs.place.resize(in_all), pairs.path.resize(in_all + 1);
  Loops::each(on_, n,
              ListCouplings<RedPairsOf>{rows, some, count_.data(), ways_.row.data(), nullptr, pairs.place.data()});
  ListPaths list{rows, some.colour, ways_.row.data(), pairs.place.data(), nullptr, pairs.path.data(), nullptr, nullptr};
  Loops::together(on_, in_all, level.rows.on_average(), list);
  const node_t paths = choosing_->offsets(pairs.path.data(), in_all, any_number);
  pairs.a.resize(paths), pairs.b.resize(paths);
  list.path = pairs.path.data(), list.a = pairs.a.data(), list.b = pairs.b.data();
  Loops::together(on_, in_all, level.rows.on_average(), list);
}

template <class Backend> void GraphLevels<Backend>::list_products(Level &level, const Level &next) {
  const auto &rows = next.filled();
  auto &products = level.products;
  const auto some_are_longer = [&] { return choosing_->any(rows.n(), IsLongRow{rows.start.data(), products.longest}); };
  for (products.longest = 62; products.longest < longest_row && some_are_longer();)
    products.longest = products.longest < 254 ? 2 * products.longest + 2 : longest_row;
  const node_t n = rows.n();
  const FillNext f = fill(level, next, nullptr);
  products.added.resize(level.rows.couplings()), products.start.resize(n + 1);
  Loops::together(on_, n, level.rows.on_average(), CountProducts{f, products.added.data(), products.start.data()});
  node_t in_all;
  try {
    in_all = choosing_->offsets(products.start.data(), n, any_number);
  } catch (const std::length_error &) { // they are looked up in each refresh
    products = {};
    return;
  }
  products.with_places([&](auto &places) {
    using Place = std::remove_pointer_t<decltype(places.data())>;
    places.resize(in_all);
    Loops::look_up(on_, n, ListProducts<Place>{f, products.added.data(), products.start.data(), places.data()});
  });
}

// For all levels of a refresh, and none for a choice any more.
template <class Backend> void GraphLevels<Backend>::make_room() {
  for (int l = 0; l <= std::min(count(), 1); ++l) w_[l] = std::move(levels_[l].w), e_[l] = std::move(levels_[l].e);
  inverse_ = std::move(levels_[0].inverse);
  for (Level &l : levels_) l.point = {}, l.w = {}, l.e = {}, l.inverse = {};
  choosing_ = nullptr;
  count_ = {}, reverse_ = {}, once_ = {}, own_ = {}, ways_ = {};
  for (int l = 0; l <= count(); ++l) {
    room(w_[l % 2], levels_[l].rows.couplings());
    room(e_[l % 2], levels_[l].rows.n());
    room(before_, levels_[l].before.couplings());
  }
}

} // namespace petscrrb::rrb
