// Loops over the nodes of a graph on a device.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "exec/cuda/rows.cuh"
#include "exec/cuda/sort.cuh"
#include "pc/rrb/graph/red_nodes.hpp"

namespace petscrrb::rrb {

namespace graph_kernels {

template <class F> struct AtNode {
  F f;

  __device__ unsigned operator()(index_t h, index_t) const { return f(node_t(h)); }
};

template <class F> __global__ void __launch_bounds__(cuda::row_threads) sum_nodes(int n, F f, unsigned long long *sum) {
  const int i = int(blockIdx.x) * cuda::row_threads + int(threadIdx.x);
  unsigned long long mine = i < n ? (unsigned long long)(f(i)) : 0;
  for (int step = 16; step; step /= 2) mine += __shfl_xor_sync(~0u, mine, step);
  if (threadIdx.x % 32 == 0 && mine) atomicAdd(sum, mine); // whole numbers: in any order
}

struct Entry {
  const node_t *count;

  __device__ unsigned long long operator()(node_t i) const { return (unsigned long long)(count[i]); }
};
struct Identity {
  node_t *to;

  __device__ void operator()(node_t i) const { to[i] = i; }
};
// What is decided stays, so that it may be seen at once; flags tell who is still open.
struct DecideOpen {
  Decide decide;
  signed char *colour;
  const node_t *open;
  node_t *flag;

  __device__ void operator()(node_t i) const {
    const Colour c = decide(open[i]);
    flag[i] = c == undecided;
    if (c != undecided) *const_cast<volatile signed char *>(colour + open[i]) = c;
  }
};
struct TakeOpen {
  const node_t *open, *place;
  node_t *to;

  __device__ void operator()(node_t i) const { to[i] = open[place[i]]; }
};

} // namespace graph_kernels

template <> struct GraphLoops<Cuda> {
  template <class F> static void each(const Cuda &on, node_t n, const F &f) { cuda::for_rows("graph", n, f, on.stream); }
  template <class F> static index_t sum(const Cuda &on, node_t n, const F &f) {
    cuda::Report<unsigned long long> report;
    report.clear(on.stream);
    if (n) {
      graph_kernels::sum_nodes<<<unsigned(n - 1) / cuda::row_threads + 1, cuda::row_threads, 0, on.stream>>>(
          n, f, report.device());
      cuda::check_launch("sum_nodes");
    }
    return index_t(report.read(on.stream));
  }
  template <class F> static NodeCounts count(const Cuda &on, node_t n, const F &f) {
    Cuda::Array<NodeCounts> counts(1);
    on.clear(counts);
    const Range2 all{0, n, 0, 1};
    const graph_kernels::AtNode<F> at{f};
    on.count_each(all, all, at, at, counts.data());
    return *on.read(counts);
  }
  static node_t offsets(const Cuda &on, node_t *count, node_t n) {
    cuda::Scratch scratch(on.stream, 1 << 20);
    const index_t total = sum(on, n, graph_kernels::Entry{count});
    if (total > std::numeric_limits<node_t>::max()) throw std::length_error("a level has more than 2^31 couplings");
    cuda::find_offsets(scratch, count, count, n + 1);
    return node_t(total);
  }
  static void sort(const Cuda &on, const node_t *key, node_t n, node_t bound, node_t *order) {
    if (!n) return;
    cuda::Scratch scratch(on.stream, 1 << 20);
    node_t *all = scratch.take<node_t>(n), *sorted = scratch.take<node_t>(n);
    each(on, n, graph_kernels::Identity{all});
    cuda::sort(scratch, key, sorted, all, order, n, bound);
  }
  template <class T> static void fetch(const Cuda &on, const cuda::Buffer<T> &from, std::vector<T> &to) {
    to = cuda::to_host(from.data(), to.size(), on.stream);
  }
  static void decide(const Cuda &on, node_t n, const Decide &decide, signed char *colour, node_t *open) {
    cuda::Scratch scratch(on.stream, 1 << 20);
    node_t *flag = scratch.take<node_t>(n), *place = scratch.take<node_t>(n), *other = scratch.take<node_t>(n);
    cuda::Report<int> left;
    each(on, n, graph_kernels::Identity{open});
    while (n > 0) {
      each(on, n, graph_kernels::DecideOpen{decide, colour, open, flag});
      cuda::find_places(scratch, flag, place, left.device(), n);
      n = left.read(on.stream);
      each(on, n, graph_kernels::TakeOpen{open, place, other});
      std::swap(open, other);
    }
  }
};

} // namespace petscrrb::rrb
