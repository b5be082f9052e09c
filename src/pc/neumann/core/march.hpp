// A piece on a strip of a grid, line by line (in 3D plane by plane): a line comes in, and the result of one some lines
// before goes out. Written for lanes that hold a point each, and see only their neighbours.
#pragma once

#include "pc/neumann/core/read.hpp"

#include <stdexcept>

namespace petscrrb::neumann {

// What lanes hold of a line; V: a value of each. back: the couplings that are reversed, which are not ahead then; where
// no side is periodic there are none.
template <int steps, bool around, class V> struct Line { V t{}, y{}, s{}, ahead[steps]{}, back[around ? steps : 1]{}; };

// A point of a line, as it lies in memory; row: -1 outside.
template <int steps, bool around>
PETSCRRB_HD inline void fetch(const Couplings &a, const Piece &p, PetscInt row, Line<steps, around, double> &line) {
  line = {};
  line.s = 1; // it may be a divisor
  if (row < 0) return;
  line.t = p.r[row];
  if (p.start) line.y = p.start[row];
  line.s = a.s[row];
  PETSCRRB_UNROLL
  for (int m = 0; m < steps; ++m) line.ahead[m] = a.w[m][row];
}

// The same, ready to be marched through. Not a part of fetch(), because it waits for memory.
template <int steps, bool around>
PETSCRRB_HD inline void prepare(const Lattice &g, const Piece &p, PetscInt x, PetscInt y, PetscInt z,
                                Line<steps, around, double> &line) {
  line.t = scaled(p.in, line.s, line.t);
  if (!p.start) line.y = line.t;
  PETSCRRB_UNROLL
  for (int m = 0; m < (around ? steps : 0); ++m) {
    if (!g.reversed(x, y, z, m)) continue;
    line.back[m] = line.ahead[m];
    line.ahead[m] = 0;
  }
}

// One step of Horner's rule with a triangle. Lanes has west(V), the neighbour's to the west, and east(V); with three
// steps south(V), north(V) too. At the ends of the lanes what they return may be anything finite.
template <int steps, bool around, Triangle triangle, class V> class March {
public:
  // A line gives to the one that comes after it in the march, or takes from that one; over seams it is the other way
  // round. One that takes comes out when the next one comes in.
  static constexpr bool lower = triangle == Triangle::lower, gives = lower || around, takes = !lower || around;

  template <class Lanes> PETSCRRB_HD void next(Lanes &lanes, Line<steps, around, V> &line) {
    const V later = line.y;
    if constexpr (takes) {
      const auto now = held;
      held = line;
      line = now;
    }
    V sum{};
    if constexpr (gives) {
      const V *w = lower ? line.ahead : line.back;
      sum = given + lanes.west(w[0] * line.y);
      if constexpr (steps == 3) sum = sum + lanes.south(w[1] * line.y);
      given = w[along] * line.y;
      if constexpr (steps == 4) given = given + lanes.west(w[2] * line.y) + lanes.east(w[3] * line.y);
    }
    if constexpr (takes) {
      const V *w = lower ? line.back : line.ahead;
      V taken = w[0] * lanes.east(line.y) + w[along] * later;
      if constexpr (steps == 3) taken = taken + w[1] * lanes.north(line.y);
      if constexpr (steps == 4) taken = taken + w[2] * lanes.east(later) + w[3] * lanes.west(later);
      if constexpr (gives)
        sum = sum + taken;
      else
        sum = taken;
    }
    line.y = line.t - sum;
  }

private:
  static constexpr int along = steps == 3 ? 2 : 1; // the coupling with the next line

  V given{};
  Line<steps, around, V> held;
};

// All steps of a piece.
template <int steps, bool around, Triangle first, int count, int then> struct Marching {
  static constexpr int both = count + then, lower = first == Triangle::lower ? count : then;
  // how far a result looks: in lines of the march, and along them
  static constexpr int before = around ? both : lower, after = around ? both : both - lower;
  static constexpr int west = steps == 4 ? both : before, east = steps == 4 ? both : after;
  static constexpr bool neumann = then > 0 && first == Triangle::lower; // K^T K

  template <class V> struct Steps {
    March<steps, around, first, V> one[count];
    March<steps, around, other(first), V> two[then > 0 ? then : 1];

    // line becomes that of `after` lines before, and y the result there.
    template <class Lanes> PETSCRRB_HD void next(Lanes &lanes, Scale between, Line<steps, around, V> &line) {
      PETSCRRB_UNROLL
      for (int m = 0; m < count; ++m) one[m].next(lanes, line);
      if constexpr (then > 0) line.t = line.y = scaled(between, line.s, line.y);
      PETSCRRB_UNROLL
      for (int m = 0; m < then; ++m) two[m].next(lanes, line);
    }
  };
};

// With more, what is at the ends of strips is more than what is between, or registers are too few.
constexpr Limits most_marched(int steps, bool around) {
  if (steps == 3) return around ? Limits{1, 3} : Limits{3, 6};
  if (steps == 4) return around ? Limits{2, 4} : Limits{4, 6};
  return around ? Limits{3, 5} : Limits{8, 6};
}

// f(Marching) of a piece of a series within those limits.
template <int steps, bool around, int k = 8, class F> void with_march(const Piece &p, const F &f) {
  constexpr Limits most = most_marched(steps, around);
  constexpr Triangle lower = Triangle::lower, upper = Triangle::upper;
  if constexpr (k == 0) {
    throw std::logic_error("a piece that no march does");
  } else {
    if (p.steps != k) return with_march<steps, around, k - 1>(p, f);
    const bool from_lower = p.first == lower;
    if constexpr (k <= most.both)
      if (from_lower && p.then == k) return f(Marching<steps, around, lower, k, k>());
    if constexpr (k == 1)
      if (!from_lower && p.then == k) return f(Marching<steps, around, upper, k, k>());
    if constexpr (k <= most.one && k >= least_alone(most)) {
      if (from_lower && p.then == 0) return f(Marching<steps, around, lower, k, 0>());
      if (!from_lower && p.then == 0) return f(Marching<steps, around, upper, k, 0>());
    }
    with_march<steps, around, 0>(p, f);
  }
}

} // namespace petscrrb::neumann
