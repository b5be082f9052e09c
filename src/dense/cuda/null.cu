// What a refresh must know about components that may be singular, from solutions with the pinned matrix.
#include "exec/cuda/cuda.hpp"
#include "dense/cuda/apply.cuh"

#include <cooperative_groups.h>

namespace petscrrb::dense {

namespace {

constexpr int threads = 1024;

// part of a pinned diagonal, as in pc/rrb/pcrrb_coarse.cxx
constexpr double singular_below = 1e-11;

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
  component.gamma =
      decided ? product + s.state->null_inverse : (null ? 0.0 : 1.0 / (s.shift[component.pin] * w * schur));
  if (null) ++s.state->null_directions;
  if (schur < -singular_below) s.state->spd = 0;
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
  if (!threadIdx.x) s.component[c].gamma = product + s.state->null_inverse;
}

__global__ void __launch_bounds__(threads) null_directions(View s) {
  extern __shared__ double shared[];
  const int handled = s.state->handled;
  if (!handled) return;
  for (int c = 0; c < handled; ++c) decide(s, c);
  int found = 0;
  for (int i = threadIdx.x; i < s.n; i += threads) found |= s.right_hand_side[i] != 0.0;
  if (!__syncthreads_or(found)) return;
  apply_by_team(s, s.right_hand_side, s.scratch, false, shared, cooperative_groups::this_thread_block());
  for (int c = 0; c < handled; ++c)
    if (s.right_hand_side[s.component[c].pin] != 0.0) finish(s, c);
}

} // namespace

void find_null_directions(const View &s, cudaStream_t stream) {
  apply_pinned(s, s.right_hand_side, s.scratch, stream);
  null_directions<<<1, threads, team_values(s) * sizeof(double), stream>>>(s);
  cuda::check_launch("null directions of the coarse matrix");
}

} // namespace petscrrb::dense
