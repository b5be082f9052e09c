// The first Schur complement S1 = A_BB - A_BR D_R^-1 A_RB of a 5-point matrix on its black nodes, node by node.
#pragma once

#include "pc/rrb/core/eliminate.hpp"

#include <cmath>

namespace petscrrb::rrb {

// S1 by its diagonal and its weights, which are minus its other entries. Each pair of nodes once: skew[] couples b1 with
// its four b2, E and N a node with the one of its own class to the right and above. K: a view of skew.
template <class V, class K = V> struct SchurViews {
  Quad<V> X, E, N;
  K skew[4];
};

// S1 at the nodes of a black class, from the matrix's weights and excesses.
template <class A, class V, class W> struct FormB1 {
  Schur<A, V> from;
  SchurViews<W> to;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    unsigned flags = node_ok;
    double skew[4];
    from.skew(h, k, skew);
    const double e = from.east_b1(h, k), n = from.north_b1(h, k);
    to.X[b1].at(h, k) = from.excess_b1(h, k, flags) + (skew[0] + skew[1] + skew[2] + skew[3]) +
                        (e + from.east_b1(h - 1, k)) + (n + from.north_b1(h, k - 1));
    to.E[b1].at(h, k) = e;
    to.N[b1].at(h, k) = n;
    for (int i = 0; i < 4; ++i) to.skew[i].at(h, k) = skew[i];
  }
};
template <class A, class V, class W> FormB1(Schur<A, V>, SchurViews<W>) -> FormB1<A, V, W>;
template <class A, class V, class K> struct FormB2 {
  Schur<A, V> from;
  SchurViews<Dense, K> to;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    unsigned flags = node_ok;
    const double e = from.east_b2(h, k), n = from.north_b2(h, k);
    to.X[b2].at(h, k) = from.excess_b2(h, k, flags) + (weight(h, k, SW) + weight(h - 1, k, SE)) +
                        (weight(h, k - 1, NW) + weight(h - 1, k - 1, NE)) + (e + from.east_b2(h - 1, k)) +
                        (n + from.north_b2(h, k - 1));
    to.E[b2].at(h, k) = e;
    to.N[b2].at(h, k) = n;
  }

private:
  PETSCRRB_HD double weight(index_t h, index_t k, int i) const { return to.skew[i](h, k); }
};
template <class A, class V, class K> FormB2(Schur<A, V>, SchurViews<Dense, K>) -> FormB2<A, V, K>;

// Eisenstat's form (docs/numerics.md): of b1's rows S1 scaled so that the pivots of level 2 are 1, less those. It needs a
// preconditioner that couples b1 with b2 as S1 does, with a positive pivot at every b1: a flag where it does not. F: its
// FactorViews.
template <class F, class V> struct ScaleB1 {
  F f;
  SchurViews<V> s;

  PETSCRRB_HD double root(index_t h, index_t k) const {
    const double dinv = f.dinv[b1](h, k);
    return dinv > 0.0 ? std::sqrt(dinv) : 1.0;
  }
  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    const double here = root(h, k);
    s.E[b1].at(h, k) *= here * root(h + 1, k);
    s.N[b1].at(h, k) *= here * root(h, k + 1);
    return but_straight(h, k);
  }
  // All but E and N.
  PETSCRRB_HD unsigned but_straight(index_t h, index_t k) const {
    const double dinv = f.dinv[b1](h, k), here = root(h, k);
    bool same = dinv > 0.0;
    for (int i = 0; i < 4; ++i) {
      const double w = s.skew[i](h, k);
      same = same && std::fabs(w * dinv - f.w[i][b1](h, k)) <= 1e-12 * std::fabs(w * dinv);
      s.skew[i].at(h, k) = w * here;
    }
    s.X[b1].at(h, k) = s.X[b1](h, k) * (here * here) - 1.0;
    return same ? node_ok : node_failed;
  }
};
template <class F, class V> ScaleB1(F, SchurViews<V>) -> ScaleB1<F, V>;

// Where a factorization puts S1 in Eisenstat's form, and what comes of that; or no place.
struct SchurOut {
  SchurViews<Dense> s;
  NodeCounts *counts;
};
struct NoSchur {};

} // namespace petscrrb::rrb
