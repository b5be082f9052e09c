// The factorization of one grid, node by node: two levels, as docs/numerics.md defines them. In terms of weights and
// excesses it only adds where no excess is negative: an M-matrix loses no digit, however far its coefficients jump.
#pragma once

#include "exec/counts.hpp"
#include "pc/rrb/core/support_limits.hpp"
#include "pc/rrb/core/views.hpp"

namespace petscrrb::rrb {

// Couplings of a red node, in the order in which w[] holds them.
enum Straight {
  W = 0,
  E = 1,
  S = 2,
  N = 3
};
enum Skew {
  SW = 0,
  SE = 1,
  NW = 2,
  NE = 3
};

struct Lumping {
  double omega = 1.0;
  bool both = false;            // black nodes too
  bool test = false;            // red nodes: the support of what they drop, too (plain_test.hpp)
  Limits limits = plain_limits; // of the test, and of what a node may lose
  double null_inverse = 0.0;    // 1/d of a null direction: of the size of those of other nodes, so that M is definite

  bool operator==(const Lumping &o) const {
    return omega == o.omega && both == o.both && test == o.test && limits == o.limits && null_inverse == o.null_inverse;
  }
};

constexpr double unlumped_below = 1e-10; // of the diagonal before lumping
constexpr double lost_below = 1e-12;     // of the terms that a pivot is the sum of: it is rounding

// The matrix of a grid: excess and weights of what is always stored (V) and of the corners (K).
template <class V, class K> struct StencilViews {
  Quad<V> X, E, N;
  Quad<K> NE, NW;
};

// The factor: w = weight / pivot of each red node to its four black ones, and 1 / pivot (0: there is none).
template <class V, class Coupling = V> struct FactorViews {
  Quad<Coupling> w[4];
  Quad<V> dinv;

  PETSCRRB_HD double pivot(Class c, index_t h, index_t k) const {
    const double inverse = dinv[c](h, k);
    return inverse != 0.0 ? 1.0 / inverse : 0.0;
  }
};

// A red node that loses too much is marked (docs/numerics.md, "Red nodes chosen by support").
PETSCRRB_HD inline unsigned mark_loss(double excess, double kept, double dropped, const Limits &limits) {
  return at_most(dropped, limits.beta * (excess + kept)) ? unsigned(node_ok) : unsigned(node_unsupported);
}

// The excess after weights are dropped: omega of them leaves the diagonal and the rest becomes excess; all of it does
// where the pivot would vanish. kept: the other weights. (No branches: they would keep loops from being vectorized.)
PETSCRRB_HD inline double lump(double excess, double kept, double dropped, double omega, unsigned &flags) {
  const double diagonal = excess + kept + dropped;
  const bool unlumped = dropped != 0.0 && diagonal - omega * dropped < unlumped_below * diagonal;
  flags |= unlumped ? unsigned(node_unlumped) : 0u;
  return excess + (unlumped ? dropped : (1.0 - omega) * dropped);
}

// Writes 1/d and w = weight/d of a red node, and its excess back. A node with nothing in its row is a null direction; one
// with couplings and without a pivot means that the matrix is not positive semidefinite, and fails. dropped: the weights
// that were lumped; null_inverse: Lumping's
template <class V>
PETSCRRB_HD inline unsigned store_pivot(const FactorViews<V> &f, Class c, index_t h, index_t k, double &place,
                                        double excess, const double weight[4], double dropped, double null_inverse,
                                        unsigned flags) {
  const double sum = weight[0] + weight[1] + weight[2] + weight[3], d = excess + sum;
  const double terms = (excess < 0 ? -excess : excess) + sum;
  const bool regular = d > lost_below * terms; // false for a NaN
  const bool null = terms == 0.0 && dropped == 0.0;
  const double inverse = regular ? 1.0 / d : null ? null_inverse : 0.0;
  place = excess;
  f.dinv[c].at(h, k) = inverse;
  for (int i = 0; i < 4; ++i) f.w[i][c].at(h, k) = weight[i] * inverse;
  const double lost = f.dinv[c](h, k) - inverse; // in single precision it may be out of range
  const bool fits = (lost < 0 ? -lost : lost) <= 1e-6 * inverse;
  return fits && regular ? flags : (fits && null ? unsigned(node_null) : unsigned(node_failed));
}

// Of a node of class c: the weights of its straight couplings, to nodes of two other classes, and those of its corners.
template <Class c, class A> PETSCRRB_HD inline void straight(const A &a, index_t h, index_t k, double weight[4]) {
  weight[W] = near<c, -1, 0>(a.E, h, k), weight[E] = near<c, 0, 0>(a.E, h, k);
  weight[S] = near<c, 0, -1>(a.N, h, k), weight[N] = near<c, 0, 0>(a.N, h, k);
}
template <Class c, class A> PETSCRRB_HD inline double corners(const A &a, index_t h, index_t k) {
  return near<c, 0, 0>(a.NE, h, k) + near<c, 0, 0>(a.NW, h, k) + near<c, 1, -1>(a.NW, h, k) +
         near<c, -1, -1>(a.NE, h, k);
}

// Odd level, node r1 or r2: after its corners, all red, are dropped.
template <Class c, class A, class V> struct EliminateRed {
  A a;
  FactorViews<V> f;
  Lumping lumping;

  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    const auto &excess = a.X[c];
    unsigned flags = node_ok;
    double weight[4];
    straight<c>(a, h, k, weight);
    const double dropped = corners<c>(a, h, k), kept = weight[0] + weight[1] + weight[2] + weight[3];
    const unsigned loss = mark_loss(excess(h, k), kept, dropped, lumping.limits);
    const double x = lump(excess(h, k), kept, dropped, lumping.omega, flags);
    return loss | store_pivot(f, c, h, k, excess.at(h, k), x, weight, dropped, lumping.null_inverse, flags);
  }
};

// The first Schur complement S = A_BB - A_BR D_R^-1 A_RB of a grid, formed where it is needed and never stored.
template <class A, class V> struct Schur {
  A a;
  FactorViews<V> f;
  Lumping lumping;

  // two blacks' weight through their red neighbour (c, h, k), and what it hands on of its excess
  PETSCRRB_HD double fill(Class c, index_t h, index_t k, int i, int j) const {
    return f.w[i][c](h, k) * f.w[j][c](h, k) * f.pivot(c, h, k);
  }
  PETSCRRB_HD double share(Class c, index_t h, index_t k, int i) const { return f.w[i][c](h, k) * a.X[c](h, k); }

  // the excess of the black nodes
  PETSCRRB_HD double excess_b1(index_t h, index_t k, unsigned &flags) const {
    return own_excess<b1>(h, k, flags) +
           (share(r2, h, k, E) + share(r2, h + 1, k, W) + share(r1, h, k, N) + share(r1, h, k + 1, S));
  }
  PETSCRRB_HD double excess_b2(index_t h, index_t k, unsigned &flags) const {
    return own_excess<b2>(h, k, flags) +
           (share(r1, h, k, W) + share(r1, h - 1, k, E) + share(r2, h, k, S) + share(r2, h, k - 1, N));
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

private:
  // after the node's own corners are lumped, where the variant asks for it
  template <Class c> PETSCRRB_HD double own_excess(index_t h, index_t k, unsigned &flags) const {
    if (!lumping.both) return a.X[c](h, k);
    double w[4];
    straight<c>(a, h, k, w);
    return lump(a.X[c](h, k), w[E] + w[W] + w[N] + w[S], corners<c>(a, h, k), lumping.omega, flags);
  }
};
template <class A, class V> Schur(A, FactorViews<V>, Lumping) -> Schur<A, V>;

// Around a ring of two points a node two steps away is the node itself: no coupling. Around a ring of three the two
// black nodes are neighbours across the seam too, and what couples them stays.
struct Rings {
  bool self_x = false, self_y = false;   // two points
  bool three_x = false, three_y = false; // three points
};

// Even level, node b1: eliminated after its straight couplings, all to b1, are dropped. left: where its excess goes, which may be in the
// matrix.
template <class A, class V, class L> struct EliminateB1 {
  Schur<A, V> s;
  Rings rings;
  L left;

  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    const double x = s.east_b1(h, k) + s.east_b1(h - 1, k), y = s.north_b1(h, k) + s.north_b1(h, k - 1);
    unsigned flags = node_ok;
    double weight[4];
    s.skew(h, k, weight);
    const double kept = weight[0] + weight[1] + weight[2] + weight[3];
    const double dropped = (rings.self_x ? 0.0 : x) + (rings.self_y ? 0.0 : y);
    const double before = s.excess_b1(h, k, flags), excess = lump(before, kept, dropped, s.lumping.omega, flags);
    return mark_loss(before, kept, dropped, s.lumping.limits) |
           store_pivot(s.f, b1, h, k, left.at(h, k), excess, weight, dropped, s.lumping.null_inverse, flags);
  }
};
template <class A, class V, class L> EliminateB1(Schur<A, V>, Rings, L) -> EliminateB1<A, V, L>;

// Even level, node b2: a node of the next grid. Out is where that grid's stencil goes; left: as EliminateB1 has left it.
template <class A, class V, class L, class Out> struct CoarseStencil {
  Schur<A, V> s;
  Rings rings;
  L left;
  Out out;

  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    unsigned flags = node_ok;
    double x = s.excess_b2(h, k, flags), e = s.east_b2(h, k), n = s.north_b2(h, k);
    if (s.lumping.both)
      drop_straight(h, k, x, e, n, flags);
    else if (rings.self_x || rings.self_y)
      e = rings.self_x ? 0.0 : e, n = rings.self_y ? 0.0 : n;
    out.X.at(h, k) = x + (share(h, k, SW) + share(h - 1, k, SE) + share(h, k - 1, NW) + share(h - 1, k - 1, NE));
    out.E.at(h, k) = e + (fill(h, k, SW, SE) + fill(h, k - 1, NW, NE));
    out.N.at(h, k) = n + (fill(h, k, SW, NW) + fill(h - 1, k, SE, NE));
    out.NE.at(h, k) = fill(h, k, SW, NE);
    out.NW.at(h, k) = fill(h - 1, k, SE, NW);
    return flags;
  }

private:
  PETSCRRB_HD double share(index_t h, index_t k, int i) const { return s.f.w[i][b1](h, k) * left(h, k); }
  PETSCRRB_HD double fill(index_t h, index_t k, int i, int j) const { return s.fill(b1, h, k, i, j); }
  PETSCRRB_HD double weight(index_t h, index_t k, int i) const { return s.f.w[i][b1](h, k) * s.f.pivot(b1, h, k); }

  PETSCRRB_HD void drop_straight(index_t h, index_t k, double &x, double &e, double &n, unsigned &flags) const {
    const double along_x = e + s.east_b2(h - 1, k), along_y = n + s.north_b2(h, k - 1);
    const double kept = weight(h, k, SW) + weight(h - 1, k, SE) + weight(h, k - 1, NW) + weight(h - 1, k - 1, NE);
    const bool keep_x = rings.self_x || rings.three_x, keep_y = rings.self_y || rings.three_y;
    const double stays = (rings.three_x ? along_x : 0.0) + (rings.three_y ? along_y : 0.0);
    const double dropped = (keep_x ? 0.0 : along_x) + (keep_y ? 0.0 : along_y);
    x = lump(x, kept + stays, dropped, s.lumping.omega, flags);
    e = rings.three_x ? e : 0.0;
    n = rings.three_y ? n : 0.0;
  }
};
template <class A, class V, class L, class Out>
CoarseStencil(Schur<A, V>, Rings, L, Out) -> CoarseStencil<A, V, L, Out>;

} // namespace petscrrb::rrb
