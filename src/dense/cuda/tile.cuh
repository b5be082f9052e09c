// The inverse of a small tile of a symmetric positive definite matrix, and products of such tiles, by a thread block.
#pragma once

#include "dense/core/plan.hpp"
#include "exec/cuda/fp64.cuh"

namespace petscrrb::dense {

constexpr int tile_warps = 4, tile_threads = 32 * tile_warps;
constexpr int tile_pitch = panel + 4; // loads of 4 rows x 4 columns hit all banks

// In shared memory, rows tile_pitch apart.
struct Tiles {
  double x[panel * tile_pitch], y[panel * tile_pitch], pivot[panel * tile_pitch], w[panel * tile_pitch];
};

// Values (row(i), column(j)) of a 32 x 32 tile that a thread holds: a warp has a quarter, in the layout of the tensor
// cores' accumulators.
struct Part {
  double v[2][2][2]; // the last two next to one another

  __device__ static int first_row() { return int(threadIdx.x) / 64 * 16 + int(threadIdx.x) % 32 / 4; }
  __device__ static int first_column() { return int(threadIdx.x) / 32 % 2 * 16; }
  __device__ static int row(int i) { return first_row() + 8 * i; }
  __device__ static int column(int j) { return first_column() + 8 * (j / 2) + 2 * (int(threadIdx.x) % 4) + j % 2; }

  template <class F> __device__ void each(const F &f) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) f(row(i), column(j), v[i][j / 2][j % 2]);
  }
  // to a tile; of a diagonal one, what stands below its diagonal, on both sides of it
  __device__ void put(double *tile) {
    each([&](int i, int j, double v) { tile[i * tile_pitch + j] = v; });
  }
  __device__ void put_symmetric(double *tile) {
    each([&](int i, int j, double v) {
      if (j <= i) tile[i * tile_pitch + j] = tile[j * tile_pitch + i] = v;
    });
  }
};

// A tile from global memory, in rows of `length`.
__device__ inline void load_tile(double *to, const double *from, int length) {
  for (int i = threadIdx.x; i < panel * panel / 2; i += tile_threads) {
    const int row = i / (panel / 2), column = i % (panel / 2) * 2;
    *reinterpret_cast<double2 *>(to + row * tile_pitch + column) =
        *reinterpret_cast<const double2 *>(from + std::size_t(row) * length + column);
  }
}

// m += sign X Y^T
__device__ inline void add_product(Part &m, double sign, const double *x, const double *y) {
#if __CUDA_ARCH__ >= 800
  const int lane = threadIdx.x % 32;
  const double *a = x + m.first_row() * tile_pitch + lane % 4,
               *b = y + (m.first_column() + lane / 4) * tile_pitch + lane % 4;
  #pragma unroll
  for (int k = 0; k < panel; k += 4) {
    const double a0 = sign * a[k], a1 = sign * a[8 * tile_pitch + k], b0 = b[k], b1 = b[8 * tile_pitch + k];
    cuda::multiply_add_8x8x4(a0, b0, m.v[0][0]);
    cuda::multiply_add_8x8x4(a0, b1, m.v[0][1]);
    cuda::multiply_add_8x8x4(a1, b0, m.v[1][0]);
    cuda::multiply_add_8x8x4(a1, b1, m.v[1][1]);
  }
#else
  #pragma unroll 8
  for (int k = 0; k < panel; ++k)
    m.each([&](int i, int j, double &v) { v = fma(sign * x[i * tile_pitch + k], y[j * tile_pitch + k], v); });
#endif
}

// m -= X D Y^T, D the inverse of the pivot tile, in t.pivot; all of t but w is there.
__device__ inline void subtract_product(Part &m, Tiles &t) {
  Part w{};
  add_product(w, 1.0, t.x, t.pivot);
  w.put(t.w);
  __syncthreads();
  add_product(m, -1.0, t.w, t.y);
}

// t: a tile, which becomes its inverse, by Gauss-Jordan elimination without pivoting. Every lane of a warp holds some values of one column.
// line: shared, too, 2 x 34 values. As in blocks.cu the next pivot is known one barrier early. For all threads of the block. The first
// pivot that is not positive, or 32; then nobody is to use the values.
__device__ inline int invert_tile(double *t, double *line) {
  constexpr int n = panel, warps = tile_warps, rows = n / warps, pitch = tile_pitch, room = n + 2;
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32, first = warp * rows;
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
