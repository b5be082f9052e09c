// The colours of blocks: blocks of one colour are not coupled.
#pragma once

#include "pc/blockrelax/core/patches.hpp"

#include <stdexcept>
#include <string>

namespace petscrrb::blockrelax {

// Along a side colours alternate; around a periodic one with an odd number of blocks the last has a colour of its own.
// Where corners are not coupled, the sum of a block's three colours is enough; otherwise each triple is one.
struct Colours {
  int count;
  bool sum;
  int side[3];
  bool periodic[3];

  int of(const Patch &p, const Cut &cut, PetscInt block) const {
    int c[3];
    for (int d = 0; d < 3; ++d) {
      const PetscInt blocks = cut.blocks(p, d), at = block % blocks;
      block /= blocks;
      c[d] = periodic[d] && blocks > 1 && blocks % 2 == 1 && at == blocks - 1 ? 2 : static_cast<int>(at % 2);
    }
    return sum ? (c[0] + c[1] + c[2]) % count : c[0] + side[0] * (c[1] + side[1] * c[2]);
  }
};

// Of as many colours as are wanted, or fewer if that is no use; 0: as few as will do. Throws std::invalid_argument where
// more are needed.
inline Colours colours_of(const std::vector<Patch> &patches, const Cut &cut, int points, const bool periodic[3],
                          int wanted) {
  Colours c{1, false, {1, 1, 1}, {periodic[0], periodic[1], periodic[2]}};
  for (const Patch &p : patches)
    for (int d = 0; d < 3; ++d) {
      const PetscInt blocks = cut.blocks(p, d);
      c.side[d] = std::max(c.side[d], blocks == 1 ? 1 : periodic[d] && blocks % 2 == 1 ? 3 : 2);
    }
  c.count = c.side[0] * c.side[1] * c.side[2];
  const int least = points == 5 || points == 7 ? std::max({c.side[0], c.side[1], c.side[2]}) : c.count;
  if (wanted != 0 && wanted < least)
    throw std::invalid_argument("blocks take " + std::to_string(least) + " colours, not " + std::to_string(wanted));
  c.sum = least < c.count && wanted < c.count;
  if (c.sum) c.count = least;
  return c;
}

inline int least_colours(const std::vector<Patch> &patches, const Cut &cut, int points, const bool periodic[3]) {
  return colours_of(patches, cut, points, periodic, 0).count;
}

} // namespace petscrrb::blockrelax
