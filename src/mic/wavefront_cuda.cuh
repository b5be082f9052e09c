// A sweep through a grid on a device: each block of threads takes a column of tiles, and marches through it step by step.
#pragma once

#include "backend/cuda_shared.cuh"
#include "chunks.hpp"
#include "mail_cuda.cuh"
#include "order.hpp"
#include "pivot.hpp"

#include <type_traits>
#include <utility>

namespace petscrrb::mic::device {

// What kernels find out about pivots: counts, and the first bad one as all ones less its row.
struct PivotFindings {
  unsigned long long bad, null_rows, shifted;
};

// What a sweep works on. Directions are those of the order: 0 and 1 across the tiles, 2 the march.
template <class T> struct Sweep {
  Order order;
  T *factor;          // in chunks, in the order
  double constant[3]; // couplings, where all of a direction are alike
  double *u;          // in the order; those of several right-hand sides one after the other
  const double *r;    // in natural order
  double *z;          // in natural order
  index_t r_stride, z_stride;
  int sides;         // right-hand sides
  const int2 *tiles; // the columns of a block, each after those that it waits for
  Message *mail[2];  // along i: tq messages a step, along j: tp
  unsigned sweep;    // the number of its messages
  unsigned *ticket, first_ticket;
  PivotRule rule; // of a factorization
  PivotFindings *found;
};

// What comes from other tiles comes in groups of steps, which some warps of a block wait for by turns: a look into the
// device's cache takes as long as several steps.
constexpr int group = 4, receivers = 2, unrolled = group * receivers, kept = 2 * unrolled;

template <int tp, int tq> struct TileShape {
  static constexpr int points = tp * tq, threads = points + 32 * receivers, lag = tp + tq - 2;
  static constexpr bool flat = tq == 1; // in 2D; there are no neighbours along j
};

// The values that pass between the points of a tile, of this step and of the next one; and those from other tiles, of some
// steps: along i for each j, then along j for each i.
template <int tp, int tq> struct Exchange {
  static constexpr bool flat = tq == 1;
  double p[2][tq][tp], q[flat ? 1 : 2][flat ? 1 : tq][tp], halo[kept][32];

  static constexpr int p_step = sizeof(double) * tq * tp, q_step = flat ? 0 : p_step;
};

// One column of tiles.
struct Column {
  PetscInt block, P, Q;
  int side;            // which right-hand side
  int points[3];       // of the block
  index_t start;       // of its values in an array
  int last_row;        // the step of the last point
  bool from[2], to[2]; // whether there are columns before it and after it
};

// The next column that no one has taken, so that whoever waits does so for one that is done or under way.
template <class Work, int tp, int tq, class T> __device__ Column take_column(const Sweep<T> &s) {
  __shared__ int2 taken;
  __shared__ int which;
  const int alike = int(s.order.blocks) * s.sides;
  if (threadIdx.x == 0) {
    const int ticket = int(atomicAdd(s.ticket, 1u) - s.first_ticket);
    taken = s.tiles[ticket / alike];
    which = ticket % alike;
  }
  __syncthreads();
  Column c;
  c.P = Work::backward ? s.order.tiles[0] - 1 - taken.x : taken.x;
  c.Q = Work::backward ? s.order.tiles[1] - 1 - taken.y : taken.y;
  c.block = which / s.sides;
  c.side = which % s.sides;
  for (int d = 0; d < 3; ++d) c.points[d] = int(s.order.points(c.block, d));
  c.start = s.order.column_start(c.block, c.P, c.Q);
  c.last_row = c.points[2] + TileShape<tp, tq>::lag - 1;
  const bool before[2] = {c.P > 0, c.Q > 0};
  const bool after[2] = {(c.P + 1) * tp < c.points[0], (c.Q + 1) * tq < c.points[1]};
  for (int d = 0; d < 2; ++d) {
    c.from[d] = Work::backward ? after[d] : before[d];
    c.to[d] = Work::backward ? before[d] : after[d];
  }
  return c;
}

// The messages to a column along direction d, of the step at which its first point begins. A tile sends in every step, and the
// first and the last steps are of no use to its neighbour: there is room for them before and after.
template <int tp, int tq> struct Mail {
  static constexpr int width(int d) { return d == 0 ? tq : tp; }
  static constexpr int early(int d) { return (d == 0 ? tp : tq) - 1; }
  static PETSCRRB_HD index_t steps(const Order &o, int d) { return early(d) + index_t(o.n[2]) + width(d) + unrolled; }
  // of all blocks of a right-hand side
  static PETSCRRB_HD index_t size(const Order &o, int d) { return o.blocks * o.columns() * steps(o, d) * width(d); }

  template <class T> static __device__ Message *to(const Sweep<T> &s, const Column &c, PetscInt P, PetscInt Q, int d) {
    const index_t column = (index_t(c.side) * s.order.blocks + c.block) * s.order.columns() + Q * s.order.tiles[0] + P;
    return (d == 0 ? s.mail[0] : s.mail[1]) + (column * steps(s.order, d) + early(d)) * width(d);
  }
};

// f(integral_constant k) for first <= k < first + n
template <int first, class F, int... k> __device__ void in_turn(const F &f, std::integer_sequence<int, k...>) {
  (f(std::integral_constant<int, first + k>()), ...);
}
template <int first, int n, class F> __device__ void in_turn(const F &f) {
  in_turn<first>(f, std::make_integer_sequence<int, n>());
}

// The barriers of a block: one of the computing warps, and one of those and each receiving warp.
enum Barrier {
  step_barrier = 1,
  group_barrier
};

// A receiving warp brings what other tiles hand on in every so many groups of steps. At the barrier before a group, whatever
// was brought for the groups before it is no longer needed: there is room for the next one.
template <int tp, int tq, class T>
__device__ void receive(const Sweep<T> &s, const Column &c, Exchange<tp, tq> &exchange, int receiver, int steps) {
  using Shape = TileShape<tp, tq>;
  using Post = Mail<tp, tq>;
  const int lane = threadIdx.x % 32;
  const bool along_p = lane < tq, along_q = !Shape::flat && !along_p && lane < tq + tp;
  const bool mine = (along_p && c.from[0]) || (along_q && c.from[1]);
  const int d = along_q, at = along_q ? lane - tq : lane, width = along_q ? tp : tq;
  const Inbox<group> inbox(mine ? Post::to(s, c, c.P, c.Q, d) + at : nullptr, width, c.points[2] + width - 1, s.sweep);
  for (int first = receiver * group; first < steps; first += unrolled) {
    double value[group];
    inbox.receive(first, value);
    if (mine)
      for (int k = 0; k < group; ++k) exchange.halo[(first + k) % kept][lane] = value[k];
    cuda::meet<Shape::points + 32>(group_barrier + receiver);
  }
}

// The shared memory of a block. Each thread has its own places in it but for the exchange, so that it needs no barriers. Layers
// are of single right-hand sides or results: they come and go layer by layer, for full sectors, and are worked on step by
// step. Their ring is as long as some turns of the unrolled loop.
template <class Work, int tp, int tq, int ahead> struct Memory {
  static constexpr int points = tp * tq, layer = points * int(sizeof(double)), lag = tp + tq - 2;
  static constexpr int layers = (Work::reads_natural    ? ahead + lag + 1
                                 : Work::writes_natural ? lag + 2
                                                        : 0) +
                                unrolled - 1;
  static constexpr int natural = layers / unrolled * unrolled * layer;
  static constexpr int slot = Work::bytes; // the other values of a step
  static constexpr int exchange = (int(sizeof(Exchange<tp, tq>)) + 15) / 16 * 16;
  static constexpr int bytes = exchange + slot * ahead + natural;
};

// The other warps compute: a point of the tile a thread. Points that have not begun have right-hand side 0 and hand on 0;
// those that are done, and those outside of the grid, hand on to their like only. `turn` counts steps of the unrolled loop.
template <class Work, int tp, int tq, int ahead> class March {
  using T = typename Work::T;
  using Shape = TileShape<tp, tq>;
  using Layout = Memory<Work, tp, tq, ahead>;
  using Post = Mail<tp, tq>;
  using Traffic = Exchange<tp, tq>;
  using Values = typename Work::Values;
  static constexpr bool back = Work::backward, flat = Shape::flat, reads = Work::reads_natural,
                        writes = Work::writes_natural;
  static constexpr int points = Shape::points, lag = Shape::lag, part = unrolled / 2; // the second part may be left out
  static_assert(unrolled % ahead == 0 && kept % unrolled == 0, "what the unrolled loop counts on");

public:
  __device__ March(const Sweep<T> &s, const Column &c, char *memory)
      : t_(int(threadIdx.x)), ip_(back ? tp - 1 - t_ % tp : t_ % tp), jp_(back ? tq - 1 - t_ / tp : t_ / tp),
        rows_(c.points[2]), steps_(steps(c)),
        there_(c.P * tp + t_ % tp < c.points[0] && c.Q * tq + t_ / tp < c.points[1]),
        at_(there_ ? -(ip_ + jp_) : -(1 << 30)), work_(s, c, t_, place(s, c)), sweep_(s.sweep) {
    layer_ = back ? -s.order.stride[2] : s.order.stride[2];
    if (reads) in_ = s.r + c.side * s.r_stride + place(s, c);
    if (writes) out_ = s.z + c.side * s.z_stride + place(s, c);
    auto &exchange = *reinterpret_cast<Traffic *>(memory);
    p_ = cuda::shared_address(&exchange.p[0][jp_][ip_]);
    q_ = cuda::shared_address(&exchange.q[0][flat ? 0 : jp_][ip_]);
    halo_p_ = cuda::shared_address(&exchange.halo[0][jp_]);
    halo_q_ = cuda::shared_address(&exchange.halo[0][flat ? 0 : tq + ip_]);
    slots_ = cuda::shared_address(memory + Layout::exchange);
    ring_ = slots_ + ahead * Layout::slot + t_ * unsigned(sizeof(double));
    send_p_ = ip_ == tp - 1 && c.to[0];
    send_q_ = !flat && jp_ == tq - 1 && c.to[1];
    if (send_p_) to_p_ = Post::to(s, c, back ? c.P - 1 : c.P + 1, c.Q, 0) - Post::early(0) * tq + jp_;
    if (send_q_) to_q_ = Post::to(s, c, c.P, back ? c.Q - 1 : c.Q + 1, 1) - Post::early(1) * tp + ip_;
    asm volatile("" : "+r"(sweep_)); // a register: it would be read again in each step
  }

  // whole parts of the loop; a layer of results goes out a step after its last point
  static __device__ int steps(const Column &c) { return (c.points[2] + lag + writes + part - 1) / part * part; }

  __device__ void run() {
    // r is kept by the step that uses it, z by the step after which its layer is complete
    unsigned now = ring_;
    skewed_ = ring_ + (reads ? ip_ + jp_ : lag + 1 - (ip_ + jp_)) * unsigned(Layout::layer);
    unsigned halo = 0;
    at_ -= ahead;
    int step = -ahead;
    in_turn<0, ahead>([&](auto k) { fetch<decltype(k)::value>(step + decltype(k)::value); });
    work_.template advance_fetch<ahead>();
    at_ += ahead, step = 0;
    cuda::await_copies<ahead - 1>();
    Values values = load<0>(now);
    const auto one = [&](auto k) {
      constexpr int turn = decltype(k)::value, even = turn % 2, odd = !even;
      work_.prepare(values, at_ + turn >= 0);
      if (turn % group == 0)
        cuda::meet<points + 32>(group_barrier + turn / group);
      else
        cuda::meet<points>(step_barrier);
      double p, q = 0, z = 0;
      receive<turn>(halo, even, p, q);
      if (writes) cuda::load_shared(now + turn * Layout::layer, z);
      fetch<turn>(step + turn);
      cuda::await_copies<ahead - 1>();
      const Values next = load<turn + 1>(now);
      work_.finish(values, p, q);
      cuda::store_shared(p_ + odd * Traffic::p_step, work_.hand_p);
      if (!flat) cuda::store_shared(q_ + odd * Traffic::q_step, work_.hand_q);
      if (send_p_) send(to_p_ + turn * tq, work_.hand_p, sweep_);
      if (send_q_) send(to_q_ + turn * tp, work_.hand_q, sweep_);
      if (unsigned(at_ + turn) < unsigned(rows_)) work_.template store<turn>(at_ + turn);
      if (writes) write(step + turn - (lag + 1), z);
      values = next;
    };
    while (step < steps_) {
      in_turn<0, part>(one);
      if (step + part < steps_) in_turn<part, part>(one);
      halo = (halo + unrolled * halo_step) % (kept * halo_step);
      now = around(now + unrolled * Layout::layer);
      to_p_ += unrolled * tq, to_q_ += unrolled * tp;
      work_.template advance_fetch<unrolled>();
      work_.template advance_store<unrolled>();
      at_ += unrolled, step += unrolled;
    }
  }

private:
  // the natural index of this thread's first point
  __device__ index_t place(const Sweep<T> &s, const Column &c) const {
    return s.order.block_origin(c.block) + index_t(c.P * tp + t_ % tp) * s.order.stride[0] +
           index_t(c.Q * tq + t_ / tp) * s.order.stride[1] + (back ? index_t(rows_ - 1) * s.order.stride[2] : 0);
  }

  static constexpr unsigned halo_step = 32 * sizeof(double);

  __device__ unsigned around(unsigned place) const {
    return place >= ring_ + Layout::natural ? place - Layout::natural : place;
  }

  // What other points hand on: those of other tiles in the halo.
  template <int turn> __device__ void receive(unsigned halo, int buffer, double &p, double &q) const {
    if (ip_ == 0)
      cuda::load_shared(halo_p_ + halo + turn * halo_step, p);
    else
      cuda::load_shared(p_ - unsigned(sizeof(double)) + buffer * Traffic::p_step, p);
    if (flat) return;
    if (jp_ == 0)
      cuda::load_shared(halo_q_ + halo + turn * halo_step, q);
    else
      cuda::load_shared(q_ - unsigned(tp * sizeof(double)) + buffer * Traffic::q_step, q);
  }
  // What the step `ahead` of this one needs of memory; that step's place is this step's.
  template <int turn> __device__ void fetch(int step) {
    const bool active = unsigned(at_ + turn + ahead) < unsigned(rows_);
    work_.template fetch<turn>(slots_ + turn % ahead * Layout::slot, t_, active);
    if (reads) {
      if (there_ && step + ahead < rows_) cuda::copy_ahead(skewed_, in_);
      in_ += layer_;
      skewed_ = around(skewed_ + Layout::layer);
    }
    cuda::end_copies();
  }
  // This step's value waits until its layer is complete; one that is goes out.
  __device__ void write(int layer, double z) {
    cuda::store_shared(skewed_, work_.hand_p);
    skewed_ = around(skewed_ + Layout::layer);
    if (there_ && unsigned(layer) < unsigned(rows_)) *out_ = z;
    if (layer >= 0) out_ += layer_;
  }
  template <int turn> __device__ Values load(unsigned now) const {
    Values v = work_.load(slots_ + turn % ahead * Layout::slot, t_);
    if (reads && at_ + turn >= 0)
      cuda::load_shared(turn == unrolled ? around(now + turn * Layout::layer) : now + turn * Layout::layer, v.r);
    return v;
  }

  const int t_, ip_, jp_, rows_, steps_;
  const bool there_;
  int at_; // along the march, in turn 0
  Work work_;
  unsigned sweep_, p_, q_, halo_p_, halo_q_, slots_, ring_, skewed_ = 0;
  bool send_p_, send_q_;
  Message *to_p_ = nullptr, *to_q_ = nullptr;
  index_t layer_;
  const double *in_ = nullptr;
  double *out_ = nullptr;
};

template <class Work, int tp, int tq, int ahead>
__global__ void __launch_bounds__(TileShape<tp, tq>::threads)
    wavefront(__grid_constant__ const Sweep<typename Work::T> s) {
  using Layout = Memory<Work, tp, tq, ahead>;
  extern __shared__ __align__(16) char memory[];
  auto &exchange = *reinterpret_cast<Exchange<tp, tq> *>(memory);
  const Column column = take_column<Work, tp, tq>(s);
  if (column.P * tp >= column.points[0] || column.Q * tq >= column.points[1])
    return; // the last block may have fewer points
  for (int k = threadIdx.x; k < (Layout::exchange + Layout::slot * ahead) / int(sizeof(double));
       k += TileShape<tp, tq>::threads)
    reinterpret_cast<double *>(memory)[k] = 0;
  __syncthreads();
  if (threadIdx.x >= TileShape<tp, tq>::points)
    receive<tp, tq>(s, column, exchange, int(threadIdx.x - TileShape<tp, tq>::points) / 32,
                    March<Work, tp, tq, ahead>::steps(column));
  else
    March<Work, tp, tq, ahead>(s, column, memory).run();
}

} // namespace petscrrb::mic::device
