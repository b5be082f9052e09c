// A sum of many parts on a CUDA device: a term a thread block.
#pragma once

#include "backend/cuda.cuh"
#include "backend/cuda_overlap.cuh"
#include "backend/partial_sum.hpp"

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
  double value = 0.0;
  for (int i = int(threadIdx.x); i < t.count; i += threads) value += __ldcg(t.term + i);
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
constexpr int sum_part_threads = 128, sum_part_blocks = 64;

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

// One block.
inline __global__ void __launch_bounds__(add_terms_threads) add_terms(Terms terms, double *to) {
  start_next();
  await_previous();
  const double sum = sum_of<add_terms_threads>(terms);
  if (threadIdx.x == 0) *to = sum;
}

} // namespace cuda

template <> class PartialSum<Cuda> {
public:
  static index_t parts(Range2) { return cuda::sum_part_blocks; }
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
    if (!box.size()) return;
    cuda::launch("sum", cuda::add_box<F>, false, cuda::sum_part_blocks, cuda::sum_part_threads, 0, on.stream, box, f,
                 take<cuda::sum_part_threads>(cuda::sum_part_blocks));
  }
  Terms terms() const { return {partial_.data(), used_}; }
  // *to = their sum
  void put(const Cuda &on, double *to) const {
    cuda::launch("sum", cuda::add_terms, false, 1, cuda::add_terms_threads, 0, on.stream, terms(), to);
  }
  std::size_t bytes() const { return partial_.bytes(); }

private:
  cuda::Buffer<double> partial_;
  index_t used_ = 0;
};

} // namespace petscrrb
