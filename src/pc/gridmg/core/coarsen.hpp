// One step of coarsening: the matrix of a grid with half as many points in one direction (docs/gridmg.md). Every coarse
// point gathers what is its own: nothing is added up by others, so that threads need no order.
#pragma once

#include "pc/gridmg/core/layout.hpp"

namespace petscrrb::gridmg {

// A grid's matrix: weights of the couplings with the next point in x, y, z, and excesses.
template <class T> struct Operator {
  Field<T> w[3], e;
};
using Matrix = Operator<double>;

struct Point {
  index_t a[3];

  PETSCRRB_HD Point moved(int q, index_t by) const {
    Point p = *this;
    p.a[q] += by;
    return p;
  }
};

// What a point between two coarse ones takes from the left and from the right one. At a coarse point of even place: (0, whole).
struct Shares {
  double left = 0.0, right = 0.0;

  static constexpr double whole = -1.0; // of the right one, and the odd point beside has none: no share is negative
};

// A grid's lines in the direction that is coarsened.
class Lines {
public:
  Lines(const Matrix &A, const Shape &fine, int q) : A_(A), n_(fine.n[q]), nc_(fine.coarser(q).n[q]), ring_(fine.ring[q]), q_(q) {}

  PETSCRRB_HD int direction() const { return q_; }
  PETSCRRB_HD double weight(int t, const Point &p) const { return A_.w[t](p.a); }
  PETSCRRB_HD double excess(const Point &p) const { return A_.e(p.a); }
  PETSCRRB_HD bool dead(const Point &p) const {
    for (int t = 0; t < 3; ++t)
      if (weight(t, p) != 0.0 || weight(t, p.moved(t, -1)) != 0.0) return false;
    return true;
  }
  // Whether the coarse point of the pair is its even one.
  PETSCRRB_HD bool even_is_coarse(const Point &even) const {
    if (even.a[q_] == n_ - 1) return ring_; // nobody beside it
    return weight(q_, even) == 0.0 && dead(even.moved(q_, 1)) && !dead(even);
  }
  // coarse point I of the line through p; p's own place on it does not matter
  PETSCRRB_HD Point coarse(Point p, index_t I) const {
    p.a[q_] = 2 * I;
    if (!even_is_coarse(p)) p.a[q_] += 1;
    return p;
  }
  // The even point that follows coarse point I, by which it reaches further; -1: there is none.
  PETSCRRB_HD index_t right_of(index_t I) const { return 2 * I + 2 < n_ ? 2 * I + 2 : (ring_ ? 0 : -1); }

  PETSCRRB_HD Shares shares(const Point &even) const {
    if (even_is_coarse(even)) return {0.0, Shares::whole};
    const double before = weight(q_, even.moved(q_, -1)), after = weight(q_, even), s = before + after + excess(even);
    if (!(s > 0.0)) return {};
    return {before / s, after / s};
  }
  // the coarse weight between I and I + 1 on the line through p
  PETSCRRB_HD double along(const Point &p, index_t I) const {
    if (nc_ == 1 || (I == nc_ - 1 && !ring_)) return 0.0;
    const Point c = coarse(p, I);
    Point next = c.moved(q_, 1);
    if (next.a[q_] == n_) next.a[q_] = 0;
    if (next.a[q_] & 1) return 0.0; // dead
    const Shares between = shares(next);
    return between.right == Shares::whole ? weight(q_, c) : between.left * weight(q_, next);
  }
  PETSCRRB_HD index_t left_coarse(index_t I) const { return I > 0 ? I - 1 : nc_ - 1; }
  PETSCRRB_HD bool has_left(index_t I) const { return I > 0 || ring_; }

private:
  Matrix A_;
  index_t n_, nc_;
  bool ring_;
  int q_;
};

// How a coupling of the even points at one place of two neighbouring lines is dealt out to their coarse points on the left and
// on the right.
struct Deal {
  double left, right;
};

PETSCRRB_HD inline Deal deal(const Lines &lines, const Point &p, int t) {
  constexpr double nothing = 1e-10; // less would tie what is separate
  const Point across = p.moved(t, 1);
  Shares a = lines.shares(p), b = lines.shares(across);
  a.right = fabs(a.right), b.right = fabs(b.right);
  Deal d{a.left < b.left ? a.left : b.left, a.right < b.right ? a.right : b.right};
  double more_left = a.left - b.left, more_right = a.right - b.right;
  const index_t I = p.a[lines.direction()] / 2;
  if (more_left * more_right < 0.0) {
    const double size_left = fabs(more_left), size_right = fabs(more_right), m = size_left < size_right ? size_left : size_right;
    const bool joined = lines.has_left(I);
    const double here = joined ? lines.along(p, lines.left_coarse(I)) : 0.0,
                 there = joined ? lines.along(across, lines.left_coarse(I)) : 0.0;
    const double part = here + there > 0.0 ? there / (here + there) : 0.5;
    d.left += more_left > 0.0 ? m * part : m * (1.0 - part);
    d.right += more_left > 0.0 ? m * (1.0 - part) : m * part;
    more_left = size_left - m, more_right = size_right - m;
  }
  more_left = fabs(more_left), more_right = fabs(more_right);
  if (more_left > nothing) d.left += 0.5 * more_left;
  if (more_right > nothing) d.right += 0.5 * more_right;
  return d;
}

// The coarse matrix at one of its points.
struct CoarsePoint {
  Lines lines;
  Matrix to;
  index_t n;    // fine points of a line
  index_t rows; // of y in the coarse grid

  PETSCRRB_HD void operator()(index_t i, index_t row) const {
    const Point at{{i, row % rows, row / rows}};
    const int q = lines.direction();
    const index_t I = at.a[q], right = lines.right_of(I);
    const Point c = lines.coarse(at, I);
    Point even = at, odd = at, after = at;
    even.a[q] = 2 * I, odd.a[q] = 2 * I + 1, after.a[q] = right;
    to.w[q](at.a) = lines.along(at, I);
    double e = lines.excess(c);
    if (c.a[q] != even.a[q]) e += lines.shares(even).right * lines.excess(even);
    if (right >= 0) e += lines.shares(after).left * lines.excess(after);
    to.e(at.a) = e;
    for (int t = 0; t < 3; ++t) {
      if (t == q) continue;
      double w = odd.a[q] < n ? lines.weight(t, odd) : 0.0;
      const double at_even = lines.weight(t, even);
      if (at_even != 0.0) w += at_even * deal(lines, even, t).right;
      const double at_right = right >= 0 ? lines.weight(t, after) : 0.0;
      if (at_right != 0.0) w += at_right * deal(lines, after, t).left;
      to.w[t](at.a) = w;
    }
  }
};

// Prolongation and its transpose, by what the even points take from their neighbours.
template <class T> struct Transfer {
  Field<T> left, right; // at half of their place in direction q
  int q = 0;
  index_t n = 0, nc = 0; // fine and coarse points of a line
  bool ring = false;
};

template <class T> struct StoreShares {
  Lines lines;
  Transfer<T> to;
  index_t rows; // of y

  PETSCRRB_HD void operator()(index_t i, index_t row) const {
    Point at{{i, row % rows, row / rows}};
    Point even = at;
    even.a[to.q] *= 2;
    const Shares s = lines.shares(even);
    to.left(at.a) = T(s.left);
    to.right(at.a) = T(s.right);
  }
};

// Rows of one parity of x, one after the other: which one, and where.
struct RowOf {
  index_t parity, j, k;

  PETSCRRB_HD RowOf(index_t line, index_t rows) : parity(line & 1), j((line >> 1) % rows), k((line >> 1) / rows) {}
};

// At a coarse point: its part of the residual. Around a ring in x the last point lacks what RestrictAround adds.
template <class T, int q> struct Restrict {
  Transfer<T> by;
  Field<T> r, to;
  index_t rows; // of y in the coarse grid

  PETSCRRB_HD void operator()(index_t h, index_t line) const {
    const RowOf at(line, rows);
    T *out = to.row(at.parity, at.j, at.k);
    if (q == 0) {
      const index_t I = 2 * h + at.parity;
      const T *even = r.row(0, at.j, at.k), *odd = r.row(1, at.j, at.k);
      const T right = by.right.row(at.parity, at.j, at.k)[h], left = by.left.row(1 - at.parity, at.j, at.k)[h + at.parity];
      out[h] = (right < T(0) ? even[I] : odd[I] + right * even[I]) + left * even[I + 1];
      return;
    }
    const index_t I = q == 1 ? at.j : at.k, after = 2 * I + 2 < by.n ? 2 * I + 2 : (by.ring ? 0 : by.n);
    const T *even = fine(at, 2 * I), *odd = fine(at, 2 * I + 1), *next = fine(at, after);
    const T right = share(by.right, at, I)[h], left = after < by.n ? share(by.left, at, after / 2)[h] : T(0);
    out[h] = (right < T(0) ? even[h] : odd[h] + right * even[h]) + left * next[h];
  }

private:
  PETSCRRB_HD T *fine(const RowOf &at, index_t i) const {
    return q == 1 ? r.row(at.parity, i, at.k) : r.row(at.parity, at.j, i);
  }
  PETSCRRB_HD static T *share(const Field<T> &f, const RowOf &at, index_t i) {
    return q == 1 ? f.row(at.parity, i, at.k) : f.row(at.parity, at.j, i);
  }
};
template <class T> struct RestrictAround {
  Transfer<T> by;
  Field<T> r, to;

  PETSCRRB_HD void operator()(index_t j, index_t k) const { to(by.nc - 1, j, k) += by.left(0, j, k) * r(0, j, k); }
};

// At a pair of fine points: the correction of the coarse grid, whose rings are filled, added or written.
template <class T, int q, bool add> struct Prolong {
  Transfer<T> by;
  Field<T> from, to;
  index_t rows; // of y in the pairs' grid

  PETSCRRB_HD void operator()(index_t h, index_t line) const {
    const RowOf at(line, rows);
    const T right = by.right.row(at.parity, at.j, at.k)[h], left = by.left.row(at.parity, at.j, at.k)[h];
    if (q == 0) {
      const index_t I = 2 * h + at.parity;
      const T here = from.row(at.parity, at.j, at.k)[h], there = from.row(1 - at.parity, at.j, at.k)[h - 1 + at.parity];
      put(to.row(0, at.j, at.k) + I, right < T(0) ? here : left * there + right * here);
      put(to.row(1, at.j, at.k) + I, right < T(0) ? T(0) : here);
      return;
    }
    const index_t I = q == 1 ? at.j : at.k;
    const T here = row(from, at, I)[h], there = row(from, at, I - 1)[h];
    put(row(to, at, 2 * I) + h, right < T(0) ? here : left * there + right * here);
    if (2 * I + 1 < by.n) put(row(to, at, 2 * I + 1) + h, right < T(0) ? T(0) : here);
  }

private:
  PETSCRRB_HD static T *row(const Field<T> &f, const RowOf &at, index_t i) {
    return q == 1 ? f.row(at.parity, i, at.k) : f.row(at.parity, at.j, i);
  }
  PETSCRRB_HD static void put(T *at, T value) {
    if (add)
      *at += value;
    else
      *at = value;
  }
};

} // namespace petscrrb::gridmg
