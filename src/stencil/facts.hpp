// What the rows of a matrix turned out to be.
#pragma once

#include "grid/csr.hpp"
#include "grid/grid.hpp"

#include <cmath>
#include <limits>

namespace petscrrb {

constexpr index_t no_row = std::numeric_limits<index_t>::max();
constexpr double symmetric =
    1e-10; // of their mean, or of the smaller of their diagonal entries: what a_ij and a_ji may differ by
constexpr double zero_sum = 1e-14; // of a row's magnitudes: its sum is 0 below that

enum class ReadResult {
  ok,
  rebuild, // a coupling that the grid has no place for: a corner at 5 points, a seam that is not periodic
  refused  // not finite, or not symmetric
};

PETSCRRB_HD inline double larger(double a, double b) { return a > b ? a : b; } // b if a is no number

// By what a_ij and a_ji differ where that is more than their own rounding. Where both come from a sum that cancels, what was added
// was not larger than the diagonal entries, whatever other rows hold.
PETSCRRB_HD inline bool differ(double here, double there) {
  return !(fabs(here - there) <= symmetric * fabs(0.5 * (here + there)));
}
// As a part of a_ii and a_jj; 0 where they do not differ.
PETSCRRB_HD inline double asymmetry(double here, double there, double d_here, double d_there) {
  const double a = fabs(d_here), b = fabs(d_there);
  return differ(here, there) ? fabs(here - there) / (a < b ? a : b) : 0;
}

// Of one row, or of many: each loop finds some of it. But for the weights it does not matter who adds what. An identity row has
// no nonzero off its diagonal; it is decoupled both ways.
struct RowFacts {
  index_t identity_rows = 0;  // with the zero rows
  index_t zero_rows = 0;      // no nonzeros at all; their diagonal is taken as 1
  index_t positive = 0;       // positive couplings, each pair of rows once
  index_t bad_pivot = no_row; // the first row whose diagonal entry is not positive, but for zero rows
  index_t useless_row =
      no_row;               // the first row with couplings where the near null vector says nothing, and so is not used
  double useless_value = 0; // what it is there: 0 or not finite
  double weights[2] = {};   // sums of the couplings' weights in x and in y
  double asymmetry = 0;     // the largest of asymmetry() between rows that are no identity rows
  double norm = 0;          // the largest of rows' norms
  bool not_finite = false;  // an entry
  bool foreign = false;     // a coupling that the grid has no place for
  bool corners = false;     // some coupling in NE or NW is not zero
  bool crosses[2] = {};     // some coupling crosses the seam in x, in y
  bool varies = false;      // couplings of a direction are not all alike
  bool rounded = false;     // a row's sum above zero_sum was taken for 0

  PETSCRRB_HD void add(const RowFacts &f) {
    identity_rows += f.identity_rows, zero_rows += f.zero_rows, positive += f.positive;
    if (f.bad_pivot < bad_pivot) bad_pivot = f.bad_pivot;
    if (f.useless_row < useless_row) useless_row = f.useless_row, useless_value = f.useless_value;
    weights[0] += f.weights[0], weights[1] += f.weights[1];
    asymmetry = larger(f.asymmetry, asymmetry), norm = larger(f.norm, norm);
    not_finite |= f.not_finite, foreign |= f.foreign, corners |= f.corners, varies |= f.varies;
    rounded |= f.rounded;
    crosses[0] |= f.crosses[0], crosses[1] |= f.crosses[1];
  }
  ReadResult result() const {
    if (not_finite) return ReadResult::refused;
    if (foreign) return ReadResult::rebuild;
    return asymmetry > symmetric ? ReadResult::refused : ReadResult::ok;
  }
  // No value crosses a periodic side, or there are no corners: the grid is a simpler one.
  bool simpler(const Grid &g) const {
    return (g.periodic[0] && !crosses[0]) || (g.periodic[1] && !crosses[1]) || (g.points == 9 && !corners);
  }
};

// Loops over rows, at_rows(rows, f), that find out together: stencil/host/rows.hpp, stencil/cuda/rows.cuh
template <class Backend> class RowLoops;

} // namespace petscrrb
