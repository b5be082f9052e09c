// What the kernels of the coarse matrix see of it, all in device memory, and the host functions that launch them.
#pragma once

#include "dense/core/plan.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>

namespace petscrrb::dense {

// What a refresh finds out. A component is handled where it may be singular.
struct State {
  int spd;             // 0: a pivot is not positive, or a value not finite
  int null_directions; // of a positive semidefinite matrix
  int any;             // components handled, or unknowns with neither couplings nor excess
  int handled;         // the former
  double null_inverse; // what null vectors get: inverse.hpp
};

// A component that may be singular. With G the inverse of the matrix that is pinned there (the diagonal of unknown `pin`
// made larger), the solution is G r - a u - (b - gamma a) v, a = v.r, b = u.r. Singular: v is the null vector, u = G v,
// gamma = u.v + null_inverse, which is P G P r + null_inverse a v. Regular after all: u = 0 and the pin is taken back by a rank-one update.
struct Component {
  unsigned long long key; // largest diagonal, in an order of integers
  int pin, size;
  int decided; // singular, from the row sums alone
  double gamma;
};

struct View {
  int n, blocks, pitch, touching, condensed_size;
  bool overlap; // a kernel may start before the one before it has ended
  const int *ia, *ja;
  const Block *block;
  const int *nodes;
  const Entry *entries;
  const int *separator, *row_start;
  const Entry *row_entries;
  const int *phase_start; // of the elimination's tasks
  const Task *tasks;
  const Pair *pairs;
  const int *touching_block, *touching_place, *block_of_condensed;
  // refresh
  double *factors, *transposed, *schurs;
  double *inverse;         // of the separators' matrix: pitch x pitch, symmetric
  double *panels, *pivots; // of its elimination: tiles, in slots
  // application
  double *condensed, *solution; // of blocks; on the separators
  // components that may be singular
  State *state;
  Component *component; // of those handled
  int *handled_by;      // of each unknown: place in component, regular or null_alone
  double *shift;        // added to diagonals
  double *right_hand_side, *u, *v, *scratch;
  double *dots; // a and b of each component
};

enum : int {
  regular = -1,
  null_alone = -2 // an unknown with neither couplings nor excess
};

void find_components(const View &, const double *a, const double *excess, double null_inverse, cudaStream_t);
void eliminate_blocks(const View &, const double *a, cudaStream_t); // right after that
// In one launch with barriers of a grid of at most `resident` blocks; one launch a phase where that is 0.
void invert_separators(const View &, const std::vector<int> &phase_start, int resident, cudaStream_t);
int resident_blocks(); // of that kernel on the whole device, the current one
bool may_overlap();    // for View::overlap, on the current device
void find_null_directions(const View &, cudaStream_t);
void apply(const View &, const double *r, double *z, cudaStream_t);
// by the pinned matrix, and only where there are components to handle
void apply_pinned(const View &, const double *r, double *z, cudaStream_t);

} // namespace petscrrb::dense
