// The graph of a matrix on a 2D grid: its points are the nodes, in natural order.
#pragma once

#include "pc/rrb/core/views.hpp"
#include "pc/rrb/graph/graph.hpp"

namespace petscrrb::rrb {

struct StencilGraph {
  PreparedStencil s;
  index_t nx, ny;
  bool ring_x, ring_y;

  struct Neighbour {
    node_t q;
    double w;
  };

  // Those of a point with a weight that is not 0, ascending; their number.
  PETSCRRB_HD int neighbours(node_t p, Neighbour list[8]) const {
    const index_t i = p % nx, j = p / nx;
    int n = 0;
    const auto put = [&](index_t a, index_t b, const double *weights, index_t holder_a, index_t holder_b) {
      if (!weights || !around(a, nx, ring_x) || !around(b, ny, ring_y)) return;
      if (!around(holder_a, nx, ring_x) || !around(holder_b, ny, ring_y)) return;
      const node_t q = node_t(b * nx + a);
      const double w = weights[holder_b * nx + holder_a];
      if (w == 0.0 || q == p) return;
      int at = n;
      while (at > 0 && list[at - 1].q > q) --at;
      if (at > 0 && list[at - 1].q == q) {
        list[at - 1].w += w; // around a ring of two points
        return;
      }
      for (int k = n++; k > at; --k) list[k] = list[k - 1];
      list[at] = {q, w};
    };
    put(i - 1, j - 1, s.NE, i - 1, j - 1), put(i, j - 1, s.N, i, j - 1), put(i + 1, j - 1, s.NW, i + 1, j - 1);
    put(i - 1, j, s.E, i - 1, j), put(i + 1, j, s.E, i, j);
    put(i - 1, j + 1, s.NW, i, j), put(i, j + 1, s.N, i, j), put(i + 1, j + 1, s.NE, i, j);
    return n;
  }

private:
  PETSCRRB_HD static bool around(index_t &i, index_t n, bool ring) {
    if (ring && (i < 0 || i >= n)) i = i < 0 ? i + n : i - n;
    return i >= 0 && i < n;
  }
};

struct CountNeighbours {
  StencilGraph stencil;
  node_t *count;

  PETSCRRB_HD void operator()(node_t p) const {
    StencilGraph::Neighbour list[8];
    count[p] = stencil.neighbours(p, list);
  }
};
struct ListNeighbours {
  StencilGraph stencil;
  const node_t *start;
  node_t *column;

  PETSCRRB_HD void operator()(node_t p) const {
    StencilGraph::Neighbour list[8];
    const int n = stencil.neighbours(p, list);
    for (int k = 0; k < n; ++k) column[start[p] + k] = list[k].q;
  }
};
// Returns how many have no place among the couplings that there are: these are lumped.
struct FillFirst {
  StencilGraph stencil;
  Rows rows;
  double *w, *e;

  PETSCRRB_HD unsigned operator()(node_t p) const {
    StencilGraph::Neighbour list[8];
    const int n = stencil.neighbours(p, list);
    node_t k = rows.start[p];
    unsigned lumped = 0;
    for (int m = 0; m < n; ++m) {
      for (; k < rows.start[p + 1] && rows.column[k] < list[m].q; ++k) w[k] = 0.0;
      if (k < rows.start[p + 1] && rows.column[k] == list[m].q)
        w[k++] = list[m].w;
      else
        ++lumped;
    }
    for (; k < rows.start[p + 1]; ++k) w[k] = 0.0;
    e[p] = stencil.s.X[p];
    return lumped;
  }
};

} // namespace petscrrb::rrb
