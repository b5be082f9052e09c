// Blocks and a pass over them, as kernels see them.
#pragma once

#include "pc/blockrelax/core/layout.hpp"

namespace petscrrb::blockrelax {

struct DeviceBlock {
  index_t first;   // row of its first cell
  int line, plane; // rows from one line of its patch to the next, and from one plane to the next
  int n[3];
  unsigned sides; // bit 2 d: the patch goes on below it along d; bit 2 d + 1: above
  int number;     // in Layout
  int links;      // its place among the blocks with links, or -1
};

inline DeviceBlock device_block(const Layout &l, index_t number) {
  return l.at(number, [&](const Patch &p, const Block &block) {
    const PetscInt *f = block.first;
    DeviceBlock b{row_at(p, f[0], f[1], f[2]), int(p.n[0]), int(p.n[0] * p.n[1]), {}, 0, int(number), -1};
    for (int d = 0; d < 3; ++d) {
      b.n[d] = block.n[d];
      if (f[d] > 0) b.sides |= 1u << 2 * d;
      if (f[d] + block.n[d] < p.n[d]) b.sides |= 2u << 2 * d;
    }
    return b;
  });
}

// Couplings within patches.
struct DeviceValues {
  bool constant;
  double diagonal, ahead[most_neighbours]; // if constant
  // otherwise at each row; with the cell that is step m ahead, readable as far before row 0 as a step goes back
  const double *diagonals, *aheads[most_neighbours];
};

// Blocks that are relaxed in one launch: x += omega M^-1 (b - A x), from `from` to `to`, which are the same vector but for
// Jacobi.
struct Pass {
  const DeviceBlock *blocks;
  int count;
  const double *b, *from;
  double *to;
  double omega;
  bool zero; // `from` is zero, and is not read
  DeviceValues values;
  const double *link_sums; // of each block with links, most_cells each: what r loses at its cells in natural order
  int most_cells;          // Layout's
};

} // namespace petscrrb::blockrelax
