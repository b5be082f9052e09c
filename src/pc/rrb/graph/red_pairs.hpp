// Couplings of two red nodes, which are dropped, and the paths that support them: listed once, then tested with whatever numbers there are.
#pragma once

#include "pc/rrb/graph/red_nodes.hpp"

namespace petscrrb::rrb {

// The pairs of a level, from the lower node; of a large graph those of some nodes.
template <class Backend> struct RedPairs {
  template <class T> using Array = typename Backend::template Array<T>;
  Array<node_t> place;      // of each pair's coupling
  Array<node_t> path, a, b; // along couplings a[i] and b[i], path[s] <= i < path[s + 1], with one node that is not red

  std::size_t bytes() const { return bytes_of(place, path, a, b); }
};

// Whether a coupling is of such a pair.
struct RedPairsOf {
  Rows rows;
  const signed char *colour;
  int one_in; // nodes, a power of two

  PETSCRRB_HD bool has(node_t p) const {
    const std::uint32_t h = std::uint32_t(p) * 0x9e3779b1u;
    return colour[p] == red && (h >> 16 & std::uint32_t(one_in - 1)) == 0;
  }
  PETSCRRB_HD bool operator()(node_t p, node_t k) const {
    return has(p) && rows.column[k] > p && colour[rows.column[k]] == red;
  }
};
// Of each pair; path: NULL, or before each of them.
struct ListPaths {
  Rows rows;
  const signed char *colour;
  const node_t *row, *place, *path;
  node_t *count, *a, *b;

  template <class Lanes> PETSCRRB_HD void operator()(node_t s, Lanes &lanes) const {
    const node_t p = row[s], q = rows.column[place[s]], end = rows.start[q + 1];
    lanes.open(rows, p);
    node_t n = path ? path[s] : 0;
    for (node_t from = rows.start[q]; from < end; from += lanes.count) {
      const node_t m = from + lanes.lane, r = m < end ? rows.column[m] : -1;
      const node_t k = r < 0 || colour[r] == red ? -1 : lanes.find(rows, r);
      const node_t i = lanes.rank(k >= 0, n);
      if (path && k >= 0) a[i] = k, b[i] = m;
    }
    if (!path && lanes.first()) count[s] = n;
  }
};

// --- with numbers ---

// Returns the weight in a count of those that lack support, as RedTests::passes() asks of it.
struct LacksSupport {
  const node_t *place, *path, *a, *b;
  const double *w;
  double tau;
  int one_in;

  PETSCRRB_HD unsigned operator()(node_t s) const {
    const double own = w[place[s]];
    if (at_most(own, 0.0)) return 0;
    double support = 0.0;
    for (node_t i = path[s]; i < path[s + 1]; ++i) {
      const double u = w[a[i]], v = w[b[i]];
      if (u > 0.0 && v > 0.0) support += u * v / (u + v);
    }
    return at_most(own, tau * support) ? 0 : unsigned(one_in);
  }
};

} // namespace petscrrb::rrb
