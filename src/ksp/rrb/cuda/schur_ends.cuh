// What the RRB-solver does once a solve on a device, see host/schur_loops.hpp: a thread a column of nodes.
#pragma once

#include "ksp/rrb/cuda/columns.cuh"

namespace petscrrb::rrbsolver::device {

// A thread's column and its rows [k0, k1).
struct Column {
  int h, k0, k1;
  bool inside;

  __device__ Column(const Box &box, int rows) {
    h = box.h0 + int(blockIdx.x) * threads + int(threadIdx.x);
    inside = h < box.h1;
    k0 = box.k0 + int(blockIdx.y) * rows;
    k1 = min(k0 + rows, box.k1);
  }
};

// w and 1/d of A's red nodes.
struct RedFactor {
  Arrays<const double> w; // W, E, S, N and 1/d, of so many classes each
  int classes;

  __device__ double operator()(Class c, int i, int h, int k) const { return __ldg(w.at(classes * i + c, h, k)); }
};

// r on the black nodes from r0, with the terms of its norm: of the natural one those of the red nodes.
// R0: on one rank a NaturalVector; on several a BoxRight, with its part in natural order beside it.
template <class T, bool scaled, class R0> struct EliminateRed {
  RedFactor w;
  Arrays<const T> factor; // of M
  R0 r0;
  NaturalVector<scaled> natural;
  Arrays<double> r;
  Box box;
  Norm norm;

  __device__ double term(Class c, double value, int h, int k) const {
    if (norm == Norm::natural) return c == r1 || c == r2 ? value * value * __ldg(factor.at(12 + c, h, k)) : 0.0;
    if (scaled) value = natural.unscaled(c, h, k);
    return value * value;
  }

  __device__ double march(const Column &c) const {
    const int h = c.h;
    double sum = 0.0, r2_below = r0(r2, h, c.k0 - 1), north = w(r2, N, h, c.k0 - 1), r1_here = r0(r1, h, c.k0);
    for (int k = c.k0; k < c.k1; ++k) {
      const double r1_left = r0(r1, h - 1, k), r1_above = r0(r1, h, k + 1), r2_here = r0(r2, h, k),
                   r2_right = r0(r2, h + 1, k), at_b1 = r0(b1, h, k), at_b2 = r0(b2, h, k), north_here = w(r2, N, h, k);
      const double to_b1 = at_b1 + (w(r2, E, h, k) * r2_here + w(r2, W, h + 1, k) * r2_right +
                                    w(r1, N, h, k) * r1_here + w(r1, S, h, k + 1) * r1_above);
      const double to_b2 = at_b2 + (w(r1, W, h, k) * r1_here + w(r1, E, h - 1, k) * r1_left + w(r2, S, h, k) * r2_here +
                                    north * r2_below);
      if (box.owns(b1, h, k)) *r.at(0, h, k) = to_b1, sum += term(b1, at_b1, h, k);
      if (box.owns(b2, h, k)) *r.at(1, h, k) = to_b2, sum += term(b2, at_b2, h, k);
      if (box.owns(r1, h, k)) sum += term(r1, r1_here, h, k);
      if (box.owns(r2, h, k)) sum += term(r2, r2_here, h, k);
      r1_here = r1_above, r2_below = r2_here, north = north_here;
    }
    return sum;
  }
};

template <class F> __global__ void __launch_bounds__(threads) eliminate_red(F f, Sum norms, int rows) {
  const Column column(f.box, rows);
  cuda::start_next();
  cuda::await_previous();
  norms.add(column.inside ? f.march(column) : 0.0);
}

// x = or += delta + a p at the black nodes, and at the red ones what follows from it and r0.
template <bool scaled> struct Correct {
  RedFactor w;
  NaturalVector<scaled> r0; // and x
  Vector p, delta;
  Box box;
  bool add;

  // alpha: of p; NULL: none of it
  __device__ void march(const Column &c, const double *alpha) const {
    const int h = c.h;
    const double a = alpha ? *alpha : 0.0;
    const auto at = [&](const double *there, const double *more) {
      return alpha ? __ldg(there) + a * __ldg(more) : __ldg(there);
    };
    const auto at_b1 = [&](int i, int k) { return at(delta.b1_at(i, k), p.b1_at(i, k)); };
    const auto at_b2 = [&](int i, int k) { return at(delta.b2_at(i, k), p.b2_at(i, k)); };
    double below = at_b1(h, c.k0 - 1), b2_here = at_b2(h, c.k0);
    for (int k = c.k0; k < c.k1; ++k) {
      const double here = at_b1(h, k), left = at_b1(h - 1, k), right = at_b2(h + 1, k), above = at_b2(h, k + 1);
      const double at_r1 = r0(r1, h, k) * w(r1, 4, h, k) + (w(r1, W, h, k) * b2_here + w(r1, E, h, k) * right +
                                                            w(r1, S, h, k) * below + w(r1, N, h, k) * here);
      const double at_r2 = r0(r2, h, k) * w(r2, 4, h, k) + (w(r2, W, h, k) * left + w(r2, E, h, k) * here +
                                                            w(r2, S, h, k) * b2_here + w(r2, N, h, k) * above);
      r0.store(h, k, b2_here, at_r1, at_r2, here, add);
      below = here, b2_here = above;
    }
  }
};

template <class F> __global__ void __launch_bounds__(threads) correct(F f, const double *a, int rows) {
  const Column column(f.box, rows);
  if (column.inside) f.march(column, a);
}

} // namespace petscrrb::rrbsolver::device
