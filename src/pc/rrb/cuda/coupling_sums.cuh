// Sums over the couplings of nodes on a device.
#pragma once

#include "exec/cuda/rows.cuh"
#include "exec/cuda/sums.cuh"
#include "pc/rrb/graph/couplings.hpp"

#include <type_traits>

namespace petscrrb::rrb {

namespace graph_kernels {

// A node has several lanes, a power of two.
template <int lanes> __device__ int node_of_lane() {
  return int((blockIdx.x * unsigned(cuda::row_threads) + threadIdx.x) / lanes);
}
template <int lanes> unsigned blocks_of_nodes(int n) { return unsigned(n - 1) / (cuda::row_threads / lanes) + 1; }

// Of node i < n, known to the first of its lanes. Each lane reads its first couplings before it awaits the kernel that computes what they
// are for.
template <int lanes, class F, class Await> __device__ double sum_of_node(int i, int n, const F &f, const Await &await) {
  constexpr int ahead = 4;
  const auto &[begin, end, columns, weights] = f.couplings;
  using Place = std::decay_t<decltype(*begin)>;
  const int lane = int(threadIdx.x) % lanes;
  const Place from = i < n ? begin[i] + lane : 0, to = i < n ? end[i] : 0;
  Place column[ahead];
  std::decay_t<decltype(*weights)> weight[ahead];
#pragma unroll
  for (int j = 0; j < ahead; ++j)
    if (const Place k = from + j * lanes; k < to) column[j] = columns[k], weight[j] = weights[k];
  await();
  double sum = i < n && lane == 0 ? f.own(i) : 0.0;
#pragma unroll
  for (int j = 0; j < ahead; ++j)
    if (from + j * lanes < to) sum += f.term(i, weight[j], column[j]);
  for (Place k = from + ahead * lanes; k < to; k += lanes) sum += f.term(i, weights[k], columns[k]);
  for (int step = lanes / 2; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  return sum;
}

template <int lanes, class F>
__global__ void __launch_bounds__(cuda::row_threads) sum_each_node(int n, F f, bool overlap) {
  if (overlap) cuda::start_next();
  const int i = node_of_lane<lanes>();
  const double sum = sum_of_node<lanes>(i, n, f, [overlap] {
    if (overlap) cuda::await_previous();
  });
  if (i < n && threadIdx.x % lanes == 0) f.take(i, sum);
}

// A block has every gridDim.x-th of the pieces of so many nodes as it has room for.
constexpr unsigned most_blocks_of_terms = 4096;

template <int lanes, class F>
__global__ void __launch_bounds__(cuda::row_threads)
    sum_all_nodes(int n, F f, cuda::BlockSum<cuda::row_threads> terms) {
  constexpr int at_once = cuda::row_threads / lanes;
  double value = 0.0;
  for (int from = int(blockIdx.x) * at_once; from < n; from += int(gridDim.x) * at_once) {
    const int i = from + int(threadIdx.x) / lanes;
    const double sum = sum_of_node<lanes>(i, n, f, [] {});
    if (i < n && threadIdx.x % lanes == 0) value += f.take(i, sum);
  }
  terms.add(value);
}

} // namespace graph_kernels

template <> struct CouplingSums<Cuda> {
  template <class F> static void each(const Cuda &on, node_t n, double on_average, const F &f) {
    if (n <= 0) return;
    with_lanes(on_average, [&](auto lanes) {
      const auto kernel = graph_kernels::sum_each_node<lanes, F>;
      static const bool may_overlap = cuda::may_overlap(kernel);
      const unsigned blocks = graph_kernels::blocks_of_nodes<lanes>(n);
      const bool overlap = may_overlap && blocks <= unsigned(cuda::few_blocks);
      cuda::launch("sum_each_node", kernel, overlap, dim3(blocks), dim3(cuda::row_threads), 0, on.stream, n, f,
                   overlap);
    });
  }

  static index_t most_terms(index_t) { return graph_kernels::most_blocks_of_terms; }
  template <class F>
  static Terms terms(const Cuda &on, node_t n, double on_average, const F &f, PartialSum<Cuda> &partial) {
    if (n <= 0) return {};
    unsigned blocks = 0;
    cuda::BlockSum<cuda::row_threads> terms = {};
    with_lanes(on_average, [&](auto lanes) {
      blocks = std::min(graph_kernels::blocks_of_nodes<lanes>(n), graph_kernels::most_blocks_of_terms);
      terms = partial.take<cuda::row_threads>(int(blocks));
      graph_kernels::sum_all_nodes<lanes><<<blocks, cuda::row_threads, 0, on.stream>>>(n, f, terms);
    });
    cuda::check_launch("sum_all_nodes");
    return {terms.term, index_t(blocks)};
  }

private:
  // Found by measuring, on grids in space, triangles and quad-trees; where rows differ in length it is the longer ones that count.
  template <class F> static void with_lanes(double on_average, const F &f) {
    if (on_average < 3.0) return f(std::integral_constant<int, 1>());
    if (on_average < 6.0) return f(std::integral_constant<int, 2>());
    if (on_average < 8.0) return f(std::integral_constant<int, 4>());
    if (on_average < 24.0) return f(std::integral_constant<int, 8>());
    if (on_average < 32.0) return f(std::integral_constant<int, 16>());
    f(std::integral_constant<int, 32>());
  }
};

} // namespace petscrrb::rrb
