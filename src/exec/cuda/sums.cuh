// Sums on a CUDA device, in stages of fixed shape, so that every run gives the same bits.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "exec/cuda/overlap.cuh"
#include "exec/sums.hpp"

#include <algorithm>

namespace petscrrb {
namespace cuda {

// The sum of what the first lanes of warps have, known to all of a block.
template <int threads> __device__ double sum_of_warps(double value) {
  __shared__ double warp[threads / 32];
  __syncthreads(); // warp may still be read
  if (threadIdx.x % 32 == 0) warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = warp[0];
  for (int w = 1; w < threads / 32; ++w) value += warp[w];
  return value;
}
// The sum of all threads' values, known to all of a block: in a warp those far apart first, or neighbours.
template <int threads> __device__ double sum_of_block(double value) {
  for (int step = 16; step; step /= 2) value += __shfl_down_sync(~0u, value, step);
  return sum_of_warps<threads>(value);
}
template <int threads> __device__ double sum_of_neighbours(double value) {
  for (int step = 1; step < 32; step *= 2) value += __shfl_down_sync(~0u, value, step);
  return sum_of_warps<threads>(value);
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

// The same of points: a block has every gridDim.x-th of the tiles of so many threads, `across` of them along a row.
constexpr int sum_point_threads = 256;
constexpr index_t most_point_sums = 1024; // a block's own sum takes as long as the loads of a tile

template <class F>
__global__ void __launch_bounds__(sum_point_threads)
    add_points(Range3 box, int across, F f, BlockSum<sum_point_threads> sum) {
  // unsigned numbers of 32 bits: divisions of longer ones would take longer than most sums
  const unsigned rows = sum_point_threads / across, x = threadIdx.x % across, y = threadIdx.x / across;
  const unsigned tiles_x = (unsigned(box.n[0]) + across - 1) / across, tiles_y = (unsigned(box.n[1]) + rows - 1) / rows,
                 tiles = tiles_x * tiles_y * unsigned(box.n[2]);
  double value = 0.0;
  start_next();
  await_previous();
  const auto at = with_numbers(f);
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const unsigned row = tile / tiles_x, i = (tile - row * tiles_x) * across + x, k = row / tiles_y,
                   j = (row - k * tiles_y) * rows + y;
    if (j < box.n[1] && i < box.row(j, k)) value += at(i, j, k);
  }
  sum.add(value);
}

// f(i) is put(i, compute(i)): what is read for one entry need not wait for the store of another.
template <class F, class = void> constexpr bool in_two_parts = false;
template <class F> constexpr bool in_two_parts<F, std::void_t<decltype(std::declval<const F &>().compute(0))>> = true;
constexpr unsigned entries_together = 2;

// The same of the entries of a list.
template <class F>
__global__ void __launch_bounds__(sum_point_threads) add_list(unsigned n, F f, BlockSum<sum_point_threads> sum) {
  const unsigned apart = gridDim.x * sum_point_threads;
  double value = 0.0;
  start_next();
  await_previous();
  const auto at = with_numbers(f);
  unsigned i = blockIdx.x * sum_point_threads + threadIdx.x;
  if constexpr (in_two_parts<F>) {
    for (; i < n; i += entries_together * apart) {
      decltype(at.compute(0)) computed[entries_together];
#pragma unroll
      for (unsigned u = 0; u < entries_together; ++u)
        if (i + u * apart < n) computed[u] = at.compute(i + u * apart);
#pragma unroll
      for (unsigned u = 0; u < entries_together; ++u)
        if (i + u * apart < n) value += at.put(i + u * apart, computed[u]);
    }
  } else { // the braces are needed: nvcc 13.0 would drop what comes after the loop
    for (; i < n; i += apart) value += at(i);
  }
  sum.add(value);
}

constexpr int add_terms_threads = 512;

// A block a sum.
static __global__ void __launch_bounds__(add_terms_threads) add_terms(const __grid_constant__ Sums sums, double *to) {
  start_next();
  await_previous();
  const double sum = sum_of<add_terms_threads>(sums.terms[blockIdx.x]);
  if (threadIdx.x == 0) to[blockIdx.x] = sum;
}

template <class F> __global__ void __launch_bounds__(add_terms_threads) add_terms_then(Terms terms, double *to, F f) {
  start_next();
  await_previous();
  const double sum = sum_of<add_terms_threads>(terms);
  if (threadIdx.x != 0) return;
  *to = sum;
  f(0, 0);
}

constexpr int sum_threads = 256, most_sum_blocks = 1024;

// The nodes of a box by tiles of sum_threads of them, `across` of them along a row. A block has those that are its own whatever the device.
struct Tiles {
  Range2 box;
  index_t count;
  int across;

  explicit Tiles(const Range2 &of) : box(of) {
    const index_t columns = box.size() ? box.h1 - box.h0 : 0, rows = columns ? box.k1 - box.k0 : 0;
    across = threads_of_row({{columns, rows, 1}});
    const int down = sum_threads / across;
    count = (columns + across - 1) / across * ((rows + down - 1) / down);
  }
  unsigned blocks() const { return unsigned(std::clamp<index_t>(count, 1, most_sum_blocks)); }

  // f(h, k) at each of the thread's
  template <class F> __device__ void each(const F &f) const {
    // unsigned numbers of 32 bits: divisions of longer ones would take longer than most sums
    const unsigned down = sum_threads / across, x = threadIdx.x % across, y = threadIdx.x / across;
    const unsigned tiles_x = (unsigned(box.h1 - box.h0) + across - 1) / across;
    for (unsigned tile = blockIdx.x; tile < unsigned(count); tile += gridDim.x) {
      const unsigned row = tile / tiles_x;
      const index_t h = box.h0 + (tile - row * tiles_x) * across + x, k = box.k0 + row * down + y;
      if (h < box.h1 && k < box.k1) f(h, k);
    }
  }
};
// f(h, k) at nodes of inner, g(h, k) at the others
template <class F, class G> struct InnerOr {
  Range2 inner;
  F f;
  G g;

  __device__ double operator()(index_t h, index_t k) const { return contains(inner, h, k) ? f(h, k) : g(h, k); }
};

// One or two sums over the same box.
template <class... F> __global__ void __launch_bounds__(sum_threads) sum_tiles(Tiles tiles, double *partial, F... f) {
  double sums[sizeof...(F)] = {};
  start_next();
  await_previous();
  tiles.each([&](index_t h, index_t k) {
    int i = 0;
    ((sums[i++] += f(h, k)), ...);
  });
#pragma unroll
  for (int i = 0; i < int(sizeof...(F)); ++i) {
    const double sum = sum_of_neighbours<sum_threads>(sums[i]);
    if (threadIdx.x == 0) partial[i * most_sum_blocks + blockIdx.x] = sum;
  }
}

// A block for each of them.
static __global__ void __launch_bounds__(most_sum_blocks)
    sum_partials(int n, const double *partial, double *first, double *second) {
  partial += blockIdx.x * most_sum_blocks;
  start_next();
  await_previous();
  const double sum = sum_of_neighbours<most_sum_blocks>(int(threadIdx.x) < n ? partial[threadIdx.x] : 0.0);
  if (threadIdx.x == 0) *(blockIdx.x ? second : first) = sum;
}

static __global__ void set_values(double *to, double value, double next) { to[0] = value, to[1] = next; }

} // namespace cuda

template <> class PartialSum<Cuda> {
public:
  static index_t parts(Range2 box) {
    const index_t enough = (box.size() + cuda::sum_part_nodes - 1) / cuda::sum_part_nodes;
    return std::min<index_t>(enough, cuda::most_sum_parts);
  }
  static index_t parts_of(const Range3 &box) {
    const index_t enough = (box.size() + cuda::sum_point_threads - 1) / cuda::sum_point_threads;
    return std::min(enough, cuda::most_point_sums);
  }
  void reserve(index_t parts) { partial_.resize(parts); }

  void start() { used_ = 0; }
  // Room for terms, which the caller sets.
  double *take(index_t n) { return partial_.data() + std::exchange(used_, used_ + n); }
  // the share of a kernel of that many blocks
  template <int threads> cuda::BlockSum<threads> take(int blocks) { return {take(index_t(blocks))}; }
  // The sum of f(h, k) over the box.
  template <class F> void add(const Cuda &on, Range2 box, const F &f) {
    const int blocks = int(parts(box));
    if (!blocks) return;
    cuda::launch("sum", cuda::add_box<F>, false, unsigned(blocks), cuda::sum_part_threads, 0, on.stream, box, f,
                 take<cuda::sum_part_threads>(blocks));
  }
  // The sum of f(i, j, k) over the box, and of no other one.
  template <class F> Terms terms_of(const Cuda &on, const Range3 &box, const F &f) {
    const int blocks = int(parts_of(box));
    if (!blocks) return {};
    const auto sum = take<cuda::sum_point_threads>(blocks);
    static const bool overlap = cuda::may_overlap(cuda::add_points<F>);
    cuda::launch("sum", cuda::add_points<F>, overlap, unsigned(blocks), cuda::sum_point_threads, 0, on.stream, box,
                 cuda::threads_of_row(box), f, sum);
    return {sum.term, index_t(blocks)};
  }
  // of f(i) for 0 <= i < n, as many as of a box of so many points
  template <class F> Terms terms_of_list(const Cuda &on, index_t n, const F &f) {
    const int blocks = int(parts_of(Range3{{n, 1, 1}}));
    if (!blocks) return {};
    const auto sum = take<cuda::sum_point_threads>(blocks);
    static const bool overlap = cuda::may_overlap(cuda::add_list<F>);
    cuda::launch("sum", cuda::add_list<F>, overlap, unsigned(blocks), cuda::sum_point_threads, 0, on.stream,
                 unsigned(n), f, sum);
    return {sum.term, index_t(blocks)};
  }
  Terms terms() const { return {partial_.data(), used_}; }
  // to[i] = the i-th sum, wherever it has its place
  static void put(const Cuda &on, const Sums &sums, double *to) {
    cuda::launch("sums", cuda::add_terms, false, unsigned(sums.count), cuda::add_terms_threads, 0, on.stream, sums, to);
  }
  // *to = the sum, then f(0, 0)
  template <class F> static void put_then(const Cuda &on, const Terms &terms, double *to, const F &f) {
    static const bool overlap = cuda::may_overlap(cuda::add_terms_then<F>);
    cuda::launch("sums", cuda::add_terms_then<F>, overlap, 1, cuda::add_terms_threads, 0, on.stream, terms, to, f);
  }
  std::size_t bytes() const { return partial_.bytes(); }

private:
  cuda::Buffer<double> partial_;
  index_t used_ = 0;
};

template <> class Scalars<Cuda> {
public:
  explicit Scalars(std::size_t n, index_t = 0) : value_(n), partial_(2 * cuda::most_sum_blocks), host_(n) {}
  void reserve(index_t) {}

  double *data() const { return value_.data(); } // for loops that compute several at a time
  const double *at(std::size_t i) const { return value_.data() + i; }

  // at(i) = sum over the box of f(h, k), or of g(h, k) at nodes that are not in inner
  template <class F, class G>
  void sum(const Cuda &on, std::size_t i, Range2 box, Range2 inner, const F &f, const G &g) const {
    add(on, box, i, i, cuda::InnerOr<F, G>{intersection(box, inner), f, g});
  }
  template <class F> void sum(const Cuda &on, std::size_t i, Range2 box, const F &f) const {
    sum(on, i, box, box, f, f);
  }
  // at(i) = the sum of f(h, k), at(j) = that of g(h, k)
  template <class F, class G>
  void sum_both(const Cuda &on, std::size_t i, std::size_t j, Range2 box, const F &f, const G &g) const {
    add(on, box, i, j, f, g);
  }

  // waits for the stream
  const double *read(const Cuda &on) const {
    cuda::bring(host_, value_.data(), value_.size(), on.stream);
    return shown(on);
  }
  // where a loop may put what the host is to see of data(), in the same places; and how that looks, when the stream was waited for
  double *show() const { return host_.data(); }
  const double *shown(const Cuda &on) const {
    cuda::wait_for(on.stream, "the sums of all ranks");
    return host_.data();
  }
  void write(const Cuda &on, std::size_t i, double value, double next) const { // two of them
    cuda::set_values<<<1, 1, 0, on.stream>>>(value_.data() + i, value, next);
    cuda::check_launch("set_values");
  }
  std::size_t bytes() const { return value_.bytes() + partial_.bytes(); }

private:
  template <class... F>
  void add(const Cuda &on, Range2 box, std::size_t first, std::size_t second, const F &...f) const {
    using namespace cuda;
    const Tiles tiles(box);
    static const bool overlap = may_overlap(sum_tiles<F...>);
    launch("sum", sum_tiles<F...>, overlap, tiles.blocks(), sum_threads, 0, on.stream, tiles, partial_.data(), f...);
    launch("sum", sum_partials, overlap, sizeof...(F), most_sum_blocks, 0, on.stream, int(tiles.blocks()),
           partial_.data(), value_.data() + first, value_.data() + second);
  }

  cuda::Buffer<double> value_, partial_;
  cuda::Pinned<double> host_;
};

} // namespace petscrrb
