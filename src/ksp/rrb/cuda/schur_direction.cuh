// The next direction, with level 2 of the backward sweep, on a device.
#pragma once

#include "ksp/rrb/cuda/columns.cuh"

namespace petscrrb::rrbsolver::device {

// delta += alpha p, p = z + beta p, with level 2 of the backward sweep, which Eisenstat's form has not.
template <class T, class Next, bool eisenstat> struct Direction {
  Arrays<const T> factor;
  Arrays<double> r, p, delta; // r as in Residual
  Next z;
  Box box;

  enum Array {
    pivot = 4, // after w: 1/d
    of_factor = eisenstat ? 0 : 5,
    R1 = of_factor,
    Z2, // of the next row
    P,
    Delta = P + 2,
    arrays = Delta + 2
  };
  using Ahead = cuda::RowsAhead<threads, arrays, 1>; // edge: Z2 to the right

  __device__ void fetch(const Ahead &ahead, const Columns &c, int k, bool start, int from) const {
    for (int i = 0; i < of_factor; ++i) ahead.fetch_pair(k, i, factor.at(3 * i + b1, c.h, k));
    ahead.fetch_pair(k, R1, r.at(from, c.h, k));
    for (int half = 0; half < 2; ++half)
      ahead.fetch_half(k, Z2, half, z.address(c.h + half, k + 1), z.contains(c.h + half, k + 1));
    if (c.right) ahead.fetch_edge(k, 0, z.address(c.h + 2, k + 1), z.contains(c.h + 2, k + 1));
    if (start) return;
    for (int i = 0; i < 2; ++i)
      ahead.fetch_pair(k, P + i, p.at(i, c.h, k)), ahead.fetch_pair(k, Delta + i, delta.at(i, c.h, k));
  }

  __device__ void march(const Columns &c, const Ahead &ahead, bool start, double a, double b, int from) const {
    const int h = c.h;
    fetch(ahead, c, c.k0, start, from);
    ahead.end_row();
    Pair here{z(h, c.k0), z(h + 1, c.k0)}, right = to_right(c, here, c.right ? z(h + 2, c.k0) : 0.0);
    for (int k = c.k0; k < c.k1; ++k) {
      if (k + 1 < c.k1) fetch(ahead, c, k + 1, start, from);
      ahead.end_row();
      ahead.await();
      const auto w = [&](int i) { return pair_of(ahead.template pair<T>(k, i)); };
      const auto vector = [&](int i) { return pair_of(ahead.template pair<double>(k, i)); };
      const Pair above = vector(Z2),
                 above_right = to_right(c, above, c.right ? ahead.template edge<double>(k, 0) : 0.0);
      Pair z1 = vector(R1);
      if constexpr (!eisenstat)
        z1 = z1 * w(pivot) + (w(SW) * here + w(SE) * right + w(NW) * above + w(NE) * above_right);
      const auto update = [&](int i, const Pair &z_here, const Columns::Two &owned) {
        put(delta.at(i, h, k), start ? Pair{} : vector(Delta + i) + a * vector(P + i), owned);
        put(p.at(i, h, k), start ? z_here : z_here + b * vector(P + i), owned);
      };
      update(0, z1, c.owned(box, b1, k));
      update(1, here, c.owned(box, b2, k));
      here = above, right = above_right;
    }
  }
};

template <class F> __global__ void __launch_bounds__(threads) direction(F f, const double *scalars, int rows) {
  const Columns columns(f.box, rows);
  cuda::start_next();
  cuda::await_previous();
  if (scalars[ended] != 0.0) return;
  const int count = int(scalars[steps]);
  if (!columns.any) return;
  f.march(columns, typename F::Ahead(ahead_memory), count == 0, scalars[alpha], scalars[beta], count % 2 ? 2 : 0);
}

} // namespace petscrrb::rrbsolver::device
