// The kernels that sweep one r1/r2/b1/b2 grid on a device: two levels in one pass over memory. The point operations are
// those of sweep.hpp.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "exec/cuda/overlap.cuh"
#include "exec/cuda/shape.cuh"
#include "exec/cuda/sums.cuh"
#include "pc/rrb/core/dense_grid.hpp"

namespace petscrrb::rrb {
namespace device {

// A warp owns 31 columns of nodes (h) and marches through some rows (k). Its first lane repeats the last column of the
// warp to the left, and its first row the last one of the warp below, but only b1, which the others need from there:
// no shared memory, no barrier, and values go from lane to lane and from row to row in registers.
constexpr int columns = 31, warps = 4, most_rows = 16;
constexpr unsigned all_lanes = 0xffffffffu;

// A node and its eight neighbours in registers; only what is set may be read.
struct Patch {
  double v[3][3];

  __device__ double operator()(index_t h, index_t k) const { return v[k + 1][h + 1]; }
};
// An array of the factor seen from one node: read as what nobody writes.
template <class T> struct Here {
  const T *p;
  int pitch;

  __device__ double operator()(index_t h, index_t k) const { return __ldg(p + k * pitch + h); }
};
// A vector likewise: exec/cuda/overlap.cuh says how it is read.
struct VectorHere {
  const double *p;
  int pitch;

  __device__ double operator()(index_t h, index_t k) const { return p[k * pitch + h]; }
};

// Arrays of one layout, one after the other, seen from the node (0, 0) of the first.
template <class T> struct Arrays {
  T *p;
  index_t size;
  int pitch;

  __device__ T *at(int array, int h, int k) const { return p + array * size + index_t(k) * pitch + h; }
};

template <bool Couple, class T> __device__ auto factor_at(const Arrays<const T> &f, int h, int k) {
  FactorViews<Here<T>, std::conditional_t<Couple, Here<T>, Zero>> v;
  for (int c = r1; c <= b1; ++c) {
    if constexpr (Couple)
      for (int i = 0; i < 4; ++i) v.w[i].c[c] = {f.at(3 * i + c, h, k), f.pitch};
    v.dinv.c[c] = {f.at(12 + c, h, k), f.pitch};
  }
  return v;
}

// What of the factor a sweep needs at one node of each class, in registers. The kernel before does not write it, since the
// host waits for a factorization before it applies it: so it is read before that kernel has ended.
using HeldFactor = FactorViews<Patch>;

template <class F> __device__ void hold(HeldFactor &to, const F &f, int i, Class c, index_t h, index_t k) {
  to.w[i].c[c].v[k + 1][h + 1] = f.w[i][c](h, k);
}
template <class F> __device__ void hold_forward_b1(HeldFactor &to, const F &f) {
  hold(to, f, E, r2, 0, 0), hold(to, f, W, r2, 1, 0), hold(to, f, N, r1, 0, 0), hold(to, f, S, r1, 0, 1);
}
template <class F> __device__ void hold_forward_b2(HeldFactor &to, const F &f) {
  hold(to, f, W, r1, 0, 0), hold(to, f, E, r1, -1, 0), hold(to, f, S, r2, 0, 0), hold(to, f, N, r2, 0, -1);
  hold(to, f, SW, b1, 0, 0), hold(to, f, SE, b1, -1, 0), hold(to, f, NW, b1, 0, -1), hold(to, f, NE, b1, -1, -1);
}
template <class F> __device__ void hold_backward(HeldFactor &to, const F &f, Class c) {
  for (int i = 0; i < 4; ++i) hold(to, f, i, c, 0, 0);
  to.dinv.c[c].v[1][1] = f.dinv[c](0, 0);
}

// One side of a class of nodes: indices before the first and past the last go around a ring of n nodes; n = 0: not a
// ring. Without branches, as all that loads below: else a warp would wait for one load before it starts the next.
struct Around {
  int n, end;

  __device__ int operator()(int i) const { return i + (i < 0 ? n : 0) - (i >= end ? n : 0); }
};

// The nodes of a grid's box, in classes' coordinates.
struct Box {
  struct Nodes {
    int h0, h1, k0, k1;

    __device__ bool contain(int h, int k) const { return h >= h0 && h < h1 && k >= k0 && k < k1; }
  } nodes[4];
  int h0, h1, k0, k1;
  Around x, y;

  __device__ bool owns(Class c, int h, int k) const { return nodes[c].contain(h, k); }
};

// The right-hand side of a grid in its own arrays; they have a border of zeroes.
struct DenseVector {
  Arrays<double> x, z; // z: the solution, which may be x
  Around around_x, around_y;

  __device__ double operator()(Class c, int h, int k) const { return *x.at(c, around_x(h), around_y(k)); }
  __device__ void store(const Box &box, int h, int k, double b2_value, double r1_value, double r2_value,
                        double b1_value) const {
    if (box.owns(b2, h, k)) *z.at(b2, h, k) = b2_value;
    if (box.owns(r1, h, k)) *z.at(r1, h, k) = r1_value;
    if (box.owns(r2, h, k)) *z.at(r2, h, k) = r2_value;
    if (box.owns(b1, h, k)) *z.at(b1, h, k) = b1_value;
  }
};

// A box of points in natural order, zero outside of it.
struct NaturalBox {
  int x0, y0, nx, ny;

  __device__ bool contains(int a, int b) const { return unsigned(a) < unsigned(nx) && unsigned(b) < unsigned(ny); }
  __device__ index_t place(int a, int b) const { return index_t(b) * nx + a; }
  __device__ double value(const double *p, int a, int b) const {
    const bool inside = contains(a, b);
    const double v = p[inside ? place(a, b) : 0];
    return inside ? v : 0.0;
  }
};

// The vectors of the finest grid, scaled by v where Scaled.
template <bool Scaled> struct NaturalVector {
  const double *r, *v_r;
  double *z;
  const double *v_z;
  NaturalBox box;
  Around around_x, around_y; // of points

  __device__ double operator()(Class c, int h, int k) const {
    const int a = around_x(2 * h + parity_x(c)) - box.x0, b = around_y(2 * k + parity_y(c)) - box.y0;
    const double value = box.value(r, a, b);
    return Scaled && v_r ? value * box.value(v_r, a, b) : value;
  }
  __device__ double unscaled(Class c, int h, int k) const {
    return box.value(r, around_x(2 * h + parity_x(c)) - box.x0, around_y(2 * k + parity_y(c)) - box.y0);
  }
  __device__ void store(const Box &, int h, int k, double b2_value, double r1_value, double r2_value,
                        double b1_value) const {
    store(h, k, b2_value, r1_value, r2_value, b1_value, false);
  }
  // add: to what is there
  __device__ void store(int h, int k, double b2_value, double r1_value, double r2_value, double b1_value,
                        bool add) const {
    const int a = 2 * h - box.x0, b = 2 * k - box.y0;
    put(a, b, b2_value, add), put(a + 1, b, r1_value, add);
    put(a, b + 1, r2_value, add), put(a + 1, b + 1, b1_value, add);
  }

private:
  __device__ void put(int a, int b, double value, bool add) const {
    if (!box.contains(a, b)) return;
    const index_t i = box.place(a, b);
    if (Scaled && v_z) value *= __ldg(v_z + i);
    z[i] = add ? z[i] + value : value;
  }
};

// b2 where it continues: as a vector on the next grid.
struct DenseNext {
  Arrays<double> x;
  Around around_x, around_y;

  __device__ double operator()(int h, int k) const { return *address(h, k); }
  __device__ void store(int h, int k, double value) const { *place(h, k) = value; }
  // for copies: where there is nothing, it is 0
  __device__ bool contains(int, int) const { return true; }
  __device__ const double *address(int h, int k) const { return place(around_x(h), around_y(k)); }

private:
  __device__ double *place(int h, int k) const { return x.at(class_of(h, k), h >> 1, k >> 1); }
};
struct NaturalNext {
  double *p;
  NaturalBox box;
  Around around_x, around_y;

  __device__ double operator()(int h, int k) const { return box.value(p, around_x(h) - box.x0, around_y(k) - box.y0); }
  __device__ void store(int h, int k, double value) const { p[box.place(h - box.x0, k - box.y0)] = value; }
  __device__ bool contains(int h, int k) const { return box.contains(around_x(h) - box.x0, around_y(k) - box.y0); }
  __device__ const double *address(int h, int k) const {
    return contains(h, k) ? p + box.place(around_x(h) - box.x0, around_y(k) - box.y0) : p;
  }
};

// On several ranks: a vector of a box on its way down, with what is around the box.
struct BoxRight {
  Arrays<double> x;

  __device__ double operator()(Class c, int h, int k) const { return *x.at(c, h, k); }
};
// The solution at b2, likewise.
struct BoxNext {
  const double *p; // of the node (0, 0)
  int pitch;

  __device__ double operator()(int h, int k) const { return *address(h, k); }
  __device__ bool contains(int, int) const { return true; }
  __device__ const double *address(int h, int k) const { return p + index_t(k) * pitch + h; }
};

// A warp's part of a box: columns from `first` on, rows [k0, k1).
struct Part {
  int first, h, k0, k1, lane;

  __device__ Part(const Box &box, int rows, int column, int row) {
    first = box.h0 + column * columns;
    lane = threadIdx.x % 32;
    h = min(first + lane - 1, box.h1); // lanes past the end read the border
    k0 = box.k0 + row * rows;
    k1 = min(k0 + rows, box.k1);
  }
};

// Whether a sweep adds its terms of y^T B y, and what it needs for that.
struct NoEnergy {
  static constexpr bool wanted = false;
};

// On the way down: those of red nodes, at own ones; a box's b1 are not only those.
struct EnergyDown {
  static constexpr bool wanted = true;

  cuda::BlockSum<32 * warps> sum;
  Box::Nodes own_b1;
};

// Returns a thread's share of the energy.
template <bool Couple, class T, class Vector, class Next, class Energy>
__device__ __forceinline__ double march_down(const Arrays<const T> &factor, const Box &box, const Vector &x,
                                             const Arrays<double> &b1_after, const Next &next, int rows,
                                             const Energy &wanted) {
  double energy = 0.0;
  const Part part(box, rows, blockIdx.x * warps + threadIdx.x / 32, blockIdx.y);
  cuda::start_next();
  const int h = part.h;
  const bool mine = part.lane > 0 && h < box.h1;
  const auto at = [&](int k) { return factor_at<Couple>(factor, box.x(h), box.y(k)); };
  HeldFactor below, f;
  if constexpr (Couple)
    if (part.first < box.h1) {
      hold_forward_b1(below, at(part.k0 - 1));
      hold_forward_b1(f, at(part.k0)), hold_forward_b2(f, at(part.k0));
    }
  cuda::await_previous();
  if (part.first >= box.h1) return energy;
  Quad<Patch> in;
  Patch b;
  // the row below: only b1
  in.c[r1].v[1][1] = x(r1, h, part.k0 - 1), in.c[r1].v[2][1] = x(r1, h, part.k0);
  in.c[r2].v[1][1] = x(r2, h, part.k0 - 1), in.c[r2].v[1][2] = x(r2, h + 1, part.k0 - 1);
  in.c[b1].v[1][1] = x(b1, h, part.k0 - 1);
  if constexpr (Couple)
    ForwardB1{below, in, Result{&b.v[0][1]}}(0, 0);
  else
    b.v[0][1] = in.c[b1].v[1][1];
  b.v[0][0] = __shfl_up_sync(all_lanes, b.v[0][1], 1);
  for (int k = part.k0; k < part.k1; ++k) {
    double b2_here;
    in.c[r1].v[1][1] = in.c[r1].v[2][1], in.c[r1].v[2][1] = x(r1, h, k + 1);
    in.c[r2].v[0][1] = in.c[r2].v[1][1], in.c[r2].v[1][1] = x(r2, h, k), in.c[r2].v[1][2] = x(r2, h + 1, k);
    in.c[b1].v[1][1] = x(b1, h, k), in.c[b2].v[1][1] = x(b2, h, k);
    if constexpr (Couple) {
      if (k > part.k0) hold_forward_b1(f, at(k)), hold_forward_b2(f, at(k));
      ForwardB1{f, in, Result{&b.v[1][1]}}(0, 0);
      b.v[1][0] = __shfl_up_sync(all_lanes, b.v[1][1], 1);
      in.c[r1].v[1][0] = __shfl_up_sync(all_lanes, in.c[r1].v[1][1], 1);
      ForwardB2{f, in, b, Result{&b2_here}, true}(0, 0);
    } else {
      b.v[1][1] = in.c[b1].v[1][1];
      b2_here = in.c[b2].v[1][1];
    }
    if constexpr (Energy::wanted)
      if (mine) {
        const auto d = at(k).dinv;
        const auto term = [&](Class c, double y) { return y * y * double(d[c](0, 0)); };
        if (box.owns(r1, h, k)) energy += term(r1, in.c[r1].v[1][1]);
        if (box.owns(r2, h, k)) energy += term(r2, in.c[r2].v[1][1]);
        if (wanted.own_b1.contain(h, k)) energy += term(b1, b.v[1][1]);
      }
    if (mine && box.owns(b1, h, k)) *b1_after.at(0, h, k) = b.v[1][1];
    if (mine && box.owns(b2, h, k)) next.store(h, k, b2_here);
    b.v[0][0] = b.v[1][0], b.v[0][1] = b.v[1][1];
  }
  return energy;
}

template <bool Couple, class T, class Vector, class Next, class Energy>
__global__ void __launch_bounds__(32 * warps)
    forward(Arrays<const T> factor, Box box, Vector x, Arrays<double> b1_after, Next next, int rows, Energy wanted) {
  const double energy = march_down<Couple>(factor, box, x, b1_after, next, rows, wanted);
  if constexpr (Energy::wanted) wanted.sum.add(energy);
}

// from_next: the terms of `next` are not there yet. of_red: nor those of red nodes.
template <class Next, bool start, bool red = true> struct WithEnergy {
  static constexpr bool wanted = true, from_next = start, of_red = red;

  cuda::BlockSum<32 * warps> sum;
  Next kept; // its right-hand side
};

// Returns a thread's share of the energy.
template <bool Couple, Scaling scaling, class T, class Vector, class Next, class Energy>
__device__ __forceinline__ double march_up(const Arrays<const T> &factor, const Box &box, const Vector &x,
                                           const Arrays<double> &b1_after, const Next &next, int rows,
                                           const Energy &wanted) {
  const Part part(box, rows, blockIdx.x * warps + threadIdx.x / 32, blockIdx.y);
  double energy = 0.0;
  cuda::start_next();
  const int h = part.h;
  const bool mine = part.lane > 0 && h < box.h1;
  const auto at = [&](int k) { return factor_at<Couple>(factor, box.x(h), box.y(k)); };
  const auto r_b1 = [&](int k) { return VectorHere{b1_after.at(0, box.x(h), box.y(k)), b1_after.pitch}; };
  std::conditional_t<Couple, HeldFactor, decltype(at(0))> below, f;
  if constexpr (Couple)
    if (part.first < box.h1) {
      hold_backward(below, at(part.k0 - 1), b1);
      for (Class c : {r1, r2, b1}) hold_backward(f, at(part.k0), c);
    }
  cuda::await_previous();
  if (part.first >= box.h1) return energy;
  if constexpr (!Couple) below = at(part.k0 - 1);
  Patch z2, z1;
  // the row below: only b1
  z2.v[1][1] = next(h, part.k0 - 1), z2.v[1][2] = next(h + 1, part.k0 - 1);
  z2.v[2][1] = next(h, part.k0), z2.v[2][2] = next(h + 1, part.k0);
  BackwardB1{below, r_b1(part.k0 - 1), z2, Result{&z1.v[0][1]}, scaling}(0, 0);
  for (int k = part.k0; k < part.k1; ++k) {
    double r1_here, r2_here;
    Patch r_r1, r_r2;
    if constexpr (!Couple)
      f = at(k);
    else if (k > part.k0)
      for (Class c : {r1, r2, b1}) hold_backward(f, at(k), c);
    z2.v[1][1] = z2.v[2][1], z2.v[1][2] = z2.v[2][2];
    z2.v[2][1] = next(h, k + 1), z2.v[2][2] = next(h + 1, k + 1);
    r_r1.v[1][1] = x(r1, h, k), r_r2.v[1][1] = x(r2, h, k);
    BackwardB1{f, r_b1(k), z2, Result{&z1.v[1][1]}, scaling}(0, 0);
    z1.v[1][0] = __shfl_up_sync(all_lanes, z1.v[1][1], 1);
    BackwardR1{f, r_r1, z1, z2, Result{&r1_here}, scaling}(0, 0);
    BackwardR2{f, r_r2, z1, z2, Result{&r2_here}, scaling}(0, 0);
    if constexpr (Energy::wanted)
      if (mine) {
        if constexpr (Energy::of_red)
          energy += RedEnergy<Patch, Patch>{r_r1, f.dinv[r1]}(0, 0) + RedEnergy<Patch, Patch>{r_r2, f.dinv[r2]}(0, 0) +
                    RedEnergy<VectorHere, Patch>{r_b1(k), f.dinv[b1]}(0, 0);
        if constexpr (Energy::from_next)
          if (box.owns(b2, h, k)) energy += wanted.kept(h, k) * z2.v[1][1];
      }
    if (mine) x.store(box, h, k, z2.v[1][1], r1_here, r2_here, z1.v[1][1]);
    z1.v[0][1] = z1.v[1][1];
  }
  return energy;
}

template <bool Couple, Scaling scaling, class T, class Vector, class Next, class Energy>
__global__ void __launch_bounds__(32 * warps)
    backward(Arrays<const T> factor, Box box, Vector x, Arrays<double> b1_after, Next next, int rows, Energy wanted) {
  const double energy = march_up<Couple, scaling>(factor, box, x, b1_after, next, rows, wanted);
  if constexpr (Energy::wanted) wanted.sum.add(energy);
}

inline Around around(const Side &s, int per_node) {
  return s.wraps() ? Around{int(s.n / per_node), int(s.hi / per_node)} : Around{};
}

template <class T> Arrays<T> arrays(const Quad<DenseOf<T>> &q) {
  return {q[r1].p, q[r2].p - q[r1].p, int(q[r1].pitch)};
}

inline Box::Nodes nodes_of(const Range2 &n) { return {int(n.h0), int(n.h1), int(n.k0), int(n.k1)}; }
inline Box box_of(const Extent &x, const DenseLayout &layout) {
  Box box{{},
          int(layout.h0),
          int(layout.h0 + layout.columns),
          int(layout.k0),
          int(layout.k0 + layout.rows),
          around(x.x, 2),
          around(x.y, 2)};
  for (Class c : {r1, r2, b1, b2}) box.nodes[c] = nodes_of(x.nodes_of(c));
  return box;
}
inline NaturalBox natural_box(const Extent &x) {
  return {int(x.x.lo), int(x.y.lo), int(x.x.hi - x.x.lo), int(x.y.hi - x.y.lo)};
}

inline DenseNext dense_next(const Extent &x, const NextGrid &next) {
  return {arrays(next.split), around(x.x, 2), around(x.y, 2)};
}
inline NaturalNext natural_next(const Extent &x, const NextGrid &next) {
  return {&next.natural.at(next.extent.x.lo, next.extent.y.lo), natural_box(next.extent), around(x.x, 2),
          around(x.y, 2)};
}

inline int blocks_across(int box_columns) { return ((box_columns + columns - 1) / columns + warps - 1) / warps; }

// Launches a kernel that sweeps a box. last(blocks): the kernel's last argument
template <class T, class Kernel, class X, class Next, class Last>
void launch_sweep(const Cuda &on, Kernel *kernel, bool overlap, const FactorFields<DenseFieldOf<T>> &factor,
                  const Box &box, const X &x, const Dense &b1_after, const Next &next, const Last &last) {
  const int across = blocks_across(box.h1 - box.h0), along = box.k1 - box.k0,
            rows = cuda::rows_of_part(across, along, cuda::resident_blocks(kernel, 32 * warps), most_rows, 0.5);
  const auto w = arrays(factor.w[0].q);
  const dim3 blocks(across, (along + rows - 1) / rows);
  cuda::launch("a sweep", kernel, overlap, blocks, 32 * warps, 0, on.stream, Arrays<const T>{w.p, w.size, w.pitch}, box,
               x, Arrays<double>{b1_after.p, 0, int(b1_after.pitch)}, next, rows, last(int(blocks.x * blocks.y)));
}

} // namespace device

} // namespace petscrrb::rrb
