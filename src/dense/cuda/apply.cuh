// An application of the coarse matrix's (pseudo-)inverse, as device functions: for the kernels of
// apply.cu, and for kernels that contain a whole application.
#pragma once

#include "dense/cuda/view.hpp"

namespace petscrrb::dense {

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

// a = v.r and b = u.r of a component that is handled, by a thread block
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
  if (c == null_alone) return s.state->null_inverse * z; // it was pinned to 1; NaN stays NaN
  const double a = s.dots[2 * c], b = s.dots[2 * c + 1];
  return z - a * s.u[i] - (b - s.component[c].gamma * a) * s.v[i];
}

// The right-hand side on the separators, padded with zeros, for the shared memory of a thread block. Of where it comes from a thread's first
// places are read by the constructor.
template <int Ahead> class Gather {
public:
  __device__ explicit Gather(const View &s) : s_(s) { look(0); }
  __device__ void put(const double *r, double *y) {
    take(0, r, y);
    for (int round = 1; round * Ahead * int(blockDim.x) < s_.pitch; ++round) look(round), take(round, r, y);
    __syncthreads();
  }

private:
  static constexpr int few = 4; // blocks that touch a separator are read at once

  __device__ static int place(int round, int i) { return (round * Ahead + i) * int(blockDim.x) + int(threadIdx.x); }
  __device__ int block(int k, int p) const {
    return k < s_.touching && p < s_.pitch ? s_.touching_place[k * s_.pitch + p] : -1;
  }
  __device__ double of_block(int place) const { return place >= 0 ? s_.condensed[place] : 0.0; }
  __device__ void look(int round) {
#pragma unroll
    for (int i = 0; i < Ahead; ++i) {
      const int p = place(round, i);
      node_[i] = p < s_.pitch ? s_.separator[p] : -1;
#pragma unroll
      for (int k = 0; k < few; ++k) block_[i][k] = block(k, p);
    }
  }
  __device__ void take(int round, const double *r, double *y) const {
    double value[Ahead], less[Ahead][few];
#pragma unroll
    for (int i = 0; i < Ahead; ++i) {
      value[i] = node_[i] >= 0 ? r[node_[i]] : 0.0;
#pragma unroll
      for (int k = 0; k < few; ++k) less[i][k] = of_block(block_[i][k]);
    }
#pragma unroll
    for (int i = 0; i < Ahead; ++i) {
      const int p = place(round, i);
#pragma unroll
      for (int k = 0; k < few; ++k) value[i] -= less[i][k];
      for (int k = few; k < s_.touching; ++k) value[i] -= of_block(block(k, p));
      if (p < s_.pitch) y[p] = value[i];
    }
  }

  const View &s_;
  int node_[Ahead], block_[Ahead][few];
};

// A row of the inverse on the separators times y, by a warp; what of the row its lanes hold is read by the constructor.
template <int Ahead> class RowProduct {
public:
  __device__ RowProduct(const View &s, int p) : row_(s.inverse + std::size_t(p) * s.pitch), pitch_(s.pitch) {
#pragma unroll
    for (int i = 0; i < Ahead; ++i)
      ahead_[i] =
          first() + 64 * i < pitch_ ? *reinterpret_cast<const double2 *>(row_ + first() + 64 * i) : double2{0, 0};
  }
  // known to all lanes
  __device__ double times(const double *y) const {
    double2 even{0, 0}, odd{0, 0};
#pragma unroll
    for (int i = 0; i < Ahead; ++i)
      if (first() + 64 * i < pitch_) add(i % 2 ? odd : even, ahead_[i], y + first() + 64 * i);
#pragma unroll 4
    for (int q = first() + 64 * Ahead; q < pitch_; q += 64)
      add(even, *reinterpret_cast<const double2 *>(row_ + q), y + q);
    double sum = (even.x + even.y) + (odd.x + odd.y);
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    return sum;
  }

private:
  __device__ static int first() { return int(threadIdx.x) % 32 * 2; }
  __device__ static void add(double2 &sum, double2 a, const double *y) {
    sum.x = fma(a.x, y[0], sum.x), sum.y = fma(a.y, y[1], sum.y);
  }

  const double *row_;
  int pitch_;
  double2 ahead_[Ahead];
};

// z = the inverse of the pinned matrix times r by a thread block of whole warps; shared: room for s.pitch values. z may be r; r must be there
// for all threads before, as z is afterwards.
__device__ inline void apply_by_block(const View &s, const double *r, double *z, double *shared) {
  const int thread = int(threadIdx.x), threads = int(blockDim.x);
  for (int q = thread; q < s.condensed_size; q += threads) { // the blocks' inverses, and their couplings to the rings
    const Block &b = s.block[s.block_of_condensed[q]];
    const int size = b.interior + b.ring, *nodes = s.nodes + b.nodes;
    const double *factor = s.factors + b.factor + q - b.condensed;
    double sum = 0.0;
#pragma unroll 8
    for (int i = 0; i < b.interior; ++i) sum = fma(factor[i * size], r[nodes[i]], sum);
    s.condensed[q] = sum;
  }
  __syncthreads();
  Gather<1>(s).put(r, shared);
  for (int p = thread / 32; p < s.pitch; p += threads / 32) {
    const double value = RowProduct<4>(s, p).times(shared);
    if (thread % 32 == 0) s.solution[p] = value;
  }
  __syncthreads();
  for (int p = thread; p < s.pitch; p += threads) shared[p] = s.solution[p];
  __syncthreads();
  for (int q = thread; q < s.condensed_size; q += threads) {
    const Block &b = s.block[s.block_of_condensed[q]];
    const int i = q - b.condensed, *nodes = s.nodes + b.nodes, *ring = nodes + b.interior;
    if (i >= b.interior) continue;
    const double *transposed = s.transposed + b.transposed + i;
    double sum = s.condensed[q];
#pragma unroll 8
    for (int k = 0; k < b.ring; ++k) sum = fma(-transposed[k * b.interior], shared[ring[k]], sum);
    z[nodes[i]] = sum;
  }
  for (int p = thread; p < s.pitch; p += threads)
    if (s.separator[p] >= 0) z[s.separator[p]] = shared[p];
  __syncthreads();
}

} // namespace petscrrb::dense
