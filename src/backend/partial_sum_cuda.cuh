// A sum of many parts on a CUDA device: a partial value a thread block, all added in order by the block that ends last.
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

// A kernel's share of a sum.
template <int threads> struct BlockSum {
  double *all;      // partial values: of the kernels before, then ours
  int first;        // of ours
  bool last;        // no kernel follows: set the total
  unsigned *ticket; // how many of our blocks have ended; 0 before and after
  double *total;

  // By all threads of a block, once: value is the thread's.
  __device__ void add(double value) const {
    const int block = int(blockIdx.y * gridDim.x + blockIdx.x), blocks = int(gridDim.x * gridDim.y);
    value = sum_of_block<threads>(value);
    if (threadIdx.x == 0) all[first + block] = value;
    if (!last || !is_last(blocks)) return;
    value = 0.0;
    for (int i = int(threadIdx.x); i < first + blocks; i += threads) value += __ldcg(all + i);
    value = sum_of_block<threads>(value);
    if (threadIdx.x == 0) *total = value, *ticket = 0;
  }

private:
  __device__ bool is_last(int blocks) const {
    __shared__ bool yes;
    if (threadIdx.x == 0) {
      __threadfence(); // our value is there before our ticket
      yes = atomicAdd(ticket, 1u) == unsigned(blocks - 1);
      if (yes) __threadfence();
    }
    __syncthreads();
    return yes;
  }
};

// Each block sums the nodes that are its own whatever the device.
constexpr int sum_part_threads = 128, sum_part_blocks = 64, sum_all_threads = 512;

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
inline __global__ void __launch_bounds__(sum_all_threads) add_nothing(BlockSum<sum_all_threads> sum) {
  start_next();
  await_previous();
  sum.add(0.0);
}

} // namespace cuda

template <> class PartialSum<Cuda> {
public:
  PartialSum() : total_(1), ticket_(1), overlap_(cuda::may_overlap(cuda::add_nothing)) {}

  static index_t parts(Range2) { return cuda::sum_part_blocks; }
  void reserve(index_t parts) { partial_.resize(parts + 1); } // one is finish()'s

  void start() { used_ = 0, finished_ = false; }
  // The share of a kernel of that many blocks. last: it sets the total, and nothing may be added any more.
  template <int threads> cuda::BlockSum<threads> take(int blocks, bool last) {
    finished_ = last;
    return {partial_.data(), std::exchange(used_, used_ + blocks), last, ticket_.data(), total_.data()};
  }
  // The sum of f(h, k) over the box.
  template <class F> void add(const Cuda &on, Range2 box, const F &f) {
    if (!box.size()) return;
    cuda::launch("sum", cuda::add_box<F>, false, cuda::sum_part_blocks, cuda::sum_part_threads, 0, on.stream, box, f,
                 take<cuda::sum_part_threads>(cuda::sum_part_blocks, false));
  }
  // Sets the total, unless the last kernel does.
  void finish(const Cuda &on) {
    if (finished_) return;
    cuda::launch("sum", cuda::add_nothing, overlap_, 1, cuda::sum_all_threads, 0, on.stream,
                 take<cuda::sum_all_threads>(1, true));
  }
  const double *total() const { return total_.data(); }
  std::size_t bytes() const { return partial_.bytes() + total_.bytes() + ticket_.bytes(); }

private:
  cuda::Buffer<double> partial_, total_;
  cuda::Buffer<unsigned> ticket_;
  int used_ = 0;
  bool finished_ = false;
  bool overlap_;
};

} // namespace petscrrb
