// The inverse of a small tile of a symmetric positive definite matrix, by a thread block.
#pragma once

#include "dense/cuda/plan.hpp"
#include "exec/cuda/fp64.cuh"

namespace petscrrb::dense {

// t: 32 x 32 values in shared memory, rows of `pitch`, which become their inverse, by Gauss-Jordan elimination without pivoting. Every lane
// of a warp holds some values of one column. line: shared, too, 2 x 34 values. As in blocks.cu the next pivot is known one barrier early. For
// all threads of the block, which are so many warps. The first pivot that is not positive, or 32; then nobody is to use the values.
template <int warps, int pitch> __device__ int invert_tile(double *t, double *line, int warp) {
  constexpr int n = panel, rows = n / warps, room = n + 2;
  const int lane = int(threadIdx.x) % 32, first = warp * rows;
  double a[rows], next = t[0];
  int bad = n;
#pragma unroll
  for (int i = 0; i < rows; ++i) a[i] = t[(first + i) * pitch + lane];
#pragma unroll 1
  for (int kw = 0; kw < warps; ++kw)
#pragma unroll
    for (int kr = 0; kr < rows; ++kr) {
      const int k = kw * rows + kr;
      double *row = line + (k & 1) * room;
      if (warp == kw) row[lane] = a[kr];
      if (lane == k + 1) {
        if (kr + 1 < rows && warp == kw) row[n] = a[(kr + 1) % rows];
        if (kr + 1 == rows && warp == kw + 1) row[n] = a[0];
      }
      const double d = next, inverse = cuda::reciprocal(d);
      bad = cuda::good_pivot(d, inverse) ? bad : min(bad, k);
      __syncthreads();
      const double mine = row[lane] * inverse, column = lane == k ? -inverse : mine;
      if (k + 1 < n) next = fma(-(row[k + 1] * inverse), row[k + 1], row[n]);
#pragma unroll
      for (int i = 0; i < rows; i += 2) {
        const double2 factor = *reinterpret_cast<const double2 *>(row + first + i);
        a[i] = fma(-factor.x, column, lane == k ? 0.0 : a[i]);
        a[i + 1] = fma(-factor.y, column, lane == k ? 0.0 : a[i + 1]);
      }
      if (warp == kw) a[kr] = column;
    }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rows; ++i) t[(first + i) * pitch + lane] = -a[i];
  __syncthreads();
  return bad;
}

} // namespace petscrrb::dense
