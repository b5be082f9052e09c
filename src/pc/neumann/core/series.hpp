// What is applied: M^-1 = O T2 M T1 I, where T1 and T2 are the truncated series of one triangle each; and its pieces, each one pass
// over memory. Most series are one piece.
#pragma once

#include "grid/lattice.hpp"

#include <algorithm>
#include <cmath>

namespace petscrrb::neumann {

// A diagonal matrix made of s = D^-1/2.
enum class Scale {
  none,
  s,
  inverse,
  squared
};

template <class V> PETSCRRB_HD inline V scaled(Scale scale, const V &s, const V &x) {
  if (scale == Scale::s) return s * x;
  if (scale == Scale::inverse) return x / s;
  if (scale == Scale::squared) return s * s * x;
  return x;
}

enum class Triangle {
  lower,
  upper
};
PETSCRRB_HD constexpr Triangle other(Triangle t) { return t == Triangle::lower ? Triangle::upper : Triangle::lower; }

// A triangle's series is sum over j <= terms of (-L~)^j, by Horner's rule: y = t - L~ y, `terms` times.
struct Series {
  Triangle first;
  int terms;
  Scale in, between, out;
  double omega = 1; // of the triangles
};

// omega (2 - omega) D^-1/2 K^T K D^-1/2, K the series of omega L~
inline Series neumann(int terms, double omega = 1) {
  return {Triangle::lower, terms, Scale::s, Scale::none, Scale::s, omega};
}

// D^-1/2 (I - L~)(I - L~^T) D^-1/2, or (I - L D^-1)(I - D^-1 L^T), which is D^1/2 (I - L~) D^-1 (I - L~^T) D^1/2
inline Series incomplete_poisson(bool scaled) {
  return scaled ? Series{Triangle::upper, 1, Scale::s, Scale::none, Scale::s}
                : Series{Triangle::upper, 1, Scale::inverse, Scale::squared, Scale::inverse};
}

// The factor omega (2 - omega) is in s. Then omega L~ is s L s times `coupling`. An identity row has none of that.
struct Relaxation {
  double scale, coupling;

  explicit Relaxation(double omega) : scale(std::sqrt(omega * (2 - omega))), coupling(1 / (2 - omega)) {}
};

// z = out y after `steps` of Horner's rule with triangle `first`, y = t - L~ y from `start` (null: t), t = in r. Where
// `then` is not 0, that many steps of the other triangle come before `out`, with `between` y in place of t.
struct Piece {
  Triangle first;
  int steps, then;
  Scale in, between, out;
  const double *r, *start;
  double *z;
};

// How far around a point a piece looks, at each end of a side.
struct Halo {
  int low[3] = {}, high[3] = {};

  // A triangle looks back along a side (the lower one), or ahead; both ways in x at nine points, and over seams.
  void add(const Lattice &g, Triangle t, int steps) {
    for (int d = 0; d < (g.steps == 3 ? 3 : 2); ++d) {
      const bool both = g.periodic[d] || (d == 0 && g.steps == 4);
      low[d] += t == Triangle::lower || both ? steps : 0;
      high[d] += t == Triangle::upper || both ? steps : 0;
    }
  }
};

inline Halo halo_of(const Lattice &g, const Piece &p) {
  Halo h;
  h.add(g, p.first, p.steps);
  h.add(g, other(p.first), p.then);
  return h;
}

// The most terms of a piece: of both triangles, and of one of them alone.
struct Limits {
  int both, one;
};

// The fewest terms of a piece of one triangle in a series of more than most.both: pieces are as equal as can be.
constexpr int least_alone(Limits most) { return std::min(most.both, (most.one - 1) / 2) + 1; }

// Work vectors that a series needs.
inline int work_vectors(const Series &s, Limits most) { return s.terms > most.both ? 3 : 0; }

// Calls pass(Piece) for z = M^-1 r, which is not r.
template <class Pass>
void in_pieces(const Series &s, Limits most, const double *r, double *z, double *const work[3], const Pass &pass) {
  if (s.terms <= most.both) return pass(Piece{s.first, s.terms, s.terms, s.in, s.between, s.out, r, nullptr, z});
  const int pieces = (s.terms + most.one - 1) / most.one;
  const auto steps = [&](int k) { return s.terms / pieces + (k < s.terms % pieces ? 1 : 0); };
  double *const *free = work;
  double *const others[2] = {work[pieces % 2], work[2]}; // t of the second triangle stays where it is
  const double *t = r;
  for (const bool second : {false, true}) {
    const double *y = nullptr;
    for (int k = 0; k < pieces; ++k) {
      const bool last = second && k == pieces - 1;
      double *to = last ? z : free[k % 2];
      pass(Piece{second ? other(s.first) : s.first, steps(k), 0, second ? s.between : s.in, Scale::none,
                 last ? s.out : Scale::none, t, y, to});
      y = to;
    }
    t = y;
    free = others;
  }
}

} // namespace petscrrb::neumann
