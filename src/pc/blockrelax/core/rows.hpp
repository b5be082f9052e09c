// A row of a matrix on patches as its patch sees it, for loops on the host and on a device.
#pragma once

#include "pc/blockrelax/core/layout.hpp"
#include "stencil/facts.hpp"

namespace petscrrb::blockrelax {

// steps: the number of neighbours ahead, so that what there is one of for each stays in registers; 0: known at run time only
template <int steps> struct PatchRows {
  Csr A;
  Neighbours near;
  bool periodic[3];
  const unsigned char *identity;

  PETSCRRB_HD int count() const { return steps ? steps : near.count; }

  // Which neighbour within the patch, 1 + m ahead, -(1 + m) back; or 0
  PETSCRRB_HD int direction(const Patch &p, const PetscInt at[3], PetscInt difference) const {
    int found = 0;
    PETSCRRB_UNROLL
    for (int m = 0; m < count(); ++m) {
      const Step s = near.step[m];
      const PetscInt far = offset(p.n, s);
      if (difference == far && within(p, at, s)) found = m + 1;
      if (difference == -far && within(p, at, Step{-s.x, -s.y, -s.z})) found = -(m + 1);
      if (!steps && found) break;
    }
    return found;
  }

  // f(column, a) for each link: a coupling that leaves the patch, goes around a periodic side or leads to an identity row.
  template <class Link>
  PETSCRRB_HD void at_links(const Patch &p, const PetscInt at[3], PetscInt row, const Link &f) const {
    for (PetscInt e = A.ia[row]; e < A.ia[row + 1]; ++e) {
      const PetscInt q = A.ja[e];
      if (q != row && A.a[e] != 0 && (identity[q] || direction(p, at, q - row) == 0)) f(q, A.a[e]);
    }
  }

  // The diagonal, and the couplings ahead; link(column, a) for each link
  template <class Link>
  PETSCRRB_HD RowFacts read(const Patch &p, const PetscInt at[3], PetscInt row, double &diagonal, double *ahead,
                            const Link &link) const {
    RowFacts found;
    double check = 0;
    diagonal = 0;
    PETSCRRB_UNROLL
    for (int m = 0; m < count(); ++m) ahead[m] = 0;
    for (PetscInt e = A.ia[row]; e < A.ia[row + 1]; ++e) {
      const PetscInt q = A.ja[e];
      const double a = A.a[e];
      check += not_finite(a);
      if (q == row) diagonal = a;
      if (q == row || a == 0) continue;
      const int to = identity[q] ? 0 : direction(p, at, q - row);
      if (!steps && to > 0) ahead[to - 1] = a;
      PETSCRRB_UNROLL
      for (int m = 0; m < steps; ++m)
        if (to == m + 1) ahead[m] = a;
      if (to != 0) continue;
      if (!identity[q]) {
        found.foreign |= has(p, q) && !around(p, at, q);
        compare(row, q, a, entry(A, q, row), found);
      }
      link(q, a);
    }
    found.identity_rows = identity[row];
    found.not_finite = check != 0;
    if (!(diagonal > 0) && !(identity[row] && diagonal == 0)) found.bad_pivot = row;
    if (identity[row]) return found;
    PETSCRRB_UNROLL
    for (int m = 0; m < count(); ++m) {
      const Step s = near.step[m];
      const PetscInt q = row + offset(p.n, s);
      if (!within(p, at, s) || identity[q]) continue;
      const double there = entry(A, q, row);
      compare(row, q, ahead[m], there, found);
      ahead[m] = 0.5 * (ahead[m] + there);
    }
    return found;
  }

private:
  PETSCRRB_HD void compare(PetscInt row, PetscInt q, double here, double there, RowFacts &found) const {
    if (differ(here, there))
      found.asymmetry = larger(asymmetry(here, there, entry(A, row, row), entry(A, q, q)), found.asymmetry);
  }
  // Whether a row of the same patch is a neighbour over the seam of a periodic side.
  PETSCRRB_HD bool around(const Patch &p, const PetscInt at[3], PetscInt row) const {
    PetscInt to[3];
    point_of(p, row, to);
    int step[3];
    for (int d = 0; d < 3; ++d) {
      PetscInt far = to[d] - at[d];
      if (periodic[d] && p.n[d] > 2 && (far == p.n[d] - 1 || far == 1 - p.n[d])) far = far > 0 ? -1 : 1;
      if (far > 1 || far < -1) return false;
      step[d] = static_cast<int>(far);
    }
    return near.find(Step{step[0], step[1], step[2]}) >= 0;
  }
};

} // namespace petscrrb::blockrelax
