// What is computed at a node of a graph: the factor's rows, the two sweeps, and AMLI's vectors.
#pragma once

#include "pc/rrb/core/amli.hpp"
#include "pc/rrb/core/sweep.hpp"
#include "pc/rrb/graph/graph.hpp"

#include <cmath>

namespace petscrrb::rrb {

// --- where nodes and couplings stand ---

// The node's number in the order of elimination, in which the next graph's nodes have theirs.
struct Order {
  const node_t *number, *next;
  node_t first; // of the level's red nodes
  node_t *order;

  PETSCRRB_HD void operator()(node_t p) const { order[p] = number[p] < 0 ? first + ~number[p] : next[number[p]]; }
};
struct PlacePoint {
  const node_t *order, *point;
  node_t *of_node;

  PETSCRRB_HD void operator()(node_t p) const { of_node[order[p]] = point[p]; }
};

// Of a red node what it couples with, of a black one the level's red nodes that do.
struct CountFactor {
  Rows rows;
  const signed char *colour;
  const node_t *order;
  node_t *upper, *lower; // upper of a red node, more of lower of a black one

  PETSCRRB_HD void operator()(node_t p) const {
    const bool is_red = colour[p] == red;
    node_t n = 0;
    for (node_t k = rows.start[p]; k < rows.start[p + 1]; ++k) n += (colour[rows.column[k]] == red) != is_red;
    if (is_red)
      upper[order[p]] = n;
    else
      lower[order[p]] += n;
  }
};
struct ListUpper {
  Rows rows;
  const signed char *colour;
  const node_t *order, *start;
  node_t *column;

  PETSCRRB_HD void operator()(node_t p) const {
    if (colour[p] != red) return;
    node_t to = start[order[p]];
    for (node_t k = rows.start[p]; k < rows.start[p + 1]; ++k)
      if (colour[rows.column[k]] != red) column[to++] = order[rows.column[k]];
  }
};
// Each entry of the transpose, behind those of earlier levels, and where it stands in the factor.
struct ListLower {
  Rows rows;
  const signed char *colour;
  const node_t *order, *upper_start, *upper_column;
  node_t *end, *column, *source; // end: of what a node has so far

  PETSCRRB_HD void operator()(node_t p) const {
    if (colour[p] == red) return;
    const node_t q = order[p];
    for (node_t k = rows.start[p]; k < rows.start[p + 1]; ++k) {
      if (colour[rows.column[k]] != red) continue;
      const node_t a = order[rows.column[k]];
      node_t at = upper_start[a];
      while (upper_column[at] != q) ++at;
      column[end[q]] = a;
      source[end[q]++] = at;
    }
  }
};

// --- numbers ---

template <class T> struct FillUpper {
  Graph graph;
  const signed char *colour;
  const node_t *order, *start;
  const double *inverse; // of the graph's nodes
  double *of_node;
  T *upper;
  double *diagonal; // of black nodes, from the first one on; or NULL
  node_t first_black;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, const Lanes &lanes) const {
    if (colour[p] != red) return diagonal ? put_diagonal(p, lanes) : void();
    const node_t node = order[p], end = graph.rows.start[p + 1];
    const double by = inverse[p];
    node_t to = start[node];
    if (lanes.first()) of_node[node] = by;
    for (node_t from = graph.rows.start[p]; from < end; from += lanes.count) {
      const node_t k = from + lanes.lane;
      const bool mine = k < end && colour[graph.rows.column[k]] != red;
      const node_t place = lanes.rank(mine, to);
      if (mine) upper[place] = T(graph.w[k] * by);
    }
  }

private:
  template <class Lanes> PETSCRRB_HD void put_diagonal(node_t p, const Lanes &lanes) const {
    double sum = 0.0;
    for (node_t k = graph.rows.start[p] + lanes.lane; k < graph.rows.start[p + 1]; k += lanes.count) sum += graph.w[k];
    sum = lanes.sum(sum);
    if (lanes.first()) diagonal[order[p] - first_black] = graph.e[p] + sum;
  }
};
// Its rows are those of the graph, with the diagonal in its place.
struct FillLastBlock {
  Graph graph;
  double *a, *excess;

  PETSCRRB_HD void operator()(node_t p) const {
    node_t diagonal = graph.rows.start[p] + p;
    double sum = excess[p] = graph.e[p];
    for (node_t k = graph.rows.start[p]; k < graph.rows.start[p + 1]; ++k) {
      const bool is_lower = graph.rows.column[k] < p;
      diagonal += is_lower;
      a[k + p + !is_lower] = -graph.w[k];
      sum += graph.w[k];
    }
    a[diagonal] = sum;
  }
};

// --- sweeps: z = D^-1 (y + what later nodes have), y = r + what earlier ones have ---

struct Load {
  const node_t *point;
  const double *r, *v; // v: NULL for 1
  double *x;

  PETSCRRB_HD void operator()(node_t p) const { x[p] = v ? v[point[p]] * r[point[p]] : r[point[p]]; }
};
struct CountTaken {
  const node_t *begin, *end;

  PETSCRRB_HD node_t operator()(node_t i) const { return end[i] - begin[i]; }
};
template <class T> struct Forward {
  Couplings<T> couplings; // with earlier nodes
  const double *x;
  double *y, *copy; // of the first of the nodes; copy: NULL for none

  PETSCRRB_HD double own(node_t i) const { return y[i]; }
  PETSCRRB_HD double term(node_t, T weight, node_t column) const { return double(weight) * x[column]; }
  PETSCRRB_HD void take(node_t i, double sum) const {
    y[i] = sum;
    if (copy) copy[i] = sum;
  }
};
template <class T> struct Backward {
  Couplings<T> couplings; // with later nodes; or none
  const double *inverse;
  double *x;
  const node_t *point; // where z is stored, too; or NULL
  double *z;
  const double *v;
  node_t first;
  Scaling scaling;

  PETSCRRB_HD double own(node_t i) const {
    const node_t p = first + i;
    return x[p] * (scaling == Scaling::full ? inverse[p] : sqrt(inverse[p]));
  }
  PETSCRRB_HD double term(node_t, T weight, node_t column) const { return double(weight) * x[column]; }
  PETSCRRB_HD void take(node_t i, double sum) const {
    const node_t p = first + i;
    x[p] = sum;
    if (point) z[point[p]] = v ? v[point[p]] * sum : sum;
  }
};
struct StoreSolution {
  const double *x;
  const node_t *point;
  double *z;
  const double *v;
  node_t first;

  PETSCRRB_HD void operator()(node_t i) const {
    const node_t p = first + i;
    z[point[p]] = v ? v[point[p]] * x[p] : x[p];
  }
};

// --- AMLI's level: its graph in the order of the nodes, from its first one on ---

struct CountKept {
  Rows rows;
  const node_t *order;
  node_t first, *count;

  PETSCRRB_HD void operator()(node_t p) const { count[order[p] - first] = rows.start[p + 1] - rows.start[p]; }
};
struct ListKept {
  Rows rows;
  const node_t *order, *start;
  node_t first, *column;

  PETSCRRB_HD void operator()(node_t p) const {
    node_t to = start[order[p] - first];
    for (node_t k = rows.start[p]; k < rows.start[p + 1]; ++k) column[to++] = order[rows.column[k]] - first;
  }
};
struct FillKept {
  Graph graph;
  const node_t *order, *start;
  node_t first;
  double *w, *e;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, const Lanes &lanes) const {
    const node_t begin = graph.rows.start[p], to = start[order[p] - first];
    for (node_t k = begin + lanes.lane; k < graph.rows.start[p + 1]; k += lanes.count) w[to + (k - begin)] = graph.w[k];
    if (lanes.first()) e[order[p] - first] = graph.e[p];
  }
};
struct KeptGraph {
  Rows rows;
  const double *w, *e;

  Couplings<double> couplings() const { return {rows.start, rows.start + 1, rows.column, w}; }
  PETSCRRB_HD double diagonal(node_t i) const { // 0 without couplings
    double sum = 0.0;
    for (node_t k = rows.start[i]; k < rows.start[i + 1]; ++k) sum += w[k];
    return sum > 0.0 ? sum + e[i] : 0.0;
  }
};
// y = A x
struct GraphProduct {
  Couplings<double> couplings;
  const double *e, *x;
  double *y;

  GraphProduct(const KeptGraph &A, const double *x, double *y) : couplings(A.couplings()), e(A.e), x(x), y(y) {}
  PETSCRRB_HD double own(node_t i) const { return e[i] * x[i]; }
  PETSCRRB_HD double term(node_t i, double weight, node_t column) const { return weight * (x[i] - x[column]); }
  PETSCRRB_HD void take(node_t i, double product) const { y[i] = product; }
};
// y = c0 r - c1 A x
struct GraphPolynomial : GraphProduct {
  const double *r, *c0, *c1;
  node_t first = 0; // its node 0

  GraphPolynomial(const KeptGraph &A, const double *r, const double *x, const double *c0, const double *c1, double *y)
      : GraphProduct(A, x, y), r(r), c0(c0), c1(c1) {}
  GraphPolynomial from(node_t i) const {
    GraphPolynomial p = *this;
    p.couplings = couplings.from(i), p.first = i;
    return p;
  }
  PETSCRRB_HD double own(node_t i) const { return GraphProduct::own(first + i); }
  PETSCRRB_HD double term(node_t i, double weight, node_t column) const {
    return GraphProduct::term(first + i, weight, column);
  }
  PETSCRRB_HD void take(node_t i, double product) const { y[first + i] = *c0 * r[first + i] - *c1 * product; }
};
// x = u d^-1/2, d the diagonal, u in [-1, 1) by a hash of the grid's point: see StartVector
template <class Matrix> struct GraphStart {
  Matrix A;
  const node_t *point; // of the first node; NULL: nodes are points
  index_t nx;
  double *x;

  PETSCRRB_HD void operator()(node_t i) const {
    const double d = A.diagonal(i), size = d > 0.0 ? 1.0 / sqrt(d) : 0.0;
    const node_t p = point ? point[i] : i;
    x[i] = hashed(p % nx, p / nx) * size;
  }
};
struct GraphResidual {
  const double *s; // the product with z
  double *q, *r;
  EstimateStep step;

  PETSCRRB_HD void operator()(node_t i) const {
    q[i] = step.next(s[i], q[i]);
    r[i] -= step.alpha() * q[i];
  }
};
} // namespace petscrrb::rrb
