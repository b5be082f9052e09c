// What a sweep on a device works on, and how it is cut: columns of tiles, each marched through by a block of threads, between
// which values pass.
#pragma once

#include "pc/mic/core/order.hpp"
#include "pc/mic/core/point.hpp"
#include "pc/mic/cuda/mail.cuh"

namespace petscrrb::mic::device {

// The points of a tile, across.
template <int p, int q> struct TileShape {
  static constexpr int tp = p, tq = q, points = tp * tq, lag = tp + tq - 2;
  static constexpr bool flat = tq == 1; // in 2D; there are no neighbours along j
};

// The values for one step of a column of tiles lie together: pairs of w along i and j (in 2D: w along i), w along the march,
// 1/d.
template <class Tile> struct Chunk {
  static constexpr int across = Tile::flat ? 1 : 2; // couplings across the tile
  static constexpr int along = across * Tile::points, inverse = along + Tile::points, size = inverse + Tile::points;
};

// Where all of them lie, for loops over rows: those are compiled once for tiles of any shape.
template <class T> struct Chunks {
  using Real = T;
  struct Part {
    int first, apart; // of a chunk's values; first: -1 if it has none of these
  };

  T *values;
  int log_points, size; // of a chunk
  Part coupling[3];     // along the natural directions
  Part inverse_part;

  template <class Tile> static Chunks of(const Order &o, T *values) {
    using Layout = Chunk<Tile>;
    Chunks c{values, 0, Layout::size, {}, {Layout::inverse, 1}};
    while (1 << c.log_points < Tile::points) ++c.log_points; // a power of two
    for (int d = 0; d < 2; ++d) c.coupling[o.axis[d]] = {d < Layout::across ? d : -1, Layout::across};
    c.coupling[o.axis[2]] = {Layout::along, 1};
    return c;
  }

  PETSCRRB_HD T &at_part(const Part &p, index_t at) const {
    const int point = int(at) & ((1 << log_points) - 1);
    return values[(at >> log_points) * size + (p.first + p.apart * point)];
  }
  PETSCRRB_HD T &inverse(index_t at) const { return at_part(inverse_part, at); }
  PETSCRRB_HD void put_coupling(int natural, index_t at, T a) const {
    if (coupling[natural].first >= 0) at_part(coupling[natural], at) = a;
  }
  PETSCRRB_HD void put_diagonal(index_t at, T d) const { inverse(at) = d; }
};

// What kernels find out about a factor: counts of pivots, and the first bad one as all ones less its row; and the couplings
// of the first point, along the natural directions.
template <class T> struct FactorFindings {
  unsigned long long bad, null_rows, shifted;
  T common[3];
};

// What the sweeps of one kind know of one another, on the device alone: a graph may repeat them.
struct Turns {
  unsigned ticket; // columns that are taken
  unsigned looked; // blocks that have seen `sweeps`
  unsigned sweeps; // that are over
};
enum Kind : unsigned {
  going_forward,
  going_backward,
  factorizing,
  kinds
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
  int sides;          // right-hand sides
  const int2 *tiles;  // the columns of a block, each after those that it waits for
  Message *mail[2];   // along i: tq messages a step, along j: tp
  Turns *turns;       // of each kind
  double *energy;     // for terms of (r, z) of one right-hand side, or NULL
  cuda::Watch *watch; // over the waits for messages
  PivotRule rule;     // of a factorization
  FactorFindings<T> *found;
};

// One column of tiles.
struct Column {
  PetscInt block, P, Q;
  int side;            // which right-hand side
  unsigned sweep;      // the number of this sweep's messages
  int points[3];       // of the block
  index_t start;       // of its values in an array
  int last_row;        // the step of the last point
  bool outside;        // of the grid: there is nothing to do
  bool from[2], to[2]; // whether there are columns before it and after it
};

// The number of the messages of this sweep, which no other one has: the last block to look says that it is over. By one thread of each
// block.
template <class Work> __device__ unsigned number_of_sweep(Turns &turns) {
  const unsigned sweeps = *static_cast<volatile unsigned *>(&turns.sweeps);
  __threadfence();
  if (atomicInc(&turns.looked, gridDim.x - 1) == gridDim.x - 1) atomicAdd(&turns.sweeps, 1u);
  return kinds * sweeps + Work::kind + 1;
}

// The next column that no one has taken, so that whoever waits does so for one that is done or under way.
template <class Work> __device__ Column take_column(const Sweep<typename Work::T> &s) {
  using Tile = typename Work::Tile;
  __shared__ int3 ticket;
  __shared__ unsigned sweep;
  const int alike = int(s.order.blocks) * s.sides;
  if (threadIdx.x == 0) {
    Turns &turns = s.turns[Work::kind];
    const int number = int(atomicInc(&turns.ticket, gridDim.x - 1)); // 0 again after the last one
    const int2 tile = s.tiles[number / alike];
    ticket = {tile.x, tile.y, number % alike};
    sweep = number_of_sweep<Work>(turns);
  }
  __syncthreads();
  Column c;
  c.sweep = sweep;
  c.P = Work::backward ? s.order.tiles[0] - 1 - ticket.x : ticket.x;
  c.Q = Work::backward ? s.order.tiles[1] - 1 - ticket.y : ticket.y;
  c.block = ticket.z / s.sides;
  c.side = ticket.z % s.sides;
  for (int d = 0; d < 3; ++d) c.points[d] = int(s.order.points(c.block, d));
  c.outside = c.P * Tile::tp >= c.points[0] || c.Q * Tile::tq >= c.points[1]; // the last block may have fewer points
  c.start = s.order.column_start(c.block, c.P, c.Q);
  c.last_row = c.points[2] + Tile::lag - 1;
  const bool before[2] = {c.P > 0, c.Q > 0};
  const bool after[2] = {(c.P + 1) * Tile::tp < c.points[0], (c.Q + 1) * Tile::tq < c.points[1]};
  for (int d = 0; d < 2; ++d) {
    c.from[d] = Work::backward ? after[d] : before[d];
    c.to[d] = Work::backward ? before[d] : after[d];
  }
  return c;
}

// The messages to a column along direction d, of the step at which its first point begins. A tile sends in every step, and the
// first and the last steps are of no use to its neighbour: there is room for them before and after.
template <class Tile> struct Mail {
  static constexpr int width(int d) { return d == 0 ? Tile::tq : Tile::tp; }
  static constexpr int early(int d) { return (d == 0 ? Tile::tp : Tile::tq) - 1; }
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

// Steps of the unrolled loop; groups of steps in which values come from other tiles, which some warps of a block wait for by
// turns: a look into the device's cache takes as long as several steps, and one goes by between two groups of a warp.
constexpr int unrolled = 8, group = 4, receivers = 4;
constexpr int ahead = 16; // steps whose values are on their way from memory
static_assert(receivers * group % unrolled == 0, "turns of the loop have their receivers by turns");

// The threads of a block: those that compute, a point of the tile each; then warps that receive groups of steps, by turns: one
// for what other tiles hand on and for the factor, one for layers of a right-hand side; and one that sends.
template <class Work> struct Crew {
  static constexpr int points = Work::Tile::points, team = Work::reads_natural ? 2 : 1,
                       count = points + 32 * receivers * team + 32;
  static constexpr int at_step = points + 32, at_group = at_step + 32 * team; // that meet at barriers
};

// The values that pass between the points of a tile, of this step and of the next one; and those from other tiles, of some
// steps: along i for each j, then along j for each i.
template <class Tile> struct Exchange {
  static constexpr bool flat = Tile::flat;
  static constexpr int tp = Tile::tp, tq = Tile::tq;
  static constexpr int kept = 2 * receivers * group;
  double p[2][tq][tp], q[flat ? 1 : 2][flat ? 1 : tq][tp], halo[kept][32];

  static constexpr int p_step = sizeof(double) * tq * tp, q_step = flat ? 0 : p_step;
};

} // namespace petscrrb::mic::device
