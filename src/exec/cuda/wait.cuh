// How a kernel waits for what others write while it runs: not for ever.
#pragma once

#include "exec/cuda/watch.hpp"

namespace petscrrb::cuda {

__device__ inline unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ inline double nan_of_nothing() { return __longlong_as_double(0x7ff8000000000000ll); }

// Since when a thread has waited, in ticks: or
constexpr unsigned not_yet = 0, given_up = ~0u;

// Once in a while: since when it has waited, or that it gives up. several: devices, which hear of one another. Few registers:
// they would be missing to all threads of a kernel.
template <bool several> __device__ unsigned look_at_watch(volatile Watch *watch, unsigned since) {
  constexpr unsigned range = ~0u >> 1; // the clock goes round
  const unsigned now = (unsigned(nanoseconds() >> Watch::tick) & range) | 1;
  if (watch->gave_up) return given_up;
  if (since == not_yet) since = now;
  const unsigned limit = watch->limit;
  bool late = limit && ((now - since) & range) > limit;
  if constexpr (several) {
    const volatile unsigned *const heard = watch->heard;
    late |= heard && *heard;
    // before any value that comes of this wait
    for (int i = 0; late && i < watch->told; ++i) *const_cast<volatile unsigned *>(watch->tell[i]) = 1;
  }
  if (!late) return since;
  watch->gave_up = 1;
  if constexpr (several) __threadfence_system();
  return given_up;
}

// What a thread that waits remembers. `together`: it is all lanes of a warp, which look and give up alike, on one device. A
// look that fails costs a count; only one in 2^15, some 10 ms, looks at the clock and at the host's memory: when all blocks of a
// grid do so at once, which they begin together, that takes as long as a small solve. Who has given up looks once at what is
// next and does not wait any more.
template <bool together> class Patience {
public:
  __device__ explicit Patience(Watch *watch) : watch_(watch) {}

  // Before something is waited for.
  __device__ void begin() {
    looks_ = 0;
    if (since_ != given_up) since_ = not_yet;
  }
  // After a look that failed: whether to look again.
  __device__ bool lasts() {
    if (++looks_ % between == 0 && watch_ && since_ != given_up) {
      since_ = look_at_watch<!together>(watch_, since_);
      if (together && __any_sync(~0u, since_ == given_up)) since_ = given_up;
    }
    return since_ != given_up;
  }

private:
  static constexpr unsigned between = 1 << 15;

  Watch *const watch_;
  unsigned looks_ = 0, since_ = not_yet;
};

} // namespace petscrrb::cuda
