// K^T K x on a strip of a grid with no periodic side, line by line (in 3D plane by plane): a line comes in, and the
// result of one some lines below goes out. Written for lanes that hold a point each, and see only their neighbours.
#pragma once

#include "lattice.hpp"

namespace petscrrb::neumann {

// V: a value of each lane. Lanes has west(V), the neighbour's to the west, and east(V); with three steps south(V),
// north(V) too. At the ends of the lanes what they return may be anything finite.
template <int steps, int terms, class V, class Lanes> class March {
public:
  struct Line {
    V t, s, w[steps]; // t: what is multiplied with K^T K
  };

  PETSCRRB_HD explicit March(const Lanes &neighbours) : lanes(neighbours) {
    for (int m = 0; m < terms; ++m) below[m] = v[m] = V(0.0), held[m] = Line{};
  }

  // Returns the result on the line that came `terms` lines before, and *s of that line.
  PETSCRRB_HD V next(const Line &line, V *s) {
    V y = line.t;
    for (int m = 0; m < terms; ++m) {
      V sum = below[m] + lanes.west(line.w[0] * y);
      if constexpr (steps == 3) sum = sum + lanes.south(line.w[1] * y);
      below[m] = line.w[along] * y;
      if constexpr (steps == 4) below[m] = below[m] + lanes.west(line.w[2] * y) + lanes.east(line.w[3] * y);
      y = line.t - sum;
    }
    V above = y;
    for (int m = 0; m < terms; ++m) {
      const Line &l = held[m];
      V sum = l.w[0] * lanes.east(v[m]) + l.w[along] * above;
      if constexpr (steps == 3) sum = sum + l.w[1] * lanes.north(v[m]);
      if constexpr (steps == 4) sum = sum + l.w[2] * lanes.east(above) + l.w[3] * lanes.west(above);
      v[m] = above;
      above = l.t - sum;
    }
    *s = held[terms - 1].s;
    for (int m = terms - 1; m > 0; --m) held[m] = held[m - 1];
    held[0] = line;
    held[0].t = y; // from here on K^T is what is left
    return above;
  }

private:
  static constexpr int along = steps == 3 ? 2 : 1; // the coupling with the next line

  Lanes lanes;
  V below[terms];   // what the line before gives to each step with K
  V v[terms];       // after m steps with K^T, on the line m + 1 before
  Line held[terms]; // the lines before, the last one first
};

} // namespace petscrrb::neumann
