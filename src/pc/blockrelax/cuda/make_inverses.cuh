// One block of each kind is factored, or inverted, on a device.
#pragma once

#include "pc/blockrelax/cuda/kinds.cuh"

namespace petscrrb::blockrelax {
namespace inverse_kernels {

constexpr int wide = 256; // of groups that work on large blocks

// Unit vectors are solved for, one a thread.
template <class Group> __device__ void invert(const Group &g, const DeviceBand &band, const double *a, double *to) {
  const index_t n = band.n;
  for (int c = g.rank(); c < n; c += Group::size) {
    double *const x = to + c;
    for (int i = 0; i < n; ++i) x[i * n] = i == c;
    for (int j = c; j < n; ++j) {
      const double xj = x[j * n];
      for (int k = 1; k <= band.width && j + k < n; ++k) x[(j + k) * n] -= band.column(a, j)[k] * xj;
    }
    for (int j = band.n; j-- > 0;) {
      double sum = x[j * n] * band.column(a, j)[0];
      for (int k = 1; k <= band.width && j + k < n; ++k) sum -= band.column(a, j)[k] * x[(j + k) * n];
      x[j * n] = sum;
    }
  }
  g.sync();
  for (index_t i = g.rank(); i < n * n; i += Group::size) // symmetric to the last bit
    if (i / n < i % n) to[i] = to[i % n * n + i / n];
  g.sync();
}

// The inverse of a shape in sine bases, a thread a value.
struct TensorInverse {
  Neighbours near;
  Couplings c;
  int n[3];
  index_t row; // first of a block of this shape
  double *to;
  unsigned long long *bad;

  __device__ void operator()(int cell) const {
    const double value = tensor_eigenvalue(near, c, n, cell);
    to[cell] = inverse_of_pivot(value, c.diagonal);
    if (!is_good_pivot(value, c.diagonal)) atomicMax(bad, ~0ull - static_cast<unsigned long long>(row));
  }
};

struct Making {
  const DeviceBlock *blocks;
  int kinds;
  Method method;
  double *inverse, *scratch;
  index_t factor; // doubles of scratch for each group
  int window;     // doubles of shared memory for each group; or none
  unsigned long long *bad;
};

// row: in its block
__device__ inline void report_negative(const DeviceBlock &block, int row, unsigned long long *bad) {
  atomicMax(bad, ~0ull - static_cast<unsigned long long>(block.row(row)));
}

// Factors in chunks, of kinds that have a place for one.
template <int tile> __global__ void __launch_bounds__(wide) factor_chunks(DeviceInverses all, Making m) {
  using ThreadBlock = Group<wide>;
  __shared__ ChunkRoom<tile * ThreadBlock::side, BlockMatrix::most> room;
  const ThreadBlock g;
  for (int k = int(blockIdx.x); k < m.kinds; k += int(gridDim.x)) {
    const DeviceKind kind = all.kinds[k];
    if (kind.at < 0 || !kind.chunked) continue;
    const DeviceBlock block = m.blocks[kind.block];
    const Chunks chunks{block.cells(), kind.width};
    const int bad = factor<tile>(g, chunks, BlockMatrix{block, all.near, all.values}, m.inverse + kind.at, room);
    if (bad >= 0 && g.rank() == 0) report_negative(block, bad, m.bad);
    g.sync();
  }
}

// All others.
template <int size>
__global__ void __launch_bounds__(size > 32 ? size : threads) make_inverses(DeviceInverses all, Making m) {
  extern __shared__ double memory[];
  const Group<size> g;
  const int groups = int(blockDim.x) / size, me = int(blockIdx.x) * groups + g.number();
  for (int k = me; k < m.kinds; k += int(gridDim.x) * groups) {
    const DeviceKind kind = all.kinds[k];
    if (kind.at >= 0 && (m.method == Method::tensor || kind.chunked)) continue;
    const DeviceBlock block = m.blocks[kind.block];
    const bool here = m.method == Method::factored && kind.at >= 0;
    double *const to = here ? m.inverse + kind.at : m.scratch + me * m.factor;
    const int bad = factor_block(g, all, block, kind.width, to, m.window ? memory + g.number() * m.window : nullptr);
    if (bad >= 0) {
      if (g.rank() == 0) report_negative(block, bad, m.bad);
    } else if (m.method == Method::dense && kind.at >= 0) {
      invert(g, DeviceBand{block.cells(), kind.width}, to, m.inverse + kind.at);
    }
    g.sync();
  }
}

} // namespace inverse_kernels
} // namespace petscrrb::blockrelax
