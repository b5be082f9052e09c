// Reads the couplings of a matrix on a lattice, row by row: for loops on the host and on a device. Whoever reads them says
// where they are put.
#pragma once

#include "grid/lattice.hpp"
#include "stencil/facts.hpp"

#include <cmath>

namespace petscrrb {

// The point of a row.
struct LatticePoint {
  PetscInt row, at[3];

  // flat: of a 2D grid, which spares a division
  PETSCRRB_HD LatticePoint(const Lattice &g, PetscInt p, bool flat = false)
      : row(p), at{p % g.n[0], flat ? p / g.n[0] : p / g.n[0] % g.n[1], flat ? 0 : p / g.n[0] / g.n[1]} {}
};

// A row as it is put somewhere; of couplings with identity rows there are none.
template <int steps> struct CouplingsOfRow {
  bool identity = true;
  double diagonal = 0;
  double ahead[steps] = {}; // to the point that is step m away: the mean of a_pq and a_qp
  double there[steps] = {}; // the diagonal of that point's row, for those that want it
  double here[steps] = {},
         behind[steps] = {}; // what this row alone holds, step m ahead and back, for those that want it
};

// Put: put(point, row, found) stores a row; what it wants beyond the diagonal and `ahead` it says by
// Put::wants_diagonals_there and Put::wants_own_values. What this needs of the rows of neighbours is read with theirs, so
// that a matrix comes from memory once. steps: the grid's
template <int steps, class Put> struct ReadCouplings {
  Csr A;
  Lattice grid;
  Put put;
  // there may be some; false: the findings say whether there are, and then what is put of the rows around them is wrong
  bool identity_rows = true;

  PETSCRRB_HD RowFacts operator()(PetscInt p) const {
    RowFacts found;
    const LatticePoint point(grid, p, steps != 3);
    PetscInt after[steps], before[steps];
    double value[steps] = {}, back[steps] = {}, check = 0;
    CouplingsOfRow<steps> row;
    places(point, after, before);
    if (!take_in_order(p, after, before, row, value, back, check))
      for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
        const PetscInt q = A.ja[e];
        const double a = A.a[e];
        check += not_finite(a);
        if (q == p) row.diagonal = a;
        if (q == p || a == 0) continue;
        row.identity = false;
        bool known = false;
        for (int m = 0; m < steps; ++m) {
          known |= q == before[m] || q == after[m];
          if (q == after[m]) value[m] = a;
          if (Put::wants_own_values && q == before[m]) back[m] = a;
        }
        if (!known && !is_identity(A, q)) found.foreign = true;
      }
    found.not_finite = check != 0;
    found.identity_rows = row.identity;
    found.zero_rows = row.identity && row.diagonal == 0;
    found.bad_pivot = !(row.diagonal > 0) && !(row.identity && row.diagonal == 0) ? p : no_row;
    if (!row.identity)
      for (int m = 0; m < steps; ++m) {
        if (after[m] >= 0) look_ahead(p, after[m], m, value[m], row, found);
        if (Put::wants_own_values && back[m] != 0 && !(identity_rows && is_identity_but(p, before[m], m)))
          row.behind[m] = back[m];
      }
    put(point, row, found);
    return found;
  }

private:
  PETSCRRB_HD void places(const LatticePoint &p, PetscInt after[steps], PetscInt before[steps]) const {
    const PetscInt i = p.at[0], j = p.at[1], k = p.at[2];
    const bool inner =
        i > 0 && i < grid.n[0] - 1 && j > 0 && j < grid.n[1] - 1 && (steps != 3 || (k > 0 && k < grid.n[2] - 1));
    for (int m = 0; m < steps; ++m) {
      const Step t = grid.step(m);
      const PetscInt offset = (t.z * grid.n[1] + t.y) * grid.n[0] + t.x;
      after[m] = inner ? p.row + offset : grid.after(i, j, k, m);
      before[m] = inner ? p.row - offset : grid.before(i, j, k, m);
    }
  }

  // A row with all neighbours there, lower ones first: all of it is fetched at once. False: it is another one.
  PETSCRRB_HD bool take_in_order(PetscInt p, const PetscInt after[steps], const PetscInt before[steps],
                                 CouplingsOfRow<steps> &row, double value[steps], double back[steps],
                                 double &check) const {
    constexpr int entries = 2 * steps + 1;
    const PetscInt begin = A.ia[p];
    if (steps > 3 || A.ia[p + 1] - begin != entries) return false;
    bool in_order = A.ja[begin + steps] == p;
    PETSCRRB_UNROLL
    for (int m = 0; m < steps; ++m)
      in_order &= (A.ja[begin + steps - 1 - m] == before[m]) & (A.ja[begin + steps + 1 + m] == after[m]);
    if (!in_order) return false;
    row.diagonal = A.a[begin + steps];
    check = not_finite(row.diagonal);
    PETSCRRB_UNROLL
    for (int m = 0; m < steps; ++m) {
      const double below = A.a[begin + steps - 1 - m], above = A.a[begin + steps + 1 + m];
      check += not_finite(below) + not_finite(above);
      value[m] = above;
      if (Put::wants_own_values) back[m] = below;
      if (below != 0 || above != 0) row.identity = false;
    }
    return true;
  }
  // Whether q, which is step m before p, is an identity row; where it has its neighbours in order, its coupling with p shows that.
  PETSCRRB_HD bool is_identity_but(PetscInt p, PetscInt q, int m) const {
    const PetscInt e = A.ia[q] + steps + 1 + m;
    if (e < A.ia[q + 1] && A.ja[e] == p && A.a[e] != 0) return false;
    return is_identity(A, q);
  }

  // The coupling of p with q, by both of their rows.
  PETSCRRB_HD void look_ahead(PetscInt p, PetscInt q, int m, double here, CouplingsOfRow<steps> &row,
                              RowFacts &found) const {
    double there = 0;
    const PetscInt e_p = A.ia[q] + steps - 1 - m; // where it is if q has all neighbours in order
    if (!Put::wants_diagonals_there && e_p < A.ia[q + 1] && A.ja[e_p] == p)
      there = A.a[e_p];
    else
      find_there(p, q, m, there, row);
    if (there == 0 && (here == 0 || is_identity(A, q))) return;
    if (differ(here, there))
      found.asymmetry = larger(found.asymmetry, asymmetry(here, there, row.diagonal, entry(A, q, q)));
    row.ahead[m] = 0.5 * (here + there);
    row.here[m] = here;
  }
  PETSCRRB_HD void find_there(PetscInt p, PetscInt q, int m, double &there, CouplingsOfRow<steps> &row) const {
    int missing = Put::wants_diagonals_there ? 2 : 1; // where columns are in order, those are found early
    for (PetscInt e = A.ia[q]; e < A.ia[q + 1] && missing; ++e) {
      const PetscInt column = A.ja[e];
      if (column == p) there = A.a[e];
      if (Put::wants_diagonals_there && column == q) row.there[m] = A.a[e];
      if (column == p || (Put::wants_diagonals_there && column == q)) --missing;
    }
  }
};

} // namespace petscrrb
