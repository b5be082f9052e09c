// The order of a device's wavefronts: which direction is marched along, and how large tiles are.
#pragma once

#include "grid/read_couplings.hpp"
#include "mic.hpp"
#include "order.hpp"

#include <limits>

namespace petscrrb::mic::device {

// Measured on an H200, in steps of a column: what it takes a tile to hand values on beyond its own steps, and how much longer
// a step takes where right-hand side and result are not read and written along lines of memory.
constexpr double hop = 20, across_lines = 3;

// Steps that a sweep takes: the longest chain of tiles that wait for one another, and what the processors have to do.
inline double steps_of(const Order &o, int processors) {
  const double chain = (o.tiles[0] - 1) * (o.tp + hop) + (o.tiles[1] - 1) * (o.tq + hop) + o.rows;
  const double work = double(o.columns()) * double(o.blocks) * o.rows / processors;
  return chain + work * (o.axis[0] == 0 ? 1 : across_lines);
}

// Tiles of one warp in 2D, of 16 x 16 points in 3D, or of half as many where there are too few tiles for all processors.
inline Order device_order(const Grid &g, const Options &options, int processors) {
  const int axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};
  const bool flat = g.n[0] == 1 || g.n[1] == 1 || g.n[2] == 1;
  Order best{};
  double least = std::numeric_limits<double>::infinity();
  for (const auto &axis : axes)
    for (const int tq : {16, 8}) {
      if (flat && g.n[axis[1]] != 1) continue; // nothing is handed on along j there
      const Order o = flat ? make_order(g, options.block_lines, axis, 32, 1, false)
                           : make_order(g, options.block_lines, axis, 16, tq, false);
      if (tq == 16 && !flat && double(o.columns()) * double(o.blocks) < 0.75 * processors) continue;
      const double steps = steps_of(o, processors) * (tq == 16 ? 1 : 1.01);
      if (steps < least) least = steps, best = o;
    }
  return best;
}

// The row whose values lie at `at` of an order of tiles of so many points; -1 where there is none.
template <int tile> PETSCRRB_HD index_t row_at(const Order &o, index_t at) {
  const auto chunk = static_cast<unsigned>(at / tile), column = chunk / unsigned(o.rows);
  const PetscInt t = static_cast<PetscInt>(at % tile), i = t % o.tp, j = t / o.tp;
  const PetscInt block = column / unsigned(o.columns()), across = column % unsigned(o.columns());
  const PetscInt c[3] = {across % o.tiles[0] * o.tp + i, across / o.tiles[0] * o.tq + j,
                         PetscInt(chunk % unsigned(o.rows)) - i - j};
  index_t row = o.block_origin(block);
  for (int d = 0; d < 3; ++d) {
    if (c[d] < 0 || c[d] >= o.points(block, d)) return -1;
    row += c[d] * o.stride[d];
  }
  return row;
}

// f(row) in the order, so that what it writes goes to memory side by side.
template <int tile, class F> struct InOrder {
  Order order;
  F f;

  PETSCRRB_HD RowFinding operator()(index_t at) const {
    const index_t row = row_at<tile>(order, at);
    return row < 0 ? RowFinding() : f(static_cast<PetscInt>(row));
  }
};
template <int tile, class F> PETSCRRB_HD index_t row_of(const InOrder<tile, F> &f, index_t at) { return row_at<tile>(f.order, at); }

} // namespace petscrrb::mic::device
