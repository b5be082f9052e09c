// How couplings slide before and between the levels on a graph: see slide.hpp.
#pragma once

#include "pc/rrb/graph/levels.hpp"

namespace petscrrb::rrb {

struct MarkGone {
  const node_t *place, *reverse;
  signed char *gone, pass;

  PETSCRRB_HD void operator()(node_t s) const { gone[place[s]] = gone[reverse[place[s]]] = pass; }
};
struct MarkLumped {
  const double *w;
  signed char *gone;

  PETSCRRB_HD void operator()(node_t k) const {
    if (!gone[k] && !(w[k] > 0.0)) gone[k] = lumped;
  }
};
struct HasStayed {
  const signed char *gone;

  PETSCRRB_HD bool operator()(node_t, node_t k) const { return !gone[k]; }
};

// Rows that list each coupling once, with the later node.
struct CountLater {
  Rows rows;
  node_t *count;

  PETSCRRB_HD void operator()(node_t p) const { count[p] = rows.start[p + 1] - rows.after(p, p); }
};
struct ListLater {
  Rows rows;
  const node_t *reverse;
  const signed char *gone;
  const node_t *start;
  node_t *column;
  signed char *gone_there; // or NULL
  node_t *once;            // where each coupling of `rows` is then

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, Lanes &lanes) const {
    const node_t first = rows.after(p, p);
    for (node_t k = first + lanes.lane; k < rows.start[p + 1]; k += lanes.count) {
      const node_t to = start[p] + (k - first);
      column[to] = rows.column[k];
      if (gone_there) gone_there[to] = gone[k];
      once[k] = once[reverse[k]] = to;
    }
  }
};

template <class Backend> void GraphLevels<Backend>::start_sliding(Level &level) {
  const node_t couplings = level.rows.couplings();
  level.gone.resize(couplings);
  room(reverse_, couplings), room(own_, couplings);
  Loops::together(on_, level.rows.n(), level.rows.on_average(), ListReverse{level.rows.rows(), reverse_.data()});
}

template <class Backend> void GraphLevels<Backend>::let_positive_slide(Level &level) {
  if (!choosing_->sum(level.rows.couplings(), IsPositive{weights(0)})) return;
  start_sliding(level);
  level.eps = 1.0;
  if (make_pass<MarkPositive>(level, level.rows.couplings()))
    slide(level.passes.back(), weights(0), level.eps, reverse_.data());
  Loops::each(on_, level.rows.couplings(), MarkLumped{weights(0), level.gone.data()});
  drop_what_went(level);
}

// of the next graph, which is filled
template <class Backend> void GraphLevels<Backend>::let_light_slide(Level &level) {
  start_sliding(level);
  const int most = on_grid_ ? most_passes_on_grids : most_passes;
  index_t left = level.rows.couplings();
  for (int pass = 0; pass < most && make_pass<MarkLight>(level, left); ++pass) {
    slide(level.passes.back(), weights(0), level.eps, reverse_.data());
    const index_t gone = 2 * index_t(level.passes.back().slides);
    if (!on_grid_ && gone * worth_another_pass <= left) break;
    left -= gone;
  }
  if (level.passes.empty())
    level.gone = {};
  else
    drop_what_went(level);
}

// False if nothing slides. left: couplings.
template <class Backend> template <class Mark> bool GraphLevels<Backend>::make_pass(Level &level, index_t left) {
  const Sliding sliding{graph(level), reverse_.data(), level.gone.data(), own_.data(), level.eps};
  const node_t n = level.rows.n();
  room(count_, n + 1);
  const double each = level.rows.on_average();
  Loops::together(on_, n, each, Mark{sliding, count_.data()});
  const node_t some = choosing_->offsets(count_.data(), n, level.rows.couplings());
  if (!some) return false;
  auto &[row, place, slides, ways, far, order, takers, past, supports, support_places, heaviest, found] = ways_;
  room(row, some), room(place, some), room(slides, some + 1), room(ways, some + 1);
  room(past, n), room(heaviest, n);
  if (!Loops::keeps) room(found, some);
  room(supports, level.rows.couplings()), room(support_places, level.rows.couplings());
  const Candidates candidates{some, row.data(), place.data()};
  Loops::together(
      on_, n, each,
      ListCouplings<IsCandidate>{level.rows.rows(), {own_.data()}, count_.data(), row.data(), nullptr, place.data()});
  const Supports with{level.rows.start.data(), past.data(), supports.data(), support_places.data(), heaviest.data()};
  Loops::together(on_, n, each, ListSupports{sliding, with});
  const double staying = double(left - some) / n; // at most
  const WaysOfCandidates all{sliding, with, candidates, slides.data(), ways.data(), found.data()};
  auto kept = Loops::count_lists(on_, some, staying, CountWays{all}, any_number);
  const auto [sliding_ones, in_all] = choosing_->offsets(slides.data(), ways.data(), some);
  if (!sliding_ones) return false;
  SlidePass<Backend> pass(sliding_ones, in_all);
  room(given_, in_all), room(far, in_all), room(order, in_all), room(takers, in_all + 1);
  Loops::put_lists(on_, some, staying, ListWays{all, sliding_ones, pass.place(), pass.at(), pass.near(), far.data()},
                   std::move(kept));
  choosing_->sort(far.data(), in_all, level.rows.couplings(), order.data());
  Loops::each(on_, in_all, IsNewTaker{order.data(), far.data(), takers.data()});
  pass.set_takers(choosing_->offsets(takers.data(), in_all, in_all));
  Loops::each(on_, in_all,
              ListTaking{order.data(), far.data(), takers.data(), in_all, pass.taking(), pass.first(), pass.from()});
  Loops::each(
      on_, sliding_ones,
      MarkGone{pass.place(), reverse_.data(), level.gone.data(), static_cast<signed char>(level.passes.size() + 1)});
  level.passes.push_back(std::move(pass));
  return true;
}

template <class Backend> void GraphLevels<Backend>::drop_what_went(Level &level) {
  const node_t n = level.rows.n();
  const RowArrays<Backend> all = std::move(level.rows);
  const Array<signed char> gone = std::move(level.gone);
  level.rows = {}, level.gone = {};
  level.rows.start.resize(n + 1);
  Loops::each(on_, n, CountCouplings<HasStayed>{all.rows(), {gone.data()}, level.rows.start.data()});
  const node_t staying = choosing_->offsets(level.rows.start.data(), n, all.couplings());
  level.rows.column.resize(staying), level.from.resize(staying);
  Loops::each(
      on_, n,
      ListCouplings<HasStayed>{
          all.rows(), {gone.data()}, level.rows.start.data(), nullptr, level.rows.column.data(), level.from.data()});
  std::swap(before_, w_[now_]);
  room(w_[now_], staying);
  Loops::each(on_, staying, TakeStaying{level.from.data(), before_.data(), weights(0)});
  list_once(level, all, gone.data());
}

// What a refresh has of the level before couplings slide. all: these.
template <class Backend>
void GraphLevels<Backend>::list_once(Level &level, const RowArrays<Backend> &all, const signed char *gone) {
  const node_t n = all.n();
  const Rows rows = all.rows();
  RowArrays<Backend> &before = level.before;
  before.start.resize(n + 1);
  Loops::each(on_, n, CountLater{rows, before.start.data()});
  const node_t couplings = choosing_->offsets(before.start.data(), n, all.couplings());
  before.column.resize(couplings);
  if (&level == levels_.data()) level.gone.resize(couplings);
  room(once_, all.couplings());
  Loops::together(on_, n, before.on_average(),
                  ListLater{rows, reverse_.data(), gone, before.start.data(), before.column.data(), level.gone.data(),
                            once_.data()});
  const auto list = [&](node_t *list, node_t n) { Loops::each(on_, n, TakeFrom{once_.data(), list, list}); };
  for (const auto &pass : level.passes) pass.each_list_of_couplings(list);
  list(level.from.data(), level.rows.couplings());
}

} // namespace petscrrb::rrb
