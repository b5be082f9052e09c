// Half-sweeps of the smoothers, and the residual, point by point (docs/numerics_gridmg.md).
#pragma once

#include "pc/gridmg/core/coarsen.hpp"

namespace petscrrb::gridmg {

// A grid as its smoother sees it.
template <class T> struct Smoothed {
  Field<T> w[3], dinv; // 1 / d; 0 where d is 0
};

// The sum of weights times neighbours, but for those in direction `without`, at the point of half x h and that parity of x.
template <class T, int without = -1>
PETSCRRB_HD inline T neighbours(const Smoothed<T> &g, const Field<T> &x, index_t parity, index_t j, index_t k,
                                index_t h) {
  const index_t here = x.place(parity, j, k) + h, west = x.place(1 - parity, j, k) + h - 1 + parity, east = west + 1,
                south = here - x.pitch, north = here + x.pitch, below = here - x.plane, above = here + x.plane;
  T sum = T(0);
  if (without != 0) sum += g.w[0].p[west] * x.p[west] + g.w[0].p[here] * x.p[east];
  if (without != 1) sum += g.w[1].p[south] * x.p[south] + g.w[1].p[here] * x.p[north];
  if (without != 2) sum += g.w[2].p[below] * x.p[below] + g.w[2].p[here] * x.p[above];
  return sum;
}

// The points of one colour. first: x is 0.
template <class T, bool first = false> struct RelaxPoints {
  Smoothed<T> g;
  Field<T> b, x;
  index_t colour;

  PETSCRRB_HD void operator()(index_t h, index_t j, index_t k) const {
    const index_t parity = (colour + j + k) & 1, here = x.place(parity, j, k) + h;
    T sum = b.p[here];
    if (!first) sum += neighbours(g, x, parity, j, k, h);
    x.p[here] = sum * g.dinv.p[here];
  }
};

// The black points after the first half-sweep on red ones, of whose values, b / d, nothing is stored.
template <class T> struct RelaxBlackFirst {
  Smoothed<T> g;
  Field<T> b, x;

  PETSCRRB_HD void operator()(index_t h, index_t j, index_t k) const {
    const index_t parity = (1 + j + k) & 1, here = x.place(parity, j, k) + h,
                  west = x.place(1 - parity, j, k) + h - 1 + parity, east = west + 1;
    const auto red = [&](index_t at) { return b.p[at] * g.dinv.p[at]; };
    T sum = b.p[here];
    sum += g.w[0].p[west] * red(west) + g.w[0].p[here] * red(east);
    sum += g.w[1].p[here - x.pitch] * red(here - x.pitch) + g.w[1].p[here] * red(here + x.pitch);
    sum += g.w[2].p[here - x.plane] * red(here - x.plane) + g.w[2].p[here] * red(here + x.plane);
    x.p[here] = sum * g.dinv.p[here];
  }
};

// r = b - A x at the points of one colour; of_first: x there was b / d, so that only the others' values count.
template <class T, bool of_first = false> struct Residual {
  Smoothed<T> g;
  Field<T> b, x, r;
  index_t colour;

  PETSCRRB_HD void operator()(index_t h, index_t j, index_t k) const {
    const index_t parity = (colour + j + k) & 1, here = x.place(parity, j, k) + h;
    T value = neighbours(g, x, parity, j, k, h);
    if (!of_first) {
      const T dinv = g.dinv.p[here];
      value += b.p[here] - (dinv != T(0) ? x.p[here] / dinv : T(0));
    }
    r.p[here] = value;
  }
};

// From the matrix: what a smoother needs of it, but for what is around rings; by rows of both parities of x.
template <class T> struct SetSmoother {
  Matrix A;
  Smoothed<T> to;
  double scale;

  PETSCRRB_HD void operator()(index_t h, index_t row, index_t plane) const {
    const RowOf at(row, plane);
    const index_t here = A.e.place(at.parity, at.j, at.k) + h,
                  west = A.e.place(1 - at.parity, at.j, at.k) + h - 1 + at.parity;
    const double w[3] = {A.w[0].p[here], A.w[1].p[here], A.w[2].p[here]};
    double d = A.e.p[here];
    d += w[0] + A.w[0].p[west];
    d += w[1] + A.w[1].p[here - A.e.pitch];
    d += w[2] + A.w[2].p[here - A.e.plane];
    for (int q = 0; q < 3; ++q) to.w[q].p[here] = T(scale * w[q]);
    to.dinv.p[here] = d > 0.0 ? T(1.0 / (scale * d)) : T(0);
  }
};

// On the way forward along a line: what a point has so far. Where there is no pivot, its part of the line is singular by itself
// and keeps the value at its end, which makes the correction one of the others alone; a point without a diagonal is 0, but for NaN.
template <class T> PETSCRRB_HD inline T line_value(T sum, T inverse, T dinv, T old) {
  return inverse != T(0) ? sum : (dinv != T(0) ? old : T(0) * sum);
}

// What of its lines a rank has, and what is to be done. Forward x before the first point is the value there so far times its inverse
// pivot, backward x after the last one is the solution there.
struct PartOfLines {
  bool first = true, last = true; // whether it has the first point, and the last one
  bool forward = true, backward = true;
};

// The pivots of one line, inverted, in direction q; a, b: its place in the other two. carry: where what is carried on from another
// rank's last point comes from, before the first one, and at the last one goes to.
template <class T> struct Pivots {
  Matrix A;
  Field<T> inverse, carry;
  int q;
  index_t n;
  double scale;
  PartOfLines part;

  PETSCRRB_HD void operator()(index_t a, index_t b) const {
    double carried = part.first ? 0.0 : double(carry(Point::of_line(q, -1, a, b).a)) / scale;
    for (index_t i = 0; i < n; ++i) {
      const Point p = Point::of_line(q, i, a, b);
      double rest = A.e(p.a);
      for (const int t : {first_across(q), second_across(q)}) rest += A.pair(t, p);
      // the coupling around a ring stays on the diagonal of both ends
      if (i == 0 && part.first) rest += A.w[q](p.moved(q, -1).a);
      const double along = A.w[q](p.a), sigma = rest + carried, pivot = sigma + along;
      inverse(p.a) = pivot > 0.0 ? T(1.0 / (scale * pivot)) : T(0);
      carried = pivot > 0.0 ? along * sigma / pivot : 0.0;
    }
    if (!part.last) carry(Point::of_line(q, n - 1, a, b).a) = T(scale * carried);
  }
};

// What the next rank's part of a line goes on from: that of the i-th point.
template <class T> struct CarryLines {
  Field<T> inverse; // times this; NULL: 1
  Field<T> from, to;
  int q;
  index_t i;

  PETSCRRB_HD void operator()(index_t a, index_t b) const {
    const Point p = Point::of_line(q, i, a, b);
    to(p.a) = inverse.p ? inverse(p.a) * from(p.a) : from(p.a);
  }
};

} // namespace petscrrb::gridmg
