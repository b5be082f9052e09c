// Level 2 of the sweeps on a device: of the forward one with r -= alpha q, of the backward one with the next direction.
#pragma once

#include "ksp/rrb/cuda/columns.cuh"

namespace petscrrb::rrbsolver::device {

// r -= alpha q, level 2 of the forward sweep, and the sum of r^2 / d at b1. r of b1 goes from one array to the other, since
// the threads beside this one read it. several: ranks, with b1 around the box, whose sums are of own nodes alone.
// In Eisenstat's form level 2 of the forward sweep is in r already: its weights are for the norm of what r was before.
template <class T, class Next, bool several, bool eisenstat> struct Residual {
  using W = std::conditional_t<eisenstat, double, T>;

  Arrays<const T> factor;    // w and 1/d of all classes, as in DenseGrid
  Arrays<const double> skew; // S1's
  Vector r, q;               // r.at: b1 of even steps, b2; b1 of odd steps
  Next y;
  Box box;
  const double *v; // of V A V, in natural order, for the norm of r
  NaturalBox natural;
  Box::Nodes own_b1;

  enum Array {
    pivot = 4, // after w: 1/d
    of_factor,
    R1 = of_factor,
    R2,
    Q1,
    Q2,
    arrays
  };
  enum Edge {
    left_se,
    left_ne,
    left_r,
    left_q,
    edges
  };
  using Ahead = cuda::RowsAhead<threads, arrays, edges>;

  __device__ const W *f(int i, int h, int k) const {
    if constexpr (eisenstat)
      return skew.at(i, h, k);
    else
      return factor.at(3 * i + b1, h, k);
  }
  template <bool weights>
  __device__ void fetch(const Ahead &ahead, const Columns &c, int k, bool start, int from) const {
    if constexpr (weights) {
      for (int i = 0; i < pivot; ++i) ahead.fetch_pair(k, i, f(i, c.h, k));
      ahead.fetch_pair(k, pivot, factor.at(3 * pivot + b1, c.h, k));
    }
    ahead.fetch_pair(k, R1, r.at.at(from, c.h, k)), ahead.fetch_pair(k, R2, r.at.at(1, c.h, k));
    if (!start) ahead.fetch_pair(k, Q1, q.at.at(0, c.h, k)), ahead.fetch_pair(k, Q2, q.at.at(1, c.h, k));
    if (!weights || !c.left) return;
    ahead.fetch_edge(k, left_se, f(SE, c.h - 1, k)), ahead.fetch_edge(k, left_ne, f(NE, c.h - 1, k));
    ahead.fetch_edge(k, left_r, r.at.at(from, r.around_x(c.h - 1), k));
    if (!start) ahead.fetch_edge(k, left_q, q.at.at(0, q.around_x(c.h - 1), k));
  }
  __device__ double square(double r_here, Class c, int h, int k) const {
    if (v) r_here /= natural.value(v, 2 * h + parity_x(c) - natural.x0, 2 * k + parity_y(c) - natural.y0);
    return r_here * r_here;
  }
  __device__ double squares_of(const Pair &r_here, Class c, int h, int k, const Columns::Two &owned) const {
    return (owned.first ? square(r_here.x, c, h, k) : 0.0) + (owned.second ? square(r_here.y, c, h + 1, k) : 0.0);
  }

  // r of b1 in a row, and left of it
  struct Both {
    Pair here, left;
  };
  // in the row below, which was not fetched ahead
  __device__ Both r_below(const Columns &c, bool start, double a, int from) const {
    const int row = r.around_y(c.k0 - 1);
    Pair here = pair(r.at.at(from, c.h, row));
    double edge = 0.0;
    if (c.left) edge = *r.at.at(from, r.around_x(c.h - 1), row);
    if (!start) {
      here = here - a * pair(q.at.at(0, c.h, row));
      if (c.left) edge -= a * *q.at.at(0, q.around_x(c.h - 1), row);
    }
    return {here, to_left(c, here, edge)};
  }

  // sums: of r^2 / d, of r^2 at b1 and at b2
  template <bool squares>
  __device__ void march(const Columns &c, const Ahead &ahead, bool start, double a, int from, double sums[2]) const {
    constexpr bool weights = !eisenstat || squares;
    const int h = c.h, to = 2 - from;
    fetch<weights>(ahead, c, c.k0, start, from);
    ahead.end_row();
    Both below;
    Pair nw, ne;
    if constexpr (weights) {
      below = r_below(c, start, a, from), nw = pair(f(NW, h, c.k0 - 1));
      ne = to_left(c, pair(f(NE, h, c.k0 - 1)), c.left ? double(__ldg(f(NE, h - 1, c.k0 - 1))) : 0.0);
    }
    for (int k = c.k0; k < c.k1; ++k) {
      if (k + 1 < c.k1) fetch<weights>(ahead, c, k + 1, start, from);
      ahead.end_row();
      ahead.await();
      const auto w = [&](int i) { return pair_of(ahead.template pair<W>(k, i)); };
      const auto vector = [&](int i) { return pair_of(ahead.template pair<double>(k, i)); };
      const auto w_left = [&](int i, int edge) {
        return to_left(c, w(i), c.left ? ahead.template edge<W>(k, edge) : 0.0);
      };
      Pair r1 = vector(R1), r2 = vector(R2), coupled{};
      if (!start) r1 = r1 - a * vector(Q1), r2 = r2 - a * vector(Q2);
      const Columns::Two in1 = c.owned(box, b1, k), in2 = c.owned(box, b2, k);
      const Columns::Two own1 = several ? c.in(own_b1, k) : in1;
      if (!start) put(r.at.at(to, h, k), r1, in1), put(r.at.at(1, h, k), r2, in2);
      if constexpr (weights) {
        double edge = c.left ? ahead.template edge<double>(k, left_r) : 0.0;
        if (!start && c.left) edge -= a * ahead.template edge<double>(k, left_q);
        const Both here{r1, to_left(c, r1, edge)};
        const Pair ne_left = w_left(NE, left_ne);
        coupled = w(SW) * r1 + w_left(SE, left_se) * here.left + nw * below.here + ne * below.left;
        below = here, nw = w(NW), ne = ne_left;
      }
      const Pair y_here = eisenstat ? r2 : r2 + coupled;
      if (in2.first) y.store(h, k, y_here.x);
      if (in2.second) y.store(h + 1, k, y_here.y);
      if constexpr (eisenstat) {
        sums[0] += sum(r1 * r1, own1);
        if constexpr (squares) {
          const Pair dinv = pair_of(ahead.template pair<T>(k, pivot));
          const Pair whole1{own1.first ? r1.x / sqrt(dinv.x) : 0.0, own1.second ? r1.y / sqrt(dinv.y) : 0.0};
          sums[1] += squares_of(whole1, b1, h, k, own1) + squares_of(r2 - coupled, b2, h, k, in2);
        }
      } else {
        sums[0] += sum(r1 * r1 * w(pivot), own1);
        if constexpr (squares) sums[1] += squares_of(r1, b1, h, k, own1) + squares_of(r2, b2, h, k, in2);
      }
    }
  }
};

// Where there are few, every block does, and the first one keeps the sum. curvatures: none if they are added already.
template <bool squares, class F>
__global__ void __launch_bounds__(threads)
    residual(F f, bool start, Terms curvatures, Sum energies, Sum norms, double *scalars, int rows) {
  const Columns columns(f.box, rows);
  cuda::start_next();
  cuda::await_previous();
  double sums[2] = {}, a = 0.0;
  if (!start) {
    if (scalars[ended] != 0.0) return;
    const double sum = curvatures.count ? cuda::sum_of<threads>(curvatures) : scalars[curvature];
    a = scalars[rho] / sum;
    if (curvatures.count && blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0)
      scalars[curvature] = sum, scalars[alpha] = a;
  }
  const int from = int(scalars[steps]) % 2 ? 2 : 0;
  if (columns.any) f.template march<squares>(columns, typename F::Ahead(ahead_memory), start, a, from, sums);
  energies.add(sums[0]);
  if constexpr (squares) norms.add(sums[1]);
}

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
