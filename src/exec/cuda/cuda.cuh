// The loops of the CUDA backend (cuda.hpp), for .cu files: a thread a node, rows of a block along h.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "exec/cuda/overlap.cuh"

namespace petscrrb {
namespace cuda {

constexpr int block_h = 32, block_k = 4;

constexpr index_t most_blocks = 65535; // along y

inline dim3 blocks_of(Range2 box) {
  const auto blocks = [](index_t n, index_t size) { return (n + size - 1) / size; };
  const index_t rows = blocks(box.k1 - box.k0, block_k);
  return dim3(unsigned(blocks(box.h1 - box.h0, block_h)), unsigned(std::min(rows, most_blocks)),
              unsigned(blocks(rows, most_blocks)));
}

// The node of a thread. (Not a loop over rows: its pointers would take all registers.)
__device__ inline index_t h_of(const Range2 &box) { return box.h0 + index_t(blockIdx.x) * block_h + threadIdx.x; }
__device__ inline index_t k_of(const Range2 &box) {
  return box.k0 + (blockIdx.z * most_blocks + blockIdx.y) * block_k + threadIdx.y;
}

__device__ inline bool contains(const Range2 &r, index_t h, index_t k) {
  return h >= r.h0 && h < r.h1 && k >= r.k0 && k < r.k1;
}

template <class F, class G> __global__ void for_each_node(Range2 box, Range2 inner, F f, G g, bool overlap) {
  if (overlap) {
    start_next();
    await_previous();
  }
  const index_t h = h_of(box), k = k_of(box);
  if (h >= box.h1 || k >= box.k1) return;
  if (contains(inner, h, k))
    f(h, k);
  else
    g(h, k);
}

// A thread a point. first: of the rows that this launch has, along the second and third direction.
constexpr int point_threads = 256;

template <class F>
__global__ void __launch_bounds__(point_threads) for_each_point(Range3 box, Range3 first, F f, bool overlap) {
  const index_t i = index_t(blockIdx.x) * blockDim.x + threadIdx.x,
                j = first.n[1] + index_t(blockIdx.y) * blockDim.y + threadIdx.y, k = first.n[2] + blockIdx.z;
  if (overlap) {
    start_next();
    await_previous();
  }
  if (j < box.n[1] && i < box.row(j, k)) f(i, j, k);
}

// of so many of a block, along a row: all for a single one, else 64 at the most
inline int threads_of_row(const Range3 &box) {
  int x = 8;
  while (x < (box.n[1] == 1 ? point_threads : 64) && x < box.n[0]) x *= 2;
  return x;
}

// Counts of a warp's nodes, which are in one row. Sums and minima of integers: any order gives the same.
__device__ inline void add_counts(unsigned flags, index_t h, index_t k, NodeCounts *counts) {
  constexpr unsigned warp = 0xffffffffu;
  if (!__any_sync(warp, flags)) return;
  const auto add = [&](unsigned bit, index_t *to) {
    const unsigned n = __popc(__ballot_sync(warp, (flags & bit) != 0));
    if (n && threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<unsigned long long *>(to), n);
  };
  add(node_unlumped, &counts->unlumped);
  add(node_null, &counts->null);
  add(node_failed, &counts->failed);
  add(node_unsupported, &counts->unsupported);
  if (flags & node_failed)
    atomicMin(reinterpret_cast<long long *>(&counts->first_failed), (long long)(k * (index_t(1) << 32) + h));
}

template <class F, class G> __global__ void count_each_node(Range2 box, Range2 inner, F f, G g, NodeCounts *counts) {
  const index_t h = h_of(box), k = k_of(box);
  unsigned flags = node_ok;
  if (h < box.h1 && k < box.k1) flags = contains(inner, h, k) ? f(h, k) : g(h, k);
  add_counts(flags, h, k, counts);
}

struct ClearCounts {
  NodeCounts *counts;

  PETSCRRB_HD void operator()(index_t i, index_t) const { counts[i] = NodeCounts(); }
};

} // namespace cuda

template <class F, class G> void Cuda::for_each(Range2 box, Range2 inner, const F &f, const G &g) const {
  if (!box.size()) return;
  static const bool may_overlap = cuda::may_overlap(cuda::for_each_node<F, G>);
  const dim3 blocks = cuda::blocks_of(box);
  const bool overlap = may_overlap && index_t(blocks.x) * blocks.y * blocks.z <= cuda::few_blocks;
  cuda::launch("for_each", cuda::for_each_node<F, G>, overlap, blocks, dim3(cuda::block_h, cuda::block_k), 0, stream,
               box, intersection(box, inner), f, g, overlap);
}

template <class F> void Cuda::for_each(Range2 box, const F &f) const { for_each(box, box, f, f); }

template <class F> void Cuda::for_each_point(const Range3 &box, const F &f) const {
  if (!box.size()) return;
  const int x = cuda::threads_of_row(box);
  const int y = cuda::point_threads / x;
  static const bool may_overlap = cuda::may_overlap(cuda::for_each_point<F>);
  const index_t rows = cuda::most_blocks * y;
  for (index_t k = 0; k < box.n[2]; k += cuda::most_blocks)
    for (index_t j = 0; j < box.n[1]; j += rows) {
      const dim3 blocks(unsigned((box.n[0] + x - 1) / x), unsigned((std::min(rows, box.n[1] - j) + y - 1) / y),
                        unsigned(std::min(cuda::most_blocks, box.n[2] - k)));
      const bool overlap = may_overlap && index_t(blocks.x) * blocks.y * blocks.z <= cuda::few_blocks;
      cuda::launch("for_each_point", cuda::for_each_point<F>, overlap, blocks, dim3(unsigned(x), unsigned(y)), 0,
                   stream, box, Range3{{0, j, k}}, f, overlap);
    }
}

template <class F, class G>
void Cuda::count_each(Range2 box, Range2 inner, const F &f, const G &g, NodeCounts *counts) const {
  if (!box.size()) return;
  cuda::count_each_node<<<cuda::blocks_of(box), dim3(cuda::block_h, cuda::block_k), 0, stream>>>(
      box, intersection(box, inner), f, g, counts);
  cuda::check_launch("count_each");
}

inline void Cuda::clear(const Array<NodeCounts> &counts) const {
  for_each({0, index_t(counts.size()), 0, 1}, cuda::ClearCounts{counts.data()});
}

} // namespace petscrrb
