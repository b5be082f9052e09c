// The inverse of a symmetric positive definite matrix by block Gauss-Jordan elimination without pivoting: a launch for each 32 unknowns,
// which is several times faster than a factorization and two triangular inversions by a library where there are some hundred.
#include "dense/cuda/dense.hpp"

#include "dense/cuda/tile.cuh"
#include "exec/cuda/overlap.cuh"

namespace petscrrb::dense {
namespace {

constexpr int rows_at_once = 8, own = panel / rows_at_once; // a thread has `own` entries of a tile

// A tile in shared memory, whose columns threads of a warp have.
struct Tile {
  double entry[panel][panel + 1];

  // beyond the matrix that is the identity
  __device__ void load(const double *matrix, std::size_t pitch, int n, int i, int j) {
    for (int r = int(threadIdx.y); r < panel; r += rows_at_once) {
      const int row = i * panel + r, column = j * panel + int(threadIdx.x);
      entry[r][threadIdx.x] =
          row < n && column < n ? matrix[std::size_t(row) * pitch + column] : (row == column ? 1.0 : 0.0);
    }
  }
  __device__ double row_times(int r, const Tile &b) const {
    double sum = 0.0;
#pragma unroll 8
    for (int m = 0; m < panel; ++m) sum = fma(entry[r][m], b.entry[m][threadIdx.x], sum);
    return sum;
  }
};

// Eliminates the unknowns of block k; *bad: 0, or 1 + the first one whose pivot is not positive.
__global__ void __launch_bounds__(panel *rows_at_once)
    eliminate(const double *from, double *to, std::size_t pitch, int n, int k, int *bad) {
  __shared__ Tile d, left, above;
  __shared__ alignas(16) double line[2 * (panel + 2)];
  const int i = int(blockIdx.y), j = int(blockIdx.x);
  cuda::start_next();
  cuda::await_previous();
  d.load(from, pitch, n, k, k);
  left.load(from, pitch, n, i, k);
  above.load(from, pitch, n, k, j);
  __syncthreads();
  const int failed = invert_tile<rows_at_once, panel + 1>(&d.entry[0][0], line, int(threadIdx.y));
  if (i == k && j == k && failed < panel && threadIdx.x == 0 && threadIdx.y == 0 && *bad == 0)
    *bad = k * panel + failed + 1;
  double value[own];
  if (j != k) { // rows of block k, which the others take
#pragma unroll
    for (int s = 0; s < own; ++s) value[s] = d.row_times(int(threadIdx.y) + s * rows_at_once, above);
    __syncthreads();
    for (int s = 0; s < own; ++s) above.entry[threadIdx.y + s * rows_at_once][threadIdx.x] = value[s];
    __syncthreads();
  }
  for (int s = 0; s < own; ++s) {
    const int r = int(threadIdx.y) + s * rows_at_once, row = i * panel + r, column = j * panel + int(threadIdx.x);
    if (row >= n || column >= n) continue;
    double &out = to[std::size_t(row) * pitch + column];
    if (i == k)
      out = j == k ? d.entry[r][threadIdx.x] : above.entry[r][threadIdx.x];
    else if (j == k)
      out = -left.row_times(r, d);
    else
      out = from[std::size_t(row) * pitch + column] - left.row_times(r, above);
  }
}

} // namespace

double *sweep(double *matrix, double *other, std::size_t pitch, int n, int *bad, cudaStream_t stream) {
  static const bool overlap = cuda::may_overlap(eliminate);
  const int tiles = (n + panel - 1) / panel;
  cuda::check(cudaMemsetAsync(bad, 0, sizeof(int), stream), "cudaMemsetAsync");
  for (int k = 0; k < tiles; ++k, std::swap(matrix, other))
    cuda::launch("elimination", eliminate, overlap, dim3(unsigned(tiles), unsigned(tiles)), dim3(panel, rows_at_once),
                 0, stream, matrix, other, pitch, n, k, bad);
  return matrix;
}

} // namespace petscrrb::dense
