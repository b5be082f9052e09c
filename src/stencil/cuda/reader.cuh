// Settles the couplings of a strip line by line as its rows arrive, and writes weights and excesses.
#pragma once

#include "stencil/cuda/strip.cuh"
#include "stencil/cuda/tally.cuh"
#include "stencil/weights.hpp"

namespace petscrrb::cuda {

struct Target {
  double *C, *E, *N, *NE, *NW, *v;
  unsigned char *identity;
  Positive positive;
};

// Of one point with those to the right and above, positive ones too.
struct Couplings {
  double east = 0, north = 0, northeast = 0, northwest = 0;
};

template <int points, bool scaled> class Reader {
public:
  using At = Slot<points>;

  __device__ Reader(const Strip<points, scaled> &s, const Sides &sides, const Target &target, double r)
      : strip(s), g(sides), to(target), rounding(r) {}

  // Line j has arrived: the line below it can be finished. `mine`: that line is to be written by this warp.
  __device__ void next(const Row<points> &row, PetscInt j, bool mine) {
    if (mine)
      finish(row, j - 1, strip.owned);
    else
      settle_upwards(row, false);
    below = settled;
    line = row;
  }

  LaneTally tally;

private:
  __device__ static double right(double value) { return __shfl_down_sync(~0u, value, 1); }
  __device__ static double left(double value) { return __shfl_up_sync(~0u, value, 1); }

  // The mean of a_ij and a_ji.
  __device__ double settle(double here, double there, bool dropped, bool count) {
    const double mean = 0.5 * (here + there);
    if (dropped) {
      if (count && (here != 0 || there != 0)) tally.counts += LaneTally::decoupled;
      return 0.0;
    }
    if (count) {
      tally.asymmetry = fmax(tally.asymmetry, fabs(here - there));
      if (mean > 0) tally.counts += LaneTally::positive;
    }
    return mean;
  }

  // The couplings of `line` with the line above, into `settled`. All lanes call this.
  __device__ void settle_upwards(const Row<points> &above, bool count) {
    settled.north = settle(line.a[At::North], above.a[At::South], line.identity | above.identity, count);
    if constexpr (points == 9) {
      const bool right_identity = __shfl_down_sync(~0u, above.identity, 1);
      const bool left_identity = __shfl_up_sync(~0u, above.identity, 1);
      const double lower_right = right(above.a[At::SouthWest]), lower_left = left(above.a[At::SouthEast]);
      settled.northeast = settle(line.a[At::NorthEast], lower_right, line.identity | right_identity, count);
      settled.northwest = settle(line.a[At::NorthWest], lower_left, line.identity | left_identity, count);
    }
    if (count) note_crossings();
    if (!scaled) return;
    settled.north = __dmul_rn(settled.north, line.v * above.v);
    if constexpr (points == 9) {
      const double v_right = right(above.v), v_left = left(above.v);
      settled.northeast = __dmul_rn(settled.northeast, line.v * v_right);
      settled.northwest = __dmul_rn(settled.northwest, line.v * v_left);
    }
  }

  __device__ void settle_eastwards(bool count) {
    const bool right_identity = __shfl_down_sync(~0u, line.identity, 1);
    const double other = right(line.a[At::West]);
    settled.east = settle(line.a[At::East], other, line.identity | right_identity, count);
    if (count && settled.east != 0 && strip.column == g.nx - 1) tally.found |= found_across_x;
    const double v_right = right(line.v);
    if (scaled) settled.east = __dmul_rn(settled.east, line.v * v_right);
  }

  __device__ void note_crossings() {
    const bool corner = settled.northeast != 0 || settled.northwest != 0;
    if (corner) tally.found |= found_corners;
    if (strip.column == g.nx - 1 && settled.northeast != 0) tally.found |= found_across_x;
    if (strip.column == 0 && settled.northwest != 0) tally.found |= found_across_x;
    if (top && (corner || settled.north != 0)) tally.found |= found_across_y;
  }

  __device__ double excess() const {
    Excess e(scaled ? __dmul_rn(line.a[At::Centre], line.v * line.v) : line.a[At::Centre]);
    const double west = left(settled.east);
    e.add(settled.east), e.add(west), e.add(settled.north), e.add(below.north);
    if constexpr (points == 9) {
      const double southwest = left(below.northeast), southeast = right(below.northwest);
      e.add(settled.northeast), e.add(settled.northwest), e.add(southwest), e.add(southeast);
    }
    return e.value(rounding);
  }

  // Line j, by the line above it. All lanes call this, those that own nothing for their neighbours' sake.
  __device__ void finish(const Row<points> &above, PetscInt j, bool count) {
    top = j == g.ny - 1;
    if (count) look_at_row(j);
    settle_eastwards(count);
    settle_upwards(above, count);
    const double c = excess();
    if (count) write(j * g.nx + strip.column, c);
  }

  __device__ void look_at_row(PetscInt j) {
    double &centre = line.a[At::Centre];
    if (!(centre > 0) && !(line.identity && centre == 0)) tally.found |= found_not_positive;
    if (!line.identity) {
      tally.diagonal = fmax(tally.diagonal, fabs(centre));
      if (tally.useless_row < 0 && (line.v == 0 || !isfinite(line.v))) tally.useless_row = j * g.nx + strip.column;
      return;
    }
    tally.counts += LaneTally::identity;
    if (centre != 0) return;
    tally.counts += LaneTally::zero;
    centre = 1;
  }

  __device__ void write(PetscInt p, double c) {
    const double east = weight(settled.east, to.positive), north = weight(settled.north, to.positive);
    tally.weights_x += east;
    tally.weights_y += north;
    to.C[p] = c;
    to.E[p] = east;
    to.N[p] = north;
    if constexpr (points == 9) {
      to.NE[p] = weight(settled.northeast, to.positive);
      to.NW[p] = weight(settled.northwest, to.positive);
    }
    if (scaled) to.v[p] = line.v;
    to.identity[p] = line.identity;
  }

  const Strip<points, scaled> &strip;
  const Sides &g;
  const Target &to;
  const double rounding;
  bool top = false;
  Row<points> line;         // the last that has arrived
  Couplings settled, below; // of that line, of the one before
};

} // namespace petscrrb::cuda
