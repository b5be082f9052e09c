// Symmetric matrices within a band on a device, factored as L D L^T where they lie, by the threads of a group.
#pragma once

#include "band.hpp"
#include "group_cuda.cuh"

namespace petscrrb::blockrelax {

// Column j holds rows j to j + width; in a factor 1 / d in place of the diagonal, and L's entries below it.
struct DeviceBand {
  int n, width;

  __host__ __device__ index_t size() const { return index_t(n) * (width + 1); }
  __device__ double *column(double *a, int j) const { return a + index_t(j) * (width + 1); }
  __device__ const double *column(const double *a, int j) const { return a + index_t(j) * (width + 1); }
  __host__ __device__ index_t window() const { return index_t(width + 1) * (width + 1); }
};

// Returns the first row whose pivot is negative, or -1. A direction that is null but for rounding is left out.
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
    if (!(d >= -null_pivot * full)) return j;
    const double inverse = d > null_pivot * full ? 1 / d : 0;
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

// x becomes A^-1 x. Columns are on their way while the one before them is used.
template <class Group> __device__ void solve(const Group &g, const DeviceBand &band, const double *a, double *x) {
  constexpr int early = 3; // values of a thread
  const int n = band.n, w = band.width;
  const auto load = [&](int j, double(&v)[early]) {
    const double *const c = band.column(a, j);
#pragma unroll
    for (int s = 0; s < early; ++s) {
      const int k = 1 + g.rank() + s * Group::size;
      v[s] = j >= 0 && j + k < n && k <= w ? __ldcs(c + k) : 0;
    }
  };
  double next[early], now[early];
  if (w > 0) {
    load(0, next);
    for (int j = 0; j + 1 < n; ++j) {
#pragma unroll
      for (int s = 0; s < early; ++s) now[s] = next[s];
      load(j + 1, next);
      const double xj = x[j];
      const int last = min(w, n - 1 - j);
#pragma unroll
      for (int s = 0; s < early; ++s) {
        const int k = 1 + g.rank() + s * Group::size;
        if (k <= last) x[j + k] -= now[s] * xj;
      }
      for (int k = 1 + g.rank() + early * Group::size; k <= last; k += Group::size)
        x[j + k] -= band.column(a, j)[k] * xj;
      g.sync();
    }
  }
  for (int j = g.rank(); j < n; j += Group::size) x[j] *= band.column(a, j)[0];
  g.sync();
  if (w == 0) return;
  load(n - 2, next);
  for (int j = n - 2; j >= 0; --j) {
#pragma unroll
    for (int s = 0; s < early; ++s) now[s] = next[s];
    load(j - 1, next);
    const int last = min(w, n - 1 - j);
    double sum = 0;
#pragma unroll
    for (int s = 0; s < early; ++s) {
      const int k = 1 + g.rank() + s * Group::size;
      if (k <= last) sum += now[s] * x[j + k];
    }
    for (int k = 1 + g.rank() + early * Group::size; k <= last; k += Group::size)
      sum += band.column(a, j)[k] * x[j + k];
    sum = g.sum(sum);
    if (g.rank() == 0) x[j] -= sum;
    g.sync();
  }
}

} // namespace petscrrb::blockrelax
