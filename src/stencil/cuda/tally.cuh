// What the threads that read a matrix found, and how it is added up: always in the same order.
#pragma once

#include <cuda_runtime.h>
#include <petscsystypes.h>

namespace petscrrb::cuda {

constexpr int warp_size = 32;

enum Found : unsigned {
  found_corners = 1,    // some coupling in NE or NW is not zero
  found_foreign = 2,    // a coupling has no place in the stencil
  found_not_finite = 4, // an entry
  found_across_x = 8,   // a coupling crosses the seam in x
  found_across_y = 16,
  found_not_positive = 32 // a diagonal entry, of a row with nonzeros
};

constexpr unsigned long long no_row = ~0ull;

struct Tally {
  unsigned long long identity = 0, zero = 0, decoupled = 0, positive = 0;
  unsigned long long useless_row = no_row; // the first where the near-null-space vector says nothing
  double diagonal = 0, asymmetry = 0, weights_x = 0, weights_y = 0;
  unsigned found = 0;

  __device__ void add(const Tally &t) {
    identity += t.identity;
    zero += t.zero;
    decoupled += t.decoupled;
    positive += t.positive;
    useless_row = min(useless_row, t.useless_row);
    diagonal = fmax(diagonal, t.diagonal);
    asymmetry = fmax(asymmetry, t.asymmetry);
    weights_x += t.weights_x;
    weights_y += t.weights_y;
    found |= t.found;
  }
};

// What one lane found, in few registers: as it reads at most 60 points, each count fits in a byte.
struct LaneTally {
  enum Count : unsigned {
    identity = 1,
    zero = 1 << 8,
    decoupled = 1 << 16,
    positive = 1 << 24
  };
  unsigned counts = 0, found = 0;
  PetscInt useless_row = -1;
  double diagonal = 0, asymmetry = 0, weights_x = 0, weights_y = 0;

  __device__ Tally whole() const {
    Tally t;
    t.identity = counts % 256;
    t.zero = counts / zero % 256;
    t.decoupled = counts / decoupled % 256;
    t.positive = counts / positive;
    if (useless_row >= 0) t.useless_row = static_cast<unsigned long long>(useless_row);
    t.diagonal = diagonal;
    t.asymmetry = asymmetry;
    t.weights_x = weights_x;
    t.weights_y = weights_y;
    t.found = found;
    return t;
  }
};
constexpr int most_lines = 60;       // that a lane reads
static_assert(4 * most_lines < 256); // four couplings a point

// Of the couplings that have no place in the stencil.
struct ForeignTally {
  unsigned long long decoupled; // with identity rows
  unsigned unresolved;          // some other one
};

// Into lane 0.
inline __device__ void add_up_warp(Tally &t) {
  const auto from = [](auto value, int offset) { return __shfl_down_sync(~0u, value, offset); };
  for (int offset = warp_size / 2; offset > 0; offset /= 2) {
    Tally o;
    o.identity = from(t.identity, offset);
    o.zero = from(t.zero, offset);
    o.decoupled = from(t.decoupled, offset);
    o.positive = from(t.positive, offset);
    o.useless_row = from(t.useless_row, offset);
    o.diagonal = from(t.diagonal, offset);
    o.asymmetry = from(t.asymmetry, offset);
    o.weights_x = from(t.weights_x, offset);
    o.weights_y = from(t.weights_y, offset);
    o.found = from(t.found, offset);
    t.add(o);
  }
}

// All threads of the block call this; thread 0 writes the result.
template <int warps> __device__ void add_up_block(Tally t, Tally *result) {
  __shared__ double memory[warps * sizeof(Tally) / sizeof(double)]; // a Tally has a constructor
  Tally *of_warp = reinterpret_cast<Tally *>(memory);
  add_up_warp(t);
  if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = t;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < warps; ++w) t.add(of_warp[w]);
  *result = t;
}

} // namespace petscrrb::cuda
