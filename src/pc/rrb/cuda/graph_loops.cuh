// Loops over the nodes of a graph on a device.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "exec/cuda/rows.cuh"
#include "exec/cuda/shape.cuh"
#include "exec/cuda/sort.cuh"
#include "pc/rrb/graph/red_nodes.hpp"

#include <limits>

namespace petscrrb::rrb {

namespace graph_kernels {

template <class F> __global__ void __launch_bounds__(cuda::row_threads) sum_nodes(int n, F f, unsigned long long *sum) {
  const int i = int(blockIdx.x) * cuda::row_threads + int(threadIdx.x);
  unsigned long long mine = i < n ? (unsigned long long)(f(i)) : 0;
  for (int step = 16; step; step /= 2) mine += __shfl_xor_sync(~0u, mine, step);
  if (threadIdx.x % 32 == 0 && mine) atomicAdd(sum, mine); // whole numbers: in any order
}

template <class F> __global__ void __launch_bounds__(cuda::row_threads) count_nodes(int n, F f, NodeCounts *counts) {
  const int i = int(blockIdx.x) * cuda::row_threads + int(threadIdx.x);
  cuda::add_counts(i < n ? f(i) : unsigned(node_ok), i, 0, counts);
}

// A node has several lanes, a power of two.
template <int lanes> __device__ int node_of_lane() {
  return int((blockIdx.x * unsigned(cuda::row_threads) + threadIdx.x) / lanes);
}
template <int lanes> __device__ bool any_of_node(bool mine) {
  const unsigned all = __ballot_sync(~0u, mine);
  return (all >> (threadIdx.x % 32 / lanes * lanes) & (lanes < 32 ? (1u << lanes % 32) - 1 : ~0u)) != 0;
}
template <int lanes> unsigned blocks_of_nodes(int n) { return unsigned(n - 1) / (cuda::row_threads / lanes) + 1; }

template <int lanes, class F>
__global__ void __launch_bounds__(cuda::row_threads) gather_nodes(int n, F f, bool overlap) {
  const int i = node_of_lane<lanes>(), lane = int(threadIdx.x) % lanes;
  if (overlap) {
    cuda::start_next();
    cuda::await_previous();
  }
  double sum = i < n ? f.sum(i, lane, lanes) : 0.0;
  for (int step = lanes / 2; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (i < n && lane == 0) f.take(i, sum);
}
template <int lanes, class F> void gather(const Cuda &on, int n, const F &f) {
  if (n <= 0) return;
  static const bool may_overlap = cuda::may_overlap(gather_nodes<lanes, F>);
  const unsigned blocks = blocks_of_nodes<lanes>(n);
  const bool overlap = may_overlap && blocks <= unsigned(cuda::few_blocks);
  cuda::launch("gather", gather_nodes<lanes, F>, overlap, dim3(blocks), dim3(cuda::row_threads), 0, on.stream, n, f,
               overlap);
}

template <int lanes, class F>
__global__ void __launch_bounds__(cuda::row_threads) count_nodes_together(int n, F f, NodeCounts *counts) {
  const int i = node_of_lane<lanes>(), lane = int(threadIdx.x) % lanes;
  unsigned flags = i < n ? f(i, lane, lanes) : unsigned(node_ok);
  for (int step = lanes / 2; step; step /= 2) flags |= __shfl_xor_sync(~0u, flags, step);
  cuda::add_counts(lane == 0 ? flags : unsigned(node_ok), i, 0, counts);
}

// How many red neighbours a node has.
template <int lanes> __device__ int reds_around(const Decide &decide, node_t p, int lane) {
  int reds = 0;
  if (p >= 0)
    for (node_t k = decide.tests.graph.rows.start[p] + lane; k < decide.tests.graph.rows.start[p + 1]; k += lanes)
      reds += colour_of(decide.tests.colour, decide.tests.graph.rows.column[k]) == red;
  for (int step = lanes / 2; step; step /= 2) reds += __shfl_xor_sync(~0u, reds, step);
  return reds;
}

// Each node gets its lanes in the order of priority. All of these run at a time, so that some node never has to wait. Who waits, and gets a red
// neighbour, is tested at once: who fails goes on failing.
template <int lanes>
__global__ void __launch_bounds__(cuda::row_threads)
    decide_nodes(int n, Decide decide, signed char *colour, const node_t *order) {
  const int lane = int(threadIdx.x) % lanes, step = int(gridDim.x) * (cuda::row_threads / lanes);
  int i = node_of_lane<lanes>(), seen = 0;
  node_t p = i < n ? order[i] : -1;
  Decide::Look at = p >= 0 ? decide.look_from(p, lane) : Decide::Look();
  while (__any_sync(~0u, p >= 0)) {
    const bool waits = any_of_node<lanes>(p >= 0 && decide.waits(p, at, lanes));
    const int reds = reds_around<lanes>(decide, p, lane);
    const bool asked = p >= 0 && (!waits || reds > seen);
    const bool fails = any_of_node<lanes>(asked && !decide.tests.passes(p, true, lane, lanes));
    seen = reds;
    if (asked && (fails || !waits)) {
      if (lane == 0) *const_cast<volatile signed char *>(colour + p) = fails ? black : red;
      i += step, seen = 0;
      p = i < n ? order[i] : -1;
      if (p >= 0) at = decide.look_from(p, lane);
    }
  }
}

// Several lanes that work on one node.
template <int lanes> struct Lanes {
  static constexpr int count = lanes;
  int lane = int(threadIdx.x) % lanes;

  __device__ bool first() const { return lane == 0; }
  __device__ node_t least(node_t mine) const {
    for (int step = lanes / 2; step; step /= 2) mine = min(mine, __shfl_xor_sync(all(), mine, step, lanes));
    return mine;
  }
  __device__ node_t sum(node_t mine) const {
    for (int step = lanes / 2; step; step /= 2) mine += __shfl_xor_sync(all(), mine, step, lanes);
    return mine;
  }
  __device__ node_t before(node_t mine) const {
    node_t sum = mine;
    for (int step = 1; step < lanes; step *= 2) {
      const node_t earlier = __shfl_up_sync(all(), sum, step, lanes);
      if (lane >= step) sum += earlier;
    }
    return sum - mine;
  }

private:
  __device__ static unsigned all() {
    return (lanes < 32 ? (1u << lanes % 32) - 1 : ~0u) << (threadIdx.x % 32 / lanes * lanes);
  }
};
template <int lanes, class F> __global__ void __launch_bounds__(cuda::row_threads) each_node_together(int n, F f) {
  if (const int i = node_of_lane<lanes>(); i < n) f(i, Lanes<lanes>());
}
template <int lanes, class F> void together(const Cuda &on, int n, const F &f) {
  if (n <= 0) return;
  each_node_together<lanes><<<blocks_of_nodes<lanes>(n), cuda::row_threads, 0, on.stream>>>(n, f);
  cuda::check_launch("each_node_together");
}

struct Entry {
  const node_t *count;

  __device__ unsigned long long operator()(node_t i) const { return (unsigned long long)(count[i]); }
};
struct Identity {
  node_t *to;

  __device__ void operator()(node_t i) const { to[i] = i; }
};
} // namespace graph_kernels

template <> struct GraphLoops<Cuda> {
  template <class F> static void each(const Cuda &on, node_t n, const F &f) {
    cuda::for_rows("graph", n, f, on.stream);
  }
  template <class F> static void add(const Cuda &on, node_t n, const F &f, index_t *total) {
    if (n <= 0) return;
    graph_kernels::sum_nodes<<<unsigned(n - 1) / cuda::row_threads + 1, cuda::row_threads, 0, on.stream>>>(
        n, f, reinterpret_cast<unsigned long long *>(total));
    cuda::check_launch("sum_nodes");
  }
  static void clear(const Cuda &on, cuda::Buffer<index_t> &totals) {
    cuda::check(cudaMemsetAsync(totals.data(), 0, totals.bytes(), on.stream), "cudaMemsetAsync");
  }
  template <class F> static void count(const Cuda &on, node_t n, const F &f, NodeCounts *counts) {
    if (n <= 0) return;
    graph_kernels::count_nodes<<<unsigned(n - 1) / cuda::row_threads + 1, cuda::row_threads, 0, on.stream>>>(n, f,
                                                                                                             counts);
    cuda::check_launch("count_nodes");
  }
  template <class F> static void count_together(const Cuda &on, node_t n, const F &f, NodeCounts *counts) {
    constexpr int lanes = 8;
    if (n <= 0) return;
    graph_kernels::count_nodes_together<lanes>
        <<<graph_kernels::blocks_of_nodes<lanes>(n), cuda::row_threads, 0, on.stream>>>(n, f, counts);
    cuda::check_launch("count_nodes_together");
  }
  template <class F> static void gather(const Cuda &on, node_t n, double couplings, const F &f) {
    if (couplings < 3.0) return graph_kernels::gather<1>(on, n, f);
    if (couplings < 6.0) return graph_kernels::gather<2>(on, n, f);
    if (couplings < 12.0) return graph_kernels::gather<4>(on, n, f);
    if (couplings < 24.0) return graph_kernels::gather<8>(on, n, f);
    graph_kernels::gather<32>(on, n, f);
  }
  template <class F> static void together(const Cuda &on, node_t n, double couplings, const F &f) {
    if (couplings < 12.0) return graph_kernels::together<4>(on, n, f);
    if (couplings < 24.0) return graph_kernels::together<8>(on, n, f);
    graph_kernels::together<32>(on, n, f);
  }
  template <class T> static void fetch(const Cuda &on, const cuda::Buffer<T> &from, std::vector<T> &to) {
    to = cuda::to_host(from.data(), to.size(), on.stream);
  }
};

template <> class ChoiceLoops<Cuda> {
public:
  explicit ChoiceLoops(const Cuda &on) : on_(on), scratch_(on.stream, 1 << 24) {}

  template <class F> index_t sum(node_t n, const F &f) {
    total_.clear(on_.stream);
    Loops::add(on_, n, f, total_.device());
    return total_.read(on_.stream);
  }
  template <class F> bool any(node_t n, const F &f) { return sum(n, f) != 0; }
  node_t offsets(node_t *count, node_t n) {
    const index_t total = sum(n, graph_kernels::Entry{count});
    if (total > std::numeric_limits<node_t>::max()) throw std::length_error("a level has more than 2^31 couplings");
    cuda::find_offsets(scratch_, count, count, n + 1);
    return node_t(total);
  }
  void sort(const node_t *key, node_t n, node_t bound, node_t *order) {
    if (!n) return;
    const cuda::Scratch::Frame frame(scratch_);
    node_t *all = scratch_.take<node_t>(n), *sorted = scratch_.take<node_t>(n);
    Loops::each(on_, n, graph_kernels::Identity{all});
    cuda::sort(scratch_, key, sorted, all, order, n, bound);
  }
  void decide(node_t n, double couplings, const Decide &decide, signed char *colour) {
    const cuda::Scratch::Frame frame(scratch_);
    node_t *all = scratch_.take<node_t>(n), *order = scratch_.take<node_t>(n);
    Loops::each(on_, n, graph_kernels::Identity{all});
    cuda::sort(scratch_, decide.priority, scratch_.take<priority_t>(n), all, order, n, ~priority_t(0));
    const auto run = [&](auto *kernel, int lanes) {
      const unsigned blocks = unsigned(n - 1) / unsigned(cuda::row_threads / lanes) + 1;
      kernel<<<std::min(blocks, unsigned(cuda::resident_blocks(kernel, cuda::row_threads))), cuda::row_threads, 0,
               on_.stream>>>(n, decide, colour, order);
      cuda::check_launch("decide_nodes");
    };
    if (couplings < 12.0)
      run(graph_kernels::decide_nodes<8>, 8);
    else
      run(graph_kernels::decide_nodes<32>, 32);
  }

private:
  using Loops = GraphLoops<Cuda>;

  const Cuda &on_;
  cuda::Scratch scratch_;
  cuda::Report<index_t> total_;
};

} // namespace petscrrb::rrb
