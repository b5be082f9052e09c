// A row of a matrix on patches as its patch sees it, for loops on the host and on a device.
#pragma once

#include "pc/blockrelax/core/layout.hpp"
#include "stencil/facts.hpp"

namespace petscrrb::blockrelax {

// Rows whose couplings are those of all cells, where these are alike: for each direction that of the middle of the largest
// patch, or where it has no neighbour there, of the first cell that has.
struct CommonRows {
  PetscInt middle = -1, pair[most_neighbours][2]; // -1: none

  explicit CommonRows(const Layout &l) {
    for (PetscInt(&p)[2] : pair) p[0] = p[1] = -1;
    const auto largest = std::max_element(l.patches.begin(), l.patches.end(),
                                          [](const Patch &p, const Patch &q) { return p.cells() < q.cells(); });
    if (largest == l.patches.end()) return;
    const PetscInt at[3] = {largest->n[0] / 2, largest->n[1] / 2, largest->n[2] / 2};
    middle = row_at(*largest, at[0], at[1], at[2]);
    for (int m = 0; m < l.neighbours.count; ++m) {
      const Step s = l.neighbours.step[m];
      add(*largest, at, s, pair[m]);
      for (const Patch &p : l.patches) add(p, {s.x < 0 ? 1 : 0, s.y < 0 ? 1 : 0, 0}, s, pair[m]);
    }
  }

private:
  static void add(const Patch &p, const PetscInt (&at)[3], Step s, PetscInt (&pair)[2]) {
    if (pair[0] >= 0 || at[0] >= p.n[0] || at[1] >= p.n[1] || !within(p, at, s)) return;
    pair[0] = row_at(p, at[0], at[1], at[2]);
    pair[1] = pair[0] + offset(p.n, s);
  }
};

// What they have with each other; at most_neighbours the diagonal.
struct ReadCommon {
  Csr A;
  CommonRows rows;
  Couplings *to;

  PETSCRRB_HD void operator()(int m) const {
    if (m == most_neighbours) {
      to->diagonal = rows.middle < 0 ? 0 : entry(A, rows.middle, rows.middle);
      return;
    }
    const PetscInt p = rows.pair[m][0], q = rows.pair[m][1];
    to->ahead[m] = p < 0 ? 0 : 0.5 * (entry(A, p, q) + entry(A, q, p));
  }
};

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
