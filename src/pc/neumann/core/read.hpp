// Reads the couplings of a matrix on a lattice in two loops over its points: scaled couplings, and the norm of L~.
#pragma once

#include "stencil/read_couplings.hpp"
#include "pc/neumann/core/series.hpp"

namespace petscrrb::neumann {

// L~ = D^-1/2 L D^-1/2, relaxed, on a lattice: the value of each coupling at the point where it begins, zero where there is
// none; and s = D^-1/2, relaxed.
struct Couplings {
  const double *w[most_steps];
  const double *s;
};

PETSCRRB_HD inline double scale_of(double diagonal) { return diagonal > 0 ? 1 / sqrt(diagonal) : 1; }

template <int steps> struct PutScaled {
  static constexpr bool wants_diagonals_there = true, wants_own_values = false;

  Relaxation relaxed;
  double *s, *w[most_steps];

  PETSCRRB_HD void operator()(const LatticePoint &p, const CouplingsOfRow<steps> &row, RowFacts &) const {
    const double scale = (row.identity ? 1 : relaxed.scale) * scale_of(row.diagonal);
    s[p.row] = scale;
    for (int m = 0; m < steps; ++m)
      w[m][p.row] = relaxed.coupling * row.ahead[m] * scale * (relaxed.scale * scale_of(row.there[m]));
  }
};

// The sum of |L~| along a row.
template <int steps> struct RowSum {
  Lattice grid;
  Couplings a;

  PETSCRRB_HD RowFacts operator()(PetscInt p) const {
    RowFacts found;
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
void read_couplings(const Csr &A, const Lattice &g, double omega, double *s, double *const w[], const Each &each) {
  PutScaled<steps> put{Relaxation(omega), s, {}};
  RowSum<steps> sum{g, {{}, s}};
  for (int m = 0; m < steps; ++m) sum.a.w[m] = put.w[m] = w[m];
  each(ReadCouplings<steps, PutScaled<steps>>{A, g, put});
  each(sum);
}

template <class Each>
void read_couplings(const Csr &A, const Lattice &g, double omega, double *s, double *const w[], const Each &each) {
  if (g.steps == 2) return read_couplings<2>(A, g, omega, s, w, each);
  if (g.steps == 3) return read_couplings<3>(A, g, omega, s, w, each);
  read_couplings<4>(A, g, omega, s, w, each);
}

} // namespace petscrrb::neumann
