// A sweep through a grid on a device: each block of threads takes a column of tiles, and marches through it step by step.
#pragma once

#include "exec/cuda/overlap.cuh"
#include "pc/mic/core/point.hpp"
#include "pc/mic/cuda/supply.cuh"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace petscrrb::mic::device {

// f(integral_constant k) for first <= k < first + n
template <int first, class F, int... k> __device__ void in_turn(const F &f, std::integer_sequence<int, k...>) {
  (f(std::integral_constant<int, first + k>()), ...);
}
template <int first, int n, class F> __device__ void in_turn(const F &f) {
  in_turn<first>(f, std::make_integer_sequence<int, n>());
}

// The barriers of a block: one of the computing warps and the sending one, and one of those and each team that receives.
enum Barrier {
  step_barrier = 1,
  group_barrier
};

// A team of warps brings what other tiles hand on in every so many groups of steps, and what a later one needs of memory. At
// the barrier before a group, whatever was brought for the groups before it is no longer needed: there is room for the next one.
template <class Work>
__device__ void receive(const Sweep<typename Work::T> &s, const Column &c, char *memory, int receiver, int warp,
                        int steps) {
  using Team = Crew<Work>;
  using Layout = Memory<Work>;
  using Tile = typename Work::Tile;
  using Traffic = Exchange<Tile>;
  auto &exchange = *reinterpret_cast<Traffic *>(memory);
  constexpr int tp = Tile::tp, tq = Tile::tq, kept = Traffic::kept;
  const int lane = threadIdx.x % 32;
  const bool along_p = lane < tq, along_q = !Tile::flat && !along_p && lane < tq + tp;
  const bool mine = (along_p && c.from[0]) || (along_q && c.from[1]);
  const int d = along_q, at = along_q ? lane - tq : lane, width = along_q ? tp : tq;
  Inbox<group> inbox(mine ? Mail<Tile>::to(s, c, c.P, c.Q, d) + at : nullptr, width, c.points[2] + width - 1, c.sweep,
                     s.watch);
  const Supply<Work> supply(s, c, memory);
  const auto bring = [&](int g) {
    if (warp == 0) supply.bring(g);
    if (warp == Team::team - 1) supply.bring_layers(g);
  };
  for (int g = (receiver + 1) % receivers; g < Layout::groups - 1; g += receivers) bring(g);
  if (warp == 0) inbox.expect(receiver * group), inbox.expect((receivers + receiver) * group);
  // the barrier before the march is that of a group in which nothing is computed
  for (int first = receiver < receivers - 1 ? receiver * group : -group; first < steps; first += receivers * group) {
    if (warp == 0 && first >= 0) {
      double value[group];
      inbox.receive(first, value);
      if (mine)
        for (int k = 0; k < group; ++k) exchange.halo[(first + k) % kept][lane] = value[k];
    }
    if (warp == 0) supply.await(first / group + 1);
    if (warp == Team::team - 1) supply.await_layers();
    cuda::meet_at<Team::at_group, group_barrier, receivers>(receiver);
    bring(first / group + Layout::groups);
    if (warp == 0) inbox.expect(first + 2 * receivers * group);
  }
}

// A warp hands on what points at the far edges of a tile have computed, one step after them: along i for each j, then along j
// for each i.
template <class Work> __device__ void send(const Sweep<typename Work::T> &s, const Column &c, char *memory, int steps) {
  using Tile = typename Work::Tile;
  using Post = Mail<Tile>;
  using Traffic = Exchange<Tile>;
  constexpr bool back = Work::backward;
  constexpr int tp = Tile::tp, tq = Tile::tq;
  const int lane = threadIdx.x % 32;
  const bool along_q = lane >= tq, there = lane < tq + (Tile::flat ? 0 : tp);
  const int d = along_q, at = along_q ? lane - tq : lane, width = along_q ? tp : tq, early = Post::early(d);
  const bool far = there && (along_q ? c.to[1] : c.to[0]);
  auto &exchange = *reinterpret_cast<Traffic *>(memory);
  const unsigned from = cuda::shared_address(along_q ? &exchange.q[0][Tile::flat ? 0 : tq - 1][there ? at : 0]
                                                     : &exchange.p[0][there ? at : 0][tp - 1]);
  Message *to = far ? Post::to(s, c, back ? c.P - !along_q : c.P + !along_q, back ? c.Q - along_q : c.Q + along_q, d) -
                          index_t(early) * width + at
                    : nullptr;
  cuda::meet<Crew<Work>::at_group, group_barrier + receivers - 1>();
  for (int step = 0; step <= steps; ++step) {
    if (step % group == 0 && step < steps)
      cuda::meet_at<Crew<Work>::at_group, group_barrier, receivers>(step / group % receivers);
    else
      cuda::meet<Crew<Work>::at_step, step_barrier>();
    if (step == 0) continue; // nothing has been computed
    double value = 0;
    if (there) cuda::load_shared(from + step % 2 * Traffic::p_step, value);
    if (far) send(to, value, c.sweep);
    to += width;
  }
}

// The other warps compute: a point of the tile a thread. Points that have not begun, that are done or outside of the grid work
// on whatever lies in memory, and hand on to their like only. `turn` counts steps of the unrolled loop.
template <class Work> class March {
  using T = typename Work::T;
  using Tile = typename Work::Tile;
  using Layout = Memory<Work>;
  using Traffic = Exchange<Tile>;
  using Values = typename Work::Values;
  static constexpr bool back = Work::backward, flat = Tile::flat, reads = Work::reads_natural,
                        writes = Work::writes_natural;
  static constexpr int tp = Tile::tp, tq = Tile::tq, lag = Tile::lag, kept = Traffic::kept;
  static_assert(kept % unrolled == 0 && receivers * group % unrolled == 0, "what the unrolled loop counts on");

public:
  __device__ March(const Sweep<T> &s, const Column &c, char *memory)
      : t_(int(threadIdx.x)), ip_(back ? tp - 1 - t_ % tp : t_ % tp), jp_(back ? tq - 1 - t_ / tp : t_ / tp),
        rows_(c.points[2]), steps_(steps(c)),
        there_(c.P * tp + t_ % tp < c.points[0] && c.Q * tq + t_ / tp < c.points[1]),
        at_(there_ ? -(ip_ + jp_) : -(1 << 30)), work_(s, c, t_, place(s, c)) {
    layer_ = back ? -s.order.stride[2] : s.order.stride[2];
    if (writes) out_ = s.z + c.side * s.z_stride + place(s, c);
    auto &exchange = *reinterpret_cast<Traffic *>(memory);
    p_ = cuda::shared_address(&exchange.p[0][jp_][ip_]);
    q_ = cuda::shared_address(&exchange.q[0][flat ? 0 : jp_][ip_]);
    halo_p_ = cuda::shared_address(&exchange.halo[0][jp_]);
    halo_q_ = cuda::shared_address(&exchange.halo[0][flat ? 0 : tq + ip_]);
    slots_ = cuda::shared_address(memory + Layout::exchange) + Layout::barriers;
    ring_ = slots_ + Layout::slots * Layout::slot + t_ * unsigned(sizeof(double));
  }

  // whole groups; a layer of results goes out a step after its last point
  static __device__ int steps(const Column &c) { return (c.points[2] + lag + writes + group - 1) / group * group; }

  __device__ void run(const Sweep<T> &s, const Column &c) {
    // r is where its step is, z is there when its layer is complete
    unsigned now = ring_, halo = 0;
    skewed_ = ring_ + (lag + 1 - (ip_ + jp_)) * unsigned(Layout::layer);
    int step = 0;
    cuda::meet<Crew<Work>::at_group, group_barrier + receivers - 1>();
    slot_ = slots_ + (group - 1) * Layout::slot;
    Values values = load<-1>(now);
    slot_ = slots_ + group * Layout::slot;
    const auto one = [&](auto k) {
      constexpr int turn = decltype(k)::value, even = turn % 2, odd = !even;
      work_.prepare(values, at_ + turn);
      if (turn % group == 0)
        cuda::meet_at<Crew<Work>::at_group, group_barrier, receivers>((turn + step) / group % receivers);
      else
        cuda::meet<Crew<Work>::at_step, step_barrier>();
      double p, q = 0, z = 0;
      receive<turn>(halo, even, p, q);
      if (writes) cuda::load_shared(now + turn * Layout::layer, z);
      const Values next = load<turn>(now);
      work_.finish(values, p, q);
      cuda::store_shared(p_ + odd * Traffic::p_step, work_.hand_p);
      if (!flat) cuda::store_shared(q_ + odd * Traffic::q_step, work_.hand_q);
      if (unsigned(at_ + turn) < unsigned(rows_)) work_.template store<turn>(at_ + turn);
      if (writes) write(step + turn - (lag + 1), z);
      values = next;
    };
    while (step < steps_) {
      in_turn<0, unrolled / group>([&](auto part) {
        constexpr int first = decltype(part)::value * group;
        if (first > 0 && step + first >= steps_) return;
        in_turn<first, group>(one);
        advance_slot();
      });
      halo = (halo + unrolled * halo_step) % (kept * halo_step);
      now = around(now + unrolled * Layout::layer);
      work_.template advance<unrolled>();
      at_ += unrolled, step += unrolled;
    }
    cuda::meet<Crew<Work>::at_step, step_barrier>(); // the last step's values are there to be handed on
    if constexpr (writes) work_.end(s, c, t_);
  }

private:
  static constexpr unsigned halo_step = 32 * sizeof(double);

  // the natural index of this thread's first point
  __device__ index_t place(const Sweep<T> &s, const Column &c) const {
    return s.order.block_origin(c.block) + index_t(c.P * tp + t_ % tp) * s.order.stride[0] +
           index_t(c.Q * tq + t_ / tp) * s.order.stride[1] + (back ? index_t(rows_ - 1) * s.order.stride[2] : 0);
  }

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
  // This step's value waits until its layer is complete; one that is goes out.
  __device__ void write(int layer, double z) {
    cuda::store_shared(skewed_, work_.hand_p);
    skewed_ = around(skewed_ + Layout::layer);
    if (there_ && unsigned(layer) < unsigned(rows_)) *out_ = z;
    if (layer >= 0) out_ += layer_;
  }
  // The values of the step after this one.
  template <int turn> __device__ Values load(unsigned now) const {
    constexpr int next = turn + 1;
    Values v = work_.load(slot_ + (turn < 0 ? 0 : turn % group) * Layout::slot, t_);
    if (reads && at_ + next >= 0)
      cuda::load_shared(next == unrolled ? around(now + next * Layout::layer) : now + next * Layout::layer, v.r);
    return v;
  }
  __device__ void advance_slot() {
    slot_ += group * Layout::slot;
    if (slot_ == slots_ + Layout::slots * Layout::slot) slot_ = slots_;
  }

  const int t_, ip_, jp_, rows_, steps_;
  const bool there_;
  int at_; // along the march, in turn 0
  Work work_;
  unsigned p_, q_, halo_p_, halo_q_, slots_, slot_, ring_, skewed_ = 0;
  index_t layer_;
  double *out_ = nullptr;
};

// Blocks that a processor has room for: by its shared memory, and by the 48 registers of a thread that computes, or 72 where it
// factorizes, which it has for 40 or 28 warps. Without this the seldom used part of those that receive would take more.
template <class Work>
constexpr int resident = std::min(227 * 1024 / (Memory<Work>::bytes + 1024),
                                  (Work::reads_natural || Work::writes_natural ? 40 : 28) * 32 / Crew<Work>::count);

template <class Work>
__global__ void __launch_bounds__(Crew<Work>::count, resident<Work>)
    wavefront(__grid_constant__ const Sweep<typename Work::T> s) {
  using Workers = Crew<Work>;
  using Layout = Memory<Work>;
  using Wavefront = March<Work>;
  extern __shared__ __align__(16) char memory[];
  for (int k = threadIdx.x; k < Layout::exchange / int(sizeof(double)); k += Workers::count)
    reinterpret_cast<double *>(memory)[k] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    Supply<Work>::init(memory);
    cuda::publish_phases();
  }
  const Column column = take_column<Work>(s);
  if (Work::backward)
    cuda::await_previous(); // of the sweep forward, if it lets this one start while it ends
  else
    cuda::start_next();
  if (column.outside) return;
  const int helper = (int(threadIdx.x) - Workers::points) / 32, steps = Wavefront::steps(column);
  if (threadIdx.x >= Workers::count - 32)
    send<Work>(s, column, memory, steps);
  else if (threadIdx.x >= Workers::points)
    receive<Work>(s, column, memory, helper % receivers, helper / receivers, steps);
  else
    Wavefront(s, column, memory).run(s, column);
}

} // namespace petscrrb::mic::device
