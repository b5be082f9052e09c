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

  // f(q, w) for each of a node's neighbours with a weight that is not 0, ascending
  template <class F> PETSCRRB_HD void each(node_t p, const F &f) const {
    Neighbour list[8];
    const int n = neighbours(p, list);
    for (int k = 0; k < n; ++k) f(list[k].q, list[k].w);
  }
  PETSCRRB_HD double excess(node_t p) const { return s.X[p]; }

private:
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
  PETSCRRB_HD static bool around(index_t &i, index_t n, bool ring) {
    if (ring && (i < 0 || i >= n)) i = i < 0 ? i + n : i - n;
    return i >= 0 && i < n;
  }
};

// --- of it, or of a MatrixGraph ---

template <class Matrix> struct CountNeighbours {
  Matrix matrix;
  node_t *count;

  PETSCRRB_HD void operator()(node_t p) const {
    node_t n = 0;
    matrix.each(p, [&](node_t, double) { ++n; });
    count[p] = n;
  }
};
template <class Matrix> struct ListNeighbours {
  Matrix matrix;
  const node_t *start;
  node_t *column;

  PETSCRRB_HD void operator()(node_t p) const {
    node_t k = start[p];
    matrix.each(p, [&](node_t q, double) { column[k++] = q; });
  }
};
// Returns how many have no place among the couplings that there are: these are lumped.
template <class Matrix> struct FillFirst {
  Matrix matrix;
  Rows rows; // all of them, or those with later nodes
  bool halved;
  double *w, *e;

  PETSCRRB_HD unsigned operator()(node_t p) const {
    const node_t end = rows.start[p + 1];
    node_t k = rows.start[p];
    unsigned lumped = 0;
    matrix.each(p, [&](node_t q, double weight) {
      if (halved && q < p) return;
      for (; k < end && rows.column[k] < q; ++k) w[k] = 0.0;
      if (k < end && rows.column[k] == q)
        w[k++] = weight;
      else
        lumped += halved ? 2 : 1;
    });
    for (; k < end; ++k) w[k] = 0.0;
    e[p] = matrix.excess(p);
    return lumped;
  }
};

// The same of a matrix that lists what the graph does, one coupling after the other; positive ones are lumped.
struct CopyWeights {
  const double *from;
  double *to;

  PETSCRRB_HD unsigned operator()(node_t k) const {
    const double w = from[k];
    to[k] = w > 0.0 ? w : 0.0;
    return w < 0.0;
  }
};

} // namespace petscrrb::rrb
