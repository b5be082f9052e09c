// Every other line of points across the direction of strong couplings is red: what is computed at a point (docs/numerics.md, "Halving").
#pragma once

#include "pc/rrb/core/amli.hpp"
#include "pc/rrb/core/support_limits.hpp"
#include "pc/rrb/core/sweep.hpp"
#include "pc/rrb/graph/graph.hpp"

#include <cmath>

namespace petscrrb::rrb {

// A grid of 5 points in natural order: `a` counts along the direction that is halved, where odd points are red, `c` across it.
struct HalvedGrid {
  node_t nx, ny;
  bool in_x, ring_a, ring_c;

  PETSCRRB_HD node_t along() const { return in_x ? nx : ny; }
  PETSCRRB_HD node_t across() const { return in_x ? ny : nx; }
  PETSCRRB_HD node_t reds() const { return along() / 2; } // of a line
  PETSCRRB_HD node_t blacks() const { return (along() + 1) / 2; }
  PETSCRRB_HD node_t points() const { return nx * ny; }

  // where the k-th of `n` of a line is, across c; and back
  PETSCRRB_HD node_t place(node_t n, node_t k, node_t c) const { return in_x ? c * n + k : k * nx + c; }
  PETSCRRB_HD node_t point(node_t a, node_t c) const { return place(along(), a, c); }
  PETSCRRB_HD node_t red(node_t r, node_t c) const { return place(reds(), r, c); }
  PETSCRRB_HD node_t black(node_t b, node_t c) const { return place(blacks(), b, c); }
  struct Place {
    node_t k, c;
  };
  PETSCRRB_HD Place find(node_t n, node_t p) const { return in_x ? Place{p % n, p / n} : Place{p / nx, p % nx}; }
  // The red points before and after the b-th black one, the black one after the r-th red one: -1 where there is none.
  PETSCRRB_HD node_t red_before(node_t b) const { return b > 0 ? b - 1 : ring_a ? reds() - 1 : -1; }
  PETSCRRB_HD node_t red_after(node_t b) const { return b < reds() ? b : -1; }
  PETSCRRB_HD node_t black_after(node_t r) const { return r + 1 < blacks() ? r + 1 : ring_a ? 0 : -1; }
  PETSCRRB_HD node_t next_across(node_t c) const { return c + 1 < across() ? c + 1 : ring_c ? 0 : -1; }
};

// Its matrix: the weights of the couplings with the next point along and across, and the excesses.
struct HalvedMatrix {
  HalvedGrid g;
  double *excess, *w_along, *w_across;

  PETSCRRB_HD double before(node_t r, node_t c) const { return w_along[g.point(2 * r, c)]; } // of a red point
  PETSCRRB_HD double after(node_t r, node_t c) const {
    return g.black_after(r) >= 0 ? w_along[g.point(2 * r + 1, c)] : 0.0;
  }
  // how much of a red point's coupling across goes to the line before it
  PETSCRRB_HD double share(node_t r, node_t c) const {
    const double u = before(r, c), sum = u + after(r, c);
    return sum > 0.0 ? u / sum : 0.5;
  }
};

// Whether a point's couplings along, or twice the weaker one of them, are less than `times` those across. One that lacks a coupling along is
// weak: what moves to the other line would couple points that nothing else does, identity rows among them.
struct IsWeakAlong {
  HalvedMatrix m;
  double times;
  bool both; // not the weaker one

  PETSCRRB_HD bool lacks_coupling(node_t p) const {
    const Pair w = along(p);
    return !(w.before > 0.0 && w.after > 0.0);
  }
  PETSCRRB_HD unsigned operator()(node_t p) const {
    const HalvedGrid &g = m.g;
    const auto [a, c] = g.find(g.along(), p);
    double across = c + 1 < g.across() || g.ring_c ? m.w_across[p] : 0.0;
    if (c > 0 || g.ring_c) across += m.w_across[g.point(a, c > 0 ? c - 1 : g.across() - 1)];
    const Pair w = along(p);
    const double strength = both ? w.before + w.after : 2.0 * (w.before < w.after ? w.before : w.after);
    return lacks_coupling(p) || !at_most(times * across, strength);
  }

private:
  struct Pair {
    double before, after;
  };
  // At the ends of a line twice the one that there is.
  PETSCRRB_HD Pair along(node_t p) const {
    const HalvedGrid &g = m.g;
    const auto [a, c] = g.find(g.along(), p);
    const bool has_after = a + 1 < g.along() || g.ring_a, has_before = a > 0 || g.ring_a;
    const double after = has_after ? m.w_along[p] : 0.0;
    const double before = has_before ? m.w_along[g.point(a > 0 ? a - 1 : g.along() - 1, c)] : after;
    return {before, has_after ? after : before};
  }
};
// The same as NodeFlags; node_null: a coupling is missing.
struct HasBecomeWeak {
  IsWeakAlong weak;

  PETSCRRB_HD unsigned operator()(node_t p) const {
    if (weak.lacks_coupling(p)) return node_null;
    return weak(p) ? unsigned(node_unsupported) : unsigned(node_ok);
  }
};
// Whether there is a coupling that is positive in the matrix.
struct HasPositive {
  const double *w_along, *w_across;

  PETSCRRB_HD unsigned operator()(node_t p) const { return w_along[p] < 0.0 || w_across[p] < 0.0; }
};

// Of each red point. Returns NodeFlags.
template <class T> struct FactorHalf {
  HalvedMatrix m;
  double *inverse;   // 1/d
  T *before, *after; // weights/d

  PETSCRRB_HD unsigned operator()(node_t p) const {
    const auto [r, c] = m.g.find(m.g.reds(), p);
    const double u = m.before(r, c), v = m.after(r, c), d = m.excess[m.g.point(2 * r + 1, c)] + u + v;
    const double i = d > 0.0 ? 1.0 / d : 0.0;
    inverse[p] = i, before[p] = T(u * i), after[p] = T(v * i);
    return d > 0.0 ? unsigned(node_ok) : unsigned(node_failed);
  }
};

// Of each black point: the next grid's matrix. What a red point has across goes to the lines before and after it, by the shares of its
// couplings with them.
struct FillHalf {
  HalvedMatrix from;
  const double *inverse;
  double *excess, *w_along, *w_across;

  PETSCRRB_HD void operator()(node_t p) const {
    const HalvedGrid &g = from.g;
    const auto [b, c] = g.find(g.blacks(), p);
    const node_t point = g.point(2 * b, c), before = g.red_before(b), after = g.red_after(b), up = g.next_across(c);
    const double *e = from.excess, *w = from.w_across;
    double sum = e[point], along = 0.0, across = w[point];
    if (before >= 0) {
      const node_t red = g.point(2 * before + 1, c);
      sum += from.after(before, c) * inverse[g.red(before, c)] * e[red];
      if (up >= 0) across += 0.5 * w[red] * (2.0 - from.share(before, c) - from.share(before, up));
    }
    if (after >= 0) {
      const node_t red = g.point(2 * after + 1, c);
      const double u = from.before(after, c) * inverse[g.red(after, c)];
      sum += u * e[red];
      along = u * from.after(after, c);
      if (up >= 0) across += 0.5 * w[red] * (from.share(after, c) + from.share(after, up));
    }
    excess[p] = sum, w_along[p] = along, w_across[p] = across;
  }
};

// --- AMLI's step on one of the halved grids ---

struct HalvedProduct {
  HalvedMatrix m;
  const double *x;

  PETSCRRB_HD double operator()(node_t p) const {
    double sum = m.excess[p] * x[p];
    each(p, [&](node_t q, double w) { sum += w * (x[p] - x[q]); });
    return sum;
  }
  PETSCRRB_HD double diagonal(node_t p) const { // 0 without couplings
    double sum = 0.0;
    each(p, [&](node_t, double w) { sum += w; });
    return sum > 0.0 ? sum + m.excess[p] : 0.0;
  }

private:
  template <class F> PETSCRRB_HD void each(node_t p, const F &f) const {
    const HalvedGrid &g = m.g;
    const HalvedGrid::Place at = g.find(g.along(), p);
    const auto take = [&](const double *w, node_t k, node_t n, bool ring, const auto &point) {
      if (k + 1 < n || ring) f(point(k + 1 < n ? k + 1 : 0), w[p]);
      if (k > 0 || ring) f(point(k > 0 ? k - 1 : n - 1), w[point(k > 0 ? k - 1 : n - 1)]);
    };
    take(m.w_along, at.k, g.along(), g.ring_a, [&](node_t k) { return g.point(k, at.c); });
    take(m.w_across, at.c, g.across(), g.ring_c, [&](node_t k) { return g.point(at.k, k); });
  }
};
struct StoreHalvedProduct {
  HalvedProduct A;
  double *y;

  PETSCRRB_HD void operator()(node_t p) const { y[p] = A(p); }
};
// y = c0 r - c1 A x
struct HalvedPolynomial {
  HalvedProduct A;
  const double *r, *c0, *c1;
  double *y;

  PETSCRRB_HD void operator()(node_t p) const { y[p] = *c0 * r[p] - *c1 * A(p); }
};

// --- sweeps ---

// of a grid's vector, the first one of which may be scaled
struct Scaled {
  const double *x, *v; // v: NULL for 1

  PETSCRRB_HD double operator()(node_t p) const { return v ? v[p] * x[p] : x[p]; }
};
template <class T> struct HalveDown {
  HalvedGrid g;
  const T *before, *after;
  Scaled x;
  double *y; // of the next grid
  bool couple;

  PETSCRRB_HD void operator()(node_t p) const {
    const auto [b, c] = g.find(g.blacks(), p);
    const node_t earlier = g.red_before(b), later = g.red_after(b);
    double sum = x(g.point(2 * b, c));
    if (couple && earlier >= 0) sum += double(after[g.red(earlier, c)]) * x(g.point(2 * earlier + 1, c));
    if (couple && later >= 0) sum += double(before[g.red(later, c)]) * x(g.point(2 * later + 1, c));
    y[p] = sum;
  }
};
template <class T> struct HalveUp {
  HalvedGrid g;
  const T *before, *after;
  const double *inverse;
  Scaled x;
  const double *next; // the next grid's solution
  double *z;
  const double *v; // of z; NULL for 1
  bool couple;
  Scaling scaling;

  PETSCRRB_HD void put(node_t p, double value) const { z[p] = v ? v[p] * value : value; }
  // a black point and the red one after it
  PETSCRRB_HD void operator()(node_t p) const {
    const auto [b, c] = g.find(g.blacks(), p);
    const double own = next[p];
    put(g.point(2 * b, c), own);
    if (b >= g.reds()) return;
    const node_t red = g.red(b, c), point = g.point(2 * b + 1, c), later = g.black_after(b);
    double value = x(point) * (scaling == Scaling::full ? inverse[red] : sqrt(inverse[red]));
    if (couple) value += double(before[red]) * own + (later >= 0 ? double(after[red]) * next[g.black(later, c)] : 0.0);
    put(point, value);
  }
};

} // namespace petscrrb::rrb
