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
  static void clear(const Quad<Constant<0>> &, index_t, index_t) {}
  index_t wrap_x(index_t a) const { return x_.x.periodic ? (a + x_.x.n) % x_.x.n : a; }
  index_t wrap_y(index_t b) const { return x_.y.periodic ? (b + x_.y.n) % x_.y.n : b; }
  bool inside(index_t a, index_t b) const { return a >= 0 && a < x_.x.n && b >= 0 && b < x_.y.n; }

  // adds omega * dropped entries to the diagonal, by the rule of lump()
  template <class Entries> index_t take_up(index_t a, index_t b, double omega, const Entries &entries) {
    double dropped = 0.0;
    const double v = value(views_.v, a, b);
    for (const auto &[coupling, other_a, other_b] : entries)
      if (coupling != 0.0) dropped += lumped(coupling, v, value(views_.v, other_a, other_b));
    if (dropped == 0.0) return 0;
    unsigned flags = node_ok;
    double &c = at(views_.C, a, b);
    c = lump(c, omega * dropped, flags);
    return flags & node_unlumped ? 1 : 0;
  }

  auto &views() { return views_; }

private:
  decltype(std::declval<const Fields &>().get(Edge{})) views_;
  Extent x_;
};

struct SeamEntry {
  double coupling;
  index_t a, b;
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
    const index_t north = g.wrap_y(b + 1), south = g.wrap_y(b - 1);
    const double straight = b % 2 ? g.value(q.E, last, b) : 0.0;
    const SeamEntry right[] = {{straight, 0, b}, {of(q.NE, last, b), 0, north}, {of(q.NW, 0, south), 0, south}};
    const SeamEntry left[] = {{straight, last, b}, {of(q.NW, 0, b), last, north}, {of(q.NE, last, south), last, south}};
    unlumped += g.take_up(last, b, omega, right) + g.take_up(0, b, omega, left);
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
    const SeamEntry top[] = {{straight, a, 0}, {of(q.NE, a), east, 0}, {of(q.NW, a), west, 0}};
    const SeamEntry bottom[] = {{straight, a, last}, {of(q.NE, west), west, last}, {of(q.NW, east), east, last}};
    unlumped += g.take_up(a, last, omega, top) + g.take_up(a, 0, omega, bottom);
  }
  for (index_t a = 0; a < x.x.n; ++a) {
    kept[a] = a % 2 ? 0.0 : g.value(q.N, a, last);
    g.clear(q.N, a, last), g.clear(q.NE, a, last), g.clear(q.NW, a, last);
  }
  return unlumped;
}

// Rings of one point: a node's coupling to itself belongs to its diagonal.
template <class Fields> void fold_x(const Fields &fields, const Extent &x) {
  SeamAccess<Fields> g(fields, x);
  auto &q = g.views();
  for (index_t b = 0; b < x.y.n; ++b) {
    g.at(q.C, 0, b) += 2.0 * g.value(q.E, 0, b);
    g.at(q.N, 0, b) += g.value(q.NE, 0, b) + g.value(q.NW, 0, b);
    g.clear(q.E, 0, b), g.clear(q.NE, 0, b), g.clear(q.NW, 0, b);
  }
}

template <class Fields> void fold_y(const Fields &fields, const Extent &x) {
  SeamAccess<Fields> g(fields, x);
  auto &q = g.views();
  for (index_t a = 0; a < x.x.n; ++a) {
    const index_t east = g.wrap_x(a + 1);
    g.at(q.C, a, 0) += 2.0 * g.value(q.N, a, 0);
    g.at(q.E, a, 0) += g.value(q.NE, a, 0) + (g.inside(east, 0) ? g.value(q.NW, east, 0) : 0.0);
  }
  for (index_t a = 0; a < x.x.n; ++a) g.clear(q.N, a, 0), g.clear(q.NE, a, 0), g.clear(q.NW, a, 0);
}

} // namespace petscrrb::rrb
