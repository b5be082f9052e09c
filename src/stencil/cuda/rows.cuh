// Loops over rows on a device that find out about them.
#pragma once

#include "exec/cuda/rows.cuh"
#include "exec/cuda/shape.cuh"
#include "stencil/couplings.hpp"
#include "stencil/read_couplings.hpp"

#include <cstring>

namespace petscrrb {

// CouplingFindings as kernels add to them. Maxima of doubles that are not negative are those of their bits; no order matters.
struct DeviceFindings {
  unsigned long long identity_rows, bad_pivot, diagonal, asymmetry, norm; // bad_pivot: all ones less the row
  unsigned flags;                                                         // 1: not finite, 2: foreign, 4: varies
};

namespace rows_kernels {

constexpr int threads = 256;

// The row that f(p) is about, for those that do not take rows in their order.
template <class F> __device__ index_t row_of(const F &, index_t p) { return p; }

template <class F> __global__ void __launch_bounds__(threads) look(index_t rows, F f, DeviceFindings *all) {
  unsigned identity = 0, flags = 0;
  RowFinding most;
  unsigned long long bad = 0;
  for (index_t p = index_t(blockIdx.x) * threads + threadIdx.x; p < rows; p += index_t(gridDim.x) * threads) {
    const RowFinding r = f(p);
    identity += r.identity;
    flags |= (r.not_finite ? 1u : 0u) | (r.foreign ? 2u : 0u) | (r.varies ? 4u : 0u);
    if (r.bad_pivot) bad = max(bad, ~0ull - static_cast<unsigned long long>(row_of(f, p)));
    most.diagonal = larger(r.diagonal, most.diagonal);
    most.asymmetry = larger(r.asymmetry, most.asymmetry);
    most.norm = larger(r.norm, most.norm);
  }
  for (int k = 16; k; k /= 2) {
    identity += __shfl_xor_sync(~0u, identity, k);
    flags |= __shfl_xor_sync(~0u, flags, k);
  }
  cuda::raise(&all->bad_pivot, bad);
  cuda::raise(&all->diagonal, cuda::ordered_bits(most.diagonal));
  cuda::raise(&all->asymmetry, cuda::ordered_bits(most.asymmetry));
  cuda::raise(&all->norm, cuda::ordered_bits(most.norm));
  if (threadIdx.x % 32) return;
  if (identity) atomicAdd(&all->identity_rows, static_cast<unsigned long long>(identity));
  if (flags) atomicOr(&all->flags, flags);
}

inline double value(unsigned long long bits) {
  double d;
  static_assert(sizeof d == sizeof bits, "64 bits");
  std::memcpy(&d, &bits, sizeof d);
  return d;
}

} // namespace rows_kernels

// Adds what f(p) says of each row.
template <class F>
void at_rows(index_t rows, const F &f, const cuda::Report<DeviceFindings> &all, cudaStream_t stream) {
  const index_t blocks = (rows + rows_kernels::threads - 1) / rows_kernels::threads;
  if (!blocks) return;
  const int resident = cuda::resident_blocks(rows_kernels::look<F>, rows_kernels::threads);
  rows_kernels::look<<<static_cast<unsigned>(std::min<index_t>(blocks, resident)), rows_kernels::threads, 0, stream>>>(
      rows, f, all.device());
  cuda::check_launch("look");
}

// Waits for the stream.
inline CouplingFindings read(const cuda::Report<DeviceFindings> &all, cudaStream_t stream) {
  const DeviceFindings d = all.read(stream);
  CouplingFindings f;
  f.identity_rows = static_cast<index_t>(d.identity_rows);
  if (d.bad_pivot) f.bad_pivot = static_cast<index_t>(~0ull - d.bad_pivot);
  f.not_finite = d.flags & 1;
  f.foreign = d.flags & 2;
  f.diagonal = rows_kernels::value(d.diagonal);
  f.asymmetry = rows_kernels::value(d.asymmetry);
  f.norm = rows_kernels::value(d.norm);
  f.varies = d.flags & 4;
  return f;
}

template <> class RowLoops<Cuda> {
public:
  explicit RowLoops(const Cuda &on) : on_(on) {}
  void clear() { found_.clear(on_.stream); }
  template <class F> void at_rows(index_t rows, const F &f) { petscrrb::at_rows(rows, f, found_, on_.stream); }
  CouplingFindings read() const { return petscrrb::read(found_, on_.stream); } // waits for the stream

private:
  const Cuda &on_;
  cuda::Report<DeviceFindings> found_;
};

} // namespace petscrrb
