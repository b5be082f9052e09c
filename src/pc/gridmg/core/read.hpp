// From the rows of a matrix to weights and excesses on a 3D grid.
#pragma once

#include "pc/gridmg/core/coarsen.hpp"
#include "stencil/read_couplings.hpp"
#include "stencil/scales.hpp"
#include "stencil/weights.hpp"

namespace petscrrb::gridmg {

// What M shares with A: A v = 0 stays so. The matrix that coarser grids are made of is then V A V, and M is V times its cycle times V.
struct NearNull {
  const double *x = nullptr; // v of all rows, but for identity rows, where it is 1; NULL: it is 1 everywhere
  double rounding =
      zero_sum; // of a row's magnitudes: an excess below it is 0, so that a singular matrix stays singular
};

template <int steps> struct PutMatrix {
  static constexpr bool wants_diagonals_there = false, wants_own_values = true;

  Matrix to;
  Positive positive;
  NearNull near;
  Lattice grid;    // whose rows near.x has
  Field<double> v; // where there is a near.x: that is put there

  PETSCRRB_HD void operator()(const LatticePoint &p, const CouplingsOfRow<steps> &row, RowFacts &found) const {
    put({{p.at[0], p.at[1], p.at[2]}}, p, row, found);
  }

protected:
  PETSCRRB_HD void put(const Point &at, const LatticePoint &p, const CouplingsOfRow<steps> &row,
                       RowFacts &found) const {
    const double v = near.x ? scaling(near.x[p.row], row.identity) : 1.0;
    const double diagonal =
        v * v * (row.identity && row.diagonal == 0.0 ? 1.0 : row.diagonal); // zeros: as the identity
    Excess excess(diagonal);
    for (int m = 0; m < steps; ++m) {
      // v of both ends
      const double ahead = beside(v, row.ahead[m] != 0.0 || row.here[m] != 0.0 ? after(p, m) : -1),
                   behind = beside(v, row.behind[m] != 0.0 ? before(p, m) : -1);
      to.w[m](at.a) = weight(ahead * row.ahead[m], positive);
      found.positive += ahead * row.ahead[m] > 0.0;
      found.varies |= row.ahead[m] != 0.0 && ahead != v * v;
      excess.add(ahead * row.here[m]), excess.add(behind * row.behind[m]);
    }
    to.e(at.a) = excess.value(near.rounding);
    if (!row.identity) found.norm = fabs(diagonal);
    if (!near.x) return;
    this->v(at.a) = v;
    if (!is_useful(v)) found.useless_row = p.row, found.useless_value = v;
  }

private:
  PETSCRRB_HD double beside(double v, PetscInt there) const { return there >= 0 ? v * near.x[there] : v * v; }
  PETSCRRB_HD PetscInt after(const LatticePoint &p, int m) const {
    return near.x ? grid.after(p.at[0], p.at[1], p.at[2], m) : -1;
  }
  PETSCRRB_HD PetscInt before(const LatticePoint &p, int m) const {
    return near.x ? grid.before(p.at[0], p.at[1], p.at[2], m) : -1;
  }
};

// The same of a box, whose rows are among those of a larger one: of all that are around it.
template <int steps> struct PutBox : PutMatrix<steps> {
  index_t first[3]; // the box's first point there

  PETSCRRB_HD void operator()(const LatticePoint &p, const CouplingsOfRow<steps> &row, RowFacts &found) const {
    this->put({{p.at[0] - first[0], p.at[1] - first[1], p.at[2] - first[2]}}, p, row, found);
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
  double by;         // times this
  index_t n, rows;   // points of x, and of y
  Field<double> v{}; // NULL: 1

  PETSCRRB_HD void operator()(index_t i, index_t j, index_t k) const {
    double value = r[(k * rows + j) * n + i];
    if (v.p) value *= v(i, j, k);
    to(i, j, k) = T((scales ? scales->to * by : by) * value);
  }
};
template <class T> struct Store {
  Field<T> from;
  double *z;
  const Scales *scales;
  double by;
  index_t n, rows;
  Field<double> v{};

  PETSCRRB_HD void operator()(index_t i, index_t j, index_t k) const {
    double value = double(from(i, j, k));
    if (v.p) value *= v(i, j, k);
    z[(k * rows + j) * n + i] = (scales ? scales->from * by : by) * value;
  }
};

} // namespace petscrrb::gridmg
