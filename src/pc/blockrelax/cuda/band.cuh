// Symmetric matrices within a band on a device, factored as L D L^T where they lie, by the threads of a group.
#pragma once

#include "pc/blockrelax/core/band.hpp"
#include "pc/blockrelax/core/blocks.hpp"

namespace petscrrb::blockrelax {

// Threads that work on one block of unknowns together: part of a warp, a warp, or all threads of a thread block.
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

// Column j holds rows j to j + width; in a factor 1 / d in place of the diagonal, and L's entries below it.
struct DeviceBand {
  int n, width;

  __host__ __device__ index_t size() const { return index_t(n) * (width + 1); }
  template <class T> __device__ T *column(T *a, int j) const { return a + index_t(j) * (width + 1); }
  __host__ __device__ index_t window() const { return index_t(width + 1) * (width + 1); }
};

// Returns the first row whose pivot is negative, or -1.
// window: room for as many columns as are changed by one, or null; diagonal(j): of the matrix
template <class Group, class Diagonal>
__device__ int factor(const Group &g, const DeviceBand &band, double *a, double *window, const Diagonal &diagonal) {
  constexpr int together = 4; // columns whose values a thread has on their way at a time
  const int n = band.n, w = band.width, wide = w + 1;
  const int lane = g.rank() % Group::lanes, line = g.rank() / Group::lanes;
  if (window)
    for (index_t i = g.rank(); i < (n < wide ? band.size() : band.window()); i += Group::size) window[i] = a[i];
  g.sync();
  for (int j = 0, place = 0; j < n; ++j, place = place + 1 < wide ? place + 1 : 0) { // place: j % wide
    const auto column = [&](int k) {
      const int at = place + k < wide ? place + k : place + k - wide;
      return window ? window + index_t(at) * wide : band.column(a, j + k);
    };
    double *const c = column(0);
    const double d = c[0], full = diagonal(j);
    if (!is_good_pivot(d, full)) return j;
    const double inverse = inverse_of_pivot(d, full);
    const int last = min(w, n - 1 - j);
    for (int first = 1 + line; first <= last; first += together * Group::lines)
      for (int m = first + lane; m <= last; m += Group::lanes) {
        const double cm = c[m] * inverse;
        double *to[together], v[together];
#pragma unroll
        for (int s = 0; s < together; ++s) {
          const int k = first + s * Group::lines;
          to[s] = k <= m ? column(k) + (m - k) : nullptr;
          if (to[s]) v[s] = *to[s] - c[k] * cm;
        }
#pragma unroll
        for (int s = 0; s < together; ++s)
          if (to[s]) *to[s] = v[s];
      }
    g.sync();
    double *const out = band.column(a, j);
    for (int k = g.rank(); k < wide; k += Group::size) {
      out[k] = k ? c[k] * inverse : inverse;
      if (window && j + wide < n) c[k] = band.column(a, j + wide)[k];
    }
    g.sync();
  }
  return -1;
}

// x becomes A^-1 x. `depth` columns are on their way while one is used, `early` values of each by a thread; what is beyond is
// read when it is needed.
template <int early, int depth, class Group>
__device__ void solve(const Group &g, const DeviceBand &band, const double *a, double *x) {
  const int n = band.n, w = band.width;
  double ahead[depth][early];
  const auto load = [&](int j, double(&v)[early]) {
    const double *const c = band.column(a, j);
#pragma unroll
    for (int s = 0; s < early; ++s) {
      const int k = 1 + g.rank() + s * Group::size;
      v[s] = j >= 0 && j + k < n && k <= w ? __ldcs(c + k) : 0;
    }
  };
  if (w > 0) {
#pragma unroll
    for (int d = 0; d < depth; ++d) load(d, ahead[d]);
    for (int first = 0; first + 1 < n; first += depth)
#pragma unroll
      for (int d = 0; d < depth; ++d) {
        const int j = first + d;
        if (j + 1 >= n) break;
        const double xj = x[j];
        const int last = min(w, n - 1 - j);
#pragma unroll
        for (int s = 0; s < early; ++s) {
          const int k = 1 + g.rank() + s * Group::size;
          if (k <= last) x[j + k] -= ahead[d][s] * xj;
        }
        load(j + depth, ahead[d]);
        for (int k = 1 + g.rank() + early * Group::size; k <= last; k += Group::size)
          x[j + k] -= band.column(a, j)[k] * xj;
        g.sync();
      }
  }
  for (int j = g.rank(); j < n; j += Group::size) x[j] *= band.column(a, j)[0];
  g.sync();
  if (w == 0) return;
#pragma unroll
  for (int d = 0; d < depth; ++d) load(n - 2 - d, ahead[d]);
  for (int first = n - 2; first >= 0; first -= depth)
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const int j = first - d;
      if (j < 0) break;
      const int last = min(w, n - 1 - j);
      double sum = 0;
#pragma unroll
      for (int s = 0; s < early; ++s) {
        const int k = 1 + g.rank() + s * Group::size;
        if (k <= last) sum += ahead[d][s] * x[j + k];
      }
      load(j - depth, ahead[d]);
      for (int k = 1 + g.rank() + early * Group::size; k <= last; k += Group::size)
        sum += band.column(a, j)[k] * x[j + k];
      sum = g.sum(sum);
      if (g.rank() == 0) x[j] -= sum;
      g.sync();
    }
}
template <class Group> __device__ void solve(const Group &g, const DeviceBand &band, const double *a, double *x) {
  if (band.width <= Group::size)
    solve<1, 8>(g, band, a, x);
  else
    solve<3, 4>(g, band, a, x);
}

} // namespace petscrrb::blockrelax
