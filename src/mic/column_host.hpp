// One column of tiles on the host: its sweeps, step by step, all points of a step at once.
#pragma once

#include "lanes_host.hpp"
#include "order.hpp"

#include <algorithm>
#include <cmath>

namespace petscrrb::mic {

// Where a column lies, and what is next to it.
struct Column {
  PetscInt n;                       // points along the march
  int lanes;                        // that are in the grid
  index_t at, row;                  // its values; its first point in natural order
  index_t edge, next_edge;          // what its last lane hands on, at each point of the march; between columns
  index_t across;                   // between values of columns across
  bool before, after, below, above; // whether there are columns next to it: along the lanes, and across

  // in which all points have their turn, as if all lanes were in the grid
  PetscInt steps(int lanes_of_tile) const { return n + lanes_of_tile - 1; }
};

inline Column column_of(const Order &o, PetscInt block, PetscInt P, PetscInt Q) {
  Column c{};
  const PetscInt lanes = o.points(block, 0);
  c.n = o.points(block, 2);
  c.lanes = static_cast<int>(std::min<PetscInt>(o.tp, lanes - P * o.tp));
  c.at = o.column_start(block, P, Q);
  c.row = o.block_origin(block) + P * o.tp * o.stride[0] + Q * o.stride[1];
  c.edge = c.at / o.tp;
  c.next_edge = o.n[2];
  c.across = o.column_start(block, 0, 1) - o.column_start(block, 0, 0);
  c.before = P > 0;
  c.after = (P + 1) * o.tp < lanes;
  c.below = Q > 0;
  c.above = Q + 1 < o.points(block, 1);
  return c;
}

// The lanes that have a point in a step: first <= lane < last.
struct Active {
  int first, last;

  Active(const Column &c, PetscInt step)
      : first(static_cast<int>(std::max<PetscInt>(0, step - c.n + 1))),
        last(static_cast<int>(std::min<PetscInt>(c.lanes, step + 1))) {}
};

// Steps [from, to) of a sweep, up or down: `some` does any of them, `all` those in which every lane has a point.
template <int lanes, class Sweep> void in_steps(const Column &c, PetscInt from, PetscInt to, Sweep &sweep) {
  const bool full = c.lanes == lanes && c.n >= lanes;
  const PetscInt a = full ? std::clamp<PetscInt>(lanes - 1, from, to) : to;
  const PetscInt b = full ? std::clamp<PetscInt>(c.n, a, to) : to;
  if (Sweep::up) {
    for (PetscInt s = from; s < a; ++s) sweep.some(s);
    if (a < b) sweep.all(a, b);
    for (PetscInt s = b; s < to; ++s) sweep.some(s);
  } else {
    for (PetscInt s = to; s-- > b;) sweep.some(s);
    if (a < b) sweep.all(a, b);
    for (PetscInt s = a; s-- > from;) sweep.some(s);
  }
}

// A factor along the directions of an order: w to the next lane, across (null in 2D) and along the march; 1 / d.
template <class T> struct Factor { const T *lane, *across, *march, *inverse; };

// u = D y with (D + L) y = r; if half, also z = D^-1/2 u.
template <int lanes, class T, bool half> class Forward {
public:
  static constexpr bool up = true;

  Forward(const Order &o, const Column &column, const Factor<T> &factor, const double *right, double *values,
          double *edges, double *left)
      : c(column), f(factor), apart(o.stride[0]), along(o.stride[2]), r(right + c.row), u(values), edge(edges + c.edge),
        z(left + c.row) {}

  void some(PetscInt s) {
    const Active on(c, s);
    for (int i = on.last; i-- > on.first;) { // of a lane before, what it did a step ago is wanted
      const PetscInt x = s - i;
      const index_t k = c.at + index_t(s % c.n) * lanes + i, p = i * apart + x * along;
      const double across = c.below ? times(f.across[k - c.across], u[k - c.across]) : 0;
      const double v = forward(r[p], march.v[i], i ? lane.v[i - 1] : from_before(x), across);
      u[k] = v;
      march.v[i] = times(f.march[k], v);
      lane.v[i] = times(f.lane[k], v);
      if (i == lanes - 1 && c.after) edge[x] = lane.v[i];
      if (half) z[p] = times(std::sqrt(double(f.inverse[k])), v);
    }
  }
  void all(PetscInt from, PetscInt to) {
    Lanes<lanes> m = march, l = lane;
    for (PetscInt s = from; s < to; ++s) {
      const index_t k = c.at + index_t(s) * lanes;
      const Lanes<lanes> t = Lanes<lanes>::gather(r + s * along, apart - along), p = l.from_before(from_before(s));
      Lanes<lanes> q;
      if (c.below) q = Lanes<lanes>::load(f.across + k - c.across) * Lanes<lanes>::load(u + k - c.across);
      const auto v = Lanes<lanes>::each([&](int i) { return forward(t.v[i], m.v[i], p.v[i], q.v[i]); });
      v.store(u + k);
      m = Lanes<lanes>::load(f.march + k) * v;
      l = Lanes<lanes>::load(f.lane + k) * v;
      if (c.after) edge[s - lanes + 1] = l.v[lanes - 1];
      if (half) (Lanes<lanes>::root(f.inverse + k) * v).scatter(z + s * along, apart - along);
    }
    march = m;
    lane = l;
  }

private:
  double from_before(PetscInt x) const { return c.before ? edge[x - c.next_edge] : 0; }

  const Column c;
  const Factor<T> f;
  const index_t apart, along; // natural order, between lanes and along the march
  const double *const r;
  double *const u, *const edge, *const z;
  Lanes<lanes> march, lane; // what each lane hands on
};

// (I + D^-1 L^T) z = D^-1 u; if half, D^-1/2 r in place of D^-1 u.
template <int lanes, class T, bool half> class Backward {
public:
  static constexpr bool up = false;

  Backward(const Order &o, const Column &column, const Factor<T> &factor, const double *values, const double *right,
           double *left)
      : c(column), f(factor), apart(o.stride[0]), along(o.stride[2]), next(o.stride[1]), u(values), r(right + c.row),
        z(left + c.row) {}

  void some(PetscInt s) {
    const Active on(c, s);
    for (int i = on.first; i < on.last; ++i) {
      const PetscInt x = s - i;
      const index_t k = c.at + index_t(s % c.n) * lanes + i, p = i * apart + x * along;
      const double y = half ? times(std::sqrt(double(f.inverse[k])), r[p]) : times(f.inverse[k], u[k]);
      const double across = c.above ? times(f.across[k], z[p + next]) : 0;
      const double after = i < lanes - 1 ? known.v[i + 1] : from_after(x);
      known.v[i] = backward(y, times(f.march[k], known.v[i]), times(f.lane[k], after), across);
      z[p] = known.v[i];
    }
  }
  void all(PetscInt from, PetscInt to) {
    using V = Lanes<lanes>;
    V v = known;
    for (PetscInt s = to; s-- > from;) {
      const index_t k = c.at + index_t(s) * lanes, p = s * along, skew = apart - along;
      const V y = half ? V::root(f.inverse + k) * V::gather(r + p, skew) : V::load(f.inverse + k) * V::load(u + k);
      const V m = V::load(f.march + k) * v, l = V::load(f.lane + k) * v.from_after(from_after(s - lanes + 1));
      V q;
      if (c.above) q = V::load(f.across + k) * V::gather(z + next + p, skew);
      v = V::each([&](int i) { return backward(y.v[i], m.v[i], l.v[i], q.v[i]); });
      v.scatter(z + p, skew);
    }
    known = v;
  }

private:
  double from_after(PetscInt x) const { return c.after ? z[lanes * apart + x * along] : 0; }

  const Column c;
  const Factor<T> f;
  const index_t apart, along, next;
  const double *const u, *const r;
  double *const z;
  Lanes<lanes> known; // z, a step ago
};

} // namespace petscrrb::mic
