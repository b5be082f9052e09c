// The factorization of one grid, node by node: two levels, as docs/numerics.md defines them.
#pragma once

#include "backend/host.hpp"
#include "rrb/views.hpp"

namespace petscrrb::rrb {

// Couplings of a red node, in the order in which w[] holds them.
enum Straight { W = 0, E = 1, S = 2, N = 3 };
enum Skew { SW = 0, SE = 1, NW = 2, NE = 3 };

struct Lumping {
  double omega = 1.0;
  bool both = false; // black nodes too
};

constexpr double unlumped_below = 1e-10;  // of the diagonal before lumping
constexpr double null_below = 1e-12;      // of the original diagonal

// The matrix of a grid: V for what is always stored, K for the corners, U for the near-null-space vector.
template <class V, class K, class U> struct StencilViews {
  Quad<V> C, E, N, original; // original: the diagonal of the matrix given, at these nodes
  Quad<K> NE, NW;
  Quad<U> v;
};

// The factor: w = coupling / pivot of each red node to its four black ones, and 1 / pivot (0: a null direction).
template <class V, class Coupling = V> struct FactorViews {
  Quad<Coupling> w[4];
  Quad<V> dinv;

  PETSCRRB_HD double pivot(Class c, index_t h, index_t k) const {
    const double inverse = dinv[c](h, k);
    return inverse != 0.0 ? 1.0 / inverse : 0.0;
  }
};

// An entry a_ij that is dropped, as row i's diagonal takes it up so that M v = A v.
PETSCRRB_HD inline double lumped(double a, double vi, double vj) { return vi != 0.0 ? a * (vj / vi) : 0.0; }

// Branches would keep the loops from being vectorized: flags are computed, not decided.
PETSCRRB_HD inline double lump(double diagonal, double dropped, unsigned &flags) {
  const double d = diagonal + dropped;
  const bool take = d >= unlumped_below * diagonal;
  flags |= take ? 0u : unsigned(node_unlumped);
  return take ? d : diagonal;
}

// Writes 1/d and w = a/d of a red node.
template <class V>
PETSCRRB_HD inline unsigned store_pivot(const FactorViews<V> &f, Class c, index_t h, index_t k, double d, double original,
                                 const double a[4], unsigned flags) {
  const double threshold = null_below * (original < 0 ? -original : original);
  const bool regular = d > threshold; // false for a NaN
  const bool null = !regular && d >= -threshold;
  const double inverse = regular ? 1.0 / d : 0.0;
  f.dinv[c].at(h, k) = inverse;
  for (int i = 0; i < 4; ++i) f.w[i][c].at(h, k) = a[i] * inverse;
  return regular ? flags : (null ? unsigned(node_null) : unsigned(node_failed));
}

// Odd level, node r1: eliminated after its corners, all r2, are lumped.
template <class A, class V> struct EliminateR1 {
  A a;
  FactorViews<V> f;
  Lumping lumping;

  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    const double v = a.v[r1](h, k);
    const double dropped = lumped(a.NE[r1](h, k), v, a.v[r2](h + 1, k)) + lumped(a.NW[r1](h, k), v, a.v[r2](h, k)) +
                           lumped(a.NW[r2](h + 1, k - 1), v, a.v[r2](h + 1, k - 1)) +
                           lumped(a.NE[r2](h, k - 1), v, a.v[r2](h, k - 1));
    const double coupling[4] = {a.E[b2](h, k), a.E[r1](h, k), a.N[b1](h, k - 1), a.N[r1](h, k)};
    unsigned flags = node_ok;
    const double d = lump(a.C[r1](h, k), lumping.omega * dropped, flags);
    return store_pivot(f, r1, h, k, d, a.original[r1](h, k), coupling, flags);
  }
};

// Odd level, node r2: its corners are r1.
template <class A, class V> struct EliminateR2 {
  A a;
  FactorViews<V> f;
  Lumping lumping;

  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    const double v = a.v[r2](h, k);
    const double dropped = lumped(a.NE[r2](h, k), v, a.v[r1](h, k + 1)) +
                           lumped(a.NW[r2](h, k), v, a.v[r1](h - 1, k + 1)) +
                           lumped(a.NW[r1](h, k), v, a.v[r1](h, k)) +
                           lumped(a.NE[r1](h - 1, k), v, a.v[r1](h - 1, k));
    const double coupling[4] = {a.E[b1](h - 1, k), a.E[r2](h, k), a.N[b2](h, k), a.N[r2](h, k)};
    unsigned flags = node_ok;
    const double d = lump(a.C[r2](h, k), lumping.omega * dropped, flags);
    return store_pivot(f, r2, h, k, d, a.original[r2](h, k), coupling, flags);
  }
};

// The first Schur complement S = A_BB - A_BR D_R^-1 A_RB of a grid, formed where it is needed and never stored.
template <class A, class V> struct Schur {
  A a;
  FactorViews<V> f;
  Lumping lumping;

  // two blacks' entry through their red neighbour (c, h, k)
  PETSCRRB_HD double fill(Class c, index_t h, index_t k, int i, int j) const {
    return -f.w[i][c](h, k) * f.w[j][c](h, k) * f.pivot(c, h, k);
  }

  // the diagonal of the black nodes, their own corners lumped first where the variant asks for it
  PETSCRRB_HD double diagonal_b1(index_t h, index_t k, unsigned &flags) const {
    double c = a.C[b1](h, k);
    if (lumping.both) {
      const double v = a.v[b1](h, k);
      const double dropped = lumped(a.NE[b1](h, k), v, a.v[b2](h + 1, k + 1)) +
                             lumped(a.NW[b1](h, k), v, a.v[b2](h, k + 1)) +
                             lumped(a.NW[b2](h + 1, k), v, a.v[b2](h + 1, k)) +
                             lumped(a.NE[b2](h, k), v, a.v[b2](h, k));
      c = lump(c, lumping.omega * dropped, flags);
    }
    return c + fill(r2, h, k, E, E) + fill(r2, h + 1, k, W, W) + fill(r1, h, k, N, N) + fill(r1, h, k + 1, S, S);
  }
  PETSCRRB_HD double diagonal_b2(index_t h, index_t k, unsigned &flags) const {
    double c = a.C[b2](h, k);
    if (lumping.both) {
      const double v = a.v[b2](h, k);
      const double dropped = lumped(a.NE[b2](h, k), v, a.v[b1](h, k)) +
                             lumped(a.NW[b2](h, k), v, a.v[b1](h - 1, k)) +
                             lumped(a.NW[b1](h, k - 1), v, a.v[b1](h, k - 1)) +
                             lumped(a.NE[b1](h - 1, k - 1), v, a.v[b1](h - 1, k - 1));
      c = lump(c, lumping.omega * dropped, flags);
    }
    return c + fill(r1, h, k, W, W) + fill(r1, h - 1, k, E, E) + fill(r2, h, k, S, S) + fill(r2, h, k - 1, N, N);
  }

  // b1 to its four b2
  PETSCRRB_HD void skew(index_t h, index_t k, double s[4]) const {
    s[SW] = fill(r2, h, k, E, S) + fill(r1, h, k, N, W);
    s[SE] = fill(r2, h + 1, k, W, S) + fill(r1, h, k, N, E);
    s[NW] = fill(r2, h, k, E, N) + fill(r1, h, k + 1, S, W);
    s[NE] = fill(r2, h + 1, k, W, N) + fill(r1, h, k + 1, S, E);
    if (lumping.both) return;
    s[SW] += a.NE[b2](h, k);
    s[SE] += a.NW[b2](h + 1, k);
    s[NW] += a.NW[b1](h, k);
    s[NE] += a.NE[b1](h, k);
  }

  // b1 to b1, b2 to b2, two steps away
  PETSCRRB_HD double east_b1(index_t h, index_t k) const { return fill(r2, h + 1, k, W, E); }
  PETSCRRB_HD double north_b1(index_t h, index_t k) const { return fill(r1, h, k + 1, S, N); }
  PETSCRRB_HD double east_b2(index_t h, index_t k) const { return fill(r1, h, k, W, E); }
  PETSCRRB_HD double north_b2(index_t h, index_t k) const { return fill(r2, h, k, S, N); }
};

// A coupling of a node around a ring of two points comes back to the node itself: then it is part of the diagonal.
// Around a ring of three points the two black ones are neighbours across the seam too, and such couplings stay.
struct Rings {
  bool self_x = false, self_y = false;   // two points
  bool three_x = false, three_y = false; // three points
};

// Even level, node b1: eliminated after its straight couplings, all to b1, are lumped.
template <class A, class V> struct EliminateB1 {
  Schur<A, V> s;
  Rings rings;

  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    const double v = s.a.v[b1](h, k);
    const double x = lumped(s.east_b1(h, k), v, s.a.v[b1](h + 1, k)) + lumped(s.east_b1(h - 1, k), v, s.a.v[b1](h - 1, k));
    const double y =
      lumped(s.north_b1(h, k), v, s.a.v[b1](h, k + 1)) + lumped(s.north_b1(h, k - 1), v, s.a.v[b1](h, k - 1));
    unsigned flags = node_ok;
    const double c = s.diagonal_b1(h, k, flags) + (rings.self_x ? x : 0.0) + (rings.self_y ? y : 0.0);
    const double dropped = (rings.self_x ? 0.0 : x) + (rings.self_y ? 0.0 : y);
    double coupling[4];
    s.skew(h, k, coupling);
    const double d = lump(c, s.lumping.omega * dropped, flags);
    return store_pivot(s.f, b1, h, k, d, s.a.original[b1](h, k), coupling, flags);
  }
};

// Even level, node b2: a node of the next grid. Out is where that grid's stencil goes.
template <class A, class V, class Out> struct CoarseStencil {
  Schur<A, V> s;
  Rings rings;
  Out out;

  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    unsigned flags = node_ok;
    double c = s.diagonal_b2(h, k, flags), e = s.east_b2(h, k), n = s.north_b2(h, k);
    if (s.lumping.both) drop_straight(h, k, c, e, n, flags);
    c += fill(h, k, SW, SW) + fill(h - 1, k, SE, SE) + fill(h, k - 1, NW, NW) + fill(h - 1, k - 1, NE, NE);
    e += fill(h, k, SW, SE) + fill(h, k - 1, NW, NE);
    n += fill(h, k, SW, NW) + fill(h - 1, k, SE, NE);
    out.C.at(h, k) = c;
    out.E.at(h, k) = e;
    out.N.at(h, k) = n;
    out.NE.at(h, k) = fill(h, k, SW, NE);
    out.NW.at(h, k) = fill(h - 1, k, SE, NW);
    out.original.at(h, k) = s.a.original[b2](h, k);
    if (out.has_v) out.v.at(h, k) = s.a.v[b2](h, k);
    return flags;
  }

private:
  PETSCRRB_HD double fill(index_t h, index_t k, int i, int j) const { return s.fill(b1, h, k, i, j); }

  PETSCRRB_HD void drop_straight(index_t h, index_t k, double &c, double &e, double &n, unsigned &flags) const {
    const double v = s.a.v[b2](h, k);
    const double x = lumped(e, v, s.a.v[b2](h + 1, k)) + lumped(s.east_b2(h - 1, k), v, s.a.v[b2](h - 1, k));
    const double y = lumped(n, v, s.a.v[b2](h, k + 1)) + lumped(s.north_b2(h, k - 1), v, s.a.v[b2](h, k - 1));
    const bool keep_x = rings.self_x || rings.three_x, keep_y = rings.self_y || rings.three_y;
    c = lump(c, s.lumping.omega * ((keep_x ? 0.0 : x) + (keep_y ? 0.0 : y)), flags);
    if (!keep_x) e = 0.0;
    if (!keep_y) n = 0.0;
  }
};

} // namespace petscrrb::rrb
