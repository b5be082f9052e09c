// The product with a grid's matrix, from excess and weights: no diagonal, so that nothing cancels in a singular one. Loops
// over r1/r2/b1/b2 storage are in host/grid_product.hpp and cuda/grid_product.cuh.
#pragma once

#include "pc/rrb/core/dense_grid.hpp"

#include <cmath>

namespace petscrrb::rrb {

// S x at node (a, b) of a grid, by its coordinates.
template <class M, class X> struct GridProduct {
  M s;
  X x;

  PETSCRRB_HD double operator()(index_t a, index_t b) const {
    const double c = x(a, b);
    return s.X(a, b) * c + (s.E(a, b) * (c - x(a + 1, b)) + s.E(a - 1, b) * (c - x(a - 1, b))) +
           (s.N(a, b) * (c - x(a, b + 1)) + s.N(a, b - 1) * (c - x(a, b - 1))) +
           (s.NE(a, b) * (c - x(a + 1, b + 1)) + s.NE(a - 1, b - 1) * (c - x(a - 1, b - 1))) +
           (s.NW(a, b) * (c - x(a - 1, b + 1)) + s.NW(a + 1, b - 1) * (c - x(a + 1, b - 1)));
  }
};

// The same by classes.
template <class Q> struct StencilQuads { Q X, E, N, NE, NW; };

// near() in the registers of the four nodes (h, k).
struct Block {
  double v[4][4]; // [b + 1][a + 1] with (a, b) from the node b2; only what is set may be read
};
template <Class c, int dx, int dy> PETSCRRB_HD inline double near(const Block &q, index_t, index_t) {
  return q.v[parity_y(c) + dy + 1][parity_x(c) + dx + 1];
}

template <Class c, class S, class X>
PETSCRRB_HD inline double product(const StencilQuads<S> &s, const X &x, index_t h, index_t k) {
  const double here = near<c, 0, 0>(x, h, k);
  return near<c, 0, 0>(s.X, h, k) * here +
         (near<c, 0, 0>(s.E, h, k) * (here - near<c, 1, 0>(x, h, k)) +
          near<c, -1, 0>(s.E, h, k) * (here - near<c, -1, 0>(x, h, k))) +
         (near<c, 0, 0>(s.N, h, k) * (here - near<c, 0, 1>(x, h, k)) +
          near<c, 0, -1>(s.N, h, k) * (here - near<c, 0, -1>(x, h, k))) +
         (near<c, 0, 0>(s.NE, h, k) * (here - near<c, 1, 1>(x, h, k)) +
          near<c, -1, -1>(s.NE, h, k) * (here - near<c, -1, -1>(x, h, k))) +
         (near<c, 0, 0>(s.NW, h, k) * (here - near<c, -1, 1>(x, h, k)) +
          near<c, 1, -1>(s.NW, h, k) * (here - near<c, 1, -1>(x, h, k)));
}

// What is done with S x at a node: store(), with what load() has read of it.
struct StoreProduct {
  Quad<Dense> y;

  PETSCRRB_HD double load(Class, index_t, index_t) const { return 0.0; }
  PETSCRRB_HD void store(Class c, index_t h, index_t k, double, double product) const { y[c].at(h, k) = product; }
};

// The loop over a grid, for each backend its own: then.store() of S x at every node.
template <class Backend> class ProductLoop;

// Brings around a periodic side what a border of one point must hold there; also where the number of points is odd, and
// the classes do not alternate across the seam. Reads nodes only.
template <int N> struct FillRingBorders {
  Quad<Dense> a[N];
  Extent x;

  PETSCRRB_HD void operator()(index_t i, index_t array) const {
    const index_t nx = x.x.hi - x.x.lo + 2, ny = x.y.hi - x.y.lo;
    index_t p = i % nx, q = i / nx ? ny + 1 : 0; // the rows below and above, then the columns left and right
    if (i >= 2 * nx) p = (i - 2 * nx) / ny ? nx - 1 : 0, q = (i - 2 * nx) % ny + 1;
    p += x.x.lo - 1, q += x.y.lo - 1;
    const index_t from_p = around(p, x.x), from_q = around(q, x.y);
    if (from_p < x.x.lo || from_p >= x.x.hi || from_q < x.y.lo || from_q >= x.y.hi) return;
    const Split s{a[array]};
    s.at(p, q) = s(from_p, from_q);
  }

private:
  PETSCRRB_HD static index_t around(index_t i, const Side &s) { return s.periodic ? (i + s.n) % s.n : i; }
};

template <class Backend, int N> void fill_ring_borders(const Backend &on, const Extent &x, const Quad<Dense> (&a)[N]) {
  if (x.empty() || !(x.x.periodic || x.y.periodic)) return;
  FillRingBorders<N> fill;
  std::copy_n(a, N, fill.a);
  fill.x = x;
  on.for_each({0, 2 * (x.x.hi - x.x.lo + 2) + 2 * (x.y.hi - x.y.lo), 0, N}, fill);
}

} // namespace petscrrb::rrb
