// Settles the couplings of a strip line by line as its rows arrive, and writes weights and excesses.
#pragma once

#include "stencil/cuda/strip.cuh"
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

// What one lane found, in few registers: as it reads at most 60 points, each count fits in a byte.
struct FactsOfLane {
  enum Count : unsigned {
    identity = 1,
    zero = 1 << 8,
    positive = 1 << 16
  };
  unsigned counts = 0, flags = 0;
  PetscInt bad_pivot = -1, useless_row = -1;
  double asymmetry = 0, weights_x = 0, weights_y = 0;

  __device__ RowFacts whole() const {
    RowFacts f;
    f.identity_rows = counts % 256;
    f.zero_rows = counts / zero % 256;
    f.positive = counts / positive;
    if (bad_pivot >= 0) f.bad_pivot = bad_pivot;
    if (useless_row >= 0) f.useless_row = useless_row;
    f.asymmetry = asymmetry;
    f.weights[0] = weights_x, f.weights[1] = weights_y;
    f.not_finite = flags & found_not_finite, f.foreign = flags & found_foreign, f.corners = flags & found_corners;
    f.crosses[0] = flags & found_across_x, f.crosses[1] = flags & found_across_y;
    f.rounded = flags & found_rounded;
    return f;
  }
};
constexpr int most_lines = 60;       // that a lane reads
static_assert(4 * most_lines < 256); // four couplings a point

template <int points, bool scaled> class Reader {
public:
  using At = Slot<points>;

  __device__ Reader(const Strip<points, scaled> &s, const Geometry &geometry, const Target &target, double r)
      : strip(s), g(geometry), to(target), rounding(r) {}

  // Line j has arrived: the line below it can be finished. `mine`: that line is to be written by this warp.
  __device__ void next(const Row<points> &row, PetscInt j, bool mine) {
    if (mine)
      finish(row, j - 1, strip.owned);
    else
      settle_upwards(row, false);
    below = settled;
    line = row;
  }

  FactsOfLane facts;

private:
  __device__ static double right(double value) { return __shfl_down_sync(~0u, value, 1); }
  __device__ static double left(double value) { return __shfl_up_sync(~0u, value, 1); }

  // The mean of a_ij and a_ji; d_there: what the lane `step` to the right has is a_jj. All lanes call this.
  template <int step> __device__ double settle(double here, double there, double d_there, bool dropped, bool count) {
    const double mean = 0.5 * (here + there);
    const bool apart = count && !dropped && differ(here, there);
    if (__any_sync(~0u, apart)) { // hardly ever
      const double d = step == 0 ? d_there : step > 0 ? right(d_there) : left(d_there);
      if (apart) facts.asymmetry = larger(facts.asymmetry, asymmetry(here, there, line.a[At::Centre], d));
    }
    if (dropped) return 0.0;
    if (count && mean > 0) facts.counts += FactsOfLane::positive;
    return mean;
  }

  // The couplings of `line` with the line above, into `settled`. All lanes call this.
  __device__ void settle_upwards(const Row<points> &above, bool count) {
    settled.north =
        settle<0>(line.a[At::North], above.a[At::South], above.a[At::Centre], line.identity | above.identity, count);
    if constexpr (points == 9) {
      const bool right_identity = __shfl_down_sync(~0u, above.identity, 1);
      const bool left_identity = __shfl_up_sync(~0u, above.identity, 1);
      const double lower_right = right(above.a[At::SouthWest]), lower_left = left(above.a[At::SouthEast]);
      settled.northeast =
          settle<1>(line.a[At::NorthEast], lower_right, above.a[At::Centre], line.identity | right_identity, count);
      settled.northwest =
          settle<-1>(line.a[At::NorthWest], lower_left, above.a[At::Centre], line.identity | left_identity, count);
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
    settled.east = settle<1>(line.a[At::East], other, line.a[At::Centre], line.identity | right_identity, count);
    if (count && settled.east != 0 && strip.column == g.n[0] - 1) facts.flags |= found_across_x;
    const double v_right = right(line.v);
    if (scaled) settled.east = __dmul_rn(settled.east, line.v * v_right);
  }

  __device__ void note_crossings() {
    const bool corner = settled.northeast != 0 || settled.northwest != 0;
    if (corner) facts.flags |= found_corners;
    if (strip.column == g.n[0] - 1 && settled.northeast != 0) facts.flags |= found_across_x;
    if (strip.column == 0 && settled.northwest != 0) facts.flags |= found_across_x;
    if (top && (corner || settled.north != 0)) facts.flags |= found_across_y;
  }

  __device__ double excess(bool count) {
    Excess e(scaled ? __dmul_rn(line.a[At::Centre], line.v * line.v) : line.a[At::Centre]);
    const double west = left(settled.east);
    e.add(settled.east), e.add(west), e.add(settled.north), e.add(below.north);
    if constexpr (points == 9) {
      const double southwest = left(below.northeast), southeast = right(below.northwest);
      e.add(settled.northeast), e.add(settled.northwest), e.add(southwest), e.add(southeast);
    }
    if (count && e.rounded(rounding)) facts.flags |= found_rounded;
    return e.value(rounding);
  }

  // Line j, by the line above it. All lanes call this, those that own nothing for their neighbours' sake.
  __device__ void finish(const Row<points> &above, PetscInt j, bool count) {
    top = j == g.n[1] - 1;
    if (count) look_at_row(j);
    settle_eastwards(count);
    settle_upwards(above, count);
    const double c = excess(count);
    if (count) write(j * g.n[0] + strip.column, c);
  }

  __device__ void look_at_row(PetscInt j) {
    double &centre = line.a[At::Centre];
    if (facts.bad_pivot < 0 && !(centre > 0) && !(line.identity && centre == 0))
      facts.bad_pivot = j * g.n[0] + strip.column;
    if (!line.identity) {
      if (facts.useless_row < 0 && !is_useful(line.v)) facts.useless_row = j * g.n[0] + strip.column;
      return;
    }
    facts.counts += FactsOfLane::identity;
    if (centre != 0) return;
    facts.counts += FactsOfLane::zero;
    centre = 1;
  }

  __device__ void write(PetscInt p, double c) {
    const double east = weight(settled.east, to.positive), north = weight(settled.north, to.positive);
    facts.weights_x += east;
    facts.weights_y += north;
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
  const Geometry &g;
  const Target &to;
  const double rounding;
  bool top = false;
  Row<points> line;         // the last that has arrived
  Couplings settled, below; // of that line, of the one before
};

} // namespace petscrrb::cuda
