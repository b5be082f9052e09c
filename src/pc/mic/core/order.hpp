// The order in which wavefronts meet the points of a grid, and the values of a factor lie in memory: for host and device.
#pragma once

#include "exec/range.hpp"
#include "grid/grid.hpp"

#include <petscsystypes.h>

#include <algorithm>

namespace petscrrb::mic {

// The grid is cut into blocks of lines of its last direction, a block into columns of tiles: a tile is tp x tq points
// across, and a column of them is marched through along the third direction. Step s of a column computes, at each point
// (i, j) of the tile, the point c = s - i - j along the march: all of them at once, since they lie on one hyperplane.
// Values lie column by column, step by step, the points of a tile side by side with i fastest. Where steps are taken modulo
// the length of the march, nothing is stored for the steps in which some points of a tile have not yet begun, or are done.
struct Order {
  int axis[3];           // the natural directions (0: x, 1: y, 2: z) of i, j and the march
  PetscInt n[3];         // points of a block along them; the last block may have fewer along `cut`
  index_t stride[3];     // between neighbours along them, in natural order
  int tp, tq;            // points of a tile
  PetscInt tiles[2];     // of a block, along i and j
  PetscInt rows;         // steps that are stored of a column: all, or the length of the march
  int cut;               // which of n[] the blocks cut: 0, 1 or 2
  PetscInt blocks, last; // how many there are; points of the last one along `cut`

  PETSCRRB_HD int tile_size() const { return tp * tq; }
  PETSCRRB_HD PetscInt columns() const { return tiles[0] * tiles[1]; } // of a block
  PETSCRRB_HD index_t block_size() const { return index_t(columns()) * rows * tile_size(); }
  PETSCRRB_HD index_t size() const { return blocks * block_size(); } // of an array of values
  PETSCRRB_HD PetscInt points(PetscInt block, int d) const { return d == cut && block == blocks - 1 ? last : n[d]; }
  PETSCRRB_HD index_t column_start(PetscInt block, PetscInt P, PetscInt Q) const {
    return block * block_size() + index_t(Q * tiles[0] + P) * rows * tile_size();
  }
  // natural index of a block's first point
  PETSCRRB_HD index_t block_origin(PetscInt block) const { return index_t(block) * n[cut] * stride[cut]; }

  // Where the values of the point at natural coordinates x lie.
  PETSCRRB_HD index_t at(const PetscInt x[3]) const {
    PetscInt c[3] = {x[axis[0]], x[axis[1]], x[axis[2]]};
    const PetscInt block = c[cut] / n[cut];
    c[cut] -= block * n[cut];
    const PetscInt P = c[0] / tp, Q = c[1] / tq, i = c[0] - P * tp, j = c[1] - Q * tq;
    const PetscInt step = (c[2] + i + j) % (rows == n[2] ? points(block, 2) : rows);
    return column_start(block, P, Q) + (index_t(step) * tile_size() + j * tp + i);
  }
  // Whether a coupling in natural direction d from a point with coordinate c along it stays inside of the grid and of the
  // point's block.
  PETSCRRB_HD bool kept(int d, PetscInt c, const PetscInt side[3]) const {
    return c + 1 < side[d] && (d != axis[cut] || (c + 1) % n[cut] != 0);
  }
};

// axis: a permutation of the directions; lines: as Options::block_lines; modulo: how steps are stored
inline Order make_order(const Grid &g, index_t lines, const int axis[3], int tp, int tq, bool modulo = true) {
  Order o{};
  const index_t stride[3] = {1, g.n[0], g.n[0] * g.n[1]};
  const int last = g.dim - 1;
  for (int a = 0; a < 3; ++a) {
    o.axis[a] = axis[a];
    o.n[a] = static_cast<PetscInt>(g.n[axis[a]]);
    o.stride[a] = stride[axis[a]];
    if (axis[a] == last) o.cut = a;
  }
  const PetscInt all = o.n[o.cut];
  if (lines > 0 && lines < all) o.n[o.cut] = static_cast<PetscInt>(lines);
  o.blocks = (all + o.n[o.cut] - 1) / o.n[o.cut];
  o.last = all - (o.blocks - 1) * o.n[o.cut];
  o.tp = tp;
  o.tq = tq;
  o.tiles[0] = (o.n[0] + tp - 1) / tp;
  o.tiles[1] = (o.n[1] + tq - 1) / tq;
  o.rows = o.n[2] + (modulo ? 0 : tp + tq - 2);
  return o;
}

} // namespace petscrrb::mic
