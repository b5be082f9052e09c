// From the rows of a matrix to weights and excesses on a 3D grid.
#pragma once

#include "pc/gridmg/core/coarsen.hpp"
#include "stencil/read_couplings.hpp"
#include "stencil/weights.hpp"

namespace petscrrb::gridmg {

constexpr double rounding = 1e-14; // of a row's magnitudes: an excess below it is 0, so that a singular matrix stays singular

template <int steps> struct PutMatrix {
  static constexpr bool wants_diagonals_there = false, wants_own_values = true;

  Matrix to;

  PETSCRRB_HD void operator()(const LatticePoint &p, const CouplingsOfRow<steps> &row, RowFinding &) const {
    const index_t at[3] = {p.at[0], p.at[1], p.at[2]};
    Excess excess(row.diagonal);
    for (int m = 0; m < steps; ++m) {
      to.w[m](at) = weight(row.ahead[m], Positive::moves);
      excess.add(row.here[m]), excess.add(row.behind[m]);
    }
    to.e(at) = excess.value(rounding);
  }
};

// A vector of all points in natural order, times v, to the grid's layout; v NULL: 1.
template <class T> struct Load {
  const double *r;
  Field<T> to;
  double scale;
  index_t n, rows; // points of x, and of y

  PETSCRRB_HD void operator()(index_t i, index_t row) const {
    to(i, row % rows, row / rows) = T(scale * r[row * n + i]);
  }
};
template <class T> struct Store {
  Field<T> from;
  double *z;
  double scale;
  index_t n, rows;

  PETSCRRB_HD void operator()(index_t i, index_t row) const {
    z[row * n + i] = scale * double(from(i, row % rows, row / rows));
  }
};

} // namespace petscrrb::gridmg
