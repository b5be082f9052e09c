// The matrix of a level where red nodes are chosen by support: a graph of weights and excesses, rows in natural order of the nodes
// (docs/numerics.md, "Red nodes chosen by support").
#pragma once

#include "exec/range.hpp"

namespace petscrrb::rrb {

// Numbers of nodes and of couplings; what has more of them is refused.
using node_t = std::int32_t;

struct Rows {
  const node_t *start, *column; // of row p: column[start[p] ... start[p + 1]), ascending, without p

  // The place of (p, q), or -1.
  PETSCRRB_HD node_t find(node_t p, node_t q) const {
    node_t low = start[p], high = start[p + 1];
    while (low < high) {
      const node_t middle = low + (high - low) / 2;
      if (column[middle] < q)
        low = middle + 1;
      else
        high = middle;
    }
    return low < start[p + 1] && column[low] == q ? low : -1;
  }
};

// f(place in row p, place in row q) for each neighbour that both have
template <class F> PETSCRRB_HD inline bool any_common(const Rows &rows, node_t p, node_t q, const F &f) {
  node_t a = rows.start[p], b = rows.start[q];
  const node_t end_a = rows.start[p + 1], end_b = rows.start[q + 1];
  while (a < end_a && b < end_b) {
    const node_t u = rows.column[a], v = rows.column[b];
    if (u == v && f(a, b)) return true;
    a += u <= v;
    b += v <= u;
  }
  return false;
}
template <class F> PETSCRRB_HD inline void for_common(const Rows &rows, node_t p, node_t q, const F &f) {
  (void)any_common(rows, p, q, [&](node_t a, node_t b) {
    f(a, b);
    return false;
  });
}

struct Graph {
  node_t n;
  Rows rows;
  const double *w, *e; // the weight of each coupling, the excess of each node
};

// A list as a box, for what goes over boxes. Its last row may go past the end of the list.
struct ListAsBox {
  static constexpr index_t width = 4096;

  static index_t rows(index_t n) { return (n + width - 1) / width; }
  static Range2 box(index_t n) { return {0, width, 0, rows(n)}; }
  PETSCRRB_HD static index_t entry(index_t h, index_t k) { return k * width + h; }
};

enum Colour : signed char {
  undecided = 0,
  red = 1,
  black = 2
};

// What each backend has its own of: loops over nodes, and what a choice needs besides: sums that the host sees, offsets, orders, decisions
// about all nodes. The latter keep memory.
template <class Backend> struct GraphLoops;
template <class Backend> class ChoiceLoops;

template <class Backend> struct RowArrays {
  typename Backend::template Array<node_t> start, column;

  node_t n() const { return start.size() ? node_t(start.size()) - 1 : 0; }
  node_t couplings() const { return node_t(column.size()); }
  Rows rows() const { return {start.data(), column.data()}; }
  std::size_t bytes() const { return start.bytes() + column.bytes(); }
};

} // namespace petscrrb::rrb
