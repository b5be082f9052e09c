// What is computed at one point of the grid, its pivot too: for host and device, in an order of operations that is the same
// everywhere.
#pragma once

#include "exec/range.hpp"

#include <cmath>

namespace petscrrb::mic {

// Products and differences that are rounded one by one, so that no compiler makes one result of a sweep differ from
// another's.
PETSCRRB_HD inline double times(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
PETSCRRB_HD inline double minus(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dsub_rn(a, b);
#else
  return a - b;
#endif
}

// Forward: u = r - sum of w u over the lower neighbours, w = a / d at the neighbour, which so hands on w u.
// Backward: z = u / d - sum of w z over the upper neighbours, w = a / d here.
// m, p and q: those terms, along the march, i and j; zero where there are none.
PETSCRRB_HD inline double without(double x, double m, double p, double q) { return minus(minus(minus(x, m), p), q); }

// The pivots. With b = -a the couplings to the upper neighbours, B their sum, e the row sum of the couplings that are
// kept: d = B + x with x = e + sum over the lower neighbours of (b/d) (x + (1 - omega)(B - b)), all at the neighbour.
// That is the recurrence d = a_ii - sum of (a_ij/d_j)(a_ij + omega sum of the other a_jk), but where the matrix is an
// M-matrix nothing cancels in it, and a singular one stays singular: its last x is zero.
struct Pivot {
  double d, x, B, inverse; // inverse: of d; 0 of a bad one

  // what the neighbour at the other end of b gets
  PETSCRRB_HD double handed(double b, double omega) const { return b * inverse * (x + (1 - omega) * (B - b)); }
};

// What becomes of a pivot that is not positive.
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
