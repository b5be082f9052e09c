// Blocks, their rows and a pass over them, as kernels see them; and tests of these on the host.
#pragma once

#include "pc/blockrelax/core/layout.hpp"

#if defined(__CUDACC__)
  #define PETSCRRB_DEVICE __device__
#else
  #define PETSCRRB_DEVICE
#endif

namespace petscrrb::blockrelax {

struct DeviceBlock {
  index_t first;   // row of its first cell
  int line, plane; // rows from one line of its patch to the next, and from one plane to the next
  int n[3];
  unsigned sides; // bit 2 d: the patch goes on below it along d; bit 2 d + 1: above
  int number;     // in Layout
  int links;      // its place among the blocks with links, or -1

  PETSCRRB_DEVICE int cells() const { return n[0] * n[1] * n[2]; }
  PETSCRRB_DEVICE index_t row(int i, int j, int k) const { return first + index_t(k) * plane + index_t(j) * line + i; }
  PETSCRRB_DEVICE index_t row(int cell) const {
    const Place<int> at(cell, n);
    return row(at.x, at.y, at.z);
  }
  // rows from a cell to the one that is a step ahead
  PETSCRRB_DEVICE index_t far(Step s) const { return index_t(s.z) * plane + index_t(s.y) * line + s.x; }
  // Whether the patch goes on beyond this end of a side; up: the end above.
  PETSCRRB_DEVICE bool goes_on(int d, bool up) const { return sides >> (2 * d + up) & 1; }
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
  Couplings common; // of all cells, if constant
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
  bool deep; // cells couple along z
  DeviceValues values;
  const double *link_sums; // of each block with links, most_cells each: what r loses at its cells in natural order
  int most_cells;          // Layout's
};

// Without links: of blocks that none leads back to.
struct BlockMatrix {
  static constexpr int most = most_neighbours; // couplings of a cell, in one direction
  const DeviceBlock &block;
  const Neighbours &near;
  const DeviceValues &values;

  PETSCRRB_DEVICE double diagonal(int cell) const {
    if (values.constant) return values.common.diagonal;
    const double d = values.diagonals[block.row(cell)];
    return d == 0 ? 1 : d; // zero: of an identity row
  }
  // f(other cell, a): cells before this one, and cells behind it
  template <class F> PETSCRRB_DEVICE void back(int cell, const F &f) const {
    const Place<int> at(cell, block.n);
    const index_t row = block.row(at.x, at.y, at.z);
    for (int m = 0; m < near.count; ++m) {
      const Step s = near.step[m];
      if (inside(at, -s.x, -s.y, -s.z))
        f(cell - offset(block.n, s), values.constant ? values.common.ahead[m] : values.aheads[m][row - block.far(s)]);
    }
  }
  template <class F> PETSCRRB_DEVICE void ahead(int cell, const F &f) const {
    const Place<int> at(cell, block.n);
    const index_t row = block.row(at.x, at.y, at.z);
    for (int m = 0; m < near.count; ++m) {
      const Step s = near.step[m];
      if (inside(at, s.x, s.y, s.z))
        f(cell + offset(block.n, s), values.constant ? values.common.ahead[m] : values.aheads[m][row]);
    }
  }

private:
  // whether the cell that is so far away belongs to the block
  PETSCRRB_DEVICE bool inside(const Place<int> &at, int x, int y, int z) const {
    const int *n = block.n;
    return at.x + x >= 0 && at.x + x < n[0] && at.y + y >= 0 && at.y + y < n[1] && at.z + z >= 0 && at.z + z < n[2];
  }
};

} // namespace petscrrb::blockrelax
