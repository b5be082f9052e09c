// A pivot, and what becomes of it where it is not positive: for host and device.
#pragma once

#include "point.hpp"

#include <cmath>

namespace petscrrb::mic {

enum class PivotIs {
  good,
  null,   // zero but for rounding: its row and column are left out of the factor
  raised, // by the shift
  bad
};

constexpr double null_pivot = 1e-12; // of the diagonal entry

struct PivotRule {
  double omega, shift;

  // x: e and what the lower neighbours hand; B: the sum of the b to upper ones; diagonal: a_ii, for scale. d is zero
  // where the pivot is null or bad.
  PETSCRRB_HD Pivot pivot(double x, double B, double diagonal, PivotIs &is) const {
    const double d = B + x;
    is = PivotIs::good;
    if (fabs(d) <= null_pivot * diagonal) {
      is = PivotIs::null;
      return {0, 0, B, 0};
    }
    if (shift > 0 && d < shift * diagonal) {
      is = PivotIs::raised;
      return {shift * diagonal, shift * diagonal - B, B, 1 / (shift * diagonal)};
    }
    if (d > 0) return {d, x, B, 1 / d};
    is = PivotIs::bad;
    return {0, 0, B, 0};
  }
};

} // namespace petscrrb::mic
