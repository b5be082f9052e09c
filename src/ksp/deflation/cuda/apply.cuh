// The kernels of an application but for those of E^+.
#pragma once

#include "exec/cuda/rows.cuh"
#include "ksp/deflation/cuda/az.hpp"

namespace petscrrb::deflation {

// What a subdomain's c is the sum of: rows of r, entries of AZ times y.
struct Residual {
  const double *r, *y;
  const int *row, *az_row;
  const double *az;

  __device__ double first(int k) const { return r ? r[row[k]] : 0.0; }
  __device__ double second(int q) const { return y ? -az[q] * y[az_row[q]] : 0.0; }
};

constexpr int prolong_rows = 4; // of a thread

// z = y + Z c. No __restrict__: z may be y.
static __global__ void __launch_bounds__(cuda::row_threads)
    prolong_rows_of(int n, const int *label, const double *c, const double *y, double *z) {
  const int first = int(blockIdx.x) * cuda::row_threads * prolong_rows + int(threadIdx.x);
  int at[prolong_rows];
  double value[prolong_rows];
#pragma unroll
  for (int k = 0; k < prolong_rows; ++k) {
    const int i = first + k * cuda::row_threads;
    at[k] = i < n ? label[i] : -1;
    value[k] = y && i < n ? y[i] : 0.0;
  }
#pragma unroll
  for (int k = 0; k < prolong_rows; ++k) {
    const int i = first + k * cuda::row_threads;
    if (i < n) z[i] = at[k] < 0 ? value[k] : value[k] + c[at[k]];
  }
}

struct Subtract {
  AzView az;
  const double *c;
  double *w;

  __device__ void operator()(int b) const {
    double sum = 0.0;
    for (int e = az.first[b]; e < az.first[b + 1]; ++e) sum = fma(az.value[e], c[az.subdomain[e]], sum);
    w[az.row[b]] -= sum;
  }
};

} // namespace petscrrb::deflation
