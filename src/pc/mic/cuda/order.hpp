// The order of a device's wavefronts: which direction is marched along, and how large tiles are.
#pragma once

#include "stencil/read_couplings.hpp"
#include "pc/mic/core/mic.hpp"
#include "pc/mic/core/order.hpp"

#include <limits>

namespace petscrrb::mic::device {

// Measured on an H200, in steps of a column: what it takes a tile to hand values on beyond its own steps, and how much longer
// a step takes where right-hand side and result are not read and written along lines of memory.
constexpr double hop = 14, across_lines = 3;

// Steps that a sweep takes: the longest chain of tiles that wait for one another, and what the processors have to do.
inline double steps_of(const Order &o, int processors) {
  const double chain = (o.tiles[0] - 1) * (o.tp + hop) + (o.tiles[1] - 1) * (o.tq + hop) + o.rows;
  const double work = double(o.columns()) * double(o.blocks) * o.rows / processors;
  return chain + work * (o.axis[0] == 0 ? 1 : across_lines);
}

struct Tile {
  int p, q;
};

// Nothing is handed on along one direction: tiles are lines of as many points as a warp has lanes.
inline bool is_flat(const Grid &g) { return g.n[0] == 1 || g.n[1] == 1 || g.n[2] == 1; }

inline Order device_order(const Grid &g, const Options &options, int processors, Tile tile = {16, 8}) {
  const int axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};
  const bool flat = is_flat(g);
  if (flat) tile = {32, 1};
  Order best{};
  double least = std::numeric_limits<double>::infinity();
  for (const auto &axis : axes) {
    if (flat && g.n[axis[1]] != 1) continue;
    const Order o = make_order(g, options.block_lines, axis, tile.p, tile.q, false);
    const double steps = steps_of(o, processors);
    if (steps < least) least = steps, best = o;
  }
  return best;
}

// Rows as a device reads them: tile by tile and layer by layer, so that parts of rows are read side by side, and what is written
// of a sector comes at nearly the same time. index: up to rows_to_read(); -1 where there is no point.
PETSCRRB_HD inline index_t row_to_read(const Order &o, index_t index) {
  const auto t = static_cast<int>(index % o.tile_size());
  const auto slice = static_cast<unsigned>(index / o.tile_size()), column = slice / unsigned(o.n[2]);
  const auto block = PetscInt(column / unsigned(o.columns())), tile = PetscInt(column % unsigned(o.columns()));
  const PetscInt c[3] = {tile % o.tiles[0] * o.tp + t % o.tp, tile / o.tiles[0] * o.tq + t / o.tp,
                         PetscInt(slice % unsigned(o.n[2]))};
  index_t row = o.block_origin(block);
  for (int d = 0; d < 3; ++d) {
    if (c[d] >= o.points(block, d)) return -1;
    row += c[d] * o.stride[d];
  }
  return row;
}
inline index_t rows_to_read(const Order &o) { return index_t(o.blocks) * o.columns() * o.n[2] * o.tile_size(); }

template <class F> struct InOrder {
  Order order;
  F f;

  PETSCRRB_HD RowFacts operator()(index_t index) const {
    const index_t row = row_to_read(order, index);
    return row < 0 ? RowFacts() : f(static_cast<PetscInt>(row));
  }
};

} // namespace petscrrb::mic::device
