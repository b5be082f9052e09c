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

// The same of a box, whose rows are among those of a larger one: of all that are around it.
template <int steps> struct PutBox : PutMatrix<steps> {
  index_t first[3]; // the box's first point there

  PETSCRRB_HD void operator()(const LatticePoint &p, const CouplingsOfRow<steps> &row, RowFacts &found) const {
    LatticePoint here = p;
    for (int q = 0; q < 3; ++q) here.at[q] -= PetscInt(first[q]);
    PutMatrix<steps>::operator()(here, row, found);
  }
};
// f of a box's rows, by their numbers in it.
template <class F> struct RowsOfBox {
  F f;
  index_t n[3], first[3];

  PETSCRRB_HD RowFacts operator()(index_t p) const {
    const index_t i = p % n[0] + first[0], j = p / n[0] % n[1] + first[1], k = p / n[0] / n[1] + first[2];
    return f(PetscInt((k * f.grid.n[1] + j) * f.grid.n[0] + i));
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
