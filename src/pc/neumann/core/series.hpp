// What is applied: M^-1 = O T2 M T1 I, where T1 and T2 are the truncated series of one triangle each.
#pragma once

#include "exec/range.hpp"

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

} // namespace petscrrb::neumann
