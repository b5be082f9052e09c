// Zebra lines on a device: those along x a warp a line, those along y and z so many threads of a block a line as it is long.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "pc/gridmg/core/multigrid.hpp"

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

// One line, 64 points at a time, of which each lane has an even one and the next.
template <class T>
__global__ void __launch_bounds__(32 * lines_of_block)
    relax_lines_along_x(Smoothed<T> g, Field<T> inverse, Field<T> b, Field<T> x, Range3 box, index_t colour,
                        PartOfLines part, index_t k0, bool overlap) {
  if (overlap) {
    cuda::start_next();
    cuda::await_previous();
  }
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

// Some lines along y or z, next to one another in x: thread (h, s) has `run` points of line h, the s-th such ones of as many as the block
// takes at a time.
constexpr int run = 8, across_threads = 512;

// All steps of line threadIdx.x: those before this thread's own, and together. up: from threadIdx.y = 0 on, else from the last one on.
template <bool up, class T> class BlockScan {
public:
  __device__ explicit BlockScan(const Step<T> &mine) {
    __shared__ Step<T> shared[2][across_threads];
    const int width = int(blockDim.x), many = int(blockDim.y), s = place(int(threadIdx.y));
    const auto at = [&](int i, int buffer) -> Step<T> & { return shared[buffer][i * width + int(threadIdx.x)]; };
    Step<T> sum = mine;
    int buffer = 0;
    __syncthreads(); // others may still read what was there
    at(s, buffer) = sum;
    for (int by = 1; by < many; by *= 2, buffer ^= 1) {
      __syncthreads();
      if (s >= by) sum = sum.after(at(s - by, buffer));
      at(s, buffer ^ 1) = sum;
    }
    __syncthreads();
    before = s ? at(s - 1, buffer) : Step<T>{T(1), T(0)}, all = at(many - 1, buffer);
  }
  Step<T> before, all;

private:
  __device__ static int place(int s) { return up ? s : int(blockDim.y) - 1 - s; }
};

// Lines in direction q.
template <class T, int q>
__global__ void __launch_bounds__(across_threads, sizeof(T) == sizeof(float) ? 2 : 1)
    relax_lines_across(Smoothed<T> g, Field<T> inverse, Field<T> b, Field<T> x, Range3 box, index_t colour,
                       PartOfLines part, index_t first_other, bool overlap) {
  if (overlap) {
    cuda::start_next();
    cuda::await_previous();
  }
  const index_t h = index_t(blockIdx.x) * blockDim.x + threadIdx.x, other = first_other + blockIdx.y,
                parity = (colour + other) & 1, step = q == 1 ? x.pitch : x.plane;
  const int n = 2 * h + parity < box.n[0] ? int(box.n[q]) : 0, at_once = run * int(blockDim.y),
            own = run * int(threadIdx.y);
  const index_t begin = (q == 1 ? x.place(parity, 0, other) : x.place(parity, other, 0)) + (n ? h : 0);
  const auto at = [&](const Field<T> &f, int i) -> T & { return f.p[begin + i * step]; };
  const T from_right = part.last ? at(g.w[q], n - 1) * at(x, n) : T(0);
  T carried = at(x, -1),
    factor = at(g.w[q], -1);        // of the point before: its value, and its coupling times its inverse pivot
  const int length = int(box.n[q]); // also of lines that are beyond the side: a block stays together
  for (int first = 0; part.forward && first < length; first += at_once) {
    const int i0 = first + own;
    Step<T> steps[run], mine{T(1), T(0)};
    T before = i0 == first ? factor : i0 < n ? at(g.w[q], i0 - 1) * at(inverse, i0 - 1) : T(0);
#pragma unroll
    for (int r = 0; r < run; ++r) {
      const int i = i0 + r;
      steps[r] = {T(0), T(0)};
      if (i < n) {
        const T pivot = at(inverse, i);
        T sum = at(b, i) +
                (q == 1 ? neighbours<T, q>(g, x, parity, i, other, h) : neighbours<T, q>(g, x, parity, other, i, h));
        if (i == n - 1) sum += from_right;
        steps[r] =
            pivot != T(0) ? Step<T>{before, sum} : Step<T>{T(0), line_value(sum, pivot, at(g.dinv, i), at(x, i))};
        before = at(g.w[q], i) * pivot;
      }
      mine = steps[r].after(mine);
    }
    const BlockScan<true, T> scanned(mine);
    T value = scanned.before.after(carried);
#pragma unroll
    for (int r = 0; r < run; ++r) {
      value = steps[r].after(value);
      if (i0 + r < n) at(x, i0 + r) = value;
    }
    carried = scanned.all.after(carried);
    if (first + at_once < n) factor = at(g.w[q], first + at_once - 1) * at(inverse, first + at_once - 1);
  }
  if (!part.backward) return;
  carried = part.last ? T(0) : at(x, n);
  for (int first = (length - 1) / at_once * at_once; first >= 0; first -= at_once) {
    const int i0 = first + own;
    Step<T> steps[run], mine{T(1), T(0)};
#pragma unroll
    for (int r = run - 1; r >= 0; --r) {
      const int i = i0 + r;
      steps[r] = {T(1), T(0)}; // beyond the end they pass on what is there
      if (i < n) {
        const T pivot = at(inverse, i), value = at(x, i);
        steps[r] = {i == n - 1 && part.last ? T(0) : at(g.w[q], i) * pivot, pivot != T(0) ? value * pivot : value};
      }
      mine = steps[r].after(mine);
    }
    const BlockScan<false, T> scanned(mine);
    T value = scanned.before.after(carried);
#pragma unroll
    for (int r = run - 1; r >= 0; --r) {
      value = steps[r].after(value);
      if (i0 + r < n) at(x, i0 + r) = value;
    }
    carried = scanned.all.after(carried);
  }
}

template <class T> struct ZebraLines<Cuda, T> {
  Smoothed<T> g;
  Field<T> inverse, b, x;
  Shape shape;
  PartOfLines part;

  template <int q> void relax(const Cuda &on, index_t colour) const {
    const Range3 box = shape.all();
    if (!box.size()) return;
    if constexpr (q == 0) {
      const index_t blocks = (box.n[1] + 2 * lines_of_block - 1) / (2 * lines_of_block);
      launch<relax_lines_along_x<T>>(on, colour, blocks, box.n[2], dim3(32, lines_of_block));
    } else {
      constexpr index_t sector = 8, warp = 32,
                        enough_blocks = 128; // with fewer blocks of a warp across, blocks are narrower and longer
      const index_t halves = (box.n[0] + 1) / 2, others = box.n[3 - q];
      index_t width = warp;
      while (width > sector && (halves + width - 1) / width * others < enough_blocks) width /= 2;
      index_t runs = 1;
      while (runs * run < box.n[q] && 2 * runs * width <= across_threads) runs *= 2;
      launch<relax_lines_across<T, q>>(on, colour, (halves + width - 1) / width, others,
                                       dim3(unsigned(width), unsigned(runs)));
    }
  }

private:
  // So many blocks of threads for each of `others` planes or rows of lines.
  template <auto kernel>
  void launch(const Cuda &on, index_t colour, index_t blocks, index_t others, dim3 threads) const {
    static const bool may_overlap = cuda::may_overlap(kernel);
    for (index_t first = 0; first < others; first += cuda::most_blocks) {
      const dim3 grid(unsigned(blocks), unsigned(std::min(cuda::most_blocks, others - first)));
      const bool overlap = may_overlap && index_t(grid.x) * grid.y <= cuda::few_blocks;
      cuda::launch("lines", kernel, overlap, grid, threads, 0, on.stream, g, inverse, b, x, shape.all(), colour, part,
                   first, overlap);
    }
  }
};

} // namespace petscrrb::gridmg
