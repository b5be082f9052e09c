// Products of small matrices in double precision on tensor cores (8.0 and later).
#pragma once

namespace petscrrb::cuda {

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
