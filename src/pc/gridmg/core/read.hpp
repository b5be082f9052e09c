// From the rows of a matrix to weights and excesses on a 3D grid.
#pragma once

#include "pc/gridmg/core/coarsen.hpp"
#include "stencil/read_couplings.hpp"
#include "stencil/scales.hpp"
#include "stencil/weights.hpp"

namespace petscrrb::gridmg {

constexpr double rounding =
    1e-14; // of a row's magnitudes: an excess below it is 0, so that a singular matrix stays singular

template <int steps> struct PutMatrix {
  static constexpr bool wants_diagonals_there = false, wants_own_values = true;

  Matrix to;
  Positive positive;

  PETSCRRB_HD void operator()(const LatticePoint &p, const CouplingsOfRow<steps> &row, RowFacts &found) const {
    const index_t at[3] = {p.at[0], p.at[1], p.at[2]};
    Excess excess(row.identity && row.diagonal == 0.0 ? 1.0 : row.diagonal); // a row of zeros counts as the identity
    for (int m = 0; m < steps; ++m) {
      to.w[m](at) = weight(row.ahead[m], positive);
      found.positive += row.ahead[m] > 0.0;
      excess.add(row.here[m]), excess.add(row.behind[m]);
    }
    to.e(at) = excess.value(rounding);
  }
};

// A vector of all points in natural order, times v, to the grid's layout and back. scales NULL: as it is
template <class T> struct Load {
  const double *r;
  Field<T> to;
  const Scales *scales;
  double by;       // times this
  index_t n, rows; // points of x, and of y

  PETSCRRB_HD void operator()(index_t i, index_t j, index_t k) const {
    const double value = r[(k * rows + j) * n + i];
    to(i, j, k) = T((scales ? scales->to * by : by) * value);
  }
};
template <class T> struct Store {
  Field<T> from;
  double *z;
  const Scales *scales;
  double by;
  index_t n, rows;

  PETSCRRB_HD void operator()(index_t i, index_t j, index_t k) const {
    const double value = double(from(i, j, k));
    z[(k * rows + j) * n + i] = (scales ? scales->from * by : by) * value;
  }
};

} // namespace petscrrb::gridmg
