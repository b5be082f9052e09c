// What the kernels of an iteration share: a thread owns two neighbouring columns of nodes (h, h + 1), the two black ones of
// each row, and marches through some rows (k). Loads and stores are of pairs, values of the row before stay in registers,
// those of the columns beside come from the lanes beside, and those of the next row are on their way.
#pragma once

#include "exec/cuda/ahead.cuh"
#include "exec/cuda/sums.cuh"
#include "pc/rrb/cuda/sweep_kernels.cuh"
#include "ksp/rrb/core/schur_cg.hpp"

namespace petscrrb::rrbsolver::device {

using namespace rrb::device;

constexpr int threads = 128;
using Sum = cuda::BlockSum<threads>;
extern __shared__ char ahead_memory[];

// Arrays of one layout, one after the other.
struct Vector {
  Arrays<double> at; // b1, b2
  Around around_x, around_y;

  __device__ const double *b1_at(int h, int k) const { return at.at(0, around_x(h), around_y(k)); }
  __device__ const double *b2_at(int h, int k) const { return at.at(1, around_x(h), around_y(k)); }
};

// S1's arrays, in the order of SchurMatrix.
enum S1Array {
  X1,
  X2,
  E1,
  E2,
  N1,
  N2,
  skew,
  of_s1 = skew + 4
};

// A thread's two columns. Those past the end read the arrays' borders.
struct Columns {
  int h, k0, k1, lane;
  bool first, second; // inside
  bool any;           // of the warp is
  bool left, right;   // the column beside is of no lane of the warp, or of one past the end
  int beside_right;   // that column

  __device__ Columns(const Box &box, int rows) {
    h = box.h0 + 2 * (int(blockIdx.x) * threads + int(threadIdx.x));
    first = h < box.h1, second = h + 1 < box.h1;
    lane = int(threadIdx.x) % 32;
    any = h - 2 * lane < box.h1;
    left = lane == 0, right = first && (lane == 31 || h + 2 >= box.h1);
    beside_right = second ? h + 2 : h + 1;
    h = min(h, box.h0 + (box.h1 - box.h0 + 1) / 2 * 2);
    k0 = box.k0 + int(blockIdx.y) * rows;
    k1 = min(k0 + rows, box.k1);
  }
  // The same where the pairs of a warp's first and last lanes are those of other warps, and only read here: so that no
  // column beside is missing to the others. One lane on each side would do; two let warps begin where 32 bytes do, with
  // which loads and stores take a tenth less time.
  struct Shared {};
  static constexpr int per_warp = 56;
  __device__ Columns(const Box &box, int rows, Shared) {
    const int warp = (int(blockIdx.x) * threads + int(threadIdx.x)) / 32;
    lane = int(threadIdx.x) % 32;
    h = box.h0 + warp * per_warp + 2 * (lane - 2);
    const bool own = lane > 1 && lane < 30;
    first = own && h < box.h1, second = own && h + 1 < box.h1;
    any = box.h0 + warp * per_warp < box.h1;
    left = right = false, beside_right = 0;
    h = min(h, box.h0 + (box.h1 - box.h0 + 1) / 2 * 2);
    k0 = box.k0 + int(blockIdx.y) * rows;
    k1 = min(k0 + rows, box.k1);
  }
  // which of two neighbouring nodes are those of a class
  struct Two {
    bool first, second;
  };
  __device__ Two owned(const Box &box, Class c, int k) const { return in(box.nodes[c], k); }
  __device__ Two in(const Box::Nodes &nodes, int k) const {
    return {first && nodes.contain(h, k), second && nodes.contain(h + 1, k)};
  }
};

struct Pair {
  double x, y;
};
template <class Two> __device__ Pair pair_of(const Two &v) { return {v.x, v.y}; }
__device__ inline Pair pair(const double *p) { return pair_of(*reinterpret_cast<const double2 *>(p)); }
__device__ inline Pair pair(const float *p) { return pair_of(*reinterpret_cast<const float2 *>(p)); }
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
__device__ inline void put(double *to, const Pair &v, const Columns::Two &owned) {
  if (owned.first && owned.second)
    *reinterpret_cast<double2 *>(to) = make_double2(v.x, v.y);
  else if (owned.first)
    to[0] = v.x;
  else if (owned.second)
    to[1] = v.y;
}
// of the nodes that a class has
__device__ inline double sum(const Pair &v, const Columns::Two &owned) {
  return (owned.first ? v.x : 0.0) + (owned.second ? v.y : 0.0);
}

} // namespace petscrrb::rrbsolver::device
