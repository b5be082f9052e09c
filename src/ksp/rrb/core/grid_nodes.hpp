// The loops of conjugate gradients in the arrays of a multigrid hierarchy, point by point: on all points, or on the black ones.
#pragma once

#include "ksp/rrb/core/step.hpp"
#include "pc/gridmg/core/read.hpp"
#include "pc/gridmg/core/smooth.hpp"

namespace petscrrb::rrbsolver {

using gridmg::Field;
using gridmg::Matrix;

// Which points a loop is over: all of them, by rows of one parity of x (Shape::halves_of_both()), or those of one colour (halves()).
enum class Points {
  red = 0,
  black = 1,
  all
};

// One of them, by half of its x.
template <Points points> struct PointAt {
  index_t parity, j, k, h;

  PETSCRRB_HD PointAt(index_t half, index_t row, index_t plane)
      : parity(points == Points::all ? row & 1 : (index_t(points) + row + plane) & 1),
        j(points == Points::all ? row >> 1 : row), k(plane), h(half) {}
  PETSCRRB_HD index_t x() const { return 2 * h + parity; }
  template <class T> PETSCRRB_HD index_t in(const Field<T> &f) const { return f.place(parity, j, k) + h; }
  template <class T> PETSCRRB_HD index_t west_in(const Field<T> &f) const {
    return f.place(1 - parity, j, k) + h - 1 + parity;
  }
};

// f(place) of such points, in arrays that lie as this one does
template <Points points, class F> struct AtPlace {
  F f;
  Field<double> as;

  PETSCRRB_HD auto read() const { return AtPlace<points, decltype(with_numbers(f))>{with_numbers(f), as}; }
  PETSCRRB_HD auto operator()(index_t h, index_t row, index_t plane) const {
    return with_numbers(f)(PointAt<points>(h, row, plane).in(as));
  }
};

// A vector of all points in natural order.
template <class V> struct NaturalPoints {
  V *p = nullptr;
  index_t n = 0, rows = 0; // points of x, and of y

  template <Points points> PETSCRRB_HD V &operator()(const PointAt<points> &at) const {
    return p[(at.k * rows + at.j) * n + at.x()];
  }
};

// f(coupling, x beyond it) for all six of a point; its places are those of it and of the point west of it.
template <class F>
PETSCRRB_HD inline void each_coupling(const Matrix &A, const Field<double> &x, index_t here, index_t west, const F &f) {
  f(A.w[0].p[west], x.p[west]), f(A.w[0].p[here], x.p[west + 1]);
  f(A.w[1].p[here - x.pitch], x.p[here - x.pitch]), f(A.w[1].p[here], x.p[here + x.pitch]);
  f(A.w[2].p[here - x.plane], x.p[here - x.plane]), f(A.w[2].p[here], x.p[here + x.plane]);
}
template <Points points, class F>
PETSCRRB_HD inline void each_coupling(const Matrix &A, const Field<double> &x, const PointAt<points> &at, const F &f) {
  each_coupling(A, x, at.in(x), at.west_in(x), f);
}

// A red point by its own equation, from the black ones: (r0 + W x) / d.
PETSCRRB_HD inline double solved_red(const Matrix &A, const Field<double> &x, index_t here, index_t west, double r0) {
  double d = A.e.p[here], sum = r0;
  each_coupling(A, x, here, west, [&](double w, double beyond) { d += w, sum += w * beyond; });
  return sum / d;
}
PETSCRRB_HD inline double solved_red(const Matrix &A, const Field<double> &x, const PointAt<Points::red> &at,
                                     double r0) {
  return solved_red(A, x, at.in(x), at.west_in(x), r0);
}
// The same by its place, without r0.
struct SolvedRed {
  Matrix A;
  Field<double> x;

  PETSCRRB_HD double operator()(index_t here) const {
    const bool odd = here / x.half & 1; // x; rows of even ones begin at multiples of the pitch, of 2 halves
    return solved_red(A, x, here, here + (odd ? -x.half : x.half - 1), 0.0);
  }
};
// All of them, with r0 or without it.
template <bool with_r0> struct SolveRed {
  Matrix A;
  Field<double> x;
  NaturalPoints<const double> r0;

  PETSCRRB_HD void operator()(index_t h, index_t row, index_t plane) const {
    const PointAt<Points::red> at(h, row, plane);
    x.p[at.in(x)] = solved_red(A, x, at, with_r0 ? r0(at) : 0.0);
  }
};

// r = r0 at all points, or at black ones r0 + W x of the red ones.
template <Points points> struct TakeResidual {
  Matrix A;
  Field<double> x, r;
  NaturalPoints<const double> r0;

  PETSCRRB_HD void operator()(index_t h, index_t row, index_t plane) const {
    const PointAt<points> at(h, row, plane);
    double sum = r0(at);
    if (points != Points::all) each_coupling(A, x, at, [&](double w, double beyond) { sum += w * beyond; });
    r.p[at.in(r)] = sum;
  }
};

// q = A p; returns p q. At black points, where p is right at red ones, that is the Schur complement's.
template <Points points> struct Multiply {
  Matrix A;
  Field<double> p, q;

  PETSCRRB_HD double operator()(index_t h, index_t row, index_t plane) const {
    const PointAt<points> at(h, row, plane);
    const index_t here = at.in(p);
    const double value = p.p[here];
    double sum = A.e.p[here] * value;
    each_coupling(A, p, at, [&](double w, double beyond) { sum += w * (value - beyond); });
    q.p[here] = sum;
    return value * sum;
  }
};

// r -= alpha q, unless at the start or the steps have ended; the cycle's right-hand side, and at black points its first half-sweep. Returns r^2.
template <Points points, class T> struct SubtractProduct {
  const double *q;
  double *r;
  const T *dinv;
  T *b, *x;
  const Scales *scales;
  double to = 1.0;

  PETSCRRB_HD SubtractProduct read() const { return {q, r, dinv, b, x, nullptr, scales ? scales->to : 1.0}; }
  PETSCRRB_HD double operator()(const StepNumbers &step, index_t here) const {
    const double value = step.ended ? r[here] : r[here] - step.alpha * q[here];
    const T scaled = T(to * value);
    if (!step.ended) r[here] = value;
    b[here] = scaled;
    if (points == Points::black) x[here] = scaled * dinv[here];
    return value * value;
  }
};

// (r, z) of a point; at black ones after the cycle's last half-sweep there.
template <Points points, class T> struct EnergyOf {
  Field<double> r;
  gridmg::Smoothed<T> g;
  Field<T> b, x;
  Unscaled<T> z; // x

  PETSCRRB_HD EnergyOf read() const { return {r, g, b, x, z.read()}; }
  PETSCRRB_HD double operator()(index_t h, index_t row, index_t plane) const {
    const PointAt<points> at(h, row, plane);
    const index_t here = at.in(r);
    if (points == Points::black) gridmg::RelaxPoints<T>{g, b, x, index_t(points)}(h, row, plane);
    return r.p[here] * z(here);
  }
};

// z, in double precision
template <class T> struct CopyUnscaled {
  Unscaled<T> z;
  double *to;

  PETSCRRB_HD void operator()(index_t here) const { to[here] = z(here); }
};

// For sums: the product of two vectors in natural order and in halves, and the square of one.
template <Points points> struct TimesNatural {
  Field<double> u;
  NaturalPoints<const double> r0;

  PETSCRRB_HD double operator()(index_t h, index_t row, index_t plane) const {
    const PointAt<points> at(h, row, plane);
    return u.p[at.in(u)] * r0(at);
  }
};
struct SquareNatural {
  NaturalPoints<const double> u;

  PETSCRRB_HD double operator()(index_t h, index_t row, index_t plane) const {
    const PointAt<Points::all> at(h, row, plane);
    return u(at) * u(at);
  }
};

// x = or += u
struct PutNatural {
  Field<double> u;
  NaturalPoints<double> x;
  bool add;

  PETSCRRB_HD void operator()(index_t h, index_t row, index_t plane) const {
    const PointAt<Points::all> at(h, row, plane);
    const double value = u.p[at.in(u)];
    x(at) = add ? x(at) + value : value;
  }
};

} // namespace petscrrb::rrbsolver
