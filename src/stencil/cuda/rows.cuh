// Loops over rows on a device that find out about them.
#pragma once

#include "exec/cuda/rows.cuh"
#include "exec/cuda/shape.cuh"
#include "stencil/facts.hpp"

#include <cstring>

namespace petscrrb {

// Some of RowFacts as kernels add to them. Maxima of doubles that are not negative are those of their bits; no order matters.
struct SharedFacts {
  unsigned long long identity_rows, zero_rows, positive, bad_pivot, asymmetry, norm; // bad_pivot: all ones less the row
  unsigned flags; // 1: not finite, 2: foreign, 4: varies, 8: useless, 16: rounded
};

namespace rows_kernels {

constexpr int threads = 256;

template <int blocks, class F>
__global__ void __launch_bounds__(threads, blocks) look(index_t rows, F f, SharedFacts *all) {
  RowFacts mine;
  for (index_t p = index_t(blockIdx.x) * threads + threadIdx.x; p < rows; p += index_t(gridDim.x) * threads)
    mine.add(f(p));
  unsigned identity = static_cast<unsigned>(mine.identity_rows), zero = static_cast<unsigned>(mine.zero_rows),
           positive = static_cast<unsigned>(mine.positive);
  unsigned flags = (mine.not_finite ? 1u : 0u) | (mine.foreign ? 2u : 0u) | (mine.varies ? 4u : 0u) |
                   (mine.useless_row != no_row ? 8u : 0u) | (mine.rounded ? 16u : 0u);
  for (int k = 16; k; k /= 2) {
    identity += __shfl_xor_sync(~0u, identity, k);
    zero += __shfl_xor_sync(~0u, zero, k);
    positive += __shfl_xor_sync(~0u, positive, k);
    flags |= __shfl_xor_sync(~0u, flags, k);
  }
  cuda::raise(&all->bad_pivot,
              mine.bad_pivot == no_row ? 0ull : ~0ull - static_cast<unsigned long long>(mine.bad_pivot));
  cuda::raise(&all->asymmetry, cuda::ordered_bits(mine.asymmetry));
  cuda::raise(&all->norm, cuda::ordered_bits(mine.norm));
  if (threadIdx.x % 32) return;
  if (identity) atomicAdd(&all->identity_rows, static_cast<unsigned long long>(identity));
  if (zero) atomicAdd(&all->zero_rows, static_cast<unsigned long long>(zero));
  if (positive) atomicAdd(&all->positive, static_cast<unsigned long long>(positive));
  if (flags) atomicOr(&all->flags, flags);
}

inline double value(unsigned long long bits) {
  double d;
  static_assert(sizeof d == sizeof bits, "64 bits");
  std::memcpy(&d, &bits, sizeof d);
  return d;
}

} // namespace rows_kernels

// Adds what f(p) says of each row. at_once: thread blocks on a multiprocessor, for which the compiler is to find registers; 0: as it likes
template <int at_once = 0, class F>
void at_rows(index_t rows, const F &f, const cuda::Report<SharedFacts> &all, cudaStream_t stream) {
  const index_t blocks = (rows + rows_kernels::threads - 1) / rows_kernels::threads;
  if (!blocks) return;
  constexpr auto look = rows_kernels::look<at_once, F>;
  const int resident = cuda::resident_blocks(look, rows_kernels::threads);
  look<<<static_cast<unsigned>(std::min<index_t>(blocks, resident)), rows_kernels::threads, 0, stream>>>(rows, f,
                                                                                                         all.device());
  cuda::check_launch("look");
}

// Waits for the stream, and for what meanwhile() enqueues.
template <class F> RowFacts read(const cuda::Report<SharedFacts> &all, cudaStream_t stream, const F &meanwhile) {
  const SharedFacts d = all.read(stream, meanwhile);
  RowFacts f;
  f.identity_rows = static_cast<index_t>(d.identity_rows);
  f.zero_rows = static_cast<index_t>(d.zero_rows);
  f.positive = static_cast<index_t>(d.positive);
  if (d.bad_pivot) f.bad_pivot = static_cast<index_t>(~0ull - d.bad_pivot);
  f.not_finite = d.flags & 1;
  f.foreign = d.flags & 2;
  f.asymmetry = rows_kernels::value(d.asymmetry);
  f.norm = rows_kernels::value(d.norm);
  f.varies = d.flags & 4;
  if (d.flags & 8) f.useless_row = 0; // some
  f.rounded = d.flags & 16;
  return f;
}

inline RowFacts read(const cuda::Report<SharedFacts> &all, cudaStream_t stream) {
  return read(all, stream, [] {});
}

template <> class RowLoops<Cuda> {
public:
  explicit RowLoops(const Cuda &on) : on_(on) {}
  void clear() { found_.clear(on_.stream); }
  template <class F> void at_rows(index_t rows, const F &f) { petscrrb::at_rows(rows, f, found_, on_.stream); }
  template <class F> RowFacts read(const F &meanwhile) const { return petscrrb::read(found_, on_.stream, meanwhile); }
  RowFacts read() const { return petscrrb::read(found_, on_.stream); }

private:
  const Cuda &on_;
  cuda::Report<SharedFacts> found_;
};

} // namespace petscrrb
