// Small things that several kernels of the coarse matrix need.
#pragma once

namespace petscrrb::dense {

// 1 / d to rounding, for normal numbers; what is not positive and normal gives something not positive or not finite. The
// division proper has a slow path, and stands on the critical path of an elimination.
__device__ inline double reciprocal(double d) {
  double x;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(x) : "d"(d));
  const double e = fma(-d, x, 1.0);
  return fma(x, fma(e, e, e), x);
}
// positive, and finite: the inverse of what is not is not a number. Without branches, as it stands between two barriers.
__device__ inline int good_pivot(double d, double inverse) {
  return (d > 0.0) & (inverse < __longlong_as_double(0x7ff0000000000000));
}

} // namespace petscrrb::dense
