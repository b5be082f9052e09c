// The elimination of a level's red nodes on a graph: lumping, pivots, and the graph of the black nodes.
#pragma once

#include "pc/rrb/core/eliminate.hpp"
#include "pc/rrb/graph/graph.hpp"

#include <limits>

namespace petscrrb::rrb {

// 1/d of a red node, 0 where it has failed, and its excess after couplings of red nodes are lumped. Returns NodeFlags.
struct FindPivot {
  Graph graph;
  const signed char *colour;
  Lumping lumping;
  double *inverse, *excess;

  PETSCRRB_HD unsigned operator()(node_t p) const {
    inverse[p] = 0.0;
    if (colour[p] != red) return node_ok;
    double kept = 0.0, lost = 0.0;
    for (node_t k = graph.rows.start[p]; k < graph.rows.start[p + 1]; ++k)
      (colour[graph.rows.column[k]] == red ? lost : kept) += graph.w[k];
    unsigned flags = node_ok;
    const double e = lump(graph.e[p], kept, lost, lumping.omega, flags), d = e + kept,
                 terms = (e < 0.0 ? -e : e) + kept;
    excess[p] = e;
    if (terms == 0.0) {
      inverse[p] = lumping.null_inverse;
      return flags | node_null;
    }
    if (!(d > lost_below * terms && d - d == 0.0)) return flags | node_failed;
    inverse[p] = 1.0 / d;
    return flags;
  }
};

// The neighbours of a black node in the next graph, ascending: those that are black now, and the black ones of each red neighbour. Each lane
// merges some of these lists, which ascend, too.
struct ListNext {
  Rows rows;
  const signed char *colour;
  const node_t *number, *black; // of a black node in the next graph, and back
  const node_t *start;          // NULL: they are only counted
  node_t *to;                   // the columns, or how many they are

  template <class Lanes> PETSCRRB_HD void operator()(node_t row, const Lanes &lanes) const {
    constexpr node_t none = std::numeric_limits<node_t>::max();
    Lists<(Lanes::count > 1 ? 8 : 64)> lists;
    const node_t q = black[row], others = take_lists(q, lists, lanes);
    for (node_t last = -1, n = 0;; ++n) {
      node_t next = none;
      const auto ask = [&](node_t at, node_t end) {
        while (at < end && !is_new(rows.column[at], last, q)) ++at;
        if (at < end && rows.column[at] < next) next = rows.column[at];
        return at;
      };
      for (int i = 0; i < lists.n; ++i) lists.at[i] = ask(lists.at[i], lists.end[i]);
      for (node_t k = others; k < rows.start[q + 1]; k += lanes.count)
        if (const node_t a = rows.column[k]; colour[a] == red) ask(rows.after(a, last), rows.start[a + 1]);
      next = lanes.least(next);
      if (start && next != none && lanes.first()) to[start[row] + n] = number[next];
      if (!start && next == none && lanes.first()) to[row] = n;
      if (next == none) return;
      last = next;
    }
  }

private:
  template <int room> struct Lists { // places that a lane has come to
    static constexpr int most = room;
    int n = 0;
    node_t at[room], end[room];
  };

  PETSCRRB_HD bool is_new(node_t r, node_t last, node_t q) const { return r > last && r != q && colour[r] != red; }
  // Of this lane, as many as there is room for; from which coupling of q on others follow.
  template <class Some, class Lanes> PETSCRRB_HD node_t take_lists(node_t q, Some &lists, const Lanes &lanes) const {
    const auto take = [&](node_t a) { lists.at[lists.n] = rows.start[a], lists.end[lists.n++] = rows.start[a + 1]; };
    if (lanes.first()) take(q);
    node_t k = rows.start[q] + lanes.lane;
    for (; k < rows.start[q + 1] && lists.n < Some::most; k += lanes.count)
      if (colour[rows.column[k]] == red) take(rows.column[k]);
    return k;
  }
};

// Weights and excess of a black node in the next graph: what couples it now, then what each red neighbour adds, in their order. A single lane
// goes along each red neighbour's row, several ones have weights of their own; both give the same.
struct FillNext {
  Graph graph;
  const signed char *colour;
  const node_t *number, *black; // of a black node in the next graph, and back
  const double *inverse, *excess;
  Rows next;
  double *w, *e;

  PETSCRRB_HD double sum(node_t row, int lane, int lanes) const {
    const Rows &rows = graph.rows;
    const node_t q = black[row];
    if (lanes == 1)
      add_rows(row, q);
    else
      for (node_t k = next.start[row] + lane; k < next.start[row + 1]; k += lanes)
        w[k] = weight(q, black[next.column[k]]);
    double sum = 0.0;
    for (node_t k = rows.start[q] + lane; k < rows.start[q + 1]; k += lanes) {
      const node_t a = rows.column[k];
      if (colour[a] == red) sum += graph.w[k] * inverse[a] * excess[a];
    }
    return sum;
  }
  PETSCRRB_HD void take(node_t row, double sum) const { e[row] = graph.e[black[row]] + sum; }

private:
  // u = w(q,a), v = w(r,a); the same from both ends
  PETSCRRB_HD double over(node_t a, node_t q, node_t r, double u, double v) const {
    return q < r ? u * inverse[a] * v : v * inverse[a] * u;
  }
  PETSCRRB_HD double weight(node_t q, node_t r) const {
    const Rows &rows = graph.rows;
    const node_t direct = rows.find(q, r);
    double weight = direct < 0 ? 0.0 : graph.w[direct];
    for_common(rows, q, r, [&](node_t i, node_t j) {
      const node_t a = rows.column[i];
      if (colour[a] == red) weight += over(a, q, r, graph.w[i], graph.w[j]);
    });
    return weight;
  }
  PETSCRRB_HD void add_rows(node_t row, node_t q) const {
    const Rows &rows = graph.rows;
    const node_t first = next.start[row];
    for (node_t k = first; k < next.start[row + 1]; ++k) w[k] = 0.0;
    for (node_t k = rows.start[q], to = first; k < rows.start[q + 1]; ++k)
      if (colour[rows.column[k]] != red) w[to = place(to, number[rows.column[k]])] = graph.w[k];
    for (node_t k = rows.start[q]; k < rows.start[q + 1]; ++k) {
      const node_t a = rows.column[k];
      if (colour[a] != red) continue;
      for (node_t m = rows.start[a], to = first; m < rows.start[a + 1]; ++m) {
        const node_t r = rows.column[m];
        if (colour[r] != red && r != q) w[to = place(to, number[r])] += over(a, q, r, graph.w[k], graph.w[m]);
      }
    }
  }
  PETSCRRB_HD node_t place(node_t from, node_t column) const {
    while (next.column[from] < column) ++from;
    return from;
  }
};

} // namespace petscrrb::rrb
