// The inverse of a symmetric positive definite matrix by the sweep operator on tiles, without pivoting: a launch for each 32 unknowns,
// which is several times faster than a factorization and two triangular inversions by a library where there are some hundred.
// (J. Goodnight, A tutorial on the SWEEP operator, The American Statistician 33, 1979.)
#include "dense/cuda/dense.hpp"

#include "dense/cuda/tile.cuh"
#include "exec/cuda/overlap.cuh"

namespace petscrrb::dense {
namespace {

struct Square {
  double *values;
  std::size_t pitch;
  int n;

  __device__ double &at(int row, int column) const { return values[std::size_t(row) * pitch + column]; }
  // beyond the matrix that is the identity
  __device__ double value(int row, int column) const {
    return row < n && column < n ? at(row, column) : (row == column ? 1.0 : 0.0);
  }
  __device__ void load(double *tile, int i, int j) const {
#pragma unroll
    for (int p = 0; p < panel * panel; p += tile_threads) {
      const int r = (p + int(threadIdx.x)) / panel, c = int(threadIdx.x) % panel;
      tile[r * tile_pitch + c] = value(i * panel + r, j * panel + c);
    }
  }
  // tile (i, j) and, transposed, tile (j, i); of a diagonal one what stands below its diagonal
  __device__ void store(Part &m, int i, int j, double sign) const {
    m.each([&](int r, int c, double v) {
      const int row = i * panel + r, column = j * panel + c;
      if (row < n && column < n && (i != j || c <= r)) at(row, column) = at(column, row) = sign * v;
    });
  }
};

// Of t.pivot, the tile of block k, to `inverse`.
__device__ void invert(Tiles &t, int k, double *inverse, int *bad) {
  __syncthreads();
  const int failed = invert_tile(t.pivot, t.w);
  if (failed < panel && !threadIdx.x && *bad == 0) *bad = k * panel + failed + 1;
  for (int p = int(threadIdx.x); p < panel * panel; p += tile_threads)
    inverse[p] = t.pivot[p / panel * tile_pitch + p % panel];
}
__global__ void __launch_bounds__(tile_threads) invert_first(Square from, double *inverse, int *bad) {
  __shared__ alignas(16) Tiles t;
  cuda::start_next();
  cuda::await_previous();
  from.load(t.pivot, 0, 0);
  invert(t, 0, inverse, bad);
}

// Sweeps the unknowns of block k: with D the tile there and L what stands below and above it, they become -D^-1 and L D^-1, and the others
// A - L D^-1 L^T. After the last block that is -A^-1, and A^-1 is stored. Thread blocks above the diagonal have nothing to do. `inverse` is
// D^-1; `next` becomes that of the next block, whose tile is inverted where it is made: by one thread block, while the others end.
// *bad: 0, or 1 + the first unknown whose pivot is not positive.
__global__ void __launch_bounds__(tile_threads)
    eliminate(Square from, Square to, int k, const double *inverse, double *next, int *bad) {
  __shared__ alignas(16) Tiles t;
  const int i = int(blockIdx.y), j = int(blockIdx.x);
  cuda::start_next();
  cuda::await_previous();
  if (j > i) return;
  const double sign = k + 1 == int(gridDim.x) ? -1.0 : 1.0;
  Part m{};
  load_tile(t.pivot, inverse, panel);
  if (i != k) from.load(t.x, i, k);
  if (j != k) from.load(t.y, j, k);
  if (i != k && j != k) m.each([&](int r, int c, double &v) { v = from.value(i * panel + r, j * panel + c); });
  __syncthreads();
  if (i == k && j == k) {
    m.each([&](int r, int c, double &v) { v = -t.pivot[r * tile_pitch + c]; });
  } else if (i == k || j == k) {
    add_product(m, 1.0, i == k ? t.y : t.x, t.pivot);
  } else {
    subtract_product(m, t);
  }
  to.store(m, i == k ? j : i, i == k ? k : j, sign);
  if (i != k + 1 || j != k + 1) return;
  m.put_symmetric(t.pivot);
  invert(t, k + 1, next, bad);
}

} // namespace

double *sweep(double *matrix, double *other, double *tiles, std::size_t pitch, int n, int *bad, cudaStream_t stream) {
  static const bool overlap = cuda::may_overlap(eliminate) && cuda::may_overlap(invert_first);
  const unsigned blocks = unsigned(n + panel - 1) / panel;
  double *inverse = tiles, *next = tiles + panel * panel;
  cuda::check(cudaMemsetAsync(bad, 0, sizeof(int), stream), "cudaMemsetAsync");
  cuda::launch("elimination", invert_first, overlap, dim3(1), dim3(tile_threads), 0, stream, Square{matrix, pitch, n},
               inverse, bad);
  for (int k = 0; k < int(blocks); ++k, std::swap(matrix, other), std::swap(inverse, next))
    cuda::launch("elimination", eliminate, overlap, dim3(blocks, blocks), dim3(tile_threads), 0, stream,
                 Square{matrix, pitch, n}, Square{other, pitch, n}, k, inverse, next, bad);
  return matrix;
}

} // namespace petscrrb::dense
