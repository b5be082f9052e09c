// The order of a device's wavefronts: which direction is marched along, and how large tiles are.
#pragma once

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

} // namespace petscrrb::mic::device
