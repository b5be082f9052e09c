// Reads the couplings of a matrix on a lattice in three loops over its points: diagonals, couplings, norm of L~.
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

// s and the identity rows. A row without nonzeros is an identity row.
struct ReadDiagonal {
  Csr A;
  double *s;
  unsigned char *identity;

  PETSCRRB_HD RowFinding operator()(PetscInt p) const {
    RowFinding found;
    bool coupled = false;
    double d = 0, check = 0;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      check += A.a[e] * 0.0;
      if (A.ja[e] == p)
        d = A.a[e];
      else if (A.a[e] != 0)
        coupled = true;
    }
    found.not_finite = check != 0;
    found.identity = !coupled;
    if (!coupled && d == 0) d = 1;
    if (coupled) found.diagonal = d < 0 ? -d : d;
    found.bad_pivot = !(d > 0);
    s[p] = d > 0 ? 1 / sqrt(d) : 1;
    identity[p] = !coupled;
    return found;
  }
};

PETSCRRB_HD inline double entry(const Csr &A, PetscInt row, PetscInt column) {
  for (PetscInt e = A.ia[row]; e < A.ia[row + 1]; ++e)
    if (A.ja[e] == column) return A.a[e];
  return 0;
}

// The mean of a_pq and a_qp, scaled; none with an identity row.
PETSCRRB_HD inline double coupling(double here, double there, PetscInt p, PetscInt q, const double *s,
                                   const unsigned char *identity, RowFinding &found) {
  if (identity[p] | identity[q]) return 0;
  const double difference = here - there;
  found.asymmetry = larger(found.asymmetry, difference < 0 ? -difference : difference);
  return 0.5 * (here + there) * s[p] * s[q];
}

// Once s and the identity rows are there. steps: the grid's
template <int steps> struct ReadCouplings {
  Csr A;
  Lattice grid;
  const double *s;
  const unsigned char *identity;
  double *w[most_steps];

  PETSCRRB_HD RowFinding operator()(PetscInt p) const {
    RowFinding found;
    const PetscInt i = p % grid.n[0], j = p / grid.n[0] % grid.n[1], k = p / grid.n[0] / grid.n[1];
    const bool inner =
        i > 0 && i < grid.n[0] - 1 && j > 0 && j < grid.n[1] - 1 && (steps != 3 || (k > 0 && k < grid.n[2] - 1));
    PetscInt after[steps], before[steps];
    double value[steps];
    for (int m = 0; m < steps; ++m) {
      const Step t = grid.step(m);
      const PetscInt offset = (t.z * grid.n[1] + t.y) * grid.n[0] + t.x;
      after[m] = inner ? p + offset : grid.after(i, j, k, m);
      before[m] = inner ? p - offset : grid.before(i, j, k, m);
      value[m] = 0;
    }
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e];
      bool known = q == p;
      for (int m = 0; m < steps; ++m) {
        known |= q == before[m] || q == after[m];
        if (q == after[m]) value[m] = A.a[e];
      }
      if (!known && A.a[e] != 0 && !identity[q]) found.foreign = true;
    }
    for (int m = 0; m < steps; ++m) {
      const PetscInt q = after[m];
      w[m][p] = q < 0 ? 0 : coupling(value[m], entry(A, q, p), p, q, s, identity, found);
    }
    return found;
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

// All three loops, in their order: each(f) calls f(row) for all rows.
template <int steps, class Each>
void read_couplings(const Csr &A, const Lattice &g, double *s, unsigned char *identity, double *const w[],
                    const Each &each) {
  ReadCouplings<steps> read{A, g, s, identity, {}};
  RowSum<steps> sum{g, {{}, s}};
  for (int m = 0; m < steps; ++m) sum.a.w[m] = read.w[m] = w[m];
  each(ReadDiagonal{A, s, identity});
  each(read);
  each(sum);
}

template <class Each>
void read_couplings(const Csr &A, const Lattice &g, double *s, unsigned char *identity, double *const w[],
                    const Each &each) {
  if (g.steps == 2) return read_couplings<2>(A, g, s, identity, w, each);
  if (g.steps == 3) return read_couplings<3>(A, g, s, identity, w, each);
  read_couplings<4>(A, g, s, identity, w, each);
}

} // namespace petscrrb::neumann
