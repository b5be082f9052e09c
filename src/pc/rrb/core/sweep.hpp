// The application of one grid's factor, node by node: z = M^-1 r with M = L D L^T. F is a FactorViews.
#pragma once

#include "pc/rrb/core/eliminate.hpp"

#include <cmath>

namespace petscrrb::rrb {

// Takes the place of a view for a result that goes to no array.
struct Result {
  double *p;

  PETSCRRB_HD double &at(index_t, index_t) const { return *p; }
};

// r_B -= A_BR D_R^-1 r_R of the odd level at a b1 node; w = weight / pivot = -a / d.
template <class F, class X, class Y> struct ForwardB1 {
  F f;
  Quad<X> x; // before
  Y y;       // after

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    y.at(h, k) = x[b1](h, k) + (f.w[E][r2](h, k) * x[r2](h, k) + f.w[W][r2](h + 1, k) * x[r2](h + 1, k) +
                                f.w[N][r1](h, k) * x[r1](h, k) + f.w[S][r1](h, k + 1) * x[r1](h, k + 1));
  }
};
template <class F, class X, class Y> ForwardB1(F, Quad<X>, Y) -> ForwardB1<F, X, Y>;

// The same at a b2 node, and then that of the even level, unless the odd one is the last.
template <class F, class X, class B, class Y> struct ForwardB2 {
  F f;
  Quad<X> x;
  B b; // b1 after the odd level
  Y y;
  bool even;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    double s = x[b2](h, k) + (f.w[W][r1](h, k) * x[r1](h, k) + f.w[E][r1](h - 1, k) * x[r1](h - 1, k) +
                              f.w[S][r2](h, k) * x[r2](h, k) + f.w[N][r2](h, k - 1) * x[r2](h, k - 1));
    if (even)
      s += f.w[SW][b1](h, k) * b(h, k) + f.w[SE][b1](h - 1, k) * b(h - 1, k) + f.w[NW][b1](h, k - 1) * b(h, k - 1) +
           f.w[NE][b1](h - 1, k - 1) * b(h - 1, k - 1);
    y.at(h, k) = s;
  }
};
template <class F, class X, class B, class Y> ForwardB2(F, Quad<X>, B, Y, bool) -> ForwardB2<F, X, B, Y>;

// What the backward sweep multiplies the right-hand side with: D^-1, or its root in the halves of the application.
enum class Scaling {
  full,
  root
};

PETSCRRB_HD inline double scale(double dinv, Scaling scaling) {
  return scaling == Scaling::full ? dinv : std::sqrt(dinv);
}

// z_R = D_R^-1 r_R - (D_R^-1 A_RB) z_B at the three kinds of red nodes.
template <class F, class X, class Z, class Y> struct BackwardB1 {
  F f;
  X r;  // b1 after the forward sweep
  Z b2; // solution
  Y y;
  Scaling scaling;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    y.at(h, k) = r(h, k) * scale(f.dinv[b1](h, k), scaling) +
                 (f.w[SW][b1](h, k) * b2(h, k) + f.w[SE][b1](h, k) * b2(h + 1, k) + f.w[NW][b1](h, k) * b2(h, k + 1) +
                  f.w[NE][b1](h, k) * b2(h + 1, k + 1));
  }
};
template <class F, class X, class Z, class Y> BackwardB1(F, X, Z, Y, Scaling) -> BackwardB1<F, X, Z, Y>;

template <class F, class X, class Z, class B, class Y> struct BackwardR1 {
  F f;
  X r;
  Z b1;
  B b2;
  Y y;
  Scaling scaling;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    y.at(h, k) =
        r(h, k) * scale(f.dinv[r1](h, k), scaling) + (f.w[W][r1](h, k) * b2(h, k) + f.w[E][r1](h, k) * b2(h + 1, k) +
                                                      f.w[S][r1](h, k) * b1(h, k - 1) + f.w[N][r1](h, k) * b1(h, k));
  }
};
template <class F, class X, class Z, class B, class Y> BackwardR1(F, X, Z, B, Y, Scaling) -> BackwardR1<F, X, Z, B, Y>;

template <class F, class X, class Z, class B, class Y> struct BackwardR2 {
  F f;
  X r;
  Z b1;
  B b2;
  Y y;
  Scaling scaling;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    y.at(h, k) =
        r(h, k) * scale(f.dinv[r2](h, k), scaling) + (f.w[W][r2](h, k) * b1(h - 1, k) + f.w[E][r2](h, k) * b1(h, k) +
                                                      f.w[S][r2](h, k) * b2(h, k) + f.w[N][r2](h, k) * b2(h, k + 1));
  }
};
template <class F, class X, class Z, class B, class Y> BackwardR2(F, X, Z, B, Y, Scaling) -> BackwardR2<F, X, Z, B, Y>;

// Couplings of zero: a sweep with them only moves values, which is what one half of the application does.
template <bool Couple, class V> auto with_couplings(const FactorViews<V> &f) {
  if constexpr (Couple)
    return f;
  else
    return FactorViews<V, Zero>{{}, f.dinv};
}

template <class Op> void choose(bool couple, const Op &op) {
  if (couple)
    op(std::true_type{});
  else
    op(std::false_type{});
}

// What a red node adds to y^T M^-1 y; r: before its backward sweep.
template <class X, class D> struct RedEnergy {
  X r;
  D dinv;

  PETSCRRB_HD double operator()(index_t h, index_t k) const { return r(h, k) * r(h, k) * dinv(h, k); }
};
template <class X, class D> RedEnergy(X, D) -> RedEnergy<X, D>;

} // namespace petscrrb::rrb
