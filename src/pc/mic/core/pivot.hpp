// A pivot, and what becomes of it where it is not positive: for host and device.
#pragma once

#include "pc/mic/core/point.hpp"

#include <cmath>

namespace petscrrb::mic {

enum class PivotIs {
  good,
  null,   // zero but for rounding: a_ii takes its place
  raised, // by the shift
  bad
};

constexpr double null_pivot = 1e-12; // of the diagonal entry

struct PivotRule {
  double omega, shift;

  // x: e and what the lower neighbours hand; B: the sum of the b to upper ones; diagonal: a_ii, for scale. d is zero
  // where the pivot is bad. With 0 for the inverse of a null one M^-1 would be singular, and a Krylov method blind to a
  // residual that no solution has; the residuals of a system that has one vanish in that direction anyway.
  PETSCRRB_HD Pivot pivot(double x, double B, double diagonal, PivotIs &is) const {
    const double d = B + x;
    is = PivotIs::good;
    if (fabs(d) <= null_pivot * diagonal) {
      is = PivotIs::null;
      return instead(diagonal, B);
    }
    if (shift > 0 && d < shift * diagonal) {
      is = PivotIs::raised;
      return instead(shift * diagonal, B);
    }
    if (d > 0) return {d, x, B, 1 / d};
    is = PivotIs::bad;
    return {0, 0, B, 0};
  }

private:
  PETSCRRB_HD static Pivot instead(double d, double B) { return {d, d - B, B, 1 / d}; }
};

} // namespace petscrrb::mic
