// The rows of a matrix on several ranks as they are factored (prepare.hpp): each by itself, from its own values and from
// those of the rows that it is coupled with, which stand behind the own ones.
#pragma once

#include "grid/csr.hpp"
#include "grid/fit.hpp"
#include "grid/grid.hpp"
#include "grid/line_reach.hpp"
#include "grid/read_couplings.hpp"
#include "grid/weights.hpp"
#include "rrb/views.hpp"

namespace petscrrb::rrb {

// Of own rows; sums but for the maxima and the flags. As StencilFacts, with what PCRRB asks for besides.
struct RowFacts {
  double identity = 0, positive = 0, weights[2] = {}; // weights: sums of the couplings in x and in y
  double zero_rows = 0, decoupled = 0;
  double diagonal = 0, asymmetry = 0; // maxima
  bool not_finite = false, foreign = false, corners = false, crosses[2] = {};

  PETSCRRB_HD void add(const RowFacts &f) {
    identity += f.identity, positive += f.positive, weights[0] += f.weights[0], weights[1] += f.weights[1];
    zero_rows += f.zero_rows, decoupled += f.decoupled;
    diagonal = larger(diagonal, f.diagonal), asymmetry = larger(asymmetry, f.asymmetry);
    not_finite |= f.not_finite, foreign |= f.foreign, corners |= f.corners;
    crosses[0] |= f.crosses[0], crosses[1] |= f.crosses[1];
  }
};

// Of each entry of own rows: where it leads to on a grid, and where the transposed entry stands (-1: nowhere).
struct RowPlaces {
  std::vector<signed char> direction;
  std::vector<PetscInt> transposed;

  // order: the place in natural order of each row
  void find(const Csr &A, const std::vector<PetscInt> &order, const Grid &g) {
    direction.resize(A.ia[A.n]);
    transposed.resize(A.ia[A.n]);
#pragma omp parallel if (A.n >= rows_for_threads)
    {
      LineReach reach(g);
#pragma omp for schedule(static)
      for (PetscInt p = 0; p < A.n; ++p) {
        const Reach &r = reach(order[p]);
        for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
          const PetscInt q = A.ja[e];
          direction[e] = static_cast<signed char>(r.direction(order[q] - order[p]));
          transposed[e] = -1;
          for (PetscInt t = A.ia[q]; t < A.ia[q + 1]; ++t)
            if (A.ja[t] == p) transposed[e] = t;
        }
      }
    }
  }
  std::size_t bytes() const { return direction.size() + transposed.size() * sizeof(PetscInt); }
};

// A row of V A V: its excess and the weights of its couplings, for loops on the host and on a device.
struct ReadRow {
  Csr A; // own rows, and those behind them
  const signed char *direction;
  const PetscInt *transposed, *order;
  const unsigned char *identity;
  const double *v; // NULL: 1
  index_t nx, ny;
  int points;
  double rounding;
  Positive positive;
  PreparedStencil to; // of own rows, in their order

  PETSCRRB_HD RowFacts operator()(PetscInt p) const {
    // in the order in which prepare() adds the couplings of a row, so that the sums have the same bits
    constexpr Direction added[] = {East, West, North, South, NorthEast, NorthWest, SouthWest, SouthEast};
    RowFacts f;
    double value[directions];
    Excess excess(load(p, value, f));
    for (int i = 0; i < points - 1; ++i) excess.add(value[added[i]]);
    to.X[p] = excess.value(rounding);
    to.E[p] = f.weights[0] = weight(value[East], positive);
    to.N[p] = f.weights[1] = weight(value[North], positive);
    note_seams(order[p], value, f);
    if (points == 5) return f;
    to.NE[p] = weight(value[NorthEast], positive);
    to.NW[p] = weight(value[NorthWest], positive);
    f.corners = value[NorthEast] != 0.0 || value[NorthWest] != 0.0;
    return f;
  }

private:
  // value: the couplings in each direction of V A V, the means of a_ij and a_ji; returns the diagonal's
  PETSCRRB_HD double load(PetscInt p, double value[directions], RowFacts &f) const {
    double diagonal = 0.0, check = 0.0;
    for (int m = 0; m < directions; ++m) value[m] = 0.0;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e];
      const double a = A.a[e];
      check += a * 0.0; // NaN if a is not finite
      if (q == p) {
        diagonal = a;
        continue;
      }
      if (identity[p] || identity[q]) {
        f.decoupled += a != 0.0;
        continue;
      }
      const int m = direction[e];
      if (m < 0) {
        f.foreign |= a != 0.0;
        continue;
      }
      const PetscInt t = transposed[e];
      const double back = t < 0 ? 0.0 : A.a[t], mean = 0.5 * (a + back);
      f.asymmetry = larger(f.asymmetry, fabs(a - back));
      f.positive += is_upper(m) && mean > 0.0;
      value[m] = v ? mean * (v[p] * v[q]) : mean;
    }
    f.not_finite = check != 0.0;
    if (identity[p]) {
      f.identity = 1;
      f.zero_rows = diagonal == 0.0;
      return diagonal == 0.0 ? 1.0 : diagonal;
    }
    f.diagonal = fabs(diagonal);
    return v ? diagonal * (v[p] * v[p]) : diagonal;
  }
  PETSCRRB_HD static bool is_upper(int m) { return m == East || m == North || m == NorthEast || m == NorthWest; }

  PETSCRRB_HD void note_seams(index_t place, const double value[directions], RowFacts &f) const {
    const index_t i = place % nx, j = place / nx;
    const bool north = value[NorthEast] != 0.0;
    f.crosses[0] = i == nx - 1 && (value[East] != 0.0 || north || value[SouthEast] != 0.0);
    f.crosses[1] = j == ny - 1 && (value[North] != 0.0 || north || value[NorthWest] != 0.0);
  }
};

inline RowFacts read_rows(const ReadRow &read) {
  RowFacts all;
#pragma omp parallel if (read.A.n >= rows_for_threads)
  {
    RowFacts mine;
#pragma omp for schedule(static)
    for (PetscInt p = 0; p < read.A.n; ++p) mine.add(read(p));
#pragma omp critical(petscrrb_rows_on_ranks)
    all.add(mine);
  }
  return all;
}

} // namespace petscrrb::rrb
