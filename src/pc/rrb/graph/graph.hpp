// The matrix of a level where red nodes are chosen by support: a graph of weights and excesses, rows in natural order of the nodes
// (docs/numerics.md, "Red nodes chosen by support").
#pragma once

#include "exec/range.hpp"

namespace petscrrb::rrb {

// Numbers of nodes and of couplings; what has more of them is refused.
using node_t = std::int32_t;

struct Rows {
  const node_t *start, *column; // of row p: column[start[p] ... start[p + 1]), ascending, without p

  // The first place, begin <= it <= end, of a column beyond q in a row or in part of one.
  PETSCRRB_HD node_t after(node_t begin, node_t end, node_t q) const {
    while (begin < end) {
      const node_t middle = begin + (end - begin) / 2;
      if (column[middle] <= q)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
  PETSCRRB_HD node_t after(node_t p, node_t q) const { return after(start[p], start[p + 1], q); }
  // The place of column q there, or of (p, q), or -1.
  PETSCRRB_HD node_t place(node_t begin, node_t end, node_t q) const {
    const node_t at = after(begin, end, q) - 1;
    return at >= begin && column[at] == q ? at : -1;
  }
  PETSCRRB_HD node_t find(node_t p, node_t q) const { return place(start[p], start[p + 1], q); }
};

// f(a, place in row q) for each neighbour of q among the columns of the places a, begin <= a < end, of a row; ascending, until it returns true
template <class F>
PETSCRRB_HD inline bool any_common(const Rows &rows, node_t begin, node_t end, node_t q, const F &f) {
  constexpr node_t far_longer = 16; // searching takes less time than going along both
  if (begin == end) return false;
  node_t a = begin, b = rows.after(q, rows.column[begin] - 1);
  const node_t end_b = rows.start[q + 1];
  if (end_b - b > far_longer * (end - a)) {
    for (; a < end; ++a)
      if (const node_t at = rows.find(q, rows.column[a]); at >= 0 && f(a, at)) return true;
    return false;
  }
  if (end - a > far_longer * (end_b - b)) {
    for (; b < end_b; ++b)
      if (const node_t at = rows.place(a, end, rows.column[b]); at >= 0 && f(at, b)) return true;
    return false;
  }
  while (a < end && b < end_b) {
    const node_t u = rows.column[a], v = rows.column[b];
    if (u == v && f(a, b)) return true;
    a += u <= v;
    b += v <= u;
  }
  return false;
}
// The same of all of row p.
template <class F> PETSCRRB_HD inline bool any_common(const Rows &rows, node_t p, node_t q, const F &f) {
  return any_common(rows, rows.start[p], rows.start[p + 1], q, f);
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

// Who works on one thing: alone. On a device there may be several, each with a share.
struct OneLane {
  static constexpr int lane = 0, count = 1;

  PETSCRRB_HD static bool first() { return true; }
  PETSCRRB_HD static node_t least(node_t mine) { return mine; }
  PETSCRRB_HD static node_t sum(node_t mine) { return mine; }
  PETSCRRB_HD static node_t before(node_t) { return 0; } // the sum of earlier lanes
};
// A lane's part of places that follow one another.
struct Places {
  node_t begin, end;
};
template <class Lanes> PETSCRRB_HD inline Places part_of(node_t begin, node_t end, const Lanes &lanes) {
  const node_t each = (end - begin + lanes.count - 1) / lanes.count, from = begin + lanes.lane * each;
  return {from < end ? from : end, end - from < each ? end : from + each};
}

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
