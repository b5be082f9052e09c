// The rows of a matrix on several ranks as they are factored (prepare.hpp): each by itself, from its own values and from
// those of the rows that it is coupled with, which stand behind the own ones.
#pragma once

#include "grid/csr.hpp"
#include "grid/fit.hpp"
#include "grid/grid.hpp"
#include "grid/line_reach.hpp"
#include "grid/stencil.hpp"
#include "grid/weights.hpp"

#include <algorithm>

namespace petscrrb::rrb {

// Of own rows; sums but for the maxima and the flags. As StencilFacts, with what PCRRB asks for besides.
struct RowFacts {
  double identity = 0, positive = 0, weights[2] = {}; // weights: sums of the couplings in x and in y
  double zero_rows = 0, decoupled = 0;
  double diagonal = 0, asymmetry = 0; // maxima
  bool not_finite = false, foreign = false, corners = false, crosses[2] = {};

  void add(const RowFacts &f) {
    identity += f.identity, positive += f.positive, weights[0] += f.weights[0], weights[1] += f.weights[1];
    zero_rows += f.zero_rows, decoupled += f.decoupled;
    diagonal = std::max(diagonal, f.diagonal), asymmetry = std::max(asymmetry, f.asymmetry);
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

class RowReader {
public:
  // order, identity and v (NULL: 1): of own rows and of those behind them
  RowReader(const Csr &rows, const RowPlaces &places, const std::vector<PetscInt> &order, const Flags &identity,
            const double *v, const Grid &g, double rounding, Positive positive)
      : A(rows), places_(places), order_(order), identity_(identity), v_(v), g_(g), rounding_(rounding),
        positive_(positive) {}

  // out: of own rows, in their order; its arrays have their sizes
  RowFacts read(Stencil &out) const {
    RowFacts all;
#pragma omp parallel if (A.n >= rows_for_threads)
    {
      RowFacts mine;
#pragma omp for schedule(static)
      for (PetscInt p = 0; p < A.n; ++p) put(p, out, mine);
#pragma omp critical(petscrrb_rows_on_ranks)
      all.add(mine);
    }
    return all;
  }

private:
  // The order in which prepare() adds the couplings of a row, so that the sums have the same bits.
  static constexpr Direction added[] = {East, West, North, South, NorthEast, NorthWest, SouthWest, SouthEast};

  // value: the couplings in each direction of V A V, the means of a_ij and a_ji; returns the diagonal's
  double load(PetscInt p, double value[directions], RowFacts &f) const {
    double diagonal = 0.0, check = 0.0;
    std::fill_n(value, int(directions), 0.0);
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e];
      const double a = A.a[e];
      check += not_finite(a);
      if (q == p) {
        diagonal = a;
        continue;
      }
      if (identity_[p] || identity_[q]) {
        f.decoupled += a != 0.0;
        continue;
      }
      const int m = places_.direction[e];
      if (m < 0) {
        f.foreign |= a != 0.0;
        continue;
      }
      const PetscInt t = places_.transposed[e];
      const double transposed = t < 0 ? 0.0 : A.a[t], mean = 0.5 * (a + transposed);
      f.asymmetry = std::max(f.asymmetry, std::abs(a - transposed));
      f.positive += is_upper(m) && mean > 0.0;
      value[m] = v_ ? mean * (v_[p] * v_[q]) : mean;
    }
    if (check != 0.0) f.not_finite = true;
    if (identity_[p]) {
      ++f.identity;
      f.zero_rows += diagonal == 0.0;
      return diagonal == 0.0 ? 1.0 : diagonal;
    }
    f.diagonal = std::max(f.diagonal, std::abs(diagonal));
    return v_ ? diagonal * (v_[p] * v_[p]) : diagonal;
  }
  static bool is_upper(int m) { return m == East || m == North || m == NorthEast || m == NorthWest; }

  void put(PetscInt p, Stencil &out, RowFacts &f) const {
    double value[directions];
    Excess excess(load(p, value, f));
    for (int i = 0; i < g_.points - 1; ++i) excess.add(value[added[i]]);
    out.C[p] = excess.value(rounding_);
    out.E[p] = weight(value[East], positive_);
    out.N[p] = weight(value[North], positive_);
    f.weights[0] += out.E[p], f.weights[1] += out.N[p];
    note_seams(order_[p], value, f);
    if (g_.points == 5) return;
    out.NE[p] = weight(value[NorthEast], positive_);
    out.NW[p] = weight(value[NorthWest], positive_);
    f.corners |= value[NorthEast] != 0.0 || value[NorthWest] != 0.0;
  }

  void note_seams(index_t place, const double value[directions], RowFacts &f) const {
    const index_t i = place % g_.n[0], j = place / g_.n[0];
    const auto any = [&](Direction a, Direction b, Direction c) {
      return value[a] != 0.0 || value[b] != 0.0 || value[c] != 0.0;
    };
    if (i == g_.n[0] - 1) f.crosses[0] |= any(East, NorthEast, SouthEast);
    if (j == g_.n[1] - 1) f.crosses[1] |= any(North, NorthEast, NorthWest);
  }

  const Csr A;
  const RowPlaces &places_;
  const std::vector<PetscInt> &order_;
  const Flags &identity_;
  const double *v_;
  const Grid &g_;
  double rounding_;
  Positive positive_;
};

} // namespace petscrrb::rrb
