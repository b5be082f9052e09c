// One step of coarsening: the matrix of a grid with half as many points in one direction (docs/numerics_gridmg.md). Every coarse
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

// f(point) at all points, in natural order
template <class F> void each_point(const Sizes &n, const F &f) {
  for (index_t k = 0; k < n[2]; ++k)
    for (index_t j = 0; j < n[1]; ++j)
      for (index_t i = 0; i < n[0]; ++i) f(Point{{i, j, k}});
}

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
  bool ring = false, more_before = false, more_after = false;

  // In `right`, where no share is negative: the even point is the coarse one, and the odd one beside it is dead, or there is
  // none; or both are dead.
  static constexpr T whole = T(-1), none = T(-2);
  // what a coarse point has of its pair's two, and they of it
  PETSCRRB_HD static T of_even(T right) { return right + (right < T(0) ? T(2) : T(0)); }
  PETSCRRB_HD static T of_odd(T right) { return right < T(0) ? T(0) : T(1); }

  // The even place that follows coarse point I, which reaches so far; -1: there is none.
  PETSCRRB_HD index_t after(index_t I) const { return 2 * I + 2 < end() ? 2 * I + 2 : (ring ? 0 : -1); }
  // Behind the last point that there is, here or in what is around the box.
  PETSCRRB_HD index_t end() const { return n + more_after; }
};

// The steps of one coarsening, each a loop. First the shares of the even points; T: also in the cycle's precision.
template <class T> struct FindShares {
  Matrix A;
  Transfer<double> to;
  Transfer<T> rounded;

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
    to.left(at.a) = left, to.right(at.a) = right;
    rounded.left(at.a) = T(left), rounded.right(at.a) = T(right);
  }

private:
  PETSCRRB_HD bool dead(const Point &p) const {
    for (int t = 0; t < 3; ++t)
      if (A.w[t](p.a) != 0.0 || A.w[t](p.moved(t, -1).a) != 0.0) return false;
    return true;
  }
};

// Which row it is, and of which parity of x, where the rows of both are side by side.
struct RowOf {
  index_t parity, j, k;

  PETSCRRB_HD RowOf(index_t row, index_t plane) : parity(row & 1), j(row >> 1), k(plane) {}
};

// Then the coarse matrix; by rows of one parity of x, so that what neighbouring threads read is side by side.
template <int q> struct Coarsen {
  Matrix A, to;
  Transfer<double> by;

  PETSCRRB_HD void operator()(index_t h, index_t row, index_t plane) const {
    const Line here(RowOf(row, plane), h);
    const index_t I = here.coarse;
    here.at(to.e, I) = excess(here, I);
    here.at(to.w[q], I) = along(here, I);
    here.at(to.w[first_across(q)], I) = across<first_across(q)>(here, I);
    here.at(to.w[second_across(q)], I) = across<second_across(q)>(here, I);
  }

private:
  // A line in direction q, of which x are by half; `coarse` is where a thread is.
  struct Line {
    index_t parity, j, k, h, coarse;

    PETSCRRB_HD Line(const RowOf &r, index_t half)
        : parity(r.parity), j(r.j), k(r.k), h(half), coarse(q == 0   ? 2 * half + r.parity
                                                            : q == 1 ? r.j
                                                                     : r.k) {}
    template <int t> PETSCRRB_HD Line next() const {
      Line l = *this;
      if (t == 0) l.parity = 1 - parity, l.h += parity;
      if (t == 1) ++l.j;
      if (t == 2) ++l.k;
      return l;
    }
    // of what has a number for each pair of points, or coarse point, that at I
    PETSCRRB_HD double &at(const Field<double> &f, index_t I) const {
      if (q == 0) return f.row(I & 1, j, k)[I >> 1];
      return q == 1 ? f.row(parity, I, k)[h] : f.row(parity, j, I)[h];
    }
    // of the fine ones, the even or the odd one of pair I
    PETSCRRB_HD double fine(const Field<double> &f, index_t I, index_t odd) const {
      if (q == 0) return f.row(odd, j, k)[I];
      return at(f, 2 * I + odd);
    }
  };

  PETSCRRB_HD double excess(const Line &line, index_t I) const {
    const index_t after = by.after(I);
    const double right = line.at(by.right, I);
    double e = right == Transfer<double>::none ? 0.0 : line.fine(A.e, I, right < 0.0 ? 0 : 1);
    if (right > 0.0) e += right * line.fine(A.e, I, 0);
    if (after >= 0) e += line.at(by.left, after / 2) * line.fine(A.e, after / 2, 0);
    return e;
  }

  // The coupling of coarse point I with the next one of its line; I may be the one before the first.
  PETSCRRB_HD double along(const Line &line, index_t I) const {
    if (I < 0 && !by.ring && !by.more_before) return 0.0;
    if (I < 0 && by.ring) I = by.nc - 1;
    const index_t after = by.after(I);
    if (after < 0 || (I == by.nc - 1 && !by.ring && !by.more_after) || (by.ring && by.nc == 1)) return 0.0;
    const index_t next = after / 2;
    if (line.at(by.right, next) >= 0.0) return line.at(by.left, next) * line.fine(A.w[q], next, 0);
    // the next even point is the coarse one: this one's neighbour, or there is a dead point between
    const bool odd = line.at(by.right, I) >= 0.0;
    return odd || I >= 0 ? line.fine(A.w[q], I, odd) : 0.0;
  }

  // That with the coarse point of the next line in direction t.
  template <int t> PETSCRRB_HD double across(const Line &here, index_t I) const {
    const Line there = here.template next<t>();
    const index_t after = by.after(I), next = after < 0 ? I : after / 2;
    double w = 2 * I + 1 < by.n ? here.fine(A.w[t], I, 1) : 0.0, left, right;
    deal(here, there, I, I - 1, left, right);
    w += here.fine(A.w[t], I, 0) * right;
    deal(here, there, next, I, left, right);
    return w + (after < 0 ? 0.0 : here.fine(A.w[t], next, 0)) * left;
  }

  // How a coupling of the even points of pair I, of both lines, is dealt out to their coarse points on the left and on the right.
  // before: the coarse point on the left
  PETSCRRB_HD void deal(const Line &line, const Line &other, index_t I, index_t before, double &left,
                        double &right) const {
    constexpr double nothing = 1e-10; // less would tie what is separate
    const double here[2] = {line.at(by.left, I), by.of_even(line.at(by.right, I))},
                 there[2] = {other.at(by.left, I), by.of_even(other.at(by.right, I))};
    const double more[2] = {here[0] - there[0], here[1] - there[1]}, much[2] = {fabs(more[0]), fabs(more[1])};
    // a coupling of one line's left point with the other one's right point, which is dealt out by the lines' own couplings
    const double m = more[0] * more[1] < 0.0 ? (much[0] < much[1] ? much[0] : much[1]) : 0.0;
    double part = 0.5;
    if (m > 0.0) {
      const double along_here = along(line, before), along_there = along(other, before),
                   both = along_here + along_there;
      if (both > 0.0) part = along_there / both;
    }
    // a point with nothing along its line has no coarse point that the other one's could be coupled with
    const double half = here[0] + here[1] == 0.0 || there[0] + there[1] == 0.0 ? 0.0 : 0.5;
    const double rest[2] = {much[0] - m, much[1] - m};
    left = (here[0] < there[0] ? here[0] : there[0]) + m * (more[0] > 0.0 ? part : 1.0 - part) +
           (rest[0] > nothing ? half * rest[0] : 0.0);
    right = (here[1] < there[1] ? here[1] : there[1]) + m * (more[0] > 0.0 ? 1.0 - part : part) +
            (rest[1] > nothing ? half * rest[1] : 0.0);
  }
};

PETSCRRB_HD inline bool is_red(index_t i, index_t j, index_t k) { return !((i + j + k) & 1); }

// At a coarse point: its part of the residual. Around a ring in x the last point lacks what RestrictAround adds. reds: r is
// only there at red points, and 0 at the others.
template <class T, int q> struct Restrict {
  Transfer<T> by;
  Field<T> r, to;
  bool reds;

  PETSCRRB_HD void operator()(index_t h, index_t row, index_t plane) const {
    const RowOf at(row, plane);
    const T *even, *odd, *next; // of r: the pair, and the even point after it
    T right, left;
    bool red;
    if constexpr (q == 0) {
      const index_t I = 2 * h + at.parity;
      even = r.row(0, at.j, at.k) + I, odd = r.row(1, at.j, at.k) + I, next = even + 1;
      right = by.right.row(at.parity, at.j, at.k)[h], left = by.left.row(1 - at.parity, at.j, at.k)[h + at.parity];
      red = is_red(0, at.j, at.k);
    } else {
      const index_t I = q == 1 ? at.j : at.k, other = q == 1 ? at.k : at.j, after = by.after(I);
      const auto along = [&](const Field<T> &f, index_t i) { return f.template row_along<q>(at.parity, i, other) + h; };
      even = along(r, 2 * I), odd = along(r, 2 * I + 1), next = along(r, after); // -1: what is around the grid
      right = *along(by.right, I), left = after >= 0 ? *along(by.left, after / 2) : T(0);
      red = is_red(at.parity, other, 0);
    }
    T sum = T(0);
    if (!reds || !red) sum += by.of_odd(right) * *odd;
    if (!reds || red) sum += by.of_even(right) * *even + left * *next;
    to.row(at.parity, at.j, at.k)[h] = sum;
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
    index_t I;
    T here, before, *even, *odd; // of `from`, this coarse point and the one before it; of `to`, the pair
    bool red;
    if constexpr (q == 0) {
      I = 2 * h + at.parity;
      here = from.row(at.parity, at.j, at.k)[h], before = from.row(1 - at.parity, at.j, at.k)[h - 1 + at.parity];
      even = to.row(0, at.j, at.k) + I, odd = to.row(1, at.j, at.k) + I;
      red = is_red(0, at.j, at.k);
    } else {
      I = q == 1 ? at.j : at.k;
      const index_t other = q == 1 ? at.k : at.j;
      const auto along = [&](const Field<T> &f, index_t i) { return f.template row_along<q>(at.parity, i, other) + h; };
      here = *along(from, I), before = *along(from, I - 1);
      even = along(to, 2 * I), odd = along(to, 2 * I + 1);
      red = is_red(at.parity, other, 0);
    }
    if (!reds || red) put(even, left * before + by.of_even(right) * here);
    if (2 * I + 1 < by.n && (!reds || !red)) put(odd, by.of_odd(right) * here);
  }

private:
  PETSCRRB_HD static void put(T *at, T value) {
    if (add)
      *at += value;
    else
      *at = value;
  }
};

// The same of three steps at once, x, y and z, none of them around a ring: the grids between need no vectors.
template <class T> struct TransferOfAll { Transfer<T> x, y, z; };

// All that a point needs is read before any of it is used, what is around the grid too, where it does not count.
template <class T, bool reds> struct RestrictAll {
  TransferOfAll<T> by;
  Field<T> r, to;

  PETSCRRB_HD void operator()(index_t h, index_t row, index_t plane) const {
    const RowOf at(row, plane);
    const index_t here = by.z.right.place(at.parity, at.j, at.k) + h;
    const T right = by.z.right.p[here];
    const T of_plane[3] = {plane_of<0>(at, h), plane_of<1>(at, h), plane_of<2>(at, h)};
    T sum = Transfer<T>::of_even(right) * of_plane[0];
    sum += 2 * at.k + 1 < by.z.n ? Transfer<T>::of_odd(right) * of_plane[1] : T(0);
    sum += 2 * at.k + 2 < by.z.end() ? by.z.left.p[here + by.z.left.plane] * of_plane[2] : T(0);
    to.row(at.parity, at.j, at.k)[h] = sum;
  }

private:
  // of the fine plane 2 k + b, at the coarse point's place in x and y
  template <int b> PETSCRRB_HD T plane_of(const RowOf &at, index_t h) const {
    const index_t here = by.y.right.place(at.parity, at.j, 2 * at.k + b) + h;
    const T right = by.y.right.p[here];
    const T of_row[3] = {row_of<0, b>(at, h), row_of<1, b>(at, h), row_of<2, b>(at, h)};
    T sum = Transfer<T>::of_even(right) * of_row[0];
    sum += 2 * at.j + 1 < by.y.n ? Transfer<T>::of_odd(right) * of_row[1] : T(0);
    sum += 2 * at.j + 2 < by.y.end() ? by.y.left.p[here + by.y.left.pitch] * of_row[2] : T(0);
    return sum;
  }
  // and of the fine row 2 j + a there
  template <int a, int b> PETSCRRB_HD T row_of(const RowOf &at, index_t h) const {
    constexpr bool even_there = !reds || (a + b) % 2 == 0, odd_there = !reds || (a + b) % 2 == 1;
    const index_t I = 2 * h + at.parity, j = 2 * at.j + a, k = 2 * at.k + b;
    const T right = by.x.right.row(at.parity, j, k)[h];
    T sum = T(0);
    if constexpr (odd_there) sum += Transfer<T>::of_odd(right) * r.row(1, j, k)[I];
    if constexpr (even_there) {
      const T *even = r.row(0, j, k), left = by.x.left.row(1 - at.parity, j, k)[h + at.parity];
      sum += Transfer<T>::of_even(right) * even[I] + left * even[I + 1];
    }
    return sum;
  }
};

// What a correction is added to: nothing, what is there, or b / d, which is what the first half-sweep would have put there.
enum class Onto {
  nothing,
  x,
  first
};

template <class T, bool reds, Onto onto> struct ProlongAll {
  TransferOfAll<T> by;
  Field<T> from, to, b, dinv;

  PETSCRRB_HD void operator()(index_t h, index_t row, index_t plane) const {
    const RowOf at(row, plane);
    if (at.j & 1)
      at.k & 1 ? to_pair<true, true>(at, h) : to_pair<true, false>(at, h);
    else
      at.k & 1 ? to_pair<false, true>(at, h) : to_pair<false, false>(at, h);
  }

private:
  // in a row whose y and z are odd or even
  template <bool odd_y, bool odd_z> PETSCRRB_HD void to_pair(const RowOf &at, index_t h) const {
    constexpr bool even = !reds || odd_y == odd_z, odd = !reds || odd_y != odd_z;
    const index_t I = 2 * h + at.parity;
    const T right = by.x.right.row(at.parity, at.j, at.k)[h];
    const T here = row_of<odd_y, odd_z>(at.parity, h, at.j, at.k);
    if constexpr (even) {
      const T left = by.x.left.row(at.parity, at.j, at.k)[h];
      const T before = row_of<odd_y, odd_z>(1 - at.parity, h - 1 + at.parity, at.j, at.k);
      put(to.place(0, at.j, at.k) + I, left * before + Transfer<T>::of_even(right) * here);
    }
    if constexpr (odd)
      if (2 * I + 1 < by.x.n) put(to.place(1, at.j, at.k) + I, Transfer<T>::of_odd(right) * here);
  }
  // at a point of the grid that is coarse in x alone, and of that in x and y; before the first point of x there is 0
  template <bool odd_y, bool odd_z> PETSCRRB_HD T row_of(index_t parity, index_t h, index_t j, index_t k) const {
    const index_t J = j >> 1, here = by.y.right.place(parity, J, k) + h;
    const T right = by.y.right.p[here], after = plane_of<odd_z>(parity, h, J, k);
    if constexpr (odd_y) return Transfer<T>::of_odd(right) * after;
    const T left = by.y.left.p[here], before = plane_of<odd_z>(parity, h, J - 1, k);
    const T sum = Transfer<T>::of_even(right) * (J < by.y.nc ? after : T(0));
    return sum + (J > 0 || by.y.more_before ? left * before : T(0));
  }
  template <bool odd_z> PETSCRRB_HD T plane_of(index_t parity, index_t h, index_t J, index_t k) const {
    const index_t K = k >> 1, here = by.z.right.place(parity, J, K) + h;
    const T right = by.z.right.p[here];
    const T *c = from.row(parity, J, K) + h;
    if constexpr (odd_z) return Transfer<T>::of_odd(right) * c[0];
    return Transfer<T>::of_even(right) * c[0] + by.z.left.p[here] * c[-from.plane];
  }
  PETSCRRB_HD void put(index_t at, T value) const {
    if (onto == Onto::x) value += to.p[at];
    if (onto == Onto::first) value += b.p[at] * dinv.p[at];
    to.p[at] = value;
  }
};

} // namespace petscrrb::gridmg
