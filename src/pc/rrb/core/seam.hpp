// Periodic sides: the seam of a ring with an odd number of points, and rings of one point (docs/numerics.md). Each
// functor does one node of a line.
#pragma once

#include "pc/rrb/core/steps.hpp"

namespace petscrrb::rrb {

// Random access to a grid's matrix by coordinates. V: its views at the edge.
template <class V> class SeamAccess {
public:
  SeamAccess(const V &views, const Extent &x) : views_(views), x_(x) {}

  template <class Q> PETSCRRB_HD static auto &at(const Q &q, index_t a, index_t b) {
    return q[class_of(a, b)].at(half_down(a), half_down(b));
  }
  template <class Q> PETSCRRB_HD static double value(const Q &q, index_t a, index_t b) {
    return q[class_of(a, b)](half_down(a), half_down(b));
  }
  template <class Q> PETSCRRB_HD static void clear(const Quad<Q> &q, index_t a, index_t b) { at(q, a, b) = 0.0; }
  PETSCRRB_HD static void clear(const Quad<Zero> &, index_t, index_t) {}
  PETSCRRB_HD index_t wrap_x(index_t a) const { return x_.x.periodic ? (a + x_.x.n) % x_.x.n : a; }
  PETSCRRB_HD index_t wrap_y(index_t b) const { return x_.y.periodic ? (b + x_.y.n) % x_.y.n : b; }
  // 0 outside of the grid
  template <class Q> PETSCRRB_HD double of(const Q &q, index_t a, index_t b) const {
    return a >= 0 && a < x_.x.n && b >= 0 && b < x_.y.n ? value(q, a, b) : 0.0;
  }

  // The excess of a node that loses couplings, by the rule of lump(); returns NodeFlags.
  PETSCRRB_HD unsigned take_up(index_t a, index_t b, double omega, double dropped) const {
    unsigned flags = node_ok;
    double &x = at(views_.X, a, b);
    x = lump(x, weights(a, b) - dropped, dropped, omega, flags);
    return flags;
  }

  // all of a node's weights
  PETSCRRB_HD double weights(index_t a, index_t b) const {
    const index_t east = wrap_x(a + 1), west = wrap_x(a - 1), south = wrap_y(b - 1);
    return value(views_.E, a, b) + of(views_.E, west, b) + value(views_.N, a, b) + of(views_.N, a, south) +
           value(views_.NE, a, b) + value(views_.NW, a, b) + of(views_.NE, west, south) + of(views_.NW, east, south);
  }

  PETSCRRB_HD const V &views() const { return views_; }
  PETSCRRB_HD index_t last_x() const { return x_.x.n - 1; }
  PETSCRRB_HD index_t last_y() const { return x_.y.n - 1; }

private:
  V views_;
  Extent x_;
};

// Lumps what crosses an odd ring's seam in x and cannot stay, at both ends: end 0 is the point n-1 of line b, end 1 the
// point 0.
template <class V> struct LumpSeamX {
  SeamAccess<V> g;
  double omega;

  PETSCRRB_HD unsigned operator()(index_t end, index_t b) const {
    const V &q = g.views();
    const index_t last = g.last_x(), south = g.wrap_y(b - 1);
    const double straight = b % 2 ? g.value(q.E, last, b) : 0.0;
    if (end == 0) return g.take_up(last, b, omega, straight + g.of(q.NE, last, b) + g.of(q.NW, 0, south));
    return g.take_up(0, b, omega, straight + g.of(q.NW, 0, b) + g.of(q.NE, last, south));
  }
};

// Then nothing crosses the seam any more. kept[b] is the coupling of the black nodes (n-1, b) and (0, b), b even, which
// goes to the next grid.
template <class V> struct ClearSeamX {
  SeamAccess<V> g;
  double *kept;

  PETSCRRB_HD void operator()(index_t b, index_t) const {
    const V &q = g.views();
    const index_t last = g.last_x();
    kept[b] = b % 2 ? 0.0 : g.value(q.E, last, b);
    g.clear(q.E, last, b), g.clear(q.NE, last, b), g.clear(q.NW, 0, b);
  }
};

// The same in y; kept[a] couples (a, n-1) and (a, 0), a even.
template <class V> struct LumpSeamY {
  SeamAccess<V> g;
  double omega;

  PETSCRRB_HD unsigned operator()(index_t end, index_t a) const {
    const V &q = g.views();
    const index_t last = g.last_y(), east = g.wrap_x(a + 1), west = g.wrap_x(a - 1);
    const double straight = a % 2 ? g.value(q.N, a, last) : 0.0;
    if (end == 0) return g.take_up(a, last, omega, straight + g.of(q.NE, a, last) + g.of(q.NW, a, last));
    return g.take_up(a, 0, omega, straight + g.of(q.NE, west, last) + g.of(q.NW, east, last));
  }
};

template <class V> struct ClearSeamY {
  SeamAccess<V> g;
  double *kept;

  PETSCRRB_HD void operator()(index_t a, index_t) const {
    const V &q = g.views();
    const index_t last = g.last_y();
    kept[a] = a % 2 ? 0.0 : g.value(q.N, a, last);
    g.clear(q.N, a, last), g.clear(q.NE, a, last), g.clear(q.NW, a, last);
  }
};

// The next grid gets the couplings that crossed the odd rings above it.
template <class V> struct KeepSeamX {
  SeamAccess<V> g;
  const double *kept;

  PETSCRRB_HD void operator()(index_t b, index_t) const { g.at(g.views().E, g.last_x(), b) += kept[2 * b]; }
};
template <class V> struct KeepSeamY {
  SeamAccess<V> g;
  const double *kept;

  PETSCRRB_HD void operator()(index_t a, index_t) const { g.at(g.views().N, a, g.last_y()) += kept[2 * a]; }
};

// Rings of one point: a node's coupling to itself is none, its corners are straight.
template <class V> struct FoldX {
  SeamAccess<V> g;

  PETSCRRB_HD void operator()(index_t b, index_t) const {
    const V &q = g.views();
    g.at(q.N, 0, b) += g.value(q.NE, 0, b) + g.value(q.NW, 0, b);
    g.clear(q.E, 0, b), g.clear(q.NE, 0, b), g.clear(q.NW, 0, b);
  }
};
// y in two steps, since a node reads its neighbour's corner
template <class V> struct FoldY {
  SeamAccess<V> g;

  PETSCRRB_HD void operator()(index_t a, index_t) const {
    const V &q = g.views();
    g.at(q.E, a, 0) += g.value(q.NE, a, 0) + g.of(q.NW, g.wrap_x(a + 1), 0);
  }
};
template <class V> struct ClearFoldY {
  SeamAccess<V> g;

  PETSCRRB_HD void operator()(index_t a, index_t) const {
    const V &q = g.views();
    g.clear(q.N, a, 0), g.clear(q.NE, a, 0), g.clear(q.NW, a, 0);
  }
};

// One grid's seams: what is done before its elimination, and after it on the next grid.
template <class Backend> class Seams {
public:
  Seams() = default;
  explicit Seams(const Extent &x) : kept_x_(x.y.n), kept_y_(x.x.n) {}

  template <class Fields>
  void lump(const Backend &on, const Fields &f, const Extent &x, double omega, NodeCounts *counts) const {
    const SeamAccess g(f.get(Edge{}), x);
    using V = std::decay_t<decltype(g.views())>;
    if (x.x.odd_ring()) {
      count(on, x.y.n, LumpSeamX<V>{g, omega}, counts);
      on.for_each({0, x.y.n, 0, 1}, ClearSeamX<V>{g, kept_x()});
    }
    if (x.y.odd_ring()) {
      count(on, x.x.n, LumpSeamY<V>{g, omega}, counts);
      on.for_each({0, x.x.n, 0, 1}, ClearSeamY<V>{g, kept_y()});
    }
  }

  // next: the grid x below `above`; it folds rings of one point
  template <class Fields>
  void take_over(const Backend &on, const Fields &next, const Extent &above, const Extent &x) const {
    Extent ring = above.coarser();
    const SeamAccess g(next.get(Edge{}), x);
    using V = std::decay_t<decltype(g.views())>;
    if (above.x.odd_ring()) on.for_each({0, x.y.n, 0, 1}, KeepSeamX<V>{g, kept_x()});
    if (above.y.odd_ring()) on.for_each({0, x.x.n, 0, 1}, KeepSeamY<V>{g, kept_y()});
    if (ring.x.periodic && ring.x.n == 1)
      on.for_each({0, ring.y.n, 0, 1}, FoldX<V>{SeamAccess(next.get(Edge{}), ring)});
    ring.x.periodic = x.x.periodic;
    if (!ring.y.periodic || ring.y.n > 1) return;
    on.for_each({0, ring.x.n, 0, 1}, FoldY<V>{SeamAccess(next.get(Edge{}), ring)});
    on.for_each({0, ring.x.n, 0, 1}, ClearFoldY<V>{SeamAccess(next.get(Edge{}), ring)});
  }

  double *kept_x() const { return kept_x_.data(); } // [b] of the finest grid's y side, [a] of its x side
  double *kept_y() const { return kept_y_.data(); }

private:
  template <class F> static void count(const Backend &on, index_t n, const F &f, NodeCounts *counts) {
    on.count_each({0, 2, 0, n}, {0, 2, 0, n}, f, f, counts);
  }

  typename Backend::template Array<double> kept_x_, kept_y_;
};

} // namespace petscrrb::rrb
