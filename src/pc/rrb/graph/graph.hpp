// The matrix of a level where red nodes are chosen by support: a graph of weights and excesses, rows in natural order of the nodes
// (docs/numerics.md, "Red nodes chosen by support").
#pragma once

#include "pc/rrb/graph/couplings.hpp"

#include <algorithm>
#include <limits>

namespace petscrrb::rrb {

constexpr index_t any_number = std::numeric_limits<index_t>::max(); // where no limit is known

// The place of column q in a part of a row, or -1.
template <class List> PETSCRRB_HD inline node_t place_in(const List &rows, node_t begin, node_t end, node_t q) {
  while (begin < end) {
    const node_t middle = begin + (end - begin) / 2, r = rows.column_at(middle);
    if (r == q) return middle;
    if (r < q)
      begin = middle + 1;
    else
      end = middle;
  }
  return -1;
}

struct Rows {
  const node_t *start, *column; // of row p: column[start[p] ... start[p + 1]), ascending, without p

  PETSCRRB_HD node_t begin(node_t p) const { return start[p]; }
  PETSCRRB_HD node_t end(node_t p) const { return start[p + 1]; }
  PETSCRRB_HD node_t column_at(node_t k) const { return column[k]; }

  // The first place of a column beyond q in row p, or the row's end.
  PETSCRRB_HD node_t after(node_t p, node_t q) const {
    node_t begin = start[p], end = start[p + 1];
    while (begin < end) {
      const node_t middle = begin + (end - begin) / 2;
      if (column[middle] <= q)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
  PETSCRRB_HD node_t find(node_t p, node_t q) const { return place_in(*this, start[p], start[p + 1], q); }
};

struct Graph {
  node_t n;
  Rows rows;
  const double *w, *e; // the weight of each coupling, the excess of each node
};

struct Coupling {
  node_t to;
  double w;
};

// --- of lists ---

struct CountFrom {
  node_t first, *to;

  PETSCRRB_HD void operator()(node_t i) const { to[i] = first + i; }
};
template <class From, class To> struct CopyNumber {
  const From *from;
  To *to;

  PETSCRRB_HD void operator()(node_t i) const { to[i] = To(from[i]); }
};
template <class From, class To> CopyNumber(const From *, To *) -> CopyNumber<From, To>;
template <class T> struct TakeFrom {
  const T *from;
  const node_t *place;
  T *to;

  PETSCRRB_HD void operator()(node_t i) const { to[i] = from[place[i]]; }
};
template <class T> TakeFrom(const T *, const node_t *, T *) -> TakeFrom<T>;

enum Colour : signed char {
  undecided = 0,
  red = 1,
  black = 2
};

// What each backend has its own of: loops over nodes, and what a choice needs besides: sums that the host sees, offsets, orders, decisions
// about all nodes. The latter keep memory.
template <class Backend> struct GraphLoops;
template <class Backend> class ChoiceLoops;

template <class... Arrays> std::size_t bytes_of(const Arrays &...arrays) {
  return (std::size_t(0) + ... + arrays.bytes());
}

template <class Backend> struct RowArrays {
  typename Backend::template Array<node_t> start, column;

  node_t n() const { return start.size() ? node_t(start.size()) - 1 : 0; }
  node_t couplings() const { return node_t(column.size()); }
  double on_average() const { return double(couplings()) / std::max(n(), 1); } // of a row
  Rows rows() const { return {start.data(), column.data()}; }
  std::size_t bytes() const { return bytes_of(start, column); }
};

} // namespace petscrrb::rrb
