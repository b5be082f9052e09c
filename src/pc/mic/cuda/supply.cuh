// What a sweep on a device needs of memory, brought into shared memory by the receiving warps, in groups of steps, long before
// it is needed.
#pragma once

#include "exec/cuda/shared.cuh"
#include "pc/mic/cuda/column.cuh"

#include <type_traits>

namespace petscrrb::mic::device {

// The shared memory of a block. Layers are of single right-hand sides or results: they come and go layer by layer, for full
// sectors, and are worked on step by step. Their ring is as long as some turns of the unrolled loop.
template <class Work> struct Memory {
  using Tile = typename Work::Tile;
  static constexpr int layer = Tile::points * int(sizeof(double)), lag = Tile::lag;
  static constexpr int slots = ahead + group, groups = slots / group; // the steps brought ahead, and those worked on
  static_assert(ahead > 0 && ahead % (receivers * group) == 0, "what a warp waits for it has brought itself");
  static constexpr int layers = (Work::reads_natural    ? slots + lag + 1
                                 : Work::writes_natural ? lag + 2
                                                        : 0) +
                                unrolled - 1;
  static constexpr int natural = layers / unrolled * unrolled * layer;
  static constexpr int slot = Work::bytes; // the other values of a step
  static constexpr int exchange = (int(sizeof(Exchange<Tile>)) + 15) / 16 * 16;
  static constexpr int barriers = (groups * int(sizeof(cuda::PhaseBarrier)) + 15) / 16 * 16;
  static constexpr int bytes = exchange + barriers + slot * slots + natural;
};

// Group g is that of the steps after which group g of the march begins, and of its first: those that its points load while
// they compute group g - 1.
template <class Work> class Supply {
  using T = typename Work::T;
  using Layout = Memory<Work>;
  static constexpr int tp = Work::Tile::tp, tq = Work::Tile::tq, points = Work::Tile::points, groups = Layout::groups,
                       parts = points / 32;
  static_assert(points % 32 == 0 && (32 % tp == 0), "a warp has whole lines of a tile");

public:
  __device__ Supply(const Sweep<T> &s, const Column &c, char *memory)
      : lane_(int(threadIdx.x) % 32), rows_(c.points[2]), last_(c.last_row), work_(s, c) {
    ready_ = cuda::shared_address(memory + Layout::exchange);
    slots_ = ready_ + Layout::barriers;
    ring_ = slots_ + Layout::slot * Layout::slots;
    if (!Work::reads_natural) return;
    const int i = lane_ % tp, j = lane_ / tp;
    there_ = c.P * tp + i < c.points[0] ? int(c.points[1] - c.Q * tq) - j : 0;
    skew_ = i + j;
    line_ = (32 / tp) * s.order.stride[1], layer_ = s.order.stride[2];
    in_ = s.r + c.side * s.r_stride + s.order.block_origin(c.block) + index_t(c.P * tp + i) * s.order.stride[0] +
          index_t(c.Q * tq + j) * s.order.stride[1];
  }
  // by one thread
  __device__ static void init(char *memory) {
    for (int g = 0; g < groups; ++g) cuda::init_phases(cuda::shared_address(memory + Layout::exchange) + g * 8);
  }

  // By one warp, whose lanes each bring a step in one piece; or all of them bring the pieces of one step after the other.
  __device__ void bring(int g) const {
    const int first = first_step(g), from = max(first, 0), to = min(first + group, last_ + 1);
    const unsigned slot = slots_ + g % groups * (group * Layout::slot);
    if constexpr (cuda::has_bulk_copies) {
      if (lane_ == 0 && from < to) cuda::arrive_expecting(ready(g), (to - from) * Layout::slot);
      const int step = first + lane_;
      if (lane_ < group && from <= step && step < to)
        work_.bring(step, [&](int at, const void *what, int bytes) {
          cuda::copy_bulk(slot + lane_ * Layout::slot + at, what, bytes, ready(g));
        });
    } else {
      for (int step = from; step < to; ++step)
        work_.bring(step, [&](int at, const void *what, int bytes) {
          for (int k = lane_; k < bytes / 16; k += 32)
            cuda::copy_ahead(slot + (step - first) * Layout::slot + at + k * 16,
                             static_cast<const double2 *>(what) + k);
        });
      cuda::end_copies();
    }
  }
  // By one warp. r may begin anywhere, and so comes value by value.
  __device__ void bring_layers(int g) const {
    if constexpr (Work::reads_natural) {
      const int first = first_step(g);
      for (int layer = max(first, 0); layer < min(first + group, rows_); ++layer) bring_layer(layer);
      cuda::end_copies();
    }
  }
  // Until what this warp has brought of group g is there; it has brought of some groups after it, too.
  __device__ void await(int g) const {
    if constexpr (!cuda::has_bulk_copies)
      await_layers();
    else if (first_step(g) <= last_)
      cuda::await_phase(ready(g), g / groups);
  }
  __device__ void await_layers() const { cuda::await_copies<(groups - 1) / receivers - 1>(); }

private:
  __device__ static int first_step(int g) { return (g - 1) * group + 1; }
  __device__ unsigned ready(int g) const { return ready_ + g % groups * 8; }
  __device__ void bring_layer(int layer) const {
    const double *from = in_ + layer * layer_;
    constexpr int layers = Layout::natural / Layout::layer, lines = 32 / tp;
    const int place = (layer + skew_) % layers;
#pragma unroll
    for (int m = 0; m < parts; ++m) {
      const int at = place + m * lines >= layers ? place + m * lines - layers : place + m * lines;
      if (there_ > m * lines) cuda::copy_ahead(ring_ + at * Layout::layer + (lane_ + m * 32) * 8, from + m * line_);
    }
  }

  const int lane_, rows_, last_;
  const typename Work::Source work_;
  unsigned ready_, slots_, ring_;
  int there_ = 0, skew_ = 0; // lines of the tile that are in the grid, after the lane's first
  index_t line_ = 0, layer_ = 0;
  const double *in_ = nullptr;
};

} // namespace petscrrb::mic::device
