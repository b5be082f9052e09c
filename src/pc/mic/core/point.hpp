// What is computed at one point of the grid: for host and device, in an order of operations that is the same everywhere.
#pragma once

#include "exec/range.hpp"

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
// m, p and q: what the lower neighbours along the march, i and j hand on; zero where there are none.
PETSCRRB_HD inline double forward(double r, double m, double p, double q) { return minus(minus(minus(r, m), p), q); }

// Backward: z = u / d - sum of w z over the upper neighbours, w = a / d here.
PETSCRRB_HD inline double backward(double y, double m, double p, double q) { return minus(minus(minus(y, m), p), q); }

// The pivots. With b = -a the couplings to the upper neighbours, B their sum, e the row sum of the couplings that are
// kept: d = B + x with x = e + sum over the lower neighbours of (b/d) (x + (1 - omega)(B - b)), all at the neighbour.
// That is the recurrence d = a_ii - sum of (a_ij/d_j)(a_ij + omega sum of the other a_jk), but where the matrix is an
// M-matrix nothing cancels in it, and a singular one stays singular: its last x is zero.
struct Pivot {
  double d, x, B, inverse; // inverse: of d; 0 of a bad one

  // what the neighbour at the other end of b gets
  PETSCRRB_HD double handed(double b, double omega) const { return b * inverse * (x + (1 - omega) * (B - b)); }
};

} // namespace petscrrb::mic
