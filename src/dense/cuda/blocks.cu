// Eliminates the blocks between the separators, one thread block each, and assembles the matrix that is left on the
// separators.
#include "dense/cuda/view.hpp"
#include "exec/cuda/fp64.cuh"
#include "exec/cuda/overlap.cuh"

namespace petscrrb::dense {

namespace {

constexpr int side = tile, threads = side * side, pad = largest_tiles * tile;

// Every thread holds the values (ty + 16 i, tx + 16 j), i, j < T, of the block and its ring.
template <int T> struct Square {
  double a[T][T];
  int tx = int(threadIdx.x) % side, ty = int(threadIdx.x) / side;
};

// Reads the values of the matrix, a tile of rows after the other through shared memory; the loads come first, all at once.
template <int T>
__device__ void load(const View &s, const Block &b, const double *a, bool shifted, Square<T> &square, double *strip) {
  double value[T];
  int at[T];
#pragma unroll
  for (int t = 0; t < T; ++t) {
    const int e = b.strip[t] + int(threadIdx.x);
    at[t] = -1;
    if (e >= b.strip[t + 1]) continue;
    const Entry entry = s.entries[e];
    at[t] = entry.at;
    value[t] = a[entry.from];
    if (shifted && entry.at / 256 == entry.at % 256) value[t] += s.shift[s.nodes[b.nodes + entry.at % 256]];
  }
#pragma unroll
  for (int t = 0; t < T; ++t) {
    for (int i = threadIdx.x; i < side * pad; i += threads) strip[i] = 0.0;
    __syncthreads();
    if (at[t] >= 0) strip[at[t] / 256 % side * pad + at[t] % 256] = value[t];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < T; ++j) square.a[t][j] = strip[square.ty * pad + square.tx + side * j];
    __syncthreads();
  }
}

// Sweeps the interior unknowns of the symmetric matrix [A B^T; B 0]: -A^-1, A^-1 B^T and -B A^-1 B^T stand there then.
// Returns false for a pivot that is not positive or not finite. line: 2 (pad + 1) values of shared memory.
template <int T> __device__ bool sweep(Square<T> &m, int interior, double *line) {
  int good = 1;
  double next = 0.0; // the next pivot; known to all before the barrier, so that its reciprocal hides behind it
  if (!threadIdx.x) line[0] = m.a[0][0];
  __syncthreads();
  next = line[0];
  __syncthreads();
#pragma unroll
  for (int kt = 0; kt < T; ++kt)
    for (int kr = 0; kr < side && kt * side + kr < interior; ++kr) {
      const int k = kt * side + kr;
      double *row = line + (k & 1) * (pad + 1);
      // row k, and the diagonal after it
      if (m.ty == kr) {
#pragma unroll
        for (int j = 0; j < T; ++j) row[m.tx + side * j] = m.a[kt][j];
      }
      if (m.ty == (kr + 1) % side && m.tx == m.ty) {
        if (kr + 1 < side)
          row[pad] = m.a[kt][kt];
        else if (kt + 1 < T)
          row[pad] = m.a[kt + 1 < T ? kt + 1 : kt][kt + 1 < T ? kt + 1 : kt];
      }
      const double d = next, inverse = cuda::reciprocal(d);
      good &= cuda::good_pivot(d, inverse);
      __syncthreads();
      double scaled[T], plain[T];
#pragma unroll
      for (int i = 0; i < T; ++i) scaled[i] = row[m.ty + side * i] * inverse, plain[i] = row[m.tx + side * i];
      if (k + 1 < T * side) next = fma(-(row[k + 1] * inverse), row[k + 1], row[pad]);
#pragma unroll
      for (int i = 0; i < T; ++i)
#pragma unroll
        for (int j = 0; j < T; ++j) m.a[i][j] = fma(-scaled[i], plain[j], m.a[i][j]);
      if (m.ty == kr) {
#pragma unroll
        for (int j = 0; j < T; ++j) m.a[kt][j] = plain[j] * inverse;
      }
      if (m.tx == kr) {
#pragma unroll
        for (int i = 0; i < T; ++i) m.a[i][kt] = scaled[i];
        if (m.ty == kr) m.a[kt][kt] = -inverse;
      }
    }
  return good;
}

// The lower triangles stand for the upper ones, so that what is stored is symmetric to the bit; the Schur complement's is stored alone.
template <int T> __device__ void store(const View &s, const Block &b, const Square<T> &m) {
  const int size = b.interior + b.ring;
  double *factor = s.factors + b.factor, *schur = s.schurs + b.schur;
#pragma unroll
  for (int i = 0; i < T; ++i)
#pragma unroll
    for (int j = 0; j < T; ++j) {
      const int row = m.ty + side * i, column = m.tx + side * j;
      const double value = m.a[i][j];
      if (row >= size || column >= size) continue;
      if (row < b.interior && column >= b.interior) {
        factor[row * size + column] = value;
        s.transposed[b.transposed + (column - b.interior) * b.interior + row] = value;
      }
      if (column > row || (row >= b.interior) != (column >= b.interior)) continue;
      if (row < b.interior) {
        factor[row * size + column] = -value;
        factor[column * size + row] = -value;
      } else {
        schur[(row - b.interior) * b.ring + column - b.interior] = value;
      }
    }
}

// Whether the search for components has pinned an unknown of the interior.
__device__ bool is_pinned(const View &s, const Block &b) {
  const int i = threadIdx.x;
  return s.state->any && __syncthreads_or(i < b.interior && s.shift[s.nodes[b.nodes + i]] != 0.0);
}

template <int T> __device__ bool eliminate(const View &s, const Block &b, const double *a, double *shared) {
  Square<T> square;
  load(s, b, a, false, square, shared);
  bool good = sweep(square, b.interior, shared);
  cuda::await_previous(); // which may still look for components
  if (is_pinned(s, b)) {
    load(s, b, a, true, square, shared);
    good = sweep(square, b.interior, shared);
  }
  store(s, b, square);
  return good;
}

__global__ void __launch_bounds__(threads) blocks(View s, const double *a) {
  __shared__ double shared[side * pad];
  __shared__ Block b;
  const int *from = reinterpret_cast<const int *>(s.block + blockIdx.x);
  if (threadIdx.x < sizeof(Block) / sizeof(int)) reinterpret_cast<int *>(&b)[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  bool good = true;
  switch ((b.interior + b.ring + tile - 1) / tile) {
  case 1:
  case 2: good = eliminate<2>(s, b, a, shared); break;
  case 3:
  case 4: good = eliminate<4>(s, b, a, shared); break;
  case 5: good = eliminate<5>(s, b, a, shared); break;
  case 6: good = eliminate<6>(s, b, a, shared); break;
  default: good = eliminate<7>(s, b, a, shared);
  }
  if (!good) s.state->spd = 0; // all threads know the same pivots and write the same
}

constexpr int row_threads = 128;

constexpr int together = 4;

// Adds what blocks k, ..., k + 3 of those that touch separator p contribute, up to the diagonal, since the elimination reads nothing
// above it; all are read before the first is added.
__device__ void add_blocks(const View &s, int p, int k, double *row) {
  int column[together];
  double value[together];
#pragma unroll
  for (int i = 0; i < together; ++i) {
    column[i] = -1;
    const int which = k + i < s.touching ? s.touching_block[(k + i) * s.pitch + p] : -1;
    if (which < 0) continue;
    const Block &b = s.block[which];
    const int mine = s.touching_place[(k + i) * s.pitch + p] - b.condensed - b.interior;
    if (int(threadIdx.x) > mine) continue;
    column[i] = s.nodes[b.nodes + b.interior + threadIdx.x];
    value[i] = s.schurs[b.schur + mine * b.ring + threadIdx.x];
  }
#pragma unroll
  for (int i = 0; i < together; ++i) {
    __syncthreads();
    if (column[i] >= 0) row[column[i]] += value[i];
  }
}

// A row of the separators' matrix, from its own values and the blocks that touch it, in the order of the blocks. What pads
// it to whole panels is the identity.
__global__ void __launch_bounds__(row_threads) assemble(View s, const double *a) {
  extern __shared__ double row[];
  const int p = blockIdx.x, t = threadIdx.x;
  for (int q = t; q < s.pitch; q += row_threads) row[q] = 0.0;
  __syncthreads();
  if (s.separator[p] < 0) {
    if (!t) row[p] = 1.0;
  } else {
    const int first = s.row_start[p];
    if (t < s.row_start[p + 1] - first) {
      const Entry entry = s.row_entries[first + t];
      double value = a[entry.from];
      if (entry.at == p && s.state->any) value += s.shift[s.separator[p]];
      row[entry.at] = value;
    }
    for (int k = 0; k < s.touching; k += together) add_blocks(s, p, k, row);
  }
  __syncthreads();
  for (int q = t; q < s.pitch; q += row_threads) s.inverse[std::size_t(p) * s.pitch + q] = row[q];
}

} // namespace

void eliminate_blocks(const View &s, const double *a, cudaStream_t stream) {
  if (s.blocks) cuda::launch("blocks of the coarse matrix", blocks, s.overlap, s.blocks, threads, 0, stream, s, a);
  if (s.pitch) {
    assemble<<<s.pitch, row_threads, s.pitch * sizeof(double), stream>>>(s, a);
    cuda::check_launch("matrix of the separators");
  }
}

} // namespace petscrrb::dense
