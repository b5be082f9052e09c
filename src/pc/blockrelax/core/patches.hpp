// Logically rectangular patches of unknowns, and the blocks that they are cut into: for host and device.
#pragma once

#include "exec/range.hpp"
#include "grid/grid.hpp"

#include <petscsystypes.h>

#include <algorithm>
#include <vector>

namespace petscrrb::blockrelax {

// Unknown first + (k n[1] + j) n[0] + i sits at (i, j, k) of its patch.
struct Patch {
  PetscInt n[3];
  PetscInt first;
};

// The blocks of a patch begin at multiples of the block size; those at its far sides are truncated.
struct Cut {
  int size[3]; // of a block that is not truncated

  PETSCRRB_HD PetscInt blocks(const Patch &p, int d) const { return (p.n[d] + size[d] - 1) / size[d]; }
  PETSCRRB_HD PetscInt blocks(const Patch &p) const { return blocks(p, 0) * blocks(p, 1) * blocks(p, 2); }
};

struct Block {
  PetscInt first[3]; // of its patch
  int n[3];

  PETSCRRB_HD int cells() const { return n[0] * n[1] * n[2]; }
};

// Block b of a patch, x fastest.
PETSCRRB_HD inline Block block_of(const Patch &p, const Cut &cut, PetscInt b) {
  const PetscInt count[2] = {cut.blocks(p, 0), cut.blocks(p, 1)};
  const PetscInt at[3] = {b % count[0], b / count[0] % count[1], b / count[0] / count[1]};
  Block block{};
  for (int d = 0; d < 3; ++d) {
    block.first[d] = at[d] * cut.size[d];
    const PetscInt left = p.n[d] - block.first[d];
    block.n[d] = static_cast<int>(left < cut.size[d] ? left : cut.size[d]);
  }
  return block;
}

} // namespace petscrrb::blockrelax
