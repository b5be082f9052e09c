// Reads the couplings of a matrix on a lattice in two loops over its points: couplings, and the norm of L~.
#pragma once

#include "lattice.hpp"

#include <cmath>

namespace petscrrb::neumann {

// What a loop found out about one row. Not an index, so that any compiler keeps it in registers.
struct RowFinding {
  bool identity = false, bad_pivot = false, not_finite = false, foreign = false;
  double diagonal = 0, asymmetry = 0, norm = 0;
};

PETSCRRB_HD inline double larger(double a, double b) { return a > b ? a : b; }

PETSCRRB_HD inline double scale_of(double diagonal) { return diagonal > 0 ? 1 / sqrt(diagonal) : 1; }

// A row without nonzeros off the diagonal is an identity row.
PETSCRRB_HD inline bool is_identity(const Csr &A, PetscInt row) {
  for (PetscInt e = A.ia[row]; e < A.ia[row + 1]; ++e)
    if (A.ja[e] != row && A.a[e] != 0) return false;
  return true;
}

// A row's diagonal, and its value in one more column.
struct Pair {
  double diagonal = 0, value = 0;

  PETSCRRB_HD Pair(const Csr &A, PetscInt row, PetscInt column) {
    int missing = 2; // where columns are in order, those are found early
    for (PetscInt e = A.ia[row]; e < A.ia[row + 1] && missing; ++e) {
      const PetscInt q = A.ja[e];
      if (q != row && q != column) continue;
      (q == row ? diagonal : value) = A.a[e];
      --missing;
    }
  }
};

// s and the couplings. What this needs of the rows of neighbours is read with theirs, so that a matrix comes from memory
// once. steps: the grid's
template <int steps> struct ReadCouplings {
  Csr A;
  Lattice grid;
  double *s, *w[most_steps];

  PETSCRRB_HD RowFinding operator()(PetscInt p) const {
    RowFinding found;
    PetscInt after[steps], before[steps];
    double value[steps] = {}, d = 0, check = 0;
    places(p, after, before);
    bool coupled = false;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e];
      const double a = A.a[e];
      check += a * 0.0;
      if (q == p) d = a;
      if (q == p || a == 0) continue;
      coupled = true;
      bool known = false;
      for (int m = 0; m < steps; ++m) {
        known |= q == before[m] || q == after[m];
        if (q == after[m]) value[m] = a;
      }
      if (!known && !is_identity(A, q)) found.foreign = true;
    }
    found.not_finite = check != 0;
    found.identity = !coupled;
    if (coupled) found.diagonal = fabs(d);
    found.bad_pivot = !(d > 0) && (coupled || d != 0);
    s[p] = scale_of(d);
    for (int m = 0; m < steps; ++m)
      w[m][p] = coupled && after[m] >= 0 ? coupling(value[m], p, after[m], scale_of(d), found) : 0;
    return found;
  }

private:
  PETSCRRB_HD void places(PetscInt p, PetscInt after[steps], PetscInt before[steps]) const {
    const PetscInt i = p % grid.n[0], j = p / grid.n[0] % grid.n[1], k = p / grid.n[0] / grid.n[1];
    const bool inner =
        i > 0 && i < grid.n[0] - 1 && j > 0 && j < grid.n[1] - 1 && (steps != 3 || (k > 0 && k < grid.n[2] - 1));
    for (int m = 0; m < steps; ++m) {
      const Step t = grid.step(m);
      const PetscInt offset = (t.z * grid.n[1] + t.y) * grid.n[0] + t.x;
      after[m] = inner ? p + offset : grid.after(i, j, k, m);
      before[m] = inner ? p - offset : grid.before(i, j, k, m);
    }
  }
  // The mean of a_pq and a_qp, scaled; none with an identity row.
  PETSCRRB_HD double coupling(double here, PetscInt p, PetscInt q, double scale, RowFinding &found) const {
    const Pair there(A, q, p);
    if (there.value == 0 && (here == 0 || is_identity(A, q))) return 0;
    found.asymmetry = larger(found.asymmetry, fabs(here - there.value));
    return 0.5 * (here + there.value) * scale * scale_of(there.diagonal);
  }
};

// The sum of |L~| along a row.
template <int steps> struct RowSum {
  Lattice grid;
  Couplings a;

  PETSCRRB_HD RowFinding operator()(PetscInt p) const {
    RowFinding found;
    const PetscInt i = p % grid.n[0], j = p / grid.n[0] % grid.n[1], k = p / grid.n[0] / grid.n[1];
    for (int m = 0; m < steps; ++m) {
      const PetscInt q = grid.before(i, j, k, m);
      const Step t = grid.step(m);
      if (q >= 0 && !grid.reversed(grid.wrapped(i - t.x, 0), grid.wrapped(j - t.y, 1), grid.wrapped(k - t.z, 2), m))
        found.norm += fabs(a.w[m][q]);
      if (grid.reversed(i, j, k, m)) found.norm += fabs(a.w[m][p]);
    }
    return found;
  }
};

// Both loops, in their order: each(f) calls f(row) for all rows.
template <int steps, class Each>
void read_couplings(const Csr &A, const Lattice &g, double *s, double *const w[], const Each &each) {
  ReadCouplings<steps> read{A, g, s, {}};
  RowSum<steps> sum{g, {{}, s}};
  for (int m = 0; m < steps; ++m) sum.a.w[m] = read.w[m] = w[m];
  each(read);
  each(sum);
}

template <class Each>
void read_couplings(const Csr &A, const Lattice &g, double *s, double *const w[], const Each &each) {
  if (g.steps == 2) return read_couplings<2>(A, g, s, w, each);
  if (g.steps == 3) return read_couplings<3>(A, g, s, w, each);
  read_couplings<4>(A, g, s, w, each);
}

} // namespace petscrrb::neumann
