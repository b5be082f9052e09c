// Loops over the nodes of a graph on a device.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "exec/cuda/rows.cuh"
#include "exec/cuda/shape.cuh"
#include "exec/cuda/sort.hpp"
#include "exec/cuda/wait.cuh"
#include "pc/rrb/cuda/coupling_sums.cuh"
#include "pc/rrb/cuda/lanes.cuh"
#include "pc/rrb/graph/in_order.hpp"

#include <algorithm>
#include <limits>

namespace petscrrb::rrb {

namespace graph_kernels {

// A kernel for n nodes, so many a block.
template <class... Parameters, class... Arguments>
void start(const char *what, void (*kernel)(int, Parameters...), const Cuda &on, int n, int of_block, int threads,
           std::size_t shared, const Arguments &...arguments) {
  if (n <= 0) return;
  kernel<<<unsigned(n - 1) / unsigned(of_block) + 1, threads, shared, on.stream>>>(n, arguments...);
  cuda::check_launch(what);
}

// What a warp has is added to *sum: whole numbers, in any order.
template <class T> __device__ void add(T mine, unsigned long long *sum) {
  mine = Lanes<32>().sum(mine);
  if (threadIdx.x % 32 == 0 && mine) atomicAdd(sum, (unsigned long long)(mine));
}

template <class F> __global__ void __launch_bounds__(cuda::row_threads) sum_nodes(int n, F f, unsigned long long *sum) {
  const int i = int(blockIdx.x) * cuda::row_threads + int(threadIdx.x);
  add(i < n ? (unsigned long long)(f(i)) : 0ull, sum);
}

template <class F> __global__ void __launch_bounds__(cuda::row_threads) count_nodes(int n, F f, NodeCounts *counts) {
  const int i = int(blockIdx.x) * cuda::row_threads + int(threadIdx.x);
  cuda::add_counts(i < n ? f(i) : unsigned(node_ok), i, 0, counts);
}

template <int lanes, class F>
__global__ void __launch_bounds__(cuda::row_threads)
    each_node_ahead(int n, F f, unsigned long long *sum, bool overlap) {
  if (overlap) cuda::start_next();
  const auto await = [overlap] {
    if (overlap) cuda::await_previous();
  };
  unsigned mine = 0;
  if (const int i = node_of_lane<lanes>(); i < n)
    mine = f(i, Lanes<lanes>(), await);
  else
    await();
  add(mine, sum);
}
template <int lanes, class F> void ahead(const Cuda &on, int n, const F &f, unsigned long long *sum) {
  const auto kernel = each_node_ahead<lanes, F>;
  static const bool may_overlap = cuda::may_overlap(kernel);
  const unsigned blocks = blocks_of_nodes<lanes>(n);
  const bool overlap = may_overlap && blocks <= unsigned(cuda::few_blocks);
  cuda::launch("each_node_ahead", kernel, overlap, dim3(blocks), dim3(cuda::row_threads), 0, on.stream, n, f, sum,
               overlap);
}

template <int lanes, class F>
__global__ void __launch_bounds__(cuda::row_threads) count_nodes_together(int n, F f, NodeCounts *counts) {
  const Lanes<lanes> node;
  const int i = node_of_lane<lanes>();
  const unsigned flags = i < n ? f(i, node) : unsigned(node_ok);
  cuda::add_counts(node.first() ? flags : unsigned(node_ok), i, 0, counts);
}

template <int lanes, class F> __global__ void __launch_bounds__(cuda::row_threads) each_node_together(int n, F f) {
  Lanes<lanes> node;
  if (const int i = node_of_lane<lanes>(); i < n) f(i, node);
}
template <int lanes, class F> void together(const Cuda &on, int n, const F &f) {
  start("each_node_together", each_node_together<lanes, F>, on, n, cuda::row_threads / lanes, cuda::row_threads, 0, f);
}
template <class F> void with_lanes(double couplings, const F &f) {
  if (couplings < 12.0) return f(std::integral_constant<int, 4>());
  if (couplings < 24.0) return f(std::integral_constant<int, 8>());
  f(std::integral_constant<int, 32>());
}
// of those that do little for a coupling: one where there are nodes enough for a device
template <class F> void with_few_lanes(int n, double couplings, const F &f) {
  if (n > 1 << 17 && couplings < 8.0) return f(std::integral_constant<int, 1>());
  with_lanes(couplings, f);
}

constexpr node_t few_nodes = 1 << 14; // several lanes each do not fill a device
constexpr int warps = cuda::row_threads / 32, asking_lanes = 4;
template <class Table> constexpr int table_warps = sizeof(Table) > 12000 ? 2 : 4; // 48 kB at most
template <class Table, class F>
__global__ void __launch_bounds__(32 * table_warps<Table>) each_node_with_table(int n, F f) {
  __shared__ Table tables[table_warps<Table>];
  const int of_block = int(threadIdx.x) / 32, i = int(blockIdx.x) * table_warps<Table> + of_block;
  Warp<Table> warp(tables[of_block]);
  if (i < n) f(i, warp);
}
template <class Table, class F> void with_table(const Cuda &on, int n, const F &f) {
  constexpr int nodes = table_warps<Table>;
  start("each_node_with_table", each_node_with_table<Table, F>, on, n, nodes, 32 * nodes, 0, f);
}
using Table = WarpTable<256>;

constexpr int adding_threads = 128;
constexpr int adding_blocks = 8; // of a multiprocessor: the numbers that each waits for take the time
template <int lanes, class Table, class F>
__global__ void __launch_bounds__(adding_threads, adding_blocks) each_node_with_numbers(int n, F f) {
  struct Apart : Table { // so that those of a warp begin at different banks
    double apart[lanes];
  };
  __shared__ Apart tables[adding_threads / lanes];
  const int of_block = int(threadIdx.x) / lanes, i = int(blockIdx.x) * (adding_threads / lanes) + of_block;
  Adding<lanes, Table> adding(tables[of_block]);
  if (i < n) f(i, adding);
}
template <int lanes, int room, class F> void with_numbers(const Cuda &on, int n, const F &f) {
  start("each_node_with_numbers", each_node_with_numbers<lanes, Numbers<room>, F>, on, n, adding_threads / lanes,
        adding_threads, 0, f);
}

constexpr int set_warps = 2, most_words = 4096; // 32 kB
template <class F> __global__ void __launch_bounds__(32 * set_warps) each_node_with_bits(int n, F f, int words) {
  extern __shared__ unsigned bits_of_block[];
  const int of_block = int(threadIdx.x) / 32, i = int(blockIdx.x) * set_warps + of_block;
  WarpWithBits warp(bits_of_block + of_block * words, words);
  if (i < n) f(i, warp);
}
template <class F> void with_bits(const Cuda &on, int n, int words, const F &f) {
  start("each_node_with_bits", each_node_with_bits<F>, on, n, set_warps, 32 * set_warps,
        set_warps * words * sizeof(unsigned), f, words);
}

// The sum of f(node, lanes) of those that f asks: a warp does so for one after the other of some nodes.
template <class F>
__global__ void __launch_bounds__(cuda::row_threads) sum_asked_nodes(int n, F f, unsigned long long *sum) {
  __shared__ Table tables[warps];
  Warp<Table> warp(tables[threadIdx.x / 32]);
  const Lanes<asking_lanes> few;
  const int i = node_of_lane<asking_lanes>();
  const bool asked = i < n && f.asks(i, few);
  warp.each(asked && few.first(), i, [&](node_t p) {
    const unsigned value = f(p, warp);
    if (warp.first() && value) atomicAdd(sum, (unsigned long long)value);
  });
}

template <int lanes> __device__ auto lanes_with(Table &table) {
  if constexpr (lanes == 32)
    return Warp<Table>(table);
  else
    return Lanes<lanes>();
}

// How far a lane has looked around p, first at its neighbours, then at those of red ones: places in p's row and in a neighbour's. What it has passed is
// decided, or comes later, and stays so.
template <int lanes> class Look {
public:
  __device__ Look(const Decide &decide, node_t p, int lane)
      : decide_(decide), p_(p), mine_(decide.priority[p]), near_(decide.tests.graph.rows.start[p] + lane) {}

  // Whether p must wait, over those neighbours that this lane asks.
  __device__ bool waits() {
    constexpr int together = 8; // neighbours of a neighbour that are read at a time
    if (decide_.tests.is_long(p_)) return false;
    const Rows &rows = decide_.tests.graph.rows;
    const node_t begin = rows.start[p_], end = rows.start[p_ + 1];
    for (; !beyond_ && near_ < end; near_ += lanes)
      if (decide_.waits_for(rows.column[near_], mine_)) return true;
    if (!beyond_) beyond_ = true, near_ = begin + (near_ - begin) % lanes;
    for (; near_ < end; near_ += lanes, far_ = -1) {
      const node_t q = rows.column[near_], last = rows.start[q + 1];
      if (colour_of(decide_.tests.colour, q) != red) continue;
      for (far_ = far_ < 0 ? rows.start[q] : far_; far_ < last; far_ += together) {
        bool some = false;
#pragma unroll
        for (int i = 0; i < together; ++i)
          if (far_ + i < last) some |= decide_.waits_for(rows.column[far_ + i], mine_);
        if (some) return true;
      }
    }
    return false;
  }

private:
  const Decide &decide_;
  const node_t p_;
  const priority_t mine_;
  node_t near_, far_ = -1;
  bool beyond_ = false;
};

// Each node gets its lanes in the order of priority. All of these run at a time, as the launch makes sure, so that some node never has to wait. Who
// waits, and gets a red neighbour, is tested at once with that one: who fails goes on failing. patience: after so many nanoseconds who waits is left
// undecided; 0: never.
template <int lanes>
__global__ void __launch_bounds__(cuda::row_threads)
    decide_nodes(int n, Decide decide, signed char *colour, const node_t *order, unsigned patience) {
  static_assert(most_of_red <= 32 * lanes);
  __shared__ Table tables[warps];
  const RedTests &tests = decide.tests;
  const Rows &rows = tests.graph.rows;
  auto node = lanes_with<lanes>(tables[threadIdx.x / 32]);
  const int step = int(gridDim.x) * (cuda::row_threads / lanes);
  const unsigned long long begun = patience ? cuda::nanoseconds() : 0;
  for (int i = node_of_lane<lanes>(); i < n; i += step) {
    const node_t p = order[i], begin = rows.start[p], end = rows.start[p + 1];
    Look<lanes> look(decide, p, node.lane);
    unsigned reds = 0; // bit j: this lane's j-th neighbour
    for (;;) {
      const bool waits = node.any(look.waits());
      bool fails;
      if (waits) {
        unsigned more = 0;
        for (node_t k = begin + node.lane, j = 0; k < end; k += lanes, ++j)
          if (tests.is_red(rows.column[k])) more |= 1u << j;
        more &= ~reds;
        reds |= more;
        if (!node.any(more)) {
          if (patience && node.any(cuda::nanoseconds() - begun > patience)) break;
          continue;
        }
        fails = !tests.passes(p, true, node, [&](node_t k) { return more >> (k - begin) / lanes & 1; });
        if (!fails) continue;
      } else
        fails = !tests.passes(p, true, node);
      if (node.first()) *const_cast<volatile signed char *>(colour + p) = fails ? black : red;
      break;
    }
  }
}

template <class F> struct EachAlone {
  F f;

  template <class Lanes> __device__ void operator()(node_t i, const Lanes &lanes) const { f.each_alone(i, lanes); }
};
struct Entry {
  const node_t *count;

  __device__ unsigned long long operator()(node_t i) const { return (unsigned long long)(count[i]); }
};
} // namespace graph_kernels

template <> struct GraphLoops<Cuda> {
  template <class F> static void each(const Cuda &on, node_t n, const F &f) {
    cuda::for_rows("graph", n, f, on.stream);
  }
  template <class F> static void add(const Cuda &on, node_t n, const F &f, index_t *total) {
    graph_kernels::start("sum_nodes", graph_kernels::sum_nodes<F>, on, n, cuda::row_threads, cuda::row_threads, 0, f,
                         reinterpret_cast<unsigned long long *>(total));
  }
  static void clear(const Cuda &on, cuda::Buffer<index_t> &totals) {
    cuda::check(cudaMemsetAsync(totals.data(), 0, totals.bytes(), on.stream), "cudaMemsetAsync");
  }
  template <class F> static void count(const Cuda &on, node_t n, const F &f, NodeCounts *counts) {
    graph_kernels::start("count_nodes", graph_kernels::count_nodes<F>, on, n, cuda::row_threads, cuda::row_threads, 0,
                         f, counts);
  }
  template <class F> static void ahead(const Cuda &on, node_t n, double per_node, const F &f, index_t *total) {
    if (n <= 0) return;
    const auto sum = reinterpret_cast<unsigned long long *>(total);
    if (n <= graph_kernels::few_nodes) return graph_kernels::ahead<8>(on, n, f, sum);
    if (per_node < 4.0) return graph_kernels::ahead<1>(on, n, f, sum);
    graph_kernels::ahead<4>(on, n, f, sum);
  }
  template <class F>
  static void count_together(const Cuda &on, node_t n, double couplings, const F &f, NodeCounts *counts) {
    graph_kernels::with_few_lanes(n, couplings, [&](auto lanes) {
      graph_kernels::start("count_nodes_together", graph_kernels::count_nodes_together<lanes, F>, on, n,
                           cuda::row_threads / lanes, cuda::row_threads, 0, f, counts);
    });
  }
  template <class F> static void together(const Cuda &on, node_t n, double couplings, const F &f) {
    graph_kernels::with_lanes(couplings, [&](auto lanes) { graph_kernels::together<lanes>(on, n, f); });
  }
  template <class F> static void together_or_alone(const Cuda &on, node_t n, double couplings, const F &f) {
    graph_kernels::with_few_lanes(n, couplings, [&](auto lanes) { graph_kernels::together<lanes>(on, n, f); });
  }
  // What nodes list is found twice: f(i, lanes) counts, and lists where there is room.
  static constexpr bool keeps = false;
  struct Kept {};
  template <class F> static Kept count_lists(const Cuda &on, node_t n, double couplings, const F &f, index_t) {
    put_lists(on, n, couplings, f, {});
    return {};
  }
  template <class F> static void put_lists(const Cuda &on, node_t n, double couplings, const F &f, Kept) {
    using namespace graph_kernels;
    if constexpr (F::collects) {
      const int words = (n - 1) / WarpWithBits::columns_of_word + 1; // of n columns
      if (words <= most_words) return with_bits(on, n, words, f);
      if (couplings < 24.0) return with_table<Table>(on, n, f);
      with_table<WarpTable<512>>(on, n, f);
    } else
      GraphLoops::together(on, n, couplings, f);
  }
  template <class F> static void add_up(const Cuda &on, node_t n, double couplings, double listed, const F &f) {
    using namespace graph_kernels;
    if (couplings < 8.0) return graph_kernels::together<4>(on, n, EachAlone<F>{f});
    if (n < 3000) return with_table<WarpTableWithNumbers<512>>(on, n, f); // for the longest rows, since there is room
    if (n < 20000) return with_table<WarpTableWithNumbers<256>>(on, n, f);
    if (listed < 32.0) return with_table<WarpTableWithNumbers<64>>(on, n, f);
    if (listed < 64.0) return with_table<WarpTableWithNumbers<128>>(on, n, f);
    if (listed < 128.0) return with_table<WarpTableWithNumbers<256>>(on, n, f);
    with_table<WarpTableWithNumbers<512>>(on, n, f);
  }
  static bool stores_products(double couplings) { return couplings >= 8.0; }
  template <class F> static void look_up(const Cuda &on, node_t n, const F &f) {
    graph_kernels::with_table<graph_kernels::Table>(on, n, f);
  }
  template <class F> static void add_stored(const Cuda &on, node_t n, double listed, node_t longest, const F &f) {
    using namespace graph_kernels;
    if (n > few_nodes && listed <= 16.0) return with_numbers<8, 32>(on, n, f);
    if (n > few_nodes && listed <= 32.0) return with_numbers<8, 64>(on, n, f);
    if (longest <= 64) return with_numbers<32, 64>(on, n, f);
    if (longest <= 128) return with_numbers<32, 128>(on, n, f);
    with_numbers<32, 256>(on, n, f);
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
  template <class F> bool any_asked(node_t n, const F &f) {
    using namespace graph_kernels;
    if (n <= 0) return false;
    total_.clear(on_.stream);
    start("sum_asked_nodes", sum_asked_nodes<F>, on_, n, cuda::row_threads / asking_lanes, cuda::row_threads, 0, f,
          reinterpret_cast<unsigned long long *>(total_.device()));
    return total_.read(on_.stream) != 0;
  }
  node_t offsets(node_t *count, node_t n, index_t most) {
    const bool may_be_more = most > std::numeric_limits<node_t>::max();
    find_offsets(count, n, may_be_more, 0);
    return read_offsets(may_be_more)[0];
  }
  std::pair<node_t, node_t> offsets(node_t *a, node_t *b, node_t n) {
    find_offsets(a, n, false, 0), find_offsets(b, n, true, 1);
    const node_t *in_all = read_offsets(true);
    return {in_all[0], in_all[1]};
  }
  template <class Key> void sort(const Key *key, node_t n, Key bound, node_t *order) {
    if (!n) return;
    const cuda::Scratch::Frame frame(scratch_);
    node_t *const all = scratch_.take<node_t>(n);
    Loops::each(on_, n, CountFrom{0, all});
    cuda::sort(scratch_, key, scratch_.take<Key>(n), all, order, n, bound);
  }
  void decide(node_t n, double couplings, const Decide &decide, signed char *colour) {
    const cuda::Scratch::Frame frame(scratch_);
    node_t *const order = scratch_.take<node_t>(n);
    sort(decide.priority, n, ~priority_t(0), order);
    const bool may_finish = n <= most_on_host;
    const auto run = [&](auto *kernel, int lanes) {
      const unsigned blocks = unsigned(n - 1) / unsigned(cuda::row_threads / lanes) + 1;
      int nodes = n;
      unsigned patience = may_finish ? patience_ : 0;
      Decide of_all = decide;
      const node_t *in_order = order;
      void *arguments[] = {&nodes, &of_all, &colour, &in_order, &patience};
      const dim3 at_once(std::min(blocks, unsigned(cuda::resident_blocks(kernel, cuda::row_threads))));
      cuda::check(cudaLaunchCooperativeKernel(kernel, at_once, dim3(cuda::row_threads), arguments, 0, on_.stream),
                  "decide_nodes");
    };
    if (couplings < 12.0)
      run(graph_kernels::decide_nodes<8>, 8);
    else
      run(graph_kernels::decide_nodes<32>, 32);
    if (may_finish) finish(n, decide, colour);
  }

private:
  using Loops = GraphLoops<Cuda>;

  void find_offsets(node_t *count, node_t n, bool may_be_more, int which) {
    if (may_be_more) {
      total_.clear(on_.stream);
      Loops::add(on_, n, graph_kernels::Entry{count}, total_.device());
    }
    cuda::find_offsets(scratch_, count, count, n + 1);
    cuda::bring(last_.data() + which, count + n, sizeof(node_t), on_.stream);
  }
  // the last ones; waits
  const node_t *read_offsets(bool may_be_more) const {
    if (!may_be_more)
      cuda::wait_for(on_.stream, "offsets");
    else if (total_.read(on_.stream) > std::numeric_limits<node_t>::max())
      throw std::length_error("a level has more than 2^31 couplings");
    return last_.data();
  }

  // Where nodes wait for one another one by one a device takes ten times as long as a host.
  static constexpr node_t most_on_host = 1 << 14;
  static constexpr unsigned patience_ = 500000; // nanoseconds

  // On the host, whatever the device has left undecided, in the order of priority.
  void finish(node_t n, const Decide &decide, signed char *colour) {
    auto colours = on_.to_host(colour, n);
    if (std::find(colours.begin(), colours.end(), undecided) == colours.end()) return;
    const Graph &g = decide.tests.graph;
    const auto start = on_.to_host(g.rows.start, n + 1);
    const auto column = on_.to_host(g.rows.column, start[n]);
    const auto w = on_.to_host(g.w, start[n]), e = on_.to_host(g.e, n);
    const auto priority = on_.to_host(decide.priority, n);
    const Graph here{n, {start.data(), column.data()}, w.data(), e.data()};
    InOrder({{here, colours.data(), decide.tests.limits}, priority.data()}, 0, n, colours.data())();
    cuda::check(cudaMemcpyAsync(colour, colours.data(), n, cudaMemcpyHostToDevice, on_.stream), "cudaMemcpyAsync");
    cuda::wait_for(on_.stream, "decisions of the host");
  }

  const Cuda &on_;
  cuda::Scratch scratch_;
  cuda::Report<index_t> total_;
  cuda::Pinned<node_t> last_{2};
};

} // namespace petscrrb::rrb
