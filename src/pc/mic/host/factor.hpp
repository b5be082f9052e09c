// The factorization of one column on the host: couplings become w, the diagonal 1 / d.
#pragma once

#include "pc/mic/host/column.hpp"
#include "pc/mic/core/findings.hpp"
#include "pc/mic/core/pivot.hpp"
#include "pc/mic/core/read.hpp"

namespace petscrrb::mic {

template <int lanes, class T> class Factorize {
public:
  static constexpr bool up = true;

  // values: the excesses; then what is handed across
  Factorize(const Order &o, const Column &column, const Values<T> &factor, const PivotRule &rules, double *values,
            double *edges, Findings &findings)
      : c(column), rule(rules), apart(o.stride[0]),
        along(o.stride[2]), w{factor.w[o.axis[0]], factor.w[o.axis[1]], factor.w[o.axis[2]]}, inverse(factor.inverse),
        u(values), edge(edges + c.edge), found(findings) {}

  void some(PetscInt s) {
    const Active on(c, s);
    for (int i = on.last; i-- > on.first;) {
      const PetscInt x = s - i;
      const index_t k = c.at + index_t(s % c.n) * lanes + i;
      double excess = u[k] + march[i] + (i ? lane[i - 1] : c.before ? edge[x - c.next_edge] : 0);
      if (c.below) excess += u[k - c.across];
      const double b[3] = {-double(w[0][k]), w[1] ? -double(w[1][k]) : 0, -double(w[2][k])}, sum = b[0] + b[1] + b[2];
      PivotIs is;
      const Pivot d = rule.pivot(excess, sum, inverse[k], is);
      if (is != PivotIs::good) note(is, (sum + excess) / inverse[k], c.row + i * apart + x * along);
      lane.set(i, d.handed(b[0], rule.omega));
      march.set(i, d.handed(b[2], rule.omega));
      if (w[1]) u[k] = d.handed(b[1], rule.omega);
      if (i == lanes - 1 && c.after) edge[x] = lane[i];
      for (int a = 0; a < 3; ++a)
        if (w[a]) w[a][k] = static_cast<T>(d.d > 0 ? -b[a] / d.d : 0);
      inverse[k] = static_cast<T>(d.inverse);
    }
  }
  void all(PetscInt from, PetscInt to) {
    for (PetscInt s = from; s < to; ++s) some(s);
  }

private:
  // Seldom, and of sums and a minimum, so that it does not matter who comes first.
  void note(PivotIs is, double value, index_t row) {
#pragma omp critical(petscrrb_pivots)
    {
      found.null_rows += is == PivotIs::null;
      found.shifted += is == PivotIs::raised;
      if (is == PivotIs::bad && row < found.pivot) found.pivot = row, found.pivot_value = value;
    }
  }

  const Column c;
  const PivotRule rule;
  const index_t apart, along;
  T *const w[3], *const inverse;
  double *const u, *const edge;
  Findings &found;
  Lanes<lanes> march, lane; // what each lane hands on
};

} // namespace petscrrb::mic
