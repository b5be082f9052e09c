// An application of the last block's (pseudo-)inverse, as device functions of a thread block: for the kernels of
// coarse_cuda_apply.cu, and for kernels that contain a whole application.
#pragma once

#include "rrb/coarse_cuda_view.hpp"

namespace petscrrb::rrb::coarse {

constexpr int columns = tile * largest_tiles + 16; // threads that share a row of a block: whole warps

// Shared memory of an application by one thread block, in values.
inline __host__ __device__ int shared_values(int pitch, int threads) {
  const int condensing = largest_interior + threads;
  return pitch > condensing ? pitch : condensing;
}

// The sum of all threads' values, in a fixed order, known to all.
__device__ inline double block_sum(double value) {
  __shared__ double part[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = int(blockDim.x) / 32;
  for (int step = 16; step; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  __syncthreads(); // part may still be read
  if (!lane) part[warp] = value;
  __syncthreads();
  value = lane < warps ? part[lane] : 0.0;
  for (int step = 16; step; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

// a = v.r and b = u.r of a component that is handled
__device__ inline void component_dots(const View &s, int c, const double *r) {
  double a = 0.0, b = 0.0;
  for (int i = threadIdx.x; i < s.n; i += blockDim.x)
    if (s.handled_by[i] == c) a = fma(s.v[i], r[i], a), b = fma(s.u[i], r[i], b);
  a = block_sum(a);
  b = block_sum(b);
  if (!threadIdx.x) s.dots[2 * c] = a, s.dots[2 * c + 1] = b;
}

// What unknown i gets where its component is or may be singular; z: its value by the pinned matrix.
__device__ inline double corrected(const View &s, int i, double z) {
  const int c = s.handled_by[i];
  if (c == regular) return z;
  if (c == null_alone) return 0.0;
  const double a = s.dots[2 * c], b = s.dots[2 * c + 1];
  return z - a * s.u[i] - (b - s.component[c].gamma * a) * s.v[i];
}

// The block's share of the solution, and of the right-hand side of its ring. A multiple of `columns` threads.
__device__ inline void condense(const View &s, const Block &b, const double *r, double *shared) {
  const int size = b.interior + b.ring, groups = int(blockDim.x) / columns;
  const int column = int(threadIdx.x) % columns, group = int(threadIdx.x) / columns;
  double *part = shared + largest_interior;
  if (int(threadIdx.x) < b.interior) shared[threadIdx.x] = r[s.nodes[b.nodes + threadIdx.x]];
  __syncthreads();
  double sum = 0.0;
  if (column < size) {
    const double *factor = s.factors + b.factor + column;
#pragma unroll 8
    for (int i = group; i < b.interior; i += groups) sum = fma(factor[i * size], shared[i], sum);
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  if (!group && column < size) {
    for (int g = 1; g < groups; ++g) sum += part[g * columns + column];
    s.condensed[b.condensed + column] = sum;
  }
  __syncthreads();
}

// y: the right-hand side on the separators, padded with zeros
__device__ inline void gather(const View &s, const double *r, double *y) {
  for (int p = threadIdx.x; p < s.pitch; p += blockDim.x) {
    double value = 0.0;
    if (p < s.separators) {
      value = r[s.separator[p]];
      for (int k = 0; k < s.touching; ++k) {
        const int place = s.touching_place[k * s.separators + p];
        if (place >= 0) value -= s.condensed[place];
      }
    }
    y[p] = value;
  }
  __syncthreads();
}

// Solution on separator p, by a warp.
__device__ inline void solve_row(const View &s, int p, const double *y) {
  const double *row = s.inverse + std::size_t(p) * s.pitch;
  double sum = 0.0;
#pragma unroll 4
  for (int q = int(threadIdx.x) % 32 * 2; q < s.pitch; q += 64) {
    const double2 a = *reinterpret_cast<const double2 *>(row + q);
    sum = fma(a.y, y[q + 1], fma(a.x, y[q], sum));
  }
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) s.solution[p] = sum;
}

// z on the interior of a block, a warp an unknown
__device__ inline void expand(const View &s, const Block &b, double *z, bool correct, double *shared) {
  const int size = b.interior + b.ring, lane = threadIdx.x % 32;
  for (int q = threadIdx.x; q < b.ring; q += blockDim.x) shared[q] = s.solution[s.nodes[b.nodes + b.interior + q]];
  __syncthreads();
  for (int i = int(threadIdx.x) / 32; i < b.interior; i += int(blockDim.x) / 32) {
    const double *row = s.factors + b.factor + i * size + b.interior;
    double sum = 0.0;
    for (int q = lane; q < b.ring; q += 32) sum = fma(row[q], shared[q], sum);
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane) continue;
    const int node = s.nodes[b.nodes + i];
    const double value = s.condensed[b.condensed + i] - sum;
    z[node] = correct ? corrected(s, node, value) : value;
  }
  __syncthreads();
}
__device__ inline void expand_separator(const View &s, int p, double *z, bool correct) {
  const int node = s.separator[p];
  z[node] = correct ? corrected(s, node, s.solution[p]) : s.solution[p];
}

// z = S^+ r by one thread block, a multiple of `columns` threads; correct false: by the pinned matrix alone. z may be r,
// and must be complete before and is complete after a barrier of the thread block.
__device__ inline void apply_in_block(const View &s, const double *r, double *z, bool correct, double *shared) {
  correct = correct && s.state->any;
  if (correct)
    for (int c = 0; c < s.state->handled; ++c) component_dots(s, c, r);
  for (int b = 0; b < s.blocks; ++b) condense(s, s.block[b], r, shared);
  gather(s, r, shared);
  for (int p = int(threadIdx.x) / 32; p < s.separators; p += int(blockDim.x) / 32) solve_row(s, p, shared);
  __syncthreads();
  for (int b = 0; b < s.blocks; ++b) expand(s, s.block[b], z, correct, shared);
  for (int p = threadIdx.x; p < s.separators; p += blockDim.x) expand_separator(s, p, z, correct);
  __syncthreads();
}

} // namespace petscrrb::rrb::coarse
