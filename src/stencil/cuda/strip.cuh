// A strip of the grid, 32 columns wide, whose rows of the matrix a warp reads line by line: a lane a column.
#pragma once

#include "grid/csr.hpp"
#include "grid/reach.hpp"

#include <cuda_runtime.h>

namespace petscrrb::cuda {

constexpr int warp_size = 32;

enum Found : unsigned {
  found_corners = 1,    // some coupling in NE or NW is not zero
  found_foreign = 2,    // a coupling has no place in the stencil
  found_not_finite = 4, // an entry
  found_across_x = 8,   // a coupling crosses the seam in x
  found_across_y = 16,
  found_rounded = 32 // a row's sum
};

// The two outer columns are read for the sake of their neighbours, and written by the strips beside this one.
constexpr int owned_columns = warp_size - 2;

// Directions in the order of their columns, away from seams.
template <int points> struct Slot {
  static constexpr int Centre = points / 2, West = Centre - 1, East = Centre + 1;
  static constexpr int South = points == 9 ? 1 : 0, North = points == 9 ? 7 : 4;
  static constexpr int SouthWest = 0, SouthEast = 2, NorthWest = 6, NorthEast = 8; // at nine points
};

// Where the grid has no point: zeros, and no identity row.
template <int points> struct Row {
  double a[points] = {}; // a value a direction
  double v = 1;          // of the near-null-space vector
  bool identity = false;
};

// What a lane holds of a line that is on its way from memory. The entries are those of the whole strip, dealt out in
// their order, so that loads are coalesced; which of them make a row is known only when they have been staged.
template <int points> struct Flight {
  PetscInt begin = 0, end = 0; // of the lane's own row
  PetscInt first = 0;          // of the strip's entries
  bool staged = true;          // otherwise there are too many, or they lie apart, and each lane reads its row
  double v = 1;
  PetscInt columns[points];
  double values[points];
};

// `scaled`: there is a near-null-space vector.
template <int points, bool scaled> class Strip {
public:
  struct Stage {
    double values[warp_size * points];
    PetscInt columns[warp_size * points];
  };

  __device__ Strip(const Csr &rows, const Geometry &geometry, const double *near_null, PetscInt first_column,
                   Stage &memory)
      : A(rows), g(geometry), v(near_null), stage(memory), lane(threadIdx.x % warp_size) {
    const PetscInt i = first_column - 1 + lane;
    inside = (i >= 0 && i < g.n[0]) || (g.around[0] && (i == -1 || i == g.n[0]));
    owned = lane > 0 && lane <= owned_columns && i < g.n[0];
    column = i < 0 ? i + g.n[0] : i >= g.n[0] ? i - g.n[0] : i;
    torn = g.around[0] && (first_column == 0 || first_column + owned_columns >= g.n[0]);
    first_lane = first_column == 0 ? 1 : 0;
    last_lane = static_cast<int>(min(static_cast<PetscInt>(warp_size - 1), g.n[0] - first_column));
  }

  // The row of the lane's point in line j, which may be the one below or above the grid; -1 if there is no such point.
  __device__ PetscInt row(PetscInt j) const {
    if (j < 0) j = g.around[1] ? g.n[1] - 1 : -1;
    if (j >= g.n[1]) j = g.around[1] ? 0 : -1;
    return inside && j >= 0 ? j * g.n[0] + column : -1;
  }

  __device__ void find(Flight<points> &f, PetscInt j) const {
    const PetscInt p = row(j);
    f.begin = p >= 0 ? A.ia[p] : 0;
    f.end = p >= 0 ? A.ia[p + 1] : 0;
  }

  // Needs the begin and end of find().
  __device__ void fetch(Flight<points> &f, PetscInt j) const {
    const PetscInt last = __shfl_sync(~0u, f.end, last_lane);
    f.first = __shfl_sync(~0u, f.begin, first_lane);
    f.staged = !torn && last - f.first <= warp_size * points;
#pragma unroll
    for (int k = 0; k < points; ++k) {
      const PetscInt e = f.first + k * warp_size + lane;
      if (!f.staged || e >= last) continue;
      f.values[k] = A.a[e];
      f.columns[k] = A.ja[e];
    }
    const PetscInt p = row(j);
    if (scaled && p >= 0) f.v = v[p];
  }

  __device__ void arrive(const Flight<points> &f) const {
    __syncwarp(); // the rows of the line before have been taken
#pragma unroll
    for (int k = 0; k < points; ++k) {
      if (!f.staged) continue;
      stage.values[k * warp_size + lane] = f.values[k];
      stage.columns[k * warp_size + lane] = f.columns[k];
    }
    __syncwarp();
  }

  // Of the line that has arrived last.
  __device__ Row<points> take(PetscInt begin, PetscInt end, PetscInt first, bool staged, double near_null, PetscInt j,
                              unsigned &found) const {
    Row<points> r;
    const PetscInt p = row(j), count = end - begin;
    if (p < 0) return r;
    const bool coupled = staged
                             ? take(r, stage.columns + (begin - first), stage.values + (begin - first), count, p, found)
                             : take(r, A.ja + begin, A.a + begin, count, p, found);
    r.identity = !coupled;
    if (scaled) r.v = petscrrb::scaling(near_null, r.identity);
    return r;
  }

  int lane;
  PetscInt column;
  bool inside, owned;

private:
  using At = Slot<points>;

  __device__ void reach(PetscInt p, PetscInt (&d)[points]) const {
    const PetscInt none = g.n[0] * g.n[1], line = p - column; // no difference of two rows is as large
    const PetscInt west = column > 0 ? -1 : g.around[0] ? g.n[0] - 1 : none;
    const PetscInt east = column < g.n[0] - 1 ? 1 : g.around[0] ? 1 - g.n[0] : none;
    const PetscInt south = line > 0 ? -g.n[0] : g.around[1] ? none - g.n[0] : none;
    const PetscInt north = line < none - g.n[0] ? g.n[0] : g.around[1] ? g.n[0] - none : none;
    d[At::West] = west;
    d[At::Centre] = 0;
    d[At::East] = east;
    d[At::South] = south;
    d[At::North] = north;
    if constexpr (points == 9) {
      const auto both = [none](PetscInt x, PetscInt y) { return x == none || y == none ? none : x + y; };
      d[At::SouthWest] = both(west, south);
      d[At::SouthEast] = both(east, south);
      d[At::NorthWest] = both(west, north);
      d[At::NorthEast] = both(east, north);
    }
  }

  // Whether the row is coupled with another one.
  __device__ bool take(Row<points> &r, const PetscInt *columns, const double *values, PetscInt count, PetscInt p,
                       unsigned &found) const {
    PetscInt d[points], other = count ^ points;
    bool coupled = false;
    double check = 0;
    reach(p, d);
    if (other == 0) // the one order that nearly all rows have
#pragma unroll
      for (int m = 0; m < points; ++m) {
        other |= (columns[m] - p) ^ d[m];
        r.a[m] = values[m];
      }
    if (other != 0) coupled = take_any(r, d, columns, values, count, p, found);
#pragma unroll
    for (int m = 0; m < points; ++m) {
      coupled |= m != At::Centre && r.a[m] != 0;
      check += not_finite(r.a[m]);
    }
    if (check != 0) found |= found_not_finite; // a NaN too
    return coupled;
  }

  // Whether the row has a coupling outside of the stencil.
  __device__ bool take_any(Row<points> &r, const PetscInt (&d)[points], const PetscInt *columns, const double *values,
                           PetscInt count, PetscInt p, unsigned &found) const {
    bool foreign = false;
#pragma unroll
    for (int m = 0; m < points; ++m) r.a[m] = 0;
    for (PetscInt e = 0; e < count; ++e) {
      const PetscInt difference = columns[e] - p;
      const double value = values[e];
      bool known = false;
#pragma unroll
      for (int m = 0; m < points; ++m)
        if (difference == d[m]) {
          r.a[m] = value;
          known = true;
        }
      if (known || value == 0) continue;
      foreign = true;
      if (not_finite(value) != 0) found |= found_not_finite;
    }
    if (foreign) found |= found_foreign;
    return foreign;
  }

  const Csr &A;
  const Geometry &g;
  const double *v;
  Stage &stage;
  bool torn;
  int first_lane, last_lane; // that have a point, where the strip is not torn
};

} // namespace petscrrb::cuda
