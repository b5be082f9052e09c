// Periodic sides: the seam of a ring with an odd number of points, and rings of one point (docs/numerics.md).
#pragma once

#include "rrb/steps.hpp"

#include <vector>

namespace petscrrb::rrb {

// Random access to a grid's matrix by coordinates, for the few nodes at a seam.
template <class Fields> class SeamAccess {
public:
  SeamAccess(const Fields &f, const Extent &x) : views_(f.get(Edge{})), x_(x) {}

  template <class Q> static auto &at(const Q &q, index_t a, index_t b) {
    return q[class_of(a, b)].at(half_down(a), half_down(b));
  }
  template <class Q> static double value(const Q &q, index_t a, index_t b) {
    return q[class_of(a, b)](half_down(a), half_down(b));
  }
  template <class V> static void clear(const Quad<V> &q, index_t a, index_t b) { at(q, a, b) = 0.0; }
  static void clear(const Quad<Zero> &, index_t, index_t) {}
  index_t wrap_x(index_t a) const { return x_.x.periodic ? (a + x_.x.n) % x_.x.n : a; }
  index_t wrap_y(index_t b) const { return x_.y.periodic ? (b + x_.y.n) % x_.y.n : b; }
  bool inside(index_t a, index_t b) const { return a >= 0 && a < x_.x.n && b >= 0 && b < x_.y.n; }

  // The excess of a node that loses couplings, by the rule of lump(); 1 where it stays unlumped.
  index_t take_up(index_t a, index_t b, double omega, double dropped) {
    unsigned flags = node_ok;
    double &x = at(views_.X, a, b);
    x = lump(x, weights(a, b) - dropped, dropped, omega, flags);
    return flags & node_unlumped ? 1 : 0;
  }

  // all of a node's weights
  double weights(index_t a, index_t b) const {
    const index_t east = wrap_x(a + 1), west = wrap_x(a - 1), south = wrap_y(b - 1);
    const auto of = [&](const auto &q, index_t i, index_t j) { return inside(i, j) ? value(q, i, j) : 0.0; };
    return value(views_.E, a, b) + of(views_.E, west, b) + value(views_.N, a, b) + of(views_.N, a, south) +
           value(views_.NE, a, b) + value(views_.NW, a, b) + of(views_.NE, west, south) + of(views_.NW, east, south);
  }

  auto &views() { return views_; }

private:
  decltype(std::declval<const Fields &>().get(Edge{})) views_;
  Extent x_;
};

// Lumps what crosses an odd ring's seam in x and cannot stay; returns how many nodes stayed unlumped. kept[b] is the
// coupling of the black nodes (n-1, b) and (0, b), b even, which goes to the next grid.
template <class Fields>
index_t lump_seam_x(const Fields &fields, const Extent &x, double omega, std::vector<double> &kept) {
  SeamAccess<Fields> g(fields, x);
  auto &q = g.views();
  const index_t last = x.x.n - 1;
  const auto of = [&](const auto &field, index_t a, index_t b) { return g.inside(a, b) ? g.value(field, a, b) : 0.0; };
  index_t unlumped = 0;
  for (index_t b = 0; b < x.y.n; ++b) {
    const index_t south = g.wrap_y(b - 1);
    const double straight = b % 2 ? g.value(q.E, last, b) : 0.0;
    unlumped += g.take_up(last, b, omega, straight + of(q.NE, last, b) + of(q.NW, 0, south));
    unlumped += g.take_up(0, b, omega, straight + of(q.NW, 0, b) + of(q.NE, last, south));
  }
  for (index_t b = 0; b < x.y.n; ++b) {
    kept[b] = b % 2 ? 0.0 : g.value(q.E, last, b);
    g.clear(q.E, last, b), g.clear(q.NE, last, b), g.clear(q.NW, 0, b);
  }
  return unlumped;
}

// The same in y; kept[a] couples (a, n-1) and (a, 0), a even.
template <class Fields>
index_t lump_seam_y(const Fields &fields, const Extent &x, double omega, std::vector<double> &kept) {
  SeamAccess<Fields> g(fields, x);
  auto &q = g.views();
  const index_t last = x.y.n - 1;
  const auto of = [&](const auto &field, index_t a) { return g.inside(a, last) ? g.value(field, a, last) : 0.0; };
  index_t unlumped = 0;
  for (index_t a = 0; a < x.x.n; ++a) {
    const index_t east = g.wrap_x(a + 1), west = g.wrap_x(a - 1);
    const double straight = a % 2 ? g.value(q.N, a, last) : 0.0;
    unlumped += g.take_up(a, last, omega, straight + of(q.NE, a) + of(q.NW, a));
    unlumped += g.take_up(a, 0, omega, straight + of(q.NE, west) + of(q.NW, east));
  }
  for (index_t a = 0; a < x.x.n; ++a) {
    kept[a] = a % 2 ? 0.0 : g.value(q.N, a, last);
    g.clear(q.N, a, last), g.clear(q.NE, a, last), g.clear(q.NW, a, last);
  }
  return unlumped;
}

// Rings of one point: a node's coupling to itself is none, its corners are straight.
template <class Fields> void fold_x(const Fields &fields, const Extent &x) {
  SeamAccess<Fields> g(fields, x);
  auto &q = g.views();
  for (index_t b = 0; b < x.y.n; ++b) {
    g.at(q.N, 0, b) += g.value(q.NE, 0, b) + g.value(q.NW, 0, b);
    g.clear(q.E, 0, b), g.clear(q.NE, 0, b), g.clear(q.NW, 0, b);
  }
}

template <class Fields> void fold_y(const Fields &fields, const Extent &x) {
  SeamAccess<Fields> g(fields, x);
  auto &q = g.views();
  for (index_t a = 0; a < x.x.n; ++a) {
    const index_t east = g.wrap_x(a + 1);
    g.at(q.E, a, 0) += g.value(q.NE, a, 0) + (g.inside(east, 0) ? g.value(q.NW, east, 0) : 0.0);
  }
  for (index_t a = 0; a < x.x.n; ++a) g.clear(q.N, a, 0), g.clear(q.NE, a, 0), g.clear(q.NW, a, 0);
}

} // namespace petscrrb::rrb
