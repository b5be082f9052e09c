// The kernels of an iteration on S1. A thread owns a column of nodes (h), the two black ones of each row, and marches
// through some rows (k); values of the row before stay in registers, those of the columns beside it come from the cache.
#pragma once

#include "backend/partial_sum_cuda.cuh"
#include "rrb/sweep_kernels.cuh"
#include "rrbsolver/schur_cg.hpp"

namespace petscrrb::rrbsolver::device {

using namespace rrb::device;

constexpr int threads = 128;

// A sum in parts, one a thread block: whoever needs it adds them, always in the same order. A block that waited for the
// others to do so would keep its registers from those that have work.
struct Parts {
  double *part;
  int count;

  // by all threads of a block, once: value is the thread's
  __device__ void set(double value) const {
    value = cuda::sum_of_block<threads>(value);
    if (threadIdx.x == 0) part[blockIdx.y * gridDim.x + blockIdx.x] = value;
  }
  // known to all threads of a block
  template <int size> __device__ double sum() const {
    double value = 0.0;
    for (int i = int(threadIdx.x); i < count; i += size) value += __ldcg(part + i);
    return cuda::sum_of_block<size>(value);
  }
};

// Arrays of one layout, one after the other.
struct Vector {
  Arrays<double> at; // b1, b2
  Around around_x, around_y;

  __device__ const double *b1_at(int h, int k) const { return at.at(0, around_x(h), around_y(k)); }
  __device__ const double *b2_at(int h, int k) const { return at.at(1, around_x(h), around_y(k)); }
};

// A thread's column and its rows [k0, k1). Threads past the end read what the arrays' borders hold.
struct Column {
  int h, k0, k1;
  bool inside;

  __device__ Column(const Box &box, int rows) {
    h = box.h0 + int(blockIdx.x) * threads + int(threadIdx.x);
    inside = h < box.h1;
    h = min(h, box.h1);
    k0 = box.k0 + int(blockIdx.y) * rows;
    k1 = min(k0 + rows, box.k1);
  }
};

// Three nodes of a row around a column.
struct Triple {
  double left, here, right;
};

struct ProductArrays {
  Arrays<const double> s1; // X of b1 and b2, E, N; the four skew ones
  Vector p;
  Arrays<double> q;
};

// q = S1 p and the parts of the sum of p q.
struct Product {
  ProductArrays a;
  Box box;

  __device__ double s(int array, int h, int k) const { return __ldg(a.s1.at(array, h, k)); }
  __device__ Triple row(int c, int h, int k) const {
    const auto at = [&](int i) { return __ldg(c ? a.p.b2_at(i, k) : a.p.b1_at(i, k)); };
    return {at(h - 1), at(h), at(h + 1)};
  }

  // the sum over a thread's nodes
  __device__ double march(const Column &c) const {
    const int h = c.h;
    double sum = 0.0;
    // what of the row below its nodes and ours share
    double north1 = s(4, h, c.k0 - 1), north2 = s(5, h, c.k0 - 1), nw = s(8, h, c.k0 - 1), ne = s(9, h - 1, c.k0 - 1);
    Triple b1_below = row(0, h, c.k0 - 1), b1_here = row(0, h, c.k0);
    Triple b2_below = row(1, h, c.k0 - 1), b2_here = row(1, h, c.k0);
    for (int k = c.k0; k < c.k1; ++k) {
      const Triple b1_above = row(0, h, k + 1), b2_above = row(1, h, k + 1);
      const double x1 = s(0, h, k), x2 = s(1, h, k), e1 = s(2, h, k), e1_left = s(2, h - 1, k), e2 = s(3, h, k),
                   e2_left = s(3, h - 1, k), n1 = s(4, h, k), n2 = s(5, h, k), sw = s(6, h, k), se = s(7, h, k),
                   se_left = s(7, h - 1, k), nw_here = s(8, h, k), ne_here = s(9, h, k), ne_left = s(9, h - 1, k);
      const double q1 = x1 * b1_here.here - (e1 * b1_here.right + e1_left * b1_here.left) -
                        (n1 * b1_above.here + north1 * b1_below.here) - (sw * b2_here.here + se * b2_here.right) -
                        (nw_here * b2_above.here + ne_here * b2_above.right);
      const double q2 = x2 * b2_here.here - (e2 * b2_here.right + e2_left * b2_here.left) -
                        (n2 * b2_above.here + north2 * b2_below.here) - (sw * b1_here.here + se_left * b1_here.left) -
                        (nw * b1_below.here + ne * b1_below.left);
      if (c.inside && box.owns(b1, h, k)) *a.q.at(0, h, k) = q1, sum += q1 * b1_here.here;
      if (c.inside && box.owns(b2, h, k)) *a.q.at(1, h, k) = q2, sum += q2 * b2_here.here;
      b1_below = b1_here, b1_here = b1_above, b2_below = b2_here, b2_here = b2_above;
      north1 = n1, north2 = n2, nw = nw_here, ne = ne_left;
    }
    return sum;
  }
};

inline __global__ void __launch_bounds__(threads)
    product(Product f, Parts curvatures, const double *scalars, int rows) {
  const Column column(f.box, rows);
  cuda::start_next();
  cuda::await_previous();
  if (scalars[ended] == 0.0) curvatures.set(f.march(column));
}

// r -= alpha q, level 2 of the forward sweep, and the sum of r^2 / d at b1. r of b1 goes from one array to the other, since
// the threads beside this one read it.
template <class T, class Next> struct Residual {
  Arrays<const T> factor; // w and 1/d of all classes, as in DenseGrid
  Vector r, q;            // r.at: b1 of even steps, b2; b1 of odd steps
  Next y;
  Box box;
  const double *v; // of V A V, in natural order, for the norm of r
  NaturalBox natural;

  __device__ double w(int i, int h, int k) const { return __ldg(factor.at(3 * i + b1, h, k)); }
  __device__ double dinv(int h, int k) const { return __ldg(factor.at(12 + b1, h, k)); }
  __device__ double square(double r_here, Class c, int h, int k) const {
    if (v) r_here /= natural.value(v, 2 * h + parity_x(c) - natural.x0, 2 * k + parity_y(c) - natural.y0);
    return r_here * r_here;
  }

  // sums: of r^2 / d, of r^2 at b1 and at b2
  template <bool squares> __device__ void march(const Column &c, bool start, double a, int from, double sums[2]) const {
    const int h = c.h, to = 2 - from;
    const auto r1 = [&](int i, int k) {
      const int x = r.around_x(i), y_ = r.around_y(k);
      const double value = __ldg(r.at.at(from, x, y_));
      return start ? value : value - a * __ldg(q.at.at(0, x, y_));
    };
    double below = r1(h, c.k0 - 1), below_left = r1(h - 1, c.k0 - 1);
    double nw = w(NW, h, c.k0 - 1), ne = w(NE, h - 1, c.k0 - 1);
    for (int k = c.k0; k < c.k1; ++k) {
      const double sw = w(SW, h, k), se = w(SE, h - 1, k), nw_here = w(NW, h, k), ne_left = w(NE, h - 1, k);
      const double here = r1(h, k), left = r1(h - 1, k), d = dinv(h, k);
      double r2 = *r.at.at(1, h, k);
      if (!start) r2 -= a * __ldg(q.at.at(1, h, k));
      if (c.inside && box.owns(b1, h, k)) {
        if (!start) *const_cast<double *>(r.at.at(to, h, k)) = here;
        sums[0] += here * here * d;
        if (squares) sums[1] += square(here, b1, h, k);
      }
      if (c.inside && box.owns(b2, h, k)) {
        if (!start) *const_cast<double *>(r.at.at(1, h, k)) = r2;
        if (squares) sums[1] += square(r2, b2, h, k);
        y.store(h, k, r2 + (sw * here + se * left + nw * below + ne * below_left));
      }
      below = here, below_left = left, nw = nw_here, ne = ne_left;
    }
  }
};

// The first block also keeps what the sum of p q has become.
template <bool squares, class F>
__global__ void __launch_bounds__(threads)
    residual(F f, bool start, Parts curvatures, Parts energies, Parts norms, double *scalars, int rows) {
  const Column column(f.box, rows);
  cuda::start_next();
  cuda::await_previous();
  double sums[2] = {}, a = 0.0;
  if (!start) {
    if (scalars[ended] != 0.0) return;
    const double sum = curvatures.sum<threads>();
    a = scalars[rho] / sum;
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) scalars[curvature] = sum, scalars[alpha] = a;
  }
  f.template march<squares>(column, start, a, int(scalars[steps]) % 2 ? 2 : 0, sums);
  energies.set(sums[0]);
  if constexpr (squares) norms.set(sums[1]);
}

// delta += alpha p, p = z + beta p, with level 2 of the backward sweep.
template <class T, class Next> struct Direction {
  Arrays<const T> factor;
  Arrays<double> r, p, delta; // r as in Residual
  Next z;
  Box box;

  __device__ double w(int i, int h, int k) const { return __ldg(factor.at(3 * i + b1, h, k)); }

  __device__ void march(const Column &c, bool first, double a, double b, int from) const {
    const int h = c.h;
    double here = z(h, c.k0), right = z(h + 1, c.k0);
    for (int k = c.k0; k < c.k1; ++k) {
      const double above = z(h, k + 1), above_right = z(h + 1, k + 1);
      const double z1 = __ldg(r.at(from, h, k)) * __ldg(factor.at(12 + b1, h, k)) +
                        (w(SW, h, k) * here + w(SE, h, k) * right + w(NW, h, k) * above + w(NE, h, k) * above_right);
      if (c.inside && box.owns(b1, h, k)) update(0, h, k, z1, first, a, b);
      if (c.inside && box.owns(b2, h, k)) update(1, h, k, here, first, a, b);
      here = above, right = above_right;
    }
  }
  __device__ void update(int c, int h, int k, double z_here, bool first, double a, double b) const {
    double *p_here = p.at(c, h, k), *delta_here = delta.at(c, h, k);
    if (first) {
      *delta_here = 0.0, *p_here = z_here;
    } else {
      const double before = *p_here;
      *delta_here += a * before;
      *p_here = z_here + b * before;
    }
  }
};

template <class F> __global__ void __launch_bounds__(threads) direction(F f, const double *scalars, int rows) {
  const Column column(f.box, rows);
  cuda::start_next();
  cuda::await_previous();
  if (scalars[ended] != 0.0) return;
  const int count = int(scalars[steps]);
  f.march(column, count == 0, scalars[alpha], scalars[beta], count % 2 ? 2 : 0);
}

// r on the black nodes from r0, with the terms of its norm: of the natural one those of the red nodes.
template <class T, bool scaled> struct EliminateRed {
  Arrays<const double> red; // w and 1/d of A: r1 (W, E, S, N, 1/d), then r2
  Arrays<const T> factor;   // of M
  NaturalVector<scaled> r0;
  Arrays<double> r;
  Box box;
  Norm norm;

  __device__ double w(Class c, int i, int h, int k) const { return __ldg(red.at(5 * c + i, h, k)); }
  __device__ double term(Class c, double value, int h, int k) const {
    if (norm == Norm::natural) return c == r1 || c == r2 ? value * value * __ldg(factor.at(12 + c, h, k)) : 0.0;
    if (scaled) value = r0.unscaled(c, h, k);
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
      if (c.inside && box.owns(b1, h, k)) *r.at(0, h, k) = to_b1, sum += term(b1, at_b1, h, k);
      if (c.inside && box.owns(b2, h, k)) *r.at(1, h, k) = to_b2, sum += term(b2, at_b2, h, k);
      if (c.inside && box.owns(r1, h, k)) sum += term(r1, r1_here, h, k);
      if (c.inside && box.owns(r2, h, k)) sum += term(r2, r2_here, h, k);
      r1_here = r1_above, r2_below = r2_here, north = north_here;
    }
    return sum;
  }
};

template <class F> __global__ void __launch_bounds__(threads) eliminate_red(F f, Parts norms, int rows) {
  const Column column(f.box, rows);
  cuda::start_next();
  cuda::await_previous();
  norms.set(f.march(column));
}

// x = or += delta + a p at the black nodes, and at the red ones what follows from it and r0.
template <bool scaled> struct Correct {
  Arrays<const double> red; // as in EliminateRed
  NaturalVector<scaled> r0; // and x
  Vector p, delta;
  Box box;
  bool add;

  __device__ double w(Class c, int i, int h, int k) const { return __ldg(red.at(5 * c + i, h, k)); }

  __device__ void march(const Column &c, double a) const {
    const int h = c.h;
    const auto at_b1 = [&](int i, int k) { return __ldg(delta.b1_at(i, k)) + a * __ldg(p.b1_at(i, k)); };
    const auto at_b2 = [&](int i, int k) { return __ldg(delta.b2_at(i, k)) + a * __ldg(p.b2_at(i, k)); };
    double below = at_b1(h, c.k0 - 1), b2_here = at_b2(h, c.k0);
    for (int k = c.k0; k < c.k1; ++k) {
      const double here = at_b1(h, k), left = at_b1(h - 1, k), right = at_b2(h + 1, k), above = at_b2(h, k + 1);
      const double at_r1 = r0(r1, h, k) * w(r1, 4, h, k) + (w(r1, W, h, k) * b2_here + w(r1, E, h, k) * right +
                                                            w(r1, S, h, k) * below + w(r1, N, h, k) * here);
      const double at_r2 = r0(r2, h, k) * w(r2, 4, h, k) + (w(r2, W, h, k) * left + w(r2, E, h, k) * here +
                                                            w(r2, S, h, k) * b2_here + w(r2, N, h, k) * above);
      if (c.inside) r0.store(h, k, b2_here, at_r1, at_r2, here, add);
      below = here, b2_here = above;
    }
  }
};

template <class F> __global__ void __launch_bounds__(threads) correct(F f, const double *a, int rows) {
  const Column column(f.box, rows);
  f.march(column, a ? *a : 0.0);
}

// What the loops have left to be added: the terms of r^2 / d at b1 and those of the norm, if that is one of their sums.
struct Pending {
  Parts energies, norms;
  bool has_norm;

  // by all threads of the only block
  template <int size> __device__ void add_up(double *scalars, Norm norm) const {
    const double energy = energies.sum<size>(), other = has_norm ? norms.sum<size>() : 0.0;
    if (threadIdx.x != 0) return;
    scalars[energy_b1] = energy;
    if (!has_norm) return;
    scalars[energy_r1] = norm == Norm::natural ? other : 0.0;
    scalars[squares_b1] = other;
    scalars[energy_r2] = scalars[squares_r1] = scalars[squares_r2] = scalars[squares_b2] = 0.0;
  }
};

} // namespace petscrrb::rrbsolver::device
