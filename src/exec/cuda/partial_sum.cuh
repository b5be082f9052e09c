// A sum of many parts on a CUDA device: a term a thread block.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "exec/cuda/overlap.cuh"
#include "exec/partial_sum.hpp"

namespace petscrrb {
namespace cuda {

// The sum of all threads' values, known to all of a block.
template <int threads> __device__ double sum_of_block(double value) {
  __shared__ double warp[threads / 32];
  for (int step = 16; step; step /= 2) value += __shfl_down_sync(~0u, value, step);
  __syncthreads(); // warp may still be read
  if (threadIdx.x % 32 == 0) warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = warp[0];
  for (int w = 1; w < threads / 32; ++w) value += warp[w];
  return value;
}

// By all threads of a block, with the same result for all.
template <int threads> __device__ double sum_of(const Terms &t) {
  constexpr int ahead = 8; // terms are on their way
  double value = 0.0;
  for (index_t first = threadIdx.x; first < t.count; first += ahead * threads) {
    double term[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      const index_t at = first + i * threads;
      term[i] = at < t.count ? __ldcg(t.term + at) : 0.0;
    }
#pragma unroll
    for (int i = 0; i < ahead; ++i) value += term[i];
  }
  return sum_of_block<threads>(value);
}

// A kernel's share of a sum: a term a block. No block adds those of the others: while it waited for them, its registers
// would be missing elsewhere.
template <int threads> struct BlockSum {
  double *term;

  // By all threads of a block, once: value is the thread's.
  __device__ void add(double value) const {
    value = sum_of_block<threads>(value);
    if (threadIdx.x == 0) term[blockIdx.y * gridDim.x + blockIdx.x] = value;
  }
};

// Each block sums the nodes that are its own whatever the device.
constexpr int sum_part_threads = 128, sum_part_nodes = 1024, most_sum_parts = 256;

template <class F>
__global__ void __launch_bounds__(sum_part_threads) add_box(Range2 box, F f, BlockSum<sum_part_threads> sum) {
  start_next();
  await_previous();
  const index_t columns = box.h1 - box.h0, nodes = box.size();
  double value = 0.0;
  for (index_t i = index_t(blockIdx.x) * sum_part_threads + threadIdx.x; i < nodes; i += sum_part_threads * gridDim.x)
    value += f(box.h0 + i % columns, box.k0 + i / columns);
  sum.add(value);
}

constexpr int add_terms_threads = 512;

// A block a sum.
inline __global__ void __launch_bounds__(add_terms_threads) add_terms(const __grid_constant__ Sums sums, double *to) {
  start_next();
  await_previous();
  const double sum = sum_of<add_terms_threads>(sums.terms[blockIdx.x]);
  if (threadIdx.x == 0) to[blockIdx.x] = sum;
}

} // namespace cuda

template <> class PartialSum<Cuda> {
public:
  static index_t parts(Range2 box) {
    const index_t enough = (box.size() + cuda::sum_part_nodes - 1) / cuda::sum_part_nodes;
    return std::min<index_t>(enough, cuda::most_sum_parts);
  }
  void reserve(index_t parts) { partial_.resize(parts); }

  void start() { used_ = 0; }
  // Room for terms, which the caller sets.
  double *take(index_t n) { return partial_.data() + std::exchange(used_, used_ + n); }
  // the share of a kernel of that many blocks
  template <int threads> cuda::BlockSum<threads> take(int blocks) {
    return {partial_.data() + std::exchange(used_, used_ + blocks)};
  }
  // The sum of f(h, k) over the box.
  template <class F> void add(const Cuda &on, Range2 box, const F &f) {
    const int blocks = int(parts(box));
    if (!blocks) return;
    cuda::launch("sum", cuda::add_box<F>, false, unsigned(blocks), cuda::sum_part_threads, 0, on.stream, box, f,
                 take<cuda::sum_part_threads>(blocks));
  }
  Terms terms() const { return {partial_.data(), used_}; }
  // to[i] = the i-th sum, wherever it has its place
  static void put(const Cuda &on, const Sums &sums, double *to) {
    cuda::launch("sums", cuda::add_terms, false, unsigned(sums.count), cuda::add_terms_threads, 0, on.stream, sums, to);
  }
  std::size_t bytes() const { return partial_.bytes(); }

private:
  cuda::Buffer<double> partial_;
  index_t used_ = 0;
};

} // namespace petscrrb
