// How the point operations of RRB see an array: as four classes of nodes r1, r2, b1, b2, each addressed by (h, k).
// The node (h, k) of a class with parities (px, py) sits at (2h + px, 2k + py) of its grid.
#pragma once

#include "exec/range.hpp"

namespace petscrrb::rrb {

enum Class {
  r1 = 0,
  r2 = 1,
  b1 = 2,
  b2 = 3
};
PETSCRRB_HD constexpr int parity_x(Class c) { return c == r1 || c == b1; }
PETSCRRB_HD constexpr int parity_y(Class c) { return c == r2 || c == b1; }
PETSCRRB_HD constexpr Class class_of(index_t a, index_t b) {
  return (b & 1) ? ((a & 1) ? b1 : r2) : ((a & 1) ? r1 : b2);
}

// floor(i / 2) and ceil(i / 2), also for negative i
PETSCRRB_HD constexpr index_t half_down(index_t i) { return i >> 1; }
PETSCRRB_HD constexpr index_t half_up(index_t i) { return (i + 1) >> 1; }

// One side of a grid: the points [lo, hi) that are ours, of the n that exist; a ring when periodic.
struct Side {
  index_t lo = 0, hi = 0, n = 0;
  bool periodic = false;

  bool odd_ring() const { return periodic && n % 2 == 1; }
  // across an odd ring's seam no red node couples to a black one: nothing to fetch
  bool wraps() const { return periodic && n % 2 == 0; }
  Side coarser() const { return {half_up(lo), half_up(hi), half_up(n), periodic}; }
  bool operator==(const Side &o) const { return lo == o.lo && hi == o.hi && n == o.n && periodic == o.periodic; }
};

struct Extent {
  Side x, y;

  Extent coarser() const { return {x.coarser(), y.coarser()}; }
  bool operator==(const Extent &o) const { return x == o.x && y == o.y; }
  bool empty() const { return x.hi <= x.lo || y.hi <= y.lo; }
  index_t nodes() const { return empty() ? 0 : (x.hi - x.lo) * (y.hi - y.lo); }
  Range2 nodes_of(Class c) const {
    const int px = parity_x(c), py = parity_y(c);
    return {half_up(x.lo - px), half_up(x.hi - px), half_up(y.lo - py), half_up(y.hi - py)};
  }
  // those whose neighbours up to `reach` steps away are nodes of this extent too
  Range2 interior_of(Class c, index_t reach) const {
    const Extent in{{x.lo + reach, x.hi - reach, x.n, false}, {y.lo + reach, y.hi - reach, y.n, false}};
    return in.nodes_of(c);
  }
};

// A side of one point is not periodic.
inline Extent folded(Extent x) {
  if (x.x.n == 1) x.x.periodic = false;
  if (x.y.n == 1) x.y.periodic = false;
  return x;
}

// The box and what is `steps` around it; not past an end of the domain, except around a ring whose colours alternate
// across the seam. Coordinates go on there: the point -1 is the last one once more.
inline Side widened(const Side &s, index_t steps) {
  if (s.hi <= s.lo) return s;
  Side w = s;
  w.lo = s.wraps() ? s.lo - steps : std::max<index_t>(s.lo - steps, 0);
  w.hi = s.wraps() ? s.hi + steps : std::min(s.hi + steps, s.n);
  return w;
}
inline Extent widened(const Extent &x, index_t steps) {
  if (x.empty()) return x;
  return {widened(x.x, steps), widened(x.y, steps)};
}

// Unit stride: one class of a grid in r1/r2/b1/b2 storage. A border of one node can be read everywhere. Whatever type T
// is stored, arithmetic is in double.
template <class T> struct DenseOf {
  T *p = nullptr; // of the node (0, 0), which may lie outside of the array
  index_t pitch = 0;

  PETSCRRB_HD double operator()(index_t h, index_t k) const { return p[k * pitch + h]; }
  PETSCRRB_HD T &at(index_t h, index_t k) const { return p[k * pitch + h]; }
};
using Dense = DenseOf<double>;

// Of a row: the weights of its couplings and their columns, ascending, from start[row] on; and its excess.
struct PreparedRows {
  const std::int32_t *start = nullptr, *column = nullptr;
  const double *w = nullptr, *e = nullptr;
  index_t nx = 0, ny = 0; // of the 3D grid whose points the rows are in natural order; 0: there is none
};

// A matrix on the finest grid as it is factored (prepare.hpp): arrays in natural order, where the backend can reach them.
// NE and NW are NULL for a 5-point matrix, v is NULL for 1.
struct PreparedStencil {
  double *X = nullptr, *E = nullptr, *N = nullptr, *NE = nullptr, *NW = nullptr;
  const double *v = nullptr;
  PreparedRows rows = {}; // instead of the arrays, of a matrix that is on no grid
};

// Every Col-th value of an array in natural order (Col = 0: known at run time only).
template <index_t Col, class T = double> struct Strided {
  T *p = nullptr;
  index_t row = 0, col = 0;

  PETSCRRB_HD double operator()(index_t h, index_t k) const { return p[k * row + h * (Col ? Col : col)]; }
  PETSCRRB_HD T &at(index_t h, index_t k) const { return p[k * row + h * (Col ? Col : col)]; }
};

// The same with a look at the border: zero outside of the domain, around the ring on a periodic side.
template <class T> struct Guarded {
  Strided<0, T> v;
  Range2 valid;
  index_t ring_h = 0, ring_k = 0; // nodes of this class around the ring; 0: not a ring

  PETSCRRB_HD_AT_EDGES double operator()(index_t h, index_t k) const {
    if (h < valid.h0)
      h += ring_h;
    else if (h >= valid.h1)
      h -= ring_h;
    if (k < valid.k0)
      k += ring_k;
    else if (k >= valid.k1)
      k -= ring_k;
    if (h < valid.h0 || h >= valid.h1 || k < valid.k0 || k >= valid.k1) return 0.0;
    return v(h, k);
  }
  PETSCRRB_HD T &at(index_t h, index_t k) const { return v.at(h, k); }
};

// What is not stored: the corners of a 5-point matrix.
struct Zero {
  PETSCRRB_HD double operator()(index_t, index_t) const { return 0.0; }
};

template <class V> struct Quad {
  V c[4];

  PETSCRRB_HD const V &operator[](Class k) const { return c[k]; }
};

// A value at (dx, dy) from node (h, k) of class c.
template <Class c, int dx, int dy, class V> PETSCRRB_HD inline double near(const Quad<V> &q, index_t h, index_t k) {
  constexpr index_t a = parity_x(c) + dx, b = parity_y(c) + dy;
  return q.c[class_of(a, b)](h + half_down(a), k + half_down(b));
}

struct Inner {}; // every neighbour is there
struct Edge {};  // it may not be

// Fields: arrays over all nodes of a grid. get(Inner / Edge) gives the view to use in that part of the grid.
template <class T> struct DenseFieldOf {
  Quad<DenseOf<T>> q;

  template <class Where> const Quad<DenseOf<T>> &get(Where) const { return q; }
};
using DenseField = DenseFieldOf<double>;

struct ZeroField {
  template <class Where> Quad<Zero> get(Where) const { return {}; }
};

// A grid inside an array in natural order: its points are every spacing-th of the array's.
template <index_t Col, class T = double> struct NaturalField {
  T *p = nullptr; // of the array's first point (x0, y0)
  index_t x0 = 0, y0 = 0, pitch = 0, spacing = 1;
  Extent extent; // of the grid

  Strided<Col, T> strided(Class c) const {
    const index_t s = spacing;
    return {p + ((parity_y(c) * s - y0) * pitch + parity_x(c) * s - x0), 2 * s * pitch, 2 * s};
  }
  // every node of the grid, by its coordinates there
  Strided<0, T> all() const { return {p - (y0 * pitch + x0), spacing * pitch, spacing}; }
  Quad<Strided<Col, T>> get(Inner) const { return {{strided(r1), strided(r2), strided(b1), strided(b2)}}; }
  Quad<Guarded<T>> get(Edge) const {
    Quad<Guarded<T>> q;
    for (Class c : {r1, r2, b1, b2}) {
      const Strided<Col, T> v = strided(c);
      q.c[c] = {{v.p, v.row, v.col},
                extent.nodes_of(c),
                extent.x.wraps() ? extent.x.n / 2 : 0,
                extent.y.wraps() ? extent.y.n / 2 : 0};
    }
    return q;
  }
};

} // namespace petscrrb::rrb
