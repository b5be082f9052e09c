// Loops over the nodes of a graph on a device.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "exec/cuda/rows.cuh"
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

struct Decided {
  int left, rounds;
};

// Rounds from `round` to `last` at once: what other nodes decide may be seen in the next of them. flag: who is still open in the end.
template <int lanes>
__global__ void __launch_bounds__(cuda::row_threads)
    decide_nodes(int n, Decide decide, signed char *colour, const node_t *open, node_t *flag, int round, int last,
                 Decided *all) {
  const int i = node_of_lane<lanes>(), lane = int(threadIdx.x) % lanes;
  const node_t p = i < n ? open[i] : -1;
  bool is_open = p >= 0;
  Decide::Look at = is_open ? decide.look_from(p, lane) : Decide::Look();
  for (; round < last && __any_sync(~0u, is_open); ++round) {
    const bool waits = any_of_node<lanes>(is_open && decide.waits(p, at, lanes)), asked = is_open && !waits;
    const bool fails = any_of_node<lanes>(asked && !decide.tests.passes(p, true, lane, lanes));
    if (asked && lane == 0) *const_cast<volatile signed char *>(colour + p) = fails ? black : red;
    if (asked) is_open = false;
  }
  if (p >= 0 && lane == 0) flag[i] = is_open;
  if (threadIdx.x % 32 == 0) atomicMax(&all->rounds, round);
}

struct Entry {
  const node_t *count;

  __device__ unsigned long long operator()(node_t i) const { return (unsigned long long)(count[i]); }
};
struct Identity {
  node_t *to;

  __device__ void operator()(node_t i) const { to[i] = i; }
};
struct TakeOpen {
  const node_t *open, *place;
  node_t *to;

  __device__ void operator()(node_t i) const { to[i] = open[place[i]]; }
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
  int decide(node_t n, const Decide &decide, signed char *colour, node_t *open) {
    constexpr int lanes = 8, many = 1 << 15; // fewer run all at a time, and may wait for each other
    graph_kernels::Decided found{n, 0};
    const cuda::Scratch::Frame frame(scratch_);
    node_t *flag = scratch_.take<node_t>(n), *place = scratch_.take<node_t>(n), *other = scratch_.take<node_t>(n);
    Loops::each(on_, n, graph_kernels::Identity{open});
    decided_.clear(on_.stream);
    while (found.left > 0) {
      n = found.left;
      graph_kernels::decide_nodes<lanes>
          <<<graph_kernels::blocks_of_nodes<lanes>(n), cuda::row_threads, 0, on_.stream>>>(
              n, decide, colour, open, flag, found.rounds, found.rounds + (n > many ? 4 : 4096), decided_.device());
      cuda::check_launch("decide_nodes");
      cuda::find_places(scratch_, flag, place, &decided_.device()->left, n);
      found = decided_.read(on_.stream);
      Loops::each(on_, found.left, graph_kernels::TakeOpen{open, place, other});
      std::swap(open, other);
    }
    return found.rounds;
  }

private:
  using Loops = GraphLoops<Cuda>;

  const Cuda &on_;
  cuda::Scratch scratch_;
  cuda::Report<index_t> total_;
  cuda::Report<graph_kernels::Decided> decided_;
};

} // namespace petscrrb::rrb
