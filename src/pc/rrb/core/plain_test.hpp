// Whether couplings that the red nodes of plain RRB drop have support: the test of docs/numerics.md, "Red nodes chosen by support", in
// arrays. Before each of a grid's two levels is eliminated, which finds out whether a node loses too much.
#pragma once

#include "pc/rrb/core/eliminate.hpp"

namespace petscrrb::rrb {

// of a path of two couplings
PETSCRRB_HD inline double in_series(double u, double v) {
  const double sum = u + v;
  return sum > 0.0 ? u * (v / sum) : 0.0;
}

// Odd level: the corners of r1, all r2, are dropped.
template <class A> struct TestR1 {
  A a;
  double tau;

  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    const double west = a.E[b2](h, k), east = a.E[r1](h, k), south = a.N[b1](h, k - 1), north = a.N[r1](h, k);
    const double ne = a.NE[r1](h, k), nw = a.NW[r1](h, k), se = a.NW[r2](h + 1, k - 1), sw = a.NE[r2](h, k - 1);
    const auto is_supported = [&](double w, double support) { return at_most(w, tau * support); };
    const bool fine = is_supported(ne, in_series(east, a.N[b2](h + 1, k)) + in_series(north, a.E[b1](h, k))) &
                      is_supported(nw, in_series(west, a.N[b2](h, k)) + in_series(north, a.E[r2](h, k))) &
                      is_supported(se, in_series(east, a.N[r2](h + 1, k - 1)) + in_series(south, a.E[b1](h, k - 1))) &
                      is_supported(sw, in_series(west, a.N[r2](h, k - 1)) + in_series(south, a.E[r2](h, k - 1)));
    return fine ? unsigned(node_ok) : unsigned(node_unsupported);
  }
};
template <class A> TestR1(A, double) -> TestR1<A>;
// Even level: couplings of two b1 are dropped. At b2, which the paths of one lead through, those of the b1 north-east of it: to the west and
// to the south. So that a box has all that its own nodes ask for.
template <class A, class V> struct TestAtB2 {
  Schur<A, V> s;
  Rings rings;

  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    const double west = rings.self_x ? 0.0 : s.east_b1(h - 1, k), south = rings.self_y ? 0.0 : s.north_b1(h, k - 1);
    double own[4], at_west[4], at_south[4];
    s.skew(h, k, own), s.skew(h - 1, k, at_west), s.skew(h, k - 1, at_south);
    const auto is_supported = [&](double w, double support) { return at_most(w, s.lumping.limits.tau * support); };
    const bool fine = is_supported(west, in_series(own[SW], at_west[SE]) + in_series(own[NW], at_west[NE])) &
                      is_supported(south, in_series(own[SW], at_south[NW]) + in_series(own[SE], at_south[NE]));
    return fine ? unsigned(node_ok) : unsigned(node_unsupported);
  }
};
template <class A, class V> TestAtB2(Schur<A, V>, Rings) -> TestAtB2<A, V>;

} // namespace petscrrb::rrb
