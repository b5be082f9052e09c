// One column of tiles on the host: its factorization and its sweeps, step by step, all points of a step at once.
#pragma once

#include "pc/mic/host/lanes.hpp"
#include "pc/mic/core/mic.hpp"
#include "pc/mic/core/order.hpp"
#include "pc/mic/core/read.hpp"

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

// Steps [from, to) of a sweep, up or down: `some` does any of them, `all` those in which every lane that is in the grid has
// a point.
template <int lanes, class Sweep> void in_steps(const Column &c, PetscInt from, PetscInt to, Sweep &sweep) {
  const PetscInt a = std::clamp<PetscInt>(lanes - 1, from, to), b = std::clamp<PetscInt>(c.n, a, to);
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

// A factor along the directions of an order, 0 to the next lane, 1 across and 2 along the march: w, and 1 / d.
template <class T> struct Stored {
  const T *w[3], *inverse; // w[1] is null in 2D

  [[gnu::always_inline]] double at(int direction, index_t k) const { return w[direction][k]; }
  template <class V> [[gnu::always_inline]] V all(int direction, index_t k) const { return V::load(w[direction] + k); }
};

// The same where the couplings of a direction are all alike. It has w beyond the sides of blocks, too: no one is there to
// take what they hand on.
template <class T> struct Alike {
  double a[3]; // of SSOR, over 2 - omega
  const T *inverse;

  [[gnu::always_inline]] double at(int direction, index_t k) const { return times(a[direction], inverse[k]); }
  template <class V> [[gnu::always_inline]] V all(int direction, index_t k) const {
    return V::each([&](int) { return a[direction]; }) * V::load(inverse + k);
  }
};

// run(std::bool_constant, std::bool_constant)
template <class Run> void choose(bool a, bool b, const Run &run) {
  const auto with = [&](auto first) { b ? run(first, std::true_type()) : run(first, std::false_type()); };
  a ? with(std::true_type()) : with(std::false_type());
}

// A row of values next to a column, one for each point of the march; where there is none, always the same zero.
template <class D> struct Rim {
  D *first;
  index_t apart;

  [[gnu::always_inline]] D &operator[](PetscInt x) const { return first[x * apart]; }
};

// u = D y with (D + L) y = r; if half, also z = D^-1/2 u.
template <int lanes, class Factor, bool half> class Forward {
public:
  static constexpr bool up = true;

  Forward(const Order &o, const Column &column, const Factor &factor, const double *right, double *values,
          double *edges, double *left)
      : c(column), f(factor), apart(o.stride[0]), along(o.stride[2]), r(right + c.row), u(values), edge(edges + c.edge),
        z(left + c.row) {}

  void some(PetscInt s) {
    const Active on(c, s);
    for (int i = on.last; i-- > on.first;) { // of a lane before, what it did a step ago is wanted
      const PetscInt x = s - i;
      const index_t k = c.at + index_t(s % c.n) * lanes + i, p = i * apart + x * along;
      const double before = i ? lane[i - 1] : c.before ? edge[x - c.next_edge] : 0;
      const double across = c.below ? times(f.at(1, k - c.across), u[k - c.across]) : 0;
      const double v = without(r[p], march[i], before, across);
      u[k] = v;
      march.set(i, times(f.at(2, k), v));
      lane.set(i, times(f.at(0, k), v));
      if (i == lanes - 1 && c.after) edge[x] = lane[i];
      if (half) z[p] = times(std::sqrt(double(f.inverse[k])), v);
    }
  }
  void all(PetscInt from, PetscInt to) {
    const auto run = [&](auto below, auto whole) { all<below.value, whole.value>(from, to); };
    choose(c.below, c.lanes == lanes, run);
  }

private:
  using V = Lanes<lanes>;

  template <bool below, bool whole> void all(PetscInt from, PetscInt to) {
    const double nothing = 0;
    double unused;
    const Rim<const double> before =
        c.before ? Rim<const double>{edge - c.next_edge, 1} : Rim<const double>{&nothing, 0};
    const Rim<double> after = c.after ? Rim<double>{edge, 1} : Rim<double>{&unused, 0};
    const Factor a = f;
    double *const to_u = u;
    const int there = whole ? lanes : c.lanes; // the other lanes' values are zero, and stay so
    V m = march, l = lane;
    for (PetscInt s = from; s < to; ++s) {
      const index_t k = c.at + index_t(s) * lanes;
      V v = V::gather(r + s * along, apart - along, there) - m - l.from_before(before[s]); // without(), of all lanes
      if (below) v = v - a.template all<V>(1, k - c.across) * V::load(to_u + k - c.across);
      v.store(to_u + k);
      m = a.template all<V>(2, k) * v;
      l = a.template all<V>(0, k) * v;
      after[s - lanes + 1] = l[lanes - 1];
      if (half) (V::root(a.inverse + k) * v).scatter(z + s * along, apart - along, there);
    }
    march = m;
    lane = l;
  }

  const Column c;
  const Factor f;
  const index_t apart, along; // natural order, between lanes and along the march
  const double *const r;
  double *const u, *const edge, *const z;
  V march, lane; // what each lane hands on
};

// (I + D^-1 L^T) z = D^-1 u; if half, D^-1/2 r in place of D^-1 u.
template <int lanes, class Factor, bool half> class Backward {
public:
  static constexpr bool up = false;

  Backward(const Order &o, const Column &column, const Factor &factor, const double *right, const double *values,
           double * /* edges */, double *left)
      : c(column), f(factor), apart(o.stride[0]), along(o.stride[2]), next(o.stride[1]), u(values), r(right + c.row),
        z(left + c.row) {}

  void some(PetscInt s) {
    const Active on(c, s);
    for (int i = on.first; i < on.last; ++i) {
      const PetscInt x = s - i;
      const index_t k = c.at + index_t(s % c.n) * lanes + i, p = i * apart + x * along;
      const double y = half ? times(std::sqrt(double(f.inverse[k])), r[p]) : times(f.inverse[k], u[k]);
      const double after = i < lanes - 1 ? known[i + 1] : c.after ? z[p + apart] : 0;
      const double across = c.above ? times(f.at(1, k), z[p + next]) : 0;
      known.set(i, without(y, times(f.at(2, k), known[i]), times(f.at(0, k), after), across));
      z[p] = known[i];
    }
  }
  void all(PetscInt from, PetscInt to) {
    const auto run = [&](auto above, auto whole) { all<above.value, whole.value>(from, to); };
    choose(c.above, c.lanes == lanes, run);
  }

private:
  using V = Lanes<lanes>;

  template <bool above, bool whole> void all(PetscInt from, PetscInt to) {
    const double nothing = 0;
    const Rim<const double> after =
        c.after ? Rim<const double>{z + lanes * apart, along} : Rim<const double>{&nothing, 0};
    const index_t skew = apart - along;
    const Factor a = f;
    double *const to_z = z;
    const int there = whole ? lanes : c.lanes;
    V v = known;
    for (PetscInt s = to; s-- > from;) {
      const index_t k = c.at + index_t(s) * lanes, p = s * along;
      const V y =
          half ? V::root(a.inverse + k) * V::gather(r + p, skew, there) : V::load(a.inverse + k) * V::load(u + k);
      v = y - a.template all<V>(2, k) * v - a.template all<V>(0, k) * v.from_after(after[s - lanes + 1]); // without()
      if (above) v = v - a.template all<V>(1, k) * V::gather(to_z + next + p, skew, there);
      v.scatter(to_z + p, skew, there);
    }
    known = v;
  }

  const Column c;
  const Factor f;
  const index_t apart, along, next;
  const double *const u, *const r;
  double *const z;
  V known; // z, a step ago
};

// Couplings become w, the diagonal 1 / d.
template <int lanes, class T> class Factorize {
public:
  static constexpr bool up = true;

  // values: the excesses; then what is handed across
  Factorize(const Order &o, const Column &column, const Values<T> &factor, const PivotRule &rules, double *values,
            double *edges, Findings &findings)
      : c(column), rule(rules), apart(o.stride[0]),
        along(o.stride[2]), w{factor.w[o.axis[0]], factor.w[o.axis[1]], factor.w[o.axis[2]]}, inverse(factor.inverse),
        u(values), edge(edges + c.edge), found(findings) {}

  void some(PetscInt s) {
    const Active on(c, s);
    for (int i = on.last; i-- > on.first;) {
      const PetscInt x = s - i;
      const index_t k = c.at + index_t(s % c.n) * lanes + i;
      double excess = u[k] + march[i] + (i ? lane[i - 1] : c.before ? edge[x - c.next_edge] : 0);
      if (c.below) excess += u[k - c.across];
      const double b[3] = {-double(w[0][k]), w[1] ? -double(w[1][k]) : 0, -double(w[2][k])}, sum = b[0] + b[1] + b[2];
      PivotIs is;
      const Pivot d = rule.pivot(excess, sum, inverse[k], is);
      if (is != PivotIs::good) note(is, (sum + excess) / inverse[k], c.row + i * apart + x * along);
      lane.set(i, d.handed(b[0], rule.omega));
      march.set(i, d.handed(b[2], rule.omega));
      if (w[1]) u[k] = d.handed(b[1], rule.omega);
      if (i == lanes - 1 && c.after) edge[x] = lane[i];
      for (int a = 0; a < 3; ++a)
        if (w[a]) w[a][k] = static_cast<T>(d.d > 0 ? -b[a] / d.d : 0);
      inverse[k] = static_cast<T>(d.inverse);
    }
  }
  void all(PetscInt from, PetscInt to) {
    for (PetscInt s = from; s < to; ++s) some(s);
  }

private:
  // Seldom, and of sums and a minimum, so that it does not matter who comes first.
  void note(PivotIs is, double value, index_t row) {
#pragma omp critical(petscrrb_pivots)
    {
      found.null_rows += is == PivotIs::null;
      found.shifted += is == PivotIs::raised;
      if (is == PivotIs::bad && row < found.pivot) found.pivot = row, found.pivot_value = value;
    }
  }

  const Column c;
  const PivotRule rule;
  const index_t apart, along;
  T *const w[3], *const inverse;
  double *const u, *const edge;
  Findings &found;
  Lanes<lanes> march, lane; // what each lane hands on
};

} // namespace petscrrb::mic
