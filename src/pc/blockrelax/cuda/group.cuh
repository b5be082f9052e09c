// Threads that work on one block of unknowns together: part of a warp, a warp, or all threads of a thread block.
#pragma once

#include "grid/grid.hpp"

namespace petscrrb::blockrelax {

template <int threads> struct Group {
  static constexpr int size = threads;
  static constexpr bool whole = size > 32;        // a thread block has one
  static constexpr int lanes = whole ? 32 : size; // in two dimensions
  static constexpr int lines = size / lanes;
  static constexpr int side = size >= 256 ? 16 : size >= 64 ? 8 : size >= 16 ? 4 : 2; // of a square of them

  __device__ static int rank() { return threadIdx.x % size; }
  __device__ static int number() { return threadIdx.x / size; } // in its thread block
  __device__ static unsigned mask() {
    return size >= 32 ? ~0u : ((1u << (size % 32)) - 1) << (threadIdx.x % 32 / lanes * lanes);
  }
  __device__ static void sync() {
    if (whole)
      __syncthreads();
    else
      __syncwarp(mask());
  }
  // of all threads' values, known to all of them
  __device__ static double sum(double value) {
    for (int k = lanes / 2; k; k /= 2) value += __shfl_xor_sync(mask(), value, k);
    if constexpr (whole) {
      __shared__ double of_line[lines];
      if (threadIdx.x % 32 == 0) of_line[threadIdx.x / 32] = value;
      __syncthreads();
      value = of_line[0];
      for (int l = 1; l < lines; ++l) value += of_line[l];
      __syncthreads(); // it may be used again
    }
    return value;
  }
};

} // namespace petscrrb::blockrelax
