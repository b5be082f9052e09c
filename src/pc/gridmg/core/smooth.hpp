// Half-sweeps of the smoothers, and the residual, point by point (docs/pcgridmg.md).
#pragma once

#include "pc/gridmg/core/coarsen.hpp"

namespace petscrrb::gridmg {

// A grid as its smoother sees it.
template <class T> struct Smoothed {
  Field<T> w[3], dinv; // 1 / d; 0 where d is 0
  index_t rows;        // of y
};

// A point's row of the matrix, by the parity of its x; h: half of x.
template <class T> struct Row {
  T *own, *other;                         // of this row, by parity
  const T *south, *north, *below, *above; // of the rows beside it, of this parity

  PETSCRRB_HD Row(const Field<T> &x, index_t parity, index_t j, index_t k)
      : own(x.row(parity, j, k)), other(x.row(1 - parity, j, k)), south(x.row(parity, j - 1, k)),
        north(x.row(parity, j + 1, k)), below(x.row(parity, j, k - 1)), above(x.row(parity, j, k + 1)) {}
};

// The sum of weights times neighbours, but for those in direction `without`.
template <class T, int without = -1>
PETSCRRB_HD inline T neighbours(const Smoothed<T> &g, const Field<T> &x, index_t parity, index_t j, index_t k,
                                index_t h) {
  const Row<T> v(x, parity, j, k);
  const index_t west = h - 1 + parity, east = h + parity;
  T sum = T(0);
  if (without != 0)
    sum += g.w[0].row(1 - parity, j, k)[west] * v.other[west] + g.w[0].row(parity, j, k)[h] * v.other[east];
  if (without != 1) sum += g.w[1].row(parity, j - 1, k)[h] * v.south[h] + g.w[1].row(parity, j, k)[h] * v.north[h];
  if (without != 2) sum += g.w[2].row(parity, j, k - 1)[h] * v.below[h] + g.w[2].row(parity, j, k)[h] * v.above[h];
  return sum;
}

// The points of one colour. first: x is 0.
template <class T, bool first = false> struct RelaxPoints {
  Smoothed<T> g;
  Field<T> b, x;
  index_t colour;

  PETSCRRB_HD void operator()(index_t h, index_t row) const {
    const index_t j = row % g.rows, k = row / g.rows, parity = (colour + j + k) & 1;
    T sum = b.row(parity, j, k)[h];
    if (!first) sum += neighbours(g, x, parity, j, k, h);
    x.row(parity, j, k)[h] = sum * g.dinv.row(parity, j, k)[h];
  }
};

// r = b - A x at the points of one colour; of_first: x there was b / d, so that only the others' values count.
template <class T, bool of_first = false> struct Residual {
  Smoothed<T> g;
  Field<T> b, x, r;
  index_t colour;

  PETSCRRB_HD void operator()(index_t h, index_t row) const {
    const index_t j = row % g.rows, k = row / g.rows, parity = (colour + j + k) & 1;
    const T dinv = g.dinv.row(parity, j, k)[h], sum = neighbours(g, x, parity, j, k, h);
    T value = sum;
    if (!of_first) value += b.row(parity, j, k)[h] - (dinv != T(0) ? x.row(parity, j, k)[h] / dinv : T(0));
    r.row(parity, j, k)[h] = value;
  }
};

// From the matrix: what a smoother needs of it.
template <class T> struct Diagonal {
  Matrix A;
  Field<T> dinv;
  index_t rows;

  PETSCRRB_HD void operator()(index_t i, index_t row) const {
    const Point p{{i, row % rows, row / rows}};
    double d = A.e(p.a);
    for (int q = 0; q < 3; ++q) d += A.w[q](p.a) + A.w[q](p.moved(q, -1).a);
    dinv(p.a) = d > 0.0 ? T(1.0 / d) : T(0);
  }
};

// On the way forward along a line: what a point has so far. Where there is no pivot, its part of the line is singular by itself
// and keeps the value at its end, which makes the correction one of the others alone; a point without a diagonal is 0.
template <class T> PETSCRRB_HD inline T line_value(T sum, T inverse, T dinv, T old) {
  return inverse != T(0) ? sum : (dinv != T(0) ? old : T(0));
}

// The pivots of one line, inverted, in direction q; a, b: its place in the other two.
template <class T> struct Pivots {
  Matrix A;
  Field<T> inverse;
  int q;
  index_t n;

  PETSCRRB_HD void operator()(index_t a, index_t b) const {
    Point p{{0, 0, 0}};
    p.a[q == 0 ? 1 : 0] = a;
    p.a[q == 2 ? 1 : 2] = b;
    double carried = 0.0;
    for (index_t i = 0; i < n; ++i) {
      p.a[q] = i;
      double rest = A.e(p.a);
      for (int t = 0; t < 3; ++t)
        if (t != q) rest += A.w[t](p.a) + A.w[t](p.moved(t, -1).a);
      // the coupling around a ring stays on the diagonal of both ends
      if (i == 0) rest += A.w[q](p.moved(q, -1).a);
      const double along = A.w[q](p.a), sigma = rest + carried, pivot = sigma + along;
      inverse(p.a) = pivot > 0.0 ? T(1.0 / pivot) : T(0);
      carried = pivot > 0.0 ? along * sigma / pivot : 0.0;
    }
  }
};

} // namespace petscrrb::gridmg
