// Reads a matrix into the order of the wavefronts, in a loop over its rows: for a factorization that follows, or for SSOR,
// which needs none.
#pragma once

#include "stencil/read_couplings.hpp"
#include "pc/mic/core/order.hpp"

#include <type_traits>

namespace petscrrb::mic {

// Where values lie: an array each, in Order. T: double or float
template <class T> struct Values {
  using Real = T;

  T *w[3]; // along the natural directions, at the earlier end: couplings a, in the end a / d; null where there are none
  T *inverse; // a_ii, in the end 1 / d

  PETSCRRB_HD void put_coupling(int direction, index_t at, T a) const { w[direction][at] = a; }
  PETSCRRB_HD void put_diagonal(index_t at, T d) const { inverse[at] = d; }
};

// What e may differ from zero by, of the diagonal: a row whose sum is rounding has none, so that a singular matrix
// stays singular.
constexpr double rounding = 1e-14;

// Couplings and the diagonal, rounded to T, and each row's excess e: its sum over what is kept of it, in double. It is the
// row's own values that are added, so that rows that add to zero do so here.
// ssor: its factor, whose d is a_ii / omega. An identity row has 1 / a_ii.
template <int steps, class Values, bool ssor> struct PutCouplings {
  using T = typename Values::Real;
  static constexpr bool wants_diagonals_there = false, wants_own_values = !ssor;

  Order order;
  PetscInt side[3];
  Values to;
  const T *common; // the couplings of the first point
  double omega;    // ssor
  double *excess;  // otherwise

  PETSCRRB_HD void operator()(const LatticePoint &p, const CouplingsOfRow<steps> &row, RowFacts &found) const {
    const index_t at = order.at(p.at);
    const double d = row.identity && row.diagonal == 0 ? 1 : row.diagonal;
    double e = d;
    for (int m = 0; m < steps; ++m) {
      const PetscInt c = p.at[m];
      const bool ahead = order.kept(m, c, side);
      const T a = ahead ? static_cast<T>(row.ahead[m]) : 0;
      to.put_coupling(m, at, ssor ? static_cast<T>(omega * a / d) : a);
      found.varies |= ahead && a != common[m];
      if (!ssor) e += (ahead ? row.here[m] : 0) + (c > 0 && order.kept(m, c - 1, side) ? row.behind[m] : 0);
    }
    to.put_diagonal(at, static_cast<T>(ssor ? (row.identity ? 1 : omega * (2 - omega)) / d : d));
    if (!ssor) excess[at] = fabs(e) <= rounding * d ? 0 : e;
  }
};

// The couplings of the first point, which those of the others are compared with.
template <int steps, class T> struct PutCommon {
  static constexpr bool wants_diagonals_there = false, wants_own_values = false;

  Order order;
  PetscInt side[3];
  T *common;

  PETSCRRB_HD void operator()(const LatticePoint &p, const CouplingsOfRow<steps> &row, RowFacts &found) const {
    for (int m = 0; m < steps; ++m) common[m] = order.kept(m, p.at[m], side) ? static_cast<T>(row.ahead[m]) : 0;
    found = RowFacts(); // the row comes again
  }
};

// All loops, in their order: each(rows, f) calls f(row) for 0 <= row < rows. ssor: its omega; 0: a factorization follows,
// for which excesses are put into `excess`. common: room for the couplings of the first point, three of them.
template <class Values, class Each>
void read_matrix(const Csr &A, const Lattice &g, const Order &o, const Values &to, double *excess, double ssor,
                 typename Values::Real *common, const Each &each) {
  const auto read = [&](auto constant) {
    constexpr int steps = constant.value;
    const auto rows = [&](PetscInt n, const auto &put) {
      each(n, ReadCouplings<steps, std::decay_t<decltype(put)>>{A, g, put});
    };
    rows(1, PutCommon<steps, typename Values::Real>{o, {g.n[0], g.n[1], g.n[2]}, common});
    if (ssor > 0)
      rows(g.size(), PutCouplings<steps, Values, true>{o, {g.n[0], g.n[1], g.n[2]}, to, common, ssor, nullptr});
    else
      rows(g.size(), PutCouplings<steps, Values, false>{o, {g.n[0], g.n[1], g.n[2]}, to, common, 0, excess});
  };
  if (g.steps == 3) return read(std::integral_constant<int, 3>());
  read(std::integral_constant<int, 2>());
}

} // namespace petscrrb::mic
