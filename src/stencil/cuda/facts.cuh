// What the blocks of a kernel found out about rows, added up, always in the same order.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "stencil/facts.hpp"

#include <cub/block/block_reduce.cuh>

namespace petscrrb::cuda {

// All threads of the block call this; the first one writes the result.
template <int threads> __device__ void add_up_block(const RowFacts &mine, RowFacts *to) {
  using Sum = cub::BlockReduce<RowFacts, threads>;
  __shared__ typename Sum::TempStorage scratch;
  const RowFacts all = Sum(scratch).Reduce(mine, [](RowFacts a, const RowFacts &b) {
    a.add(b);
    return a;
  });
  if (threadIdx.x == 0) *to = all;
}

template <int threads>
__global__ void __launch_bounds__(threads) add_up_blocks(const RowFacts *of_blocks, index_t n, RowFacts *to) {
  RowFacts mine;
  for (index_t i = threadIdx.x; i < n; i += threads) mine.add(of_blocks[i]);
  add_up_block<threads>(mine, to);
}

// Waits for the stream, and for what meanwhile() enqueues.
template <class F>
RowFacts sum_of_blocks(const RowFacts *of_blocks, index_t n, const Report<RowFacts> &sum, cudaStream_t stream,
                       const F &meanwhile) {
  constexpr int threads = 256;
  add_up_blocks<threads><<<1, threads, 0, stream>>>(of_blocks, n, sum.device());
  check_launch("add_up_blocks");
  return sum.read(stream, meanwhile);
}

} // namespace petscrrb::cuda
