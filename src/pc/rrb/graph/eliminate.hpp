// The elimination of a level's red nodes on a graph: lumping, pivots, and the graph of the black nodes.
#pragma once

#include "pc/rrb/core/eliminate.hpp"
#include "pc/rrb/graph/graph.hpp"

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

// f(r) for each path of two couplings from the black node q over a red one to another black node r
template <class F>
PETSCRRB_HD inline void for_paths(const Rows &rows, const signed char *colour, node_t q, const F &f) {
  for (node_t k = rows.start[q]; k < rows.start[q + 1]; ++k) {
    const node_t a = rows.column[k];
    if (colour[a] != red) continue;
    for (node_t m = rows.start[a]; m < rows.start[a + 1]; ++m)
      if (rows.column[m] != q && colour[rows.column[m]] != red) f(rows.column[m]);
  }
}

// At most so many couplings a black node has in the next graph.
struct CountNext {
  Rows rows;
  const signed char *colour;
  const node_t *number; // of a black node in the next graph
  node_t *count;

  PETSCRRB_HD void operator()(node_t q) const {
    if (colour[q] == red) return;
    node_t n = 0;
    for (node_t k = rows.start[q]; k < rows.start[q + 1]; ++k) n += colour[rows.column[k]] != red;
    for_paths(rows, colour, q, [&](node_t) { ++n; });
    count[number[q]] = n;
  }
};

// Its neighbours there, ascending, from first[number[q]] on; their number.
struct ListNext {
  Rows rows;
  const signed char *colour;
  const node_t *number, *first;
  node_t *list, *count;

  PETSCRRB_HD void operator()(node_t q) const {
    if (colour[q] == red) return;
    node_t *to = list + first[number[q]], n = 0;
    const auto put = [&](node_t r) {
      node_t at = n;
      while (at > 0 && to[at - 1] > r) --at;
      if (at > 0 && to[at - 1] == r) return;
      for (node_t i = n++; i > at; --i) to[i] = to[i - 1];
      to[at] = r;
    };
    for (node_t k = rows.start[q]; k < rows.start[q + 1]; ++k)
      if (colour[rows.column[k]] != red) put(number[rows.column[k]]);
    for_paths(rows, colour, q, [&](node_t r) { put(number[r]); });
    count[number[q]] = n;
  }
};

struct PackRow {
  const node_t *first, *list, *start;
  node_t *column;

  PETSCRRB_HD void operator()(node_t p) const {
    for (node_t k = start[p]; k < start[p + 1]; ++k) column[k] = list[first[p] + k - start[p]];
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
