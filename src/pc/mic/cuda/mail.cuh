// How tiles on a device hand values on while their kernel runs: each value comes with a number, in one access to memory.
#pragma once

#include "exec/cuda/wait.cuh"

namespace petscrrb::mic::device {

// A message is there when its number is that of the sweep. Each sweep has another number and writes all messages, so nothing is
// ever reset.
struct alignas(16) Message {
  double value;
  unsigned sweep, unused;
};

__device__ inline void send(Message *to, double value, unsigned sweep) {
  const unsigned long long number = sweep;
  asm volatile(
      "{\n\t.reg .b128 both;\n\tmov.b128 both, {%1, %2};\n\tst.relaxed.gpu.global.b128 [%0], both;\n\t}" ::"l"(to),
      "l"(__double_as_longlong(value)), "l"(number)
      : "memory");
}

__device__ inline void look(const Message *from, long long &bits, unsigned &sweep) {
  unsigned long long number;
  asm volatile("{\n\t.reg .b128 both;\n\tld.relaxed.gpu.global.b128 both, [%2];\n\tmov.b128 {%0, %1}, both;\n\t}"
               : "=l"(bits), "=l"(number)
               : "l"(from)
               : "memory");
  sweep = unsigned(number);
}

// What one lane of a warp receives from another tile: the messages of so many steps at a time, a message a step.
template <int steps> class Inbox {
public:
  // from: the lane's message of step 0; null: nothing comes. They are `between` apart.
  __device__ Inbox(const Message *from, int between, int count, unsigned sweep, cuda::Watch *watch)
      : from_(from), between_(between), count_(from ? count : 0), sweep_(sweep), patience_(watch) {}

  // All lanes of the warp wait until all messages of these steps are there, or for too long: then NaN stands for those that are
  // not. After the last message anything comes.
  __device__ void receive(int first, double value[steps]) {
    long long bits[steps] = {};
    unsigned number[steps];
#pragma unroll
    for (int k = 0; k < steps; ++k) number[k] = first + k < count_ ? sweep_ - 1 : sweep_;
    bool missing;
    patience_.begin();
    do {
      missing = false;
#pragma unroll
      for (int k = 0; k < steps; ++k)
        if (number[k] != sweep_) look(from_ + index_t(first + k) * between_, bits[k], number[k]);
#pragma unroll
      for (int k = 0; k < steps; ++k) missing |= number[k] != sweep_;
    } while (__any_sync(~0u, missing) && patience_.lasts());
#pragma unroll
    for (int k = 0; k < steps; ++k)
      value[k] = number[k] == sweep_ ? __longlong_as_double(bits[k]) : cuda::nan_of_nothing();
  }

  // Messages of these steps will be looked for: memory may no longer be in the device's cache.
  __device__ void expect(int first) const {
#pragma unroll
    for (int k = 0; k < steps; ++k)
      if (first + k < count_) asm volatile("prefetch.global.L2 [%0];" ::"l"(from_ + index_t(first + k) * between_));
  }

private:
  const Message *const from_;
  const int between_, count_;
  const unsigned sweep_;
  cuda::Patience<true> patience_;
};

} // namespace petscrrb::mic::device
