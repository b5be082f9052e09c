// The last block's (pseudo-)inverse applied by the whole device, and what a refresh must know about components that may
// be singular.
#include "backend/cuda.hpp"
#include "rrb/coarse_cuda_apply.cuh"

namespace petscrrb::rrb::coarse {

namespace {

constexpr int block_threads = 4 * columns;
constexpr int row_threads = 256;
constexpr int dot_blocks = 8;
constexpr int null_threads = 8 * columns;

// part of a pinned diagonal, as in coarse_null.cxx
constexpr double singular_below = 1e-11;

__global__ void __launch_bounds__(block_threads) condense_all(View s, const double *r) {
  __shared__ double shared[largest_interior + block_threads];
  const int b = blockIdx.x;
  if (b < s.blocks) {
    condense(s, s.block[b], r, shared);
    return;
  }
  for (int c = b - s.blocks; c < s.state->handled; c += dot_blocks) component_dots(s, c, r);
}

__global__ void __launch_bounds__(row_threads) solve_separators(View s, const double *r) {
  extern __shared__ double y[];
  gather(s, r, y);
  const int p = (int(blockIdx.x) * row_threads + int(threadIdx.x)) / 32;
  if (p < s.separators) solve_row(s, p, y);
}

__global__ void __launch_bounds__(row_threads) expand_all(View s, double *z) {
  __shared__ double shared[tile * largest_tiles];
  const bool correct = s.state->any;
  const int b = blockIdx.x, p = (b - s.blocks) * row_threads + int(threadIdx.x);
  if (b < s.blocks)
    expand(s, s.block[b], z, correct, shared);
  else if (p < s.separators)
    expand_separator(s, p, z, correct);
}

// v, u and gamma of component c, from scratch = G right_hand_side. Where the factorization had to decide, that is
// w = d G e, d the shift: 1 / w_p - 1 is the Schur complement of the pinned unknown p over d, 0 where w is a null vector,
// whose u is still to come then.
__device__ void decide(const View &s, int c) {
  Component &component = s.component[c];
  const bool decided = component.decided;
  const double w = s.scratch[component.pin], schur = decided ? 0.0 : 1.0 / w - 1.0;
  const bool null = schur <= singular_below;
  double square = 0.0, product = 0.0;
  for (int i = threadIdx.x; i < s.n; i += blockDim.x)
    if (s.handled_by[i] == c) {
      square = fma(s.scratch[i], s.scratch[i], square);
      product = fma(s.scratch[i], s.right_hand_side[i], product);
    }
  square = block_sum(square);
  product = block_sum(product);
  for (int i = threadIdx.x; i < s.n; i += blockDim.x)
    if (s.handled_by[i] == c) {
      s.u[i] = decided ? s.scratch[i] : 0.0;
      s.v[i] = decided ? s.right_hand_side[i] : (null ? s.scratch[i] / sqrt(square) : s.scratch[i]);
      s.right_hand_side[i] = !decided && null ? s.v[i] : 0.0;
    }
  if (threadIdx.x) return;
  component.gamma = decided ? product : (null ? 0.0 : 1.0 / (s.shift[component.pin] * w * schur));
  if (null) ++s.state->status.null_directions;
  if (schur < -singular_below) s.state->status.spd = 0;
}

// u and gamma of a null vector found by decide().
__device__ void finish(const View &s, int c) {
  double product = 0.0;
  for (int i = threadIdx.x; i < s.n; i += blockDim.x)
    if (s.handled_by[i] == c) {
      s.u[i] = s.scratch[i];
      product = fma(s.u[i], s.v[i], product);
    }
  product = block_sum(product);
  if (!threadIdx.x) s.component[c].gamma = product;
}

__global__ void __launch_bounds__(null_threads) null_directions(View s) {
  extern __shared__ double shared[];
  const int handled = s.state->handled;
  if (!handled) return;
  apply_in_block(s, s.right_hand_side, s.scratch, false, shared);
  for (int c = 0; c < handled; ++c) decide(s, c);
  int found = 0;
  for (int i = threadIdx.x; i < s.n; i += blockDim.x) found |= s.right_hand_side[i] != 0.0;
  if (!__syncthreads_or(found)) return;
  apply_in_block(s, s.right_hand_side, s.scratch, false, shared);
  for (int c = 0; c < handled; ++c)
    if (s.right_hand_side[s.component[c].pin] != 0.0) finish(s, c);
}

} // namespace

void find_null_directions(const View &s, cudaStream_t stream) {
  null_directions<<<1, null_threads, shared_values(s.pitch, null_threads) * sizeof(double), stream>>>(s);
  cuda::check_launch("null directions of the last block");
}

void apply(const View &s, const double *r, double *z, cudaStream_t stream) {
  condense_all<<<s.blocks + dot_blocks, block_threads, 0, stream>>>(s, r);
  cuda::check_launch("condensation of the last block");
  if (s.separators) {
    const int rows = row_threads / 32;
    solve_separators<<<(s.separators + rows - 1) / rows, row_threads, s.pitch * sizeof(double), stream>>>(s, r);
    cuda::check_launch("solution on the separators");
  }
  expand_all<<<s.blocks + (s.separators + row_threads - 1) / row_threads, row_threads, 0, stream>>>(s, z);
  cuda::check_launch("solution of the last block");
}

} // namespace petscrrb::rrb::coarse
