// The first Schur complement's product on the host, red points solved on the way.
#pragma once

#include "exec/host/sums.hpp"
#include "ksp/rrb/core/grid_cg.hpp"

namespace petscrrb::rrbsolver {

// Plane by plane, red points one ahead of the black ones, so that caches still have what both read. Each thread has planes of its own;
// black ones at their ends wait for the others' red ones.
template <> struct BlackProduct<Host> {
  static index_t parts_of(const gridmg::Shape &x) { return PartialSum<Host>::parts_of(x.halves(1)); }
  static Terms run(const Host &on, const gridmg::Shape &x, const Matrix &A, const Field<double> &p,
                   const Field<double> &q, PartialSum<Host> &partial) {
    const Range3 red = x.halves(0), black = x.halves(1);
    const SolveRed<false> solve{A, p, {}};
    const Multiply<Points::black> multiply{A, p, q};
    if (x.ring[0] || x.ring[1] || x.ring[2]) { // what is around them comes between
      on.for_each_point(red, solve);
      gridmg::fill_rings(on, x, {p});
      return partial.terms_of(on, black, multiply);
    }
    const index_t rows = x.n[1], planes = x.n[2];
    double *sums = partial.take(parts_of(x));
#pragma omp parallel if (black.size() > host::serial_below)
    {
      const index_t first = planes * host::member() / host::team(), end = planes * (host::member() + 1) / host::team();
      const auto multiply_plane = [&](index_t k) {
        for (index_t j = 0; j < rows; ++j) sums[k * rows + j] = host::sum_row(black, j, k, multiply);
      };
      for (index_t k = first; k < end; ++k) {
        for (index_t j = 0; j < rows; ++j) host::for_row(red, j, k, solve);
        if (k - 1 > first) multiply_plane(k - 1);
      }
#pragma omp barrier
      if (first < end) multiply_plane(first);
      if (first < end - 1) multiply_plane(end - 1);
    }
    return {sums, parts_of(x)};
  }
};

} // namespace petscrrb::rrbsolver
