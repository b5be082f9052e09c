// Double precision on a device: reciprocals, and products of small matrices on tensor cores (8.0 and later).
#pragma once

namespace petscrrb::cuda {

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

// C += A B, with A of 8 x 4 and B of 4 x 8 values: lane l holds A(l / 4, l % 4), B(l % 4, l / 4), and of C row l / 4,
// columns 2 (l % 4) and 2 (l % 4) + 1.
__device__ inline void multiply_add_8x8x4(double a, double b, double (&c)[2]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
#endif
}

} // namespace petscrrb::cuda
