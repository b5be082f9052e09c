// One step of coarsening: the matrix of a grid with half as many points in one direction (docs/pcgridmg.md). Every coarse
// point gathers what is its own: nothing is added up by others, so that threads need no order.
#pragma once

#include "pc/gridmg/core/layout.hpp"

namespace petscrrb::gridmg {

// The two directions across q.
PETSCRRB_HD constexpr int first_across(int q) { return q == 0 ? 1 : 0; }
PETSCRRB_HD constexpr int second_across(int q) { return q == 2 ? 1 : 2; }

struct Point {
  index_t a[3];

  // the i-th of a line in direction q; a, b: its place across
  PETSCRRB_HD static Point of_line(int q, index_t i, index_t a, index_t b) {
    Point p{{0, 0, 0}};
    p.a[q] = i, p.a[first_across(q)] = a, p.a[second_across(q)] = b;
    return p;
  }

  PETSCRRB_HD Point moved(int q, index_t by) const {
    Point p = *this;
    p.a[q] += by;
    return p;
  }
};

// A grid's matrix: weights of the couplings with the next point in x, y, z, and excesses.
struct Matrix {
  Field<double> w[3], e;

  // both couplings of a point in direction q
  PETSCRRB_HD double pair(int q, const Point &p) const { return w[q](p.a) + w[q](p.moved(q, -1).a); }
};

// What the even points of all lines take from the coarse points on their left and right, at half of their place in direction q.
template <class T> struct Transfer {
  Field<T> left, right;
  int q = 0;
  index_t n = 0, nc = 0; // fine and coarse points of a line
  bool ring = false;

  // In `right`, where no share is negative: the even point is the coarse one, and the odd one beside it is dead, or there is
  // none; or both are dead.
  static constexpr T whole = T(-1), none = T(-2);
  // what a coarse point has of its pair's two, and they of it
  PETSCRRB_HD static T of_even(T right) { return right < T(0) ? right + T(2) : right; }
  PETSCRRB_HD static T of_odd(T right) { return right < T(0) ? T(0) : T(1); }

  // The even place that follows coarse point I, which reaches so far; -1: there is none.
  PETSCRRB_HD index_t after(index_t I) const { return 2 * I + 2 < n ? 2 * I + 2 : (ring ? 0 : -1); }
};

// The steps of one coarsening, each a loop. First the shares of the even points.
struct FindShares {
  Matrix A;
  Transfer<double> to;

  PETSCRRB_HD void operator()(index_t i, index_t j, index_t k) const {
    const Point at{{i, j, k}};
    Point even = at;
    even.a[to.q] *= 2;
    const double before = A.w[to.q](even.moved(to.q, -1).a), after = A.w[to.q](even.a),
                 s = before + after + A.e(even.a);
    double left = s > 0.0 ? before / s : 0.0, right = s > 0.0 ? after / s : 0.0;
    const bool alone = even.a[to.q] == to.n - 1;
    if (alone ? to.ring : after == 0.0 && dead(even.moved(to.q, 1)))
      left = 0.0, right = dead(even) ? Transfer<double>::none : Transfer<double>::whole;
    to.left(at.a) = left;
    to.right(at.a) = right;
  }

private:
  PETSCRRB_HD bool dead(const Point &p) const {
    for (int t = 0; t < 3; ++t)
      if (A.w[t](p.a) != 0.0 || A.w[t](p.moved(t, -1).a) != 0.0) return false;
    return true;
  }
};

// Then the couplings along the lines, and the excesses.
struct CoarsenLines {
  Matrix A, to;
  Transfer<double> by;

  PETSCRRB_HD void operator()(index_t i, index_t j, index_t k) const {
    const Point at{{i, j, k}};
    const int q = by.q;
    const index_t I = at.a[q], after = by.after(I);
    Point even = at, next = at, share = at;
    even.a[q] = 2 * I, next.a[q] = after, share.a[q] = after / 2;
    const double right = by.right(at.a);
    const Point coarse = right < 0.0 ? even : even.moved(q, 1);
    double e = right == Transfer<double>::none ? 0.0 : A.e(coarse.a), w = 0.0;
    if (right > 0.0) e += right * A.e(even.a);
    if (after >= 0) {
      const double left = by.left(share.a);
      e += left * A.e(next.a);
      // where the next even point is the coarse one, this one's neighbour is it; or there is a dead point between
      w = by.right(share.a) < 0.0 ? A.w[q](coarse.a) : left * A.w[q](next.a);
    }
    const bool last = I == by.nc - 1 && !by.ring;
    to.w[q](at.a) = last || by.nc == 1 ? 0.0 : w;
    to.e(at.a) = e;
  }
};

// Last those across them, in direction t.
struct CoarsenAcross {
  Matrix A, to; // `to` has those along the lines, around rings, too
  Transfer<double> by;
  int t;

  PETSCRRB_HD void operator()(index_t i, index_t j, index_t k) const {
    const Point at{{i, j, k}};
    const int q = by.q;
    const index_t I = at.a[q], after = by.after(I);
    Point even = at, next = at;
    even.a[q] = 2 * I, next.a[q] = after;
    double w = even.a[q] + 1 < by.n ? A.w[t](even.moved(q, 1).a) : 0.0, left, right;
    const double at_even = A.w[t](even.a), at_next = after >= 0 ? A.w[t](next.a) : 0.0;
    if (at_even != 0.0) {
      deal(at, I, left, right);
      w += at_even * right;
    }
    if (at_next != 0.0) {
      deal(at, after / 2, left, right);
      w += at_next * left;
    }
    to.w[t](at.a) = w;
  }

private:
  // How a coupling of the even points at place 2I, of the line through p and of the next one in direction t, is dealt out to
  // their coarse points on the left and on the right.
  PETSCRRB_HD void deal(Point p, index_t I, double &left, double &right) const {
    constexpr double nothing = 1e-10; // less would tie what is separate
    p.a[by.q] = I;
    const Point other = p.moved(t, 1);
    const double here[2] = {by.left(p.a), by.of_even(by.right(p.a))},
                 there[2] = {by.left(other.a), by.of_even(by.right(other.a))};
    double more[2] = {here[0] - there[0], here[1] - there[1]};
    left = here[0] < there[0] ? here[0] : there[0];
    right = here[1] < there[1] ? here[1] : there[1];
    if (more[0] * more[1] < 0.0) {
      const bool mine = more[0] > 0.0;
      const double m = fabs(more[0]) < fabs(more[1]) ? fabs(more[0]) : fabs(more[1]), part = share_of_left(p, other);
      left += m * (mine ? part : 1.0 - part);
      right += m * (mine ? 1.0 - part : part);
      more[0] = fabs(more[0]) - m, more[1] = fabs(more[1]) - m;
    }
    // a point with nothing along its line has no coarse point that the other one's could be coupled with
    if (here[0] + here[1] == 0.0 || there[0] + there[1] == 0.0) return;
    if (fabs(more[0]) > nothing) left += 0.5 * fabs(more[0]);
    if (fabs(more[1]) > nothing) right += 0.5 * fabs(more[1]);
  }
  // of a coupling of p's left coarse point with the other line's right one
  PETSCRRB_HD double share_of_left(Point p, Point other) const {
    if (p.a[by.q] == 0 && !by.ring) return 0.5;
    const index_t before = p.a[by.q] > 0 ? p.a[by.q] - 1 : by.nc - 1;
    p.a[by.q] = other.a[by.q] = before;
    const double along_here = to.w[by.q](p.a), along_there = to.w[by.q](other.a);
    return along_here + along_there > 0.0 ? along_there / (along_here + along_there) : 0.5;
  }
};

PETSCRRB_HD inline bool is_red(index_t i, index_t j, index_t k) { return !((i + j + k) & 1); }

// Which row it is, and of which parity of x, where the rows of both are side by side.
struct RowOf {
  index_t parity, j, k;

  PETSCRRB_HD RowOf(index_t row, index_t plane) : parity(row & 1), j(row >> 1), k(plane) {}
};

// At a coarse point: its part of the residual. Around a ring in x the last point lacks what RestrictAround adds. reds: r is
// only there at red points, and 0 at the others.
template <class T, int q> struct Restrict {
  Transfer<T> by;
  Field<T> r, to;
  bool reds;

  PETSCRRB_HD void operator()(index_t h, index_t row, index_t plane) const {
    const RowOf at(row, plane);
    T *out = to.row(at.parity, at.j, at.k);
    if (q == 0) {
      const index_t I = 2 * h + at.parity;
      const T *even = r.row(0, at.j, at.k), *odd = r.row(1, at.j, at.k);
      const T right = by.right.row(at.parity, at.j, at.k)[h],
              left = by.left.row(1 - at.parity, at.j, at.k)[h + at.parity];
      const bool even_there = !reds || is_red(0, at.j, at.k), odd_there = !reds || !even_there;
      T sum = T(0);
      if (odd_there) sum += by.of_odd(right) * odd[I];
      if (even_there) sum += by.of_even(right) * even[I] + left * even[I + 1];
      out[h] = sum;
      return;
    }
    const index_t I = q == 1 ? at.j : at.k, other = q == 1 ? at.k : at.j, after = by.after(I);
    const auto along = [&](const Field<T> &f, index_t i) { return f.template row_along<q>(at.parity, i, other); };
    const T *even = along(r, 2 * I), *odd = along(r, 2 * I + 1), *next = along(r, after); // -1: what is around the grid
    const T right = along(by.right, I)[h], left = after >= 0 ? along(by.left, after / 2)[h] : T(0);
    const bool even_there = !reds || is_red(at.parity, other, 0), odd_there = !reds || !even_there;
    T sum = T(0);
    if (odd_there) sum += by.of_odd(right) * odd[h];
    if (even_there) sum += by.of_even(right) * even[h] + left * next[h];
    out[h] = sum;
  }
};
template <class T> struct RestrictAround {
  Transfer<T> by;
  Field<T> r, to;
  bool reds;

  PETSCRRB_HD void operator()(index_t j, index_t k) const {
    if (!reds || is_red(0, j, k)) to(by.nc - 1, j, k) += by.left(0, j, k) * r(0, j, k);
  }
};

// At a pair of fine points: the correction of the coarse grid, whose rings are filled, added or written. reds: to the red one of
// the two alone.
template <class T, int q, bool add> struct Prolong {
  Transfer<T> by;
  Field<T> from, to;
  bool reds;

  PETSCRRB_HD void operator()(index_t h, index_t row, index_t plane) const {
    const RowOf at(row, plane);
    const T right = by.right.row(at.parity, at.j, at.k)[h], left = by.left.row(at.parity, at.j, at.k)[h];
    if (q == 0) {
      const index_t I = 2 * h + at.parity;
      const T here = from.row(at.parity, at.j, at.k)[h], there = from.row(1 - at.parity, at.j, at.k)[h - 1 + at.parity];
      const bool even = is_red(0, at.j, at.k);
      if (!reds || even) put(to.row(0, at.j, at.k) + I, left * there + by.of_even(right) * here);
      if (!reds || !even) put(to.row(1, at.j, at.k) + I, by.of_odd(right) * here);
      return;
    }
    const index_t I = q == 1 ? at.j : at.k, other = q == 1 ? at.k : at.j;
    const auto along = [&](const Field<T> &f, index_t i) { return f.template row_along<q>(at.parity, i, other); };
    const T here = along(from, I)[h], there = along(from, I - 1)[h];
    const bool even = is_red(at.parity, other, 0);
    if (!reds || even) put(along(to, 2 * I) + h, left * there + by.of_even(right) * here);
    if (2 * I + 1 < by.n && (!reds || !even)) put(along(to, 2 * I + 1) + h, by.of_odd(right) * here);
  }

private:
  PETSCRRB_HD static void put(T *at, T value) {
    if (add)
      *at += value;
    else
      *at = value;
  }
};

} // namespace petscrrb::gridmg
