// From the matrix to the weighted graph that RRB factors (docs/numerics.md, "The matrix that is factored").
#pragma once

#include "stencil/stencil.hpp"
#include "stencil/weights.hpp"
#include "pc/rrb/core/views.hpp"

#include <atomic>
#include <numeric>

namespace petscrrb::rrb {

// In place: V A V, V = diag(v), by its couplings' weights -v_i a_ij v_j >= 0 (E, N, NE, NW) and by each row's excess
// v_i (A v)_i (C), which is the diagonal less the weights. An excess below `rounding` times the row's magnitudes is taken
// for 0. Adds to what was found the sums of E and of N, in an order that no number of threads changes, and whether that was more than zero_sum.
inline void prepare(Stencil &s, const Grid &grid, double rounding, Positive positive, RowFacts &found) {
  const index_t nx = grid.n[0], ny = grid.n[1], n = nx * ny;
  const bool corners = !s.NE.empty(), scaled = !s.v.empty();
  const auto east = [&](index_t i) { return i + 1 < nx ? i + 1 : 0; };
  const auto west = [&](index_t i) { return i > 0 ? i - 1 : nx - 1; };
  const auto rows = [&](const auto &f) {
#pragma omp parallel for schedule(static) if (n > 8192)
    for (index_t j = 0; j < ny; ++j) f(j, (j + 1 < ny ? j + 1 : 0) * nx, j * nx, (j > 0 ? j - 1 : ny - 1) * nx);
  };
  if (scaled)
    rows([&](index_t, index_t up, index_t row, index_t) {
      const double *v = s.v.data();
      for (index_t i = 0; i < nx; ++i) {
        const index_t p = row + i;
        s.C[p] *= v[p] * v[p];
        s.E[p] *= v[p] * v[row + east(i)];
        s.N[p] *= v[p] * v[up + i];
        if (!corners) continue;
        s.NE[p] *= v[p] * v[up + east(i)];
        s.NW[p] *= v[p] * v[up + west(i)];
      }
    });
  std::atomic<bool> rounded{false};
  rows([&](index_t, index_t, index_t row, index_t down) {
    unsigned char of_row = 0;
    const auto take = [&](index_t i, index_t w, index_t e) {
      const index_t p = row + i;
      Excess excess(s.C[p]);
      excess.add(s.E[p]), excess.add(s.E[row + w]), excess.add(s.N[p]), excess.add(s.N[down + i]);
      if (corners) excess.add(s.NE[p]), excess.add(s.NW[p]), excess.add(s.NE[down + w]), excess.add(s.NW[down + e]);
      s.C[p] = excess.value(rounding);
      return excess.rounded(rounding);
    };
    of_row |= take(0, west(0), east(0));
#pragma omp simd reduction(| : of_row)
    for (index_t i = 1; i < nx - 1; ++i) of_row |= take(i, i - 1, i + 1);
    if (nx > 1) of_row |= take(nx - 1, nx - 2, east(nx - 1));
    if (of_row) rounded.store(true, std::memory_order_relaxed);
  });
  found.rounded |= rounded;
  const auto weigh = [&](std::vector<double> &a, index_t first, index_t last) {
    double *p = a.data(), sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t i = first; i < last; ++i) sum += p[i] = weight(p[i], positive);
    return sum;
  };
  constexpr index_t parts = 256;
  double east_sums[parts], north_sums[parts];
#pragma omp parallel for schedule(static) if (n > 8192)
  for (index_t k = 0; k < parts; ++k) {
    const index_t first = n * k / parts, last = n * (k + 1) / parts;
    east_sums[k] = weigh(s.E, first, last), north_sums[k] = weigh(s.N, first, last);
    if (corners) (void)weigh(s.NE, first, last), (void)weigh(s.NW, first, last);
  }
  found.weights[0] = std::accumulate(east_sums, east_sums + parts, 0.0);
  found.weights[1] = std::accumulate(north_sums, north_sums + parts, 0.0);
}

inline PreparedStencil prepared(Stencil &s) {
  const auto data = [](std::vector<double> &a) { return a.empty() ? nullptr : a.data(); };
  return {data(s.C), data(s.E), data(s.N), data(s.NE), data(s.NW), data(s.v)};
}

} // namespace petscrrb::rrb
