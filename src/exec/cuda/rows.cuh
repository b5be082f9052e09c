// Loops over a list on a device: a thread an index.
#pragma once

#include "exec/cuda/cuda.hpp"

namespace petscrrb::cuda {

constexpr int row_threads = 256;

template <class F> __global__ void __launch_bounds__(row_threads) for_each_row(int n, F f) {
  const int i = int(blockIdx.x) * row_threads + int(threadIdx.x);
  if (i < n) f(i);
}

// f(i) for 0 <= i < n
template <class F> void for_rows(const char *what, int n, const F &f, cudaStream_t stream) {
  if (n <= 0) return;
  for_each_row<<<unsigned(n - 1) / row_threads + 1, row_threads, 0, stream>>>(n, f);
  check_launch(what);
}

// The largest of a warp's values becomes *common's if it is larger, hardly ever by an atomic operation.
template <class T> __device__ void raise(T *common, T value) {
  for (int step = 16; step; step /= 2) {
    const T other = __shfl_xor_sync(~0u, value, step);
    value = other > value ? other : value;
  }
  if (threadIdx.x % 32 == 0 && value > *const_cast<volatile T *>(common)) atomicMax(common, value);
}

// bits in the order of the values, which are not negative
__device__ inline unsigned long long ordered_bits(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value));
}

} // namespace petscrrb::cuda
