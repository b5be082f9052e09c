// A block's own rows, cell by cell, for kernels and for a test of them on the host.
#pragma once

#include "pc/blockrelax/core/blocks.hpp"

#if defined(__CUDACC__)
  #define PETSCRRB_DEVICE __device__
#else
  #define PETSCRRB_DEVICE
#endif

namespace petscrrb::blockrelax {

// Without links: of blocks that none leads back to.
struct BlockMatrix {
  static constexpr int most = most_neighbours; // couplings of a cell, in one direction
  const DeviceBlock &block;
  const Neighbours &near;
  const DeviceValues &values;

  PETSCRRB_DEVICE double diagonal(int cell) const {
    if (values.constant) return values.diagonal;
    const double d = values.diagonals[Place(block, cell).row];
    return d == 0 ? 1 : d; // zero: of an identity row
  }
  // f(other cell, a): cells before this one, and cells behind it
  template <class F> PETSCRRB_DEVICE void back(int cell, const F &f) const {
    const Place at(block, cell);
    for (int m = 0; m < near.count; ++m) {
      const Step s = near.step[m];
      if (at.inside(block, -s.x, -s.y, -s.z))
        f(cell - offset(block.n, s),
          values.constant ? values.ahead[m]
                          : values.aheads[m][at.row - index_t(s.z) * block.plane - index_t(s.y) * block.line - s.x]);
    }
  }
  template <class F> PETSCRRB_DEVICE void ahead(int cell, const F &f) const {
    const Place at(block, cell);
    for (int m = 0; m < near.count; ++m) {
      const Step s = near.step[m];
      if (at.inside(block, s.x, s.y, s.z))
        f(cell + offset(block.n, s), values.constant ? values.ahead[m] : values.aheads[m][at.row]);
    }
  }

private:
  struct Place {
    int i, j, k;
    index_t row;

    PETSCRRB_DEVICE Place(const DeviceBlock &b, int cell)
        : i(cell % b.n[0]), j(cell / b.n[0] % b.n[1]), k(cell / b.n[0] / b.n[1]),
          row(b.first + index_t(k) * b.plane + index_t(j) * b.line + i) {}
    PETSCRRB_DEVICE bool inside(const DeviceBlock &b, int x, int y, int z) const {
      return i + x >= 0 && i + x < b.n[0] && j + y >= 0 && j + y < b.n[1] && k + z >= 0 && k + z < b.n[2];
    }
  };
};

} // namespace petscrrb::blockrelax
