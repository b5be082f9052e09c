// The RRB-solver's operations at single nodes of the black classes, and at the red ones in the end.
#pragma once

#include "ksp/rrb/core/schur_matrix.hpp"

namespace petscrrb::rrbsolver {

// x v; where not `scaled`, v is missing and taken for 1.
template <class X, class V> struct Times {
  X x;
  V v;
  bool scaled;

  PETSCRRB_HD double operator()(index_t h, index_t k) const { return scaled ? x(h, k) * v(h, k) : x(h, k); }
};
template <class X, class V> Times(X, V, bool) -> Times<X, V>;

// delta + alpha p; only delta where alpha p is not part of it
template <class V> struct Correction {
  V delta, p;
  const double *alpha;

  PETSCRRB_HD double operator()(index_t h, index_t k) const {
    return alpha ? delta(h, k) + *alpha * p(h, k) : delta(h, k);
  }
};

// x += delta, or x = delta
template <class D, class X> struct AddCorrection {
  D delta;
  X x;
  bool add;

  PETSCRRB_HD void operator()(index_t h, index_t k) const { x.at(h, k) = add ? x(h, k) + delta(h, k) : delta(h, k); }
};
template <class D, class X> AddCorrection(D, X, bool) -> AddCorrection<D, X>;

// For sums: u^2, and u^2 w.
template <class U> struct Square {
  U u;

  PETSCRRB_HD double operator()(index_t h, index_t k) const {
    const double value = u(h, k);
    return value * value;
  }
};
template <class U> Square(U) -> Square<U>;

// Level 2 of the forward sweep at b2: its part of the next grid's right-hand side. F: a FactorViews.
template <class F, class X, class Y> struct ForwardSkew {
  F f;
  X x1, x2; // r on b1 and b2
  Y y;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    y.at(h, k) = x2(h, k) + (f.w[SW][b1](h, k) * x1(h, k) + f.w[SE][b1](h - 1, k) * x1(h - 1, k) +
                             f.w[NW][b1](h, k - 1) * x1(h, k - 1) + f.w[NE][b1](h - 1, k - 1) * x1(h - 1, k - 1));
  }
};
template <class F, class X, class Y> ForwardSkew(F, X, X, Y) -> ForwardSkew<F, X, Y>;

// The correction at a red node; R: its residual before all.
template <Class c, class R, class F> struct RedCorrection {
  F f;
  R r;
  Quad<Dense> black;

  PETSCRRB_HD double operator()(index_t h, index_t k) const {
    double value;
    if constexpr (c == r1)
      BackwardR1{f, r, black[b1], black[b2], Result{&value}, Scaling::full}(h, k);
    else
      BackwardR2{f, r, black[b1], black[b2], Result{&value}, Scaling::full}(h, k);
    return value;
  }
};

// r~ = D^-1/2 r on b1, in place: the residual of Eisenstat's form
template <class F> struct ScaleResidual {
  F f;
  Dense r;

  PETSCRRB_HD void operator()(index_t h, index_t k) const { r.at(h, k) *= std::sqrt(f.dinv[b1](h, k)); }
};
template <class F> ScaleResidual(F, Dense) -> ScaleResidual<F>;

} // namespace petscrrb::rrbsolver
