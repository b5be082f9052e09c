// Sums over segments, one kernel for all of them: every segment's terms are added in an order that is its own, so that
// two runs give the same bits.
#pragma once

#include "exec/cuda/sums.cuh"
#include "ksp/deflation/core/chunks.hpp"

namespace petscrrb::deflation {

constexpr int chunk_threads = 128; // of a block: a chunk each, or one a warp

// `team` threads, one warp or the whole block; known to all.
template <int team> __device__ double sum_of_team(double value) {
  if constexpr (team == chunk_threads) {
    return cuda::sum_of_block<team>(value);
  } else {
    for (int step = 16; step; step /= 2) value += __shfl_xor_sync(~0u, value, step);
    return value;
  }
}

// Whether this team is the last of its segment's; it may read the others' sums then.
template <int team> __device__ bool arrives_last(unsigned *arrived, unsigned of, bool leader) {
  __shared__ int is_last;
  int last = 0;
  if (leader) {
    __threadfence();
    last = atomicAdd(arrived, 1u) == of - 1;
    if (last) *arrived = 0; // for the next kernel
  }
  if (team == 32) {
    last = __shfl_sync(~0u, last, 0);
  } else {
    if (leader) is_last = last;
    __syncthreads();
    last = is_last;
  }
  if (last) __threadfence();
  return last;
}

// result[s] = the sum of terms.at<list>(k) over the places k of the segment's lists. arrived: 0 for each segment.
template <int team, class Terms>
__global__ void __launch_bounds__(chunk_threads)
    sum_chunks(const Chunk *chunk, int chunks, Terms terms, double *partial, unsigned *arrived, double *result) {
  const int thread = int(threadIdx.x) % team, at = (int(blockIdx.x) * chunk_threads + int(threadIdx.x)) / team;
  if (at >= chunks) return; // a whole team
  const Chunk c = chunk[at];
  double value = 0.0;
#pragma unroll 8
  for (int k = c.begin[0] + thread; k < c.end[0]; k += team) value += terms.first(k);
#pragma unroll 4
  for (int k = c.begin[1] + thread; k < c.end[1]; k += team) value += terms.second(k);
  value = sum_of_team<team>(value);
  if (c.of > 1) {
    if (!thread) partial[at] = value;
    if (!arrives_last<team>(arrived + c.segment, c.of, !thread)) return;
    value = 0.0;
#pragma unroll 4
    for (int k = thread; k < c.of; k += team) value += __ldcg(partial + c.first + k);
    value = sum_of_team<team>(value);
  }
  if (!thread) result[c.segment] = value;
}

// The chunks on a device, and what their sums need.
class ChunkSums {
public:
  void setup(const Chunks &chunks, int segments) {
    chunk_.assign(chunks.chunk);
    partial_.resize(chunks.chunk.size());
    arrived_.resize(segments);
    by_warps_ = chunks.longest <= chunk_of_a_warp;
  }
  template <class Terms> void sum(const char *what, const Terms &terms, double *result, cudaStream_t stream) const {
    const int chunks = int(chunk_.size()), a_block = by_warps_ ? chunk_threads / 32 : 1;
    if (!chunks) return;
    const auto kernel = by_warps_ ? sum_chunks<32, Terms> : sum_chunks<chunk_threads, Terms>;
    kernel<<<(chunks + a_block - 1) / a_block, chunk_threads, 0, stream>>>(chunk_.data(), chunks, terms,
                                                                           partial_.data(), arrived_.data(), result);
    cuda::check_launch(what);
  }
  std::size_t bytes() const { return chunk_.bytes() + partial_.bytes() + arrived_.bytes(); }

private:
  cuda::Buffer<Chunk> chunk_;
  cuda::Buffer<double> partial_;
  cuda::Buffer<unsigned> arrived_;
  bool by_warps_ = true;
};

} // namespace petscrrb::deflation
