// What a sweep on a device works on, and how it is cut: columns of tiles, each marched through by a block of threads.
#pragma once

#include "pc/mic/core/chunks.hpp"
#include "pc/mic/cuda/mail.cuh"
#include "pc/mic/core/pivot.hpp"

namespace petscrrb::mic::device {

// What kernels find out about a factor: counts of pivots, and the first bad one as all ones less its row; and the couplings
// of the first point, along the natural directions.
template <class T> struct FactorFindings {
  unsigned long long bad, null_rows, shifted;
  T common[3];
};

// What a sweep works on. Directions are those of the order: 0 and 1 across the tiles, 2 the march.
template <class T> struct Sweep {
  Order order;
  T *factor;          // in chunks, in the order
  double constant[3]; // couplings, where all of a direction are alike
  double *u;          // in the order; those of several right-hand sides one after the other
  const double *r;    // in natural order
  double *z;          // in natural order
  index_t r_stride, z_stride;
  int sides;         // right-hand sides
  const int2 *tiles; // the columns of a block, each after those that it waits for
  Message *mail[2];  // along i: tq messages a step, along j: tp
  unsigned sweep;    // the number of its messages
  unsigned *ticket, first_ticket;
  cuda::Watch *watch; // over the waits for messages
  PivotRule rule;     // of a factorization
  FactorFindings<T> *found;
};

template <int tp, int tq> struct TileShape {
  static constexpr int points = tp * tq, lag = tp + tq - 2;
  static constexpr bool flat = tq == 1; // in 2D; there are no neighbours along j
};

// One column of tiles.
struct Column {
  PetscInt block, P, Q;
  int side;            // which right-hand side
  int points[3];       // of the block
  index_t start;       // of its values in an array
  int last_row;        // the step of the last point
  bool outside;        // of the grid: there is nothing to do
  bool from[2], to[2]; // whether there are columns before it and after it
};

// The next column that no one has taken, so that whoever waits does so for one that is done or under way.
template <class Work, int tp, int tq, class T> __device__ Column take_column(const Sweep<T> &s) {
  __shared__ int3 ticket;
  const int alike = int(s.order.blocks) * s.sides;
  if (threadIdx.x == 0) {
    const int number = int(atomicAdd(s.ticket, 1u) - s.first_ticket);
    const int2 tile = s.tiles[number / alike];
    ticket = {tile.x, tile.y, number % alike};
  }
  __syncthreads();
  Column c;
  c.P = Work::backward ? s.order.tiles[0] - 1 - ticket.x : ticket.x;
  c.Q = Work::backward ? s.order.tiles[1] - 1 - ticket.y : ticket.y;
  c.block = ticket.z / s.sides;
  c.side = ticket.z % s.sides;
  for (int d = 0; d < 3; ++d) c.points[d] = int(s.order.points(c.block, d));
  c.outside = c.P * tp >= c.points[0] || c.Q * tq >= c.points[1]; // the last block may have fewer points
  c.start = s.order.column_start(c.block, c.P, c.Q);
  c.last_row = c.points[2] + TileShape<tp, tq>::lag - 1;
  const bool before[2] = {c.P > 0, c.Q > 0};
  const bool after[2] = {(c.P + 1) * tp < c.points[0], (c.Q + 1) * tq < c.points[1]};
  for (int d = 0; d < 2; ++d) {
    c.from[d] = Work::backward ? after[d] : before[d];
    c.to[d] = Work::backward ? before[d] : after[d];
  }
  return c;
}

// The messages to a column along direction d, of the step at which its first point begins. A tile sends in every step, and the
// first and the last steps are of no use to its neighbour: there is room for them before and after.
template <int tp, int tq> struct Mail {
  static constexpr int width(int d) { return d == 0 ? tq : tp; }
  static constexpr int early(int d) { return (d == 0 ? tp : tq) - 1; }
  static PETSCRRB_HD index_t steps(const Order &o, int d) { return early(d) + index_t(o.n[2]) + width(d) + spare; }
  // of all blocks of a right-hand side
  static PETSCRRB_HD index_t size(const Order &o, int d) { return o.blocks * o.columns() * steps(o, d) * width(d); }

  template <class T> static __device__ Message *to(const Sweep<T> &s, const Column &c, PetscInt P, PetscInt Q, int d) {
    const index_t column = (index_t(c.side) * s.order.blocks + c.block) * s.order.columns() + Q * s.order.tiles[0] + P;
    return (d == 0 ? s.mail[0] : s.mail[1]) + (column * steps(s.order, d) + early(d)) * width(d);
  }

private:
  static constexpr int spare = 8; // marches are in whole parts of a loop
};

} // namespace petscrrb::mic::device
