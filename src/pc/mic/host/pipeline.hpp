// Sweeps through the columns of a block by several threads. A thread owns some strips of columns, and follows the threads of
// the strips before them at a distance.
#pragma once

#include "exec/host/host.hpp"
#include "pc/mic/host/column.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace petscrrb::mic {

// Steps of a strip that are done, in all of its columns.
class Progress {
public:
  void clear() { steps_.store(0, std::memory_order_relaxed); }
  void reach(index_t steps) { steps_.store(steps, std::memory_order_release); }
  void wait_for(index_t steps) const {
    constexpr int patience = 1000; // then there may be more threads than processors
    for (int k = 0; steps_.load(std::memory_order_acquire) < steps; ++k)
      if (k > patience) std::this_thread::yield();
  }

private:
  alignas(64) std::atomic<index_t> steps_{0};
};

constexpr PetscInt steps_together = 64; // before others are told

// A column, `done` times all of a strip's steps after the strip's first. before: the strip that goes before in this sweep
template <int lanes, class Sweep>
void follow(const Column &c, index_t columns_done, const Progress *before, Progress &mine, Sweep &sweep) {
  const PetscInt steps = c.steps(lanes);
  const index_t base = columns_done * steps;
  for (PetscInt done = 0; done < steps;) {
    const PetscInt to = std::min(done + steps_together, steps);
    // the strip before is ahead by as many steps as a hyperplane needs to cross it
    if (before) before->wait_for(base + std::min<PetscInt>(to + lanes - 1, steps));
    if (Sweep::up)
      in_steps<lanes>(c, done, to, sweep);
    else
      in_steps<lanes>(c, steps - to, steps - done, sweep);
    mine.reach(base + to);
    done = to;
  }
}

// The strips of a thread: first, first + step, ... before last. Threads in 3D have neighbouring strips, and work in
// different planes, one behind the other. In 2D there is one plane, and each is a strip behind the one before.
struct Share {
  PetscInt first, last, step;
};

inline Share share_of(PetscInt strips, PetscInt planes, int thread, int threads) {
  if (planes < threads) return {thread, strips, threads};
  const auto begin = [&](int t) { return static_cast<PetscInt>(index_t(strips) * t / threads); };
  return {begin(thread), begin(thread + 1), 1};
}

// The columns of a block in the order of the sweep; make(column) is the sweep of one. It is the same whatever the number
// of threads: a thread only waits for columns that are earlier in that order, and goes through its own in that order, so
// that the earliest that is not done can always be done.
template <int lanes, class Make>
void sweep_block(const Order &o, PetscInt block, bool together, std::vector<Progress> &progress, const Make &make) {
  constexpr bool up = decltype(make(Column()))::up;
  const PetscInt strips = (o.points(block, 0) + lanes - 1) / lanes, across = o.points(block, 1);
  const auto column = [&](PetscInt q, PetscInt p) {
    return column_of(o, block, up ? p : strips - 1 - p, up ? q : across - 1 - q);
  };
  const int threads = together ? static_cast<int>(std::min<PetscInt>(host::most_threads(), strips)) : 1;
  if (threads == 1) {
    for (PetscInt q = 0; q < across; ++q)
      for (PetscInt p = 0; p < strips; ++p) {
        const Column c = column(q, p);
        auto sweep = make(c);
        in_steps<lanes>(c, 0, c.steps(lanes), sweep);
      }
    return;
  }
  for (Progress &p : progress) p.clear();
#pragma omp parallel num_threads(threads)
  {
    const Share share = share_of(strips, across, up ? host::member() : host::team() - 1 - host::member(), host::team());
    for (PetscInt q = 0; q < across; ++q)
      for (PetscInt p = share.first; p < share.last; p += share.step) {
        const Column c = column(q, p);
        auto sweep = make(c);
        follow<lanes>(c, q, p ? &progress[std::size_t(p - 1)] : nullptr, progress[std::size_t(p)], sweep);
      }
  }
}

// All blocks: each by a thread where there are enough of them.
template <int lanes, class Make>
void sweep_blocks(const Order &o, bool together, std::vector<Progress> &progress, const Make &make) {
  if (together && o.blocks >= host::most_threads()) {
#pragma omp parallel for schedule(static)
    for (PetscInt b = 0; b < o.blocks; ++b) sweep_block<lanes>(o, b, false, progress, make);
  } else
    for (PetscInt b = 0; b < o.blocks; ++b) sweep_block<lanes>(o, b, together, progress, make);
}

} // namespace petscrrb::mic
