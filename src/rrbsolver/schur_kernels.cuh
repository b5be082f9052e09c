// The kernels of the RRB-solver. In an iteration's a thread owns two neighbouring columns of nodes (h, h + 1), the two black
// ones of each row, and marches through some rows (k): loads and stores are of pairs, values of the row before stay in
// registers, and those of the columns beside come from the lanes beside.
#pragma once

#include "backend/partial_sum_cuda.cuh"
#include "rrb/sweep_kernels.cuh"
#include "rrbsolver/schur_cg.hpp"

namespace petscrrb::rrbsolver::device {

using namespace rrb::device;

constexpr int threads = 128;
using Sum = cuda::BlockSum<threads>;

// Arrays of one layout, one after the other.
struct Vector {
  Arrays<double> at; // b1, b2
  Around around_x, around_y;

  __device__ const double *b1_at(int h, int k) const { return at.at(0, around_x(h), around_y(k)); }
  __device__ const double *b2_at(int h, int k) const { return at.at(1, around_x(h), around_y(k)); }
};

// A thread's two columns. Those past the end read the arrays' borders.
struct Columns {
  int h, k0, k1, lane;
  bool first, second; // inside
  bool left, right;   // the column beside is of no lane of the warp, or of one past the end

  __device__ Columns(const Box &box, int rows) {
    h = box.h0 + 2 * (int(blockIdx.x) * threads + int(threadIdx.x));
    first = h < box.h1, second = h + 1 < box.h1;
    lane = int(threadIdx.x) % 32;
    left = lane == 0, right = first && (lane == 31 || h + 2 >= box.h1);
    h = min(h, box.h0 + (box.h1 - box.h0 + 1) / 2 * 2);
    k0 = box.k0 + int(blockIdx.y) * rows;
    k1 = min(k0 + rows, box.k1);
  }
};

struct Pair {
  double x, y;
};
__device__ inline Pair pair(const double *p) {
  const double2 v = __ldg(reinterpret_cast<const double2 *>(p));
  return {v.x, v.y};
}
__device__ inline Pair pair(const float *p) {
  const float2 v = __ldg(reinterpret_cast<const float2 *>(p));
  return {v.x, v.y};
}
// of what the kernel writes, too
__device__ inline Pair written_pair(const double *p) {
  const double2 v = *reinterpret_cast<const double2 *>(p);
  return {v.x, v.y};
}
__device__ inline Pair operator*(const Pair &a, const Pair &b) { return {a.x * b.x, a.y * b.y}; }
__device__ inline Pair operator+(const Pair &a, const Pair &b) { return {a.x + b.x, a.y + b.y}; }
__device__ inline Pair operator-(const Pair &a, const Pair &b) { return {a.x - b.x, a.y - b.y}; }
__device__ inline Pair operator*(double a, const Pair &b) { return {a * b.x, a * b.y}; }

// Of a pair: the nodes one to the left of each, and one to the right; edge is the value that no lane has.
__device__ inline Pair to_left(const Columns &c, const Pair &v, double edge) {
  const double beside = __shfl_up_sync(all_lanes, v.y, 1);
  return {c.left ? edge : beside, v.x};
}
__device__ inline Pair to_right(const Columns &c, const Pair &v, double edge) {
  const double beside = __shfl_down_sync(all_lanes, v.x, 1);
  return {v.y, c.right ? edge : beside};
}
__device__ inline void put(const Columns &c, double *to, const Pair &v, bool first, bool second) {
  if (first && second)
    *reinterpret_cast<double2 *>(to) = make_double2(v.x, v.y);
  else if (first)
    to[0] = v.x;
  else if (second)
    to[1] = v.y;
}
// of the nodes that a class has
__device__ inline double sum(const Pair &v, bool first, bool second) {
  return (first ? v.x : 0.0) + (second ? v.y : 0.0);
}

// A vector's row around a pair of columns. Around a ring the columns past the ends are those at the other end.
struct Row {
  Pair here, left, right;

  Row() = default;
  __device__ Row(const Columns &c, const Box &box, const Vector &v, int array, int h, int k) {
    const int row = v.around_y(k);
    here = pair(v.at.at(array, h, row));
    double left_edge = 0.0, right_edge = 0.0;
    if (c.left) left_edge = __ldg(v.at.at(array, v.around_x(h - 1), row));
    if (c.right) right_edge = __ldg(v.at.at(array, v.around_x(c.second ? h + 2 : h + 1), row));
    if (c.right && !c.second) here.y = right_edge;
    left = to_left(c, here, left_edge);
    right = to_right(c, here, right_edge);
  }
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

  __device__ Pair s(int array, int h, int k) const { return pair(a.s1.at(array, h, k)); }
  __device__ Pair left_of(const Columns &c, int array, const Pair &v, int k) const {
    return to_left(c, v, c.left ? __ldg(a.s1.at(array, c.h - 1, k)) : 0.0);
  }
  __device__ Row row(const Columns &c, int array, int k) const { return Row(c, box, a.p, array, c.h, k); }

  // the sum over a thread's nodes
  __device__ double march(const Columns &c) const {
    const int h = c.h;
    double curvature = 0.0;
    // what of the row below its nodes and ours share
    Pair north1 = s(4, h, c.k0 - 1), north2 = s(5, h, c.k0 - 1), nw = s(8, h, c.k0 - 1);
    Pair ne = left_of(c, 9, s(9, h, c.k0 - 1), c.k0 - 1);
    Row b1_below = row(c, 0, c.k0 - 1), b1_here = row(c, 0, c.k0);
    Row b2_below = row(c, 1, c.k0 - 1), b2_here = row(c, 1, c.k0);
    for (int k = c.k0; k < c.k1; ++k) {
      const Pair x1 = s(0, h, k), x2 = s(1, h, k), e1 = s(2, h, k), e2 = s(3, h, k), n1 = s(4, h, k), n2 = s(5, h, k),
                 sw = s(6, h, k), se = s(7, h, k), nw_here = s(8, h, k), ne_here = s(9, h, k);
      const Row b1_above = row(c, 0, k + 1), b2_above = row(c, 1, k + 1);
      const Pair e1_left = left_of(c, 2, e1, k), e2_left = left_of(c, 3, e2, k), se_left = left_of(c, 7, se, k),
                 ne_left = left_of(c, 9, ne_here, k);
      const Pair q1 = x1 * b1_here.here - (e1 * b1_here.right + e1_left * b1_here.left) -
                      (n1 * b1_above.here + north1 * b1_below.here) - (sw * b2_here.here + se * b2_here.right) -
                      (nw_here * b2_above.here + ne_here * b2_above.right);
      const Pair q2 = x2 * b2_here.here - (e2 * b2_here.right + e2_left * b2_here.left) -
                      (n2 * b2_above.here + north2 * b2_below.here) - (sw * b1_here.here + se_left * b1_here.left) -
                      (nw * b1_below.here + ne * b1_below.left);
      const bool in1[] = {c.first && box.owns(b1, h, k), c.second && box.owns(b1, h + 1, k)};
      const bool in2[] = {c.first && box.owns(b2, h, k), c.second && box.owns(b2, h + 1, k)};
      put(c, a.q.at(0, h, k), q1, in1[0], in1[1]);
      put(c, a.q.at(1, h, k), q2, in2[0], in2[1]);
      curvature += sum(q1 * b1_here.here, in1[0], in1[1]) + sum(q2 * b2_here.here, in2[0], in2[1]);
      b1_below = b1_here, b1_here = b1_above, b2_below = b2_here, b2_here = b2_above;
      north1 = n1, north2 = n2, nw = nw_here, ne = ne_left;
    }
    return curvature;
  }
};

static __global__ void __launch_bounds__(threads) product(Product f, Sum curvatures, const double *scalars, int rows) {
  const Columns columns(f.box, rows);
  cuda::start_next();
  cuda::await_previous();
  if (scalars[ended] == 0.0) curvatures.add(f.march(columns));
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

  __device__ Pair w(int i, int h, int k) const { return pair(factor.at(3 * i + b1, h, k)); }
  __device__ Pair left_of(const Columns &c, int i, const Pair &value, int k) const {
    return to_left(c, value, c.left ? double(__ldg(factor.at(3 * i + b1, c.h - 1, k))) : 0.0);
  }
  __device__ double square(double r_here, Class c, int h, int k) const {
    if (v) r_here /= natural.value(v, 2 * h + parity_x(c) - natural.x0, 2 * k + parity_y(c) - natural.y0);
    return r_here * r_here;
  }

  // r of b1 in a row, and left of it
  struct Both {
    Pair here, left;
  };
  __device__ Both r1(const Columns &c, int k, bool start, double a, int from) const {
    const int row = r.around_y(k);
    Pair here = pair(r.at.at(from, c.h, row));
    double edge = 0.0;
    if (c.left) edge = __ldg(r.at.at(from, r.around_x(c.h - 1), row));
    if (!start) {
      here = here - a * pair(q.at.at(0, c.h, row));
      if (c.left) edge -= a * __ldg(q.at.at(0, q.around_x(c.h - 1), row));
    }
    return {here, to_left(c, here, edge)};
  }

  // sums: of r^2 / d, of r^2 at b1 and at b2
  template <bool squares>
  __device__ void march(const Columns &c, bool start, double a, int from, double sums[2]) const {
    const int h = c.h, to = 2 - from;
    Both below = r1(c, c.k0 - 1, start, a, from);
    Pair nw = w(NW, h, c.k0 - 1), ne = left_of(c, NE, w(NE, h, c.k0 - 1), c.k0 - 1);
    for (int k = c.k0; k < c.k1; ++k) {
      const Pair sw = w(SW, h, k), se = w(SE, h, k), nw_here = w(NW, h, k), ne_here = w(NE, h, k),
                 d = pair(factor.at(12 + b1, h, k));
      Pair r2 = written_pair(r.at.at(1, h, k));
      if (!start) r2 = r2 - a * pair(q.at.at(1, h, k));
      const Both here = r1(c, k, start, a, from);
      const Pair ne_left = left_of(c, NE, ne_here, k);
      const bool in1[] = {c.first && box.owns(b1, h, k), c.second && box.owns(b1, h + 1, k)};
      const bool in2[] = {c.first && box.owns(b2, h, k), c.second && box.owns(b2, h + 1, k)};
      sums[0] += sum(here.here * here.here * d, in1[0], in1[1]);
      if (!start) put(c, r.at.at(to, h, k), here.here, in1[0], in1[1]);
      if (!start) put(c, r.at.at(1, h, k), r2, in2[0], in2[1]);
      const Pair y_here = r2 + (sw * here.here + left_of(c, SE, se, k) * here.left + nw * below.here + ne * below.left);
      if (in2[0]) y.store(h, k, y_here.x);
      if (in2[1]) y.store(h + 1, k, y_here.y);
      if (squares) {
        if (in1[0]) sums[1] += square(here.here.x, b1, h, k);
        if (in1[1]) sums[1] += square(here.here.y, b1, h + 1, k);
        if (in2[0]) sums[1] += square(r2.x, b2, h, k);
        if (in2[1]) sums[1] += square(r2.y, b2, h + 1, k);
      }
      below = here, nw = nw_here, ne = ne_left;
    }
  }
};

// Where there are many parts of the sum of p q, one block adds them for all of the next kernel.
constexpr int few_terms = 256, add_threads = 512;
static __global__ void __launch_bounds__(add_threads) add_curvatures(Terms curvatures, double *scalars) {
  cuda::start_next();
  cuda::await_previous();
  if (scalars[ended] != 0.0) return;
  const double sum = cuda::sum_of<add_threads>(curvatures);
  if (threadIdx.x == 0) scalars[curvature] = sum, scalars[alpha] = scalars[rho] / sum;
}

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
  f.template march<squares>(columns, start, a, int(scalars[steps]) % 2 ? 2 : 0, sums);
  energies.add(sums[0]);
  if constexpr (squares) norms.add(sums[1]);
}

// delta += alpha p, p = z + beta p, with level 2 of the backward sweep.
template <class T, class Next> struct Direction {
  Arrays<const T> factor;
  Arrays<double> r, p, delta; // r as in Residual
  Next z;
  Box box;

  __device__ Pair w(int i, int h, int k) const { return pair(factor.at(3 * i + b1, h, k)); }
  // z of b2 at both columns, and right of them
  struct Both {
    Pair here, right;
  };
  __device__ Both solution(const Columns &c, int k) const {
    const Pair here{z(c.h, k), z(c.h + 1, k)};
    return {here, to_right(c, here, c.right ? z(c.h + 2, k) : 0.0)};
  }

  __device__ void march(const Columns &c, bool start, double a, double b, int from) const {
    const int h = c.h;
    Both here = solution(c, c.k0);
    for (int k = c.k0; k < c.k1; ++k) {
      const Pair r1 = pair(r.at(from, h, k)), d = pair(factor.at(12 + b1, h, k)), sw = w(SW, h, k), se = w(SE, h, k),
                 nw = w(NW, h, k), ne = w(NE, h, k);
      const Both above = solution(c, k + 1);
      const Pair z1 = r1 * d + (sw * here.here + se * here.right + nw * above.here + ne * above.right);
      update(c, 0, k, z1, start, a, b, c.first && box.owns(b1, h, k), c.second && box.owns(b1, h + 1, k));
      update(c, 1, k, here.here, start, a, b, c.first && box.owns(b2, h, k), c.second && box.owns(b2, h + 1, k));
      here = above;
    }
  }
  __device__ void update(const Columns &c, int array, int k, const Pair &z_here, bool start, double a, double b,
                         bool first, bool second) const {
    double *p_here = p.at(array, c.h, k), *delta_here = delta.at(array, c.h, k);
    if (start) {
      put(c, delta_here, {}, first, second);
      put(c, p_here, z_here, first, second);
    } else {
      const Pair before = written_pair(p_here), sum = written_pair(delta_here);
      put(c, delta_here, sum + a * before, first, second);
      put(c, p_here, z_here + b * before, first, second);
    }
  }
};

template <class F> __global__ void __launch_bounds__(threads) direction(F f, const double *scalars, int rows) {
  const Columns columns(f.box, rows);
  cuda::start_next();
  cuda::await_previous();
  if (scalars[ended] != 0.0) return;
  const int count = int(scalars[steps]);
  f.march(columns, count == 0, scalars[alpha], scalars[beta], count % 2 ? 2 : 0);
}

// What the loops have left to be added: the terms of r^2 / d at b1 and those of the norm, if that is one of their sums.
struct Pending {
  Terms energies, norms;
  bool has_norm;

  // by all threads of the only block
  template <int size> __device__ void add_up(double *scalars, Norm norm) const {
    const double energy = cuda::sum_of<size>(energies), other = has_norm ? cuda::sum_of<size>(norms) : 0.0;
    if (threadIdx.x != 0) return;
    scalars[energy_b1] = energy;
    if (!has_norm) return;
    scalars[energy_r1] = norm == Norm::natural ? other : 0.0;
    scalars[squares_b1] = other;
    scalars[energy_r2] = scalars[squares_r1] = scalars[squares_r2] = scalars[squares_b2] = 0.0;
  }
};

} // namespace petscrrb::rrbsolver::device
