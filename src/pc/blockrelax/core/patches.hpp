// Logically rectangular patches of unknowns, the blocks that they are cut into, and the neighbours that a cell is coupled with at
// 5, 7, 9 and 27 points: for host and device.
#pragma once

#include "exec/range.hpp"
#include "grid/lattice.hpp"

#include <petscsystypes.h>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace petscrrb::blockrelax {

// Unknown first + (k n[1] + j) n[0] + i sits at (i, j, k) of its patch.
struct Patch {
  PetscInt n[3];
  PetscInt first;

  PETSCRRB_HD PetscInt cells() const { return n[0] * n[1] * n[2]; }
};

// Patches that lie one after the other, and what their points couple with.
struct Domain {
  std::vector<Patch> patches;
  int points = 0;
  bool periodic[3] = {};

  PetscInt longest(int d) const { // of their sides
    PetscInt most = 1;
    for (const Patch &p : patches) most = std::max(most, p.n[d]);
    return most;
  }
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

// Number c among so many a side, x fastest.
template <class Int> struct Place {
  Int x, y, z;
  PETSCRRB_HD Place(Int c, const Int n[2]) : x(c % n[0]), y(c / n[0] % n[1]), z(c / n[0] / n[1]) {}
};

// Block b of a patch.
PETSCRRB_HD inline Block block_of(const Patch &p, const Cut &cut, PetscInt b) {
  const PetscInt count[2] = {cut.blocks(p, 0), cut.blocks(p, 1)};
  const Place<PetscInt> place(b, count);
  const PetscInt at[3] = {place.x, place.y, place.z};
  Block block{};
  for (int d = 0; d < 3; ++d) {
    block.first[d] = at[d] * cut.size[d];
    const PetscInt left = p.n[d] - block.first[d];
    block.n[d] = static_cast<int>(left < cut.size[d] ? left : cut.size[d]);
  }
  return block;
}

constexpr int most_neighbours = 13;

// Half of them, those that are ahead in natural order; the others are opposite.
struct Neighbours {
  int count = 0;
  Step step[most_neighbours] = {};
  int halo[3] = {}; // how far they are away along a side

  constexpr explicit Neighbours(int points) {
    const bool corners = points == 9 || points == 27, deep = points == 7 || points == 27;
    for (int z = 0; z <= deep; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) {
          const bool ahead = z > 0 || y > 0 || (y == 0 && x > 0);
          const bool wanted = corners || x * x + y * y + z == 1;
          if (ahead && wanted) step[count++] = {x, y, z};
        }
    halo[0] = halo[1] = 1;
    halo[2] = deep;
  }

  // The step, ahead or back, or -1.
  PETSCRRB_HD int find(Step s) const {
    for (int m = 0; m < count; ++m) {
      const Step t = step[m];
      if ((t.x == s.x && t.y == s.y && t.z == s.z) || (t.x == -s.x && t.y == -s.y && t.z == -s.z)) return m;
    }
    return -1;
  }
};

// Calls use() with the number of steps that are ahead at so many points, as a constant.
template <class Use> auto with_steps(int points, const Use &use) {
  switch (points) {
  case 5: return use(std::integral_constant<int, 2>());
  case 7: return use(std::integral_constant<int, 3>());
  case 9: return use(std::integral_constant<int, 4>());
  default: return use(std::integral_constant<int, 13>());
  }
}

// How far step s is in an array of such sides.
template <class Int> PETSCRRB_HD inline Int offset(const Int n[3], Step s) { return (s.z * n[1] + s.y) * n[0] + s.x; }

// What a row has within its patch. ahead: the means of a_pq and a_qp; none with identity rows
struct Couplings {
  double diagonal = 0, ahead[most_neighbours] = {};
};

} // namespace petscrrb::blockrelax
