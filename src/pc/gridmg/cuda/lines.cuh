// Zebra lines along x on a device: a warp a line.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "pc/gridmg/core/smooth.hpp"

namespace petscrrb::gridmg {

constexpr int lines_of_block = 8;

// y = first + times * (the value before): steps of a recurrence, of which the lanes' are put together.
template <class T> struct Step {
  T times, first;

  __device__ T after(T before) const { return first + times * before; }
  // this one after `before`
  __device__ Step after(const Step &before) const { return {times * before.times, first + times * before.first}; }
};

// All steps up to and including each lane's own; up: from lane 0 on, else from lane 31 on.
template <bool up, class T> __device__ Step<T> scan(Step<T> mine) {
  const int lane = int(threadIdx.x) % 32;
  for (int by = 1; by < 32; by *= 2) {
    const Step<T> before = up ? Step<T>{__shfl_up_sync(~0u, mine.times, by), __shfl_up_sync(~0u, mine.first, by)}
                              : Step<T>{__shfl_down_sync(~0u, mine.times, by), __shfl_down_sync(~0u, mine.first, by)};
    if (up ? lane >= by : lane + by < 32) mine = mine.after(before);
  }
  return mine;
}

// One line: the same as RelaxLine, 64 points at a time, of which each lane has an even one and the next.
template <class T>
__global__ void __launch_bounds__(32 * lines_of_block)
    relax_lines_along_x(Smoothed<T> g, Field<T> inverse, Field<T> b, Field<T> x, Range3 box, index_t colour,
                        PartOfLines part, index_t k0) {
  const index_t n = box.n[0], k = k0 + blockIdx.y,
                j = 2 * (index_t(blockIdx.x) * lines_of_block + threadIdx.y) + ((colour + k) & 1);
  if (j >= box.n[1]) return;
  const int lane = int(threadIdx.x);
  const index_t even = x.place(0, j, k), odd = x.place(1, j, k);
  const T *w_even = g.w[0].p + even, *w_odd = g.w[0].p + odd, *pivot_even = inverse.p + even,
          *pivot_odd = inverse.p + odd;
  T *x_even = x.p + even, *x_odd = x.p + odd;
  const T from_left = w_odd[-1] * x_odd[-1], from_right = part.last ? g.w[0](n - 1, j, k) * x(n, j, k) : T(0);
  const auto right_side = [&](index_t parity, index_t h, T pivot) {
    const index_t i = 2 * h + parity, here = (parity ? odd : even) + h;
    T sum = b.p[here] + neighbours<T, 0>(g, x, parity, j, k, h);
    if (i == n - 1) sum += from_right;
    return line_value(sum, pivot, g.dinv.p[here], x.p[here]);
  };
  // of the point before this lane's first one: its value, and its coupling times its inverse pivot
  T value_before = from_left, factor_before = T(1);
  for (index_t first = 0; part.forward && 2 * first < n; first += 32) {
    const index_t h = first + lane;
    Step<T> step_even{T(0), T(0)}, step_odd{T(0), T(0)};
    T factor_even = T(0), factor_odd = T(0);
    if (2 * h < n) {
      const T pivot = pivot_even[h];
      step_even.first = right_side(0, h, pivot);
      step_even.times = pivot != T(0) ? T(1) : T(0);
      factor_even = w_even[h] * pivot;
    }
    if (2 * h + 1 < n) {
      const T pivot = pivot_odd[h];
      step_odd.first = right_side(1, h, pivot);
      step_odd.times = pivot != T(0) ? factor_even : T(0);
      factor_odd = w_odd[h] * pivot;
    }
    T factor = __shfl_up_sync(~0u, factor_odd, 1);
    if (lane == 0) factor = factor_before;
    step_even.times *= factor;
    const T last = scan<true>(step_odd.after(step_even)).after(value_before);
    T before = __shfl_up_sync(~0u, last, 1);
    if (lane == 0) before = value_before;
    if (2 * h < n) x_even[h] = step_even.after(before);
    if (2 * h + 1 < n) x_odd[h] = last;
    value_before = __shfl_sync(~0u, last, 31), factor_before = __shfl_sync(~0u, factor_odd, 31);
  }
  if (!part.backward) return;
  T next = part.last ? T(0) : x(n, j, k);
  for (index_t first = (n - 1) / 2 / 32 * 32; first >= 0; first -= 32) {
    const index_t h = first + lane;
    Step<T> step_even{T(1), T(0)}, step_odd{T(1), T(0)}; // beyond the end they pass on what is there
    if (2 * h < n) {
      const T pivot = pivot_even[h], value = x_even[h];
      step_even.times = 2 * h == n - 1 && part.last ? T(0) : w_even[h] * pivot;
      step_even.first = pivot != T(0) ? value * pivot : value;
    }
    if (2 * h + 1 < n) {
      const T pivot = pivot_odd[h], value = x_odd[h];
      step_odd.times = 2 * h + 1 == n - 1 && part.last ? T(0) : w_odd[h] * pivot;
      step_odd.first = pivot != T(0) ? value * pivot : value;
    }
    const T mine = scan<false>(step_even.after(step_odd)).after(next);
    T after = __shfl_down_sync(~0u, mine, 1);
    if (lane == 31) after = next;
    if (2 * h < n) x_even[h] = mine;
    if (2 * h + 1 < n) x_odd[h] = step_odd.after(after);
    next = __shfl_sync(~0u, mine, 0);
  }
}

template <class T>
void relax_along_x(const Cuda &on, const Smoothed<T> &g, const Field<T> &inverse, const Field<T> &b, const Field<T> &x,
                   const Shape &shape, index_t colour, const PartOfLines &part) {
  const Range3 box = shape.all();
  if (!box.size()) return;
  const unsigned blocks = unsigned((box.n[1] + 2 * lines_of_block - 1) / (2 * lines_of_block));
  for (index_t k = 0; k < box.n[2]; k += cuda::most_blocks) {
    const dim3 grid(blocks, unsigned(std::min(cuda::most_blocks, box.n[2] - k)));
    relax_lines_along_x<T><<<grid, dim3(32, lines_of_block), 0, on.stream>>>(g, inverse, b, x, box, colour, part, k);
    cuda::check_launch("lines along x");
  }
}

} // namespace petscrrb::gridmg
