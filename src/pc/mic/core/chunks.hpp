// How the values of a factor lie on a device.
#pragma once

#include "pc/mic/core/order.hpp"

namespace petscrrb::mic::device {

// The values for one step of a column of tiles lie together: pairs of w along i and j (in 2D: w along i), w along the march,
// 1/d.
template <int points, bool flat> struct Chunk {
  static constexpr int across = flat ? 1 : 2; // couplings across the tile
  static constexpr int along = across * points, inverse = along + points, size = inverse + points;
};

// Where they lie: the order's values, chunk by chunk.
template <class T, int points, bool flat> struct Chunks {
  using Real = T;
  using Layout = Chunk<points, flat>;

  T *values;
  int direction[3]; // of the order (0 and 1 across the tile, 2 the march), by the natural one

  PETSCRRB_HD index_t place(index_t at, int part, int stride) const {
    return at / points * Layout::size + part + at % points * stride;
  }
  PETSCRRB_HD T &inverse(index_t at) const { return values[place(at, Layout::inverse, 1)]; }
  PETSCRRB_HD void put_coupling(int natural, index_t at, T a) const {
    const int d = direction[natural];
    if (d == 2)
      values[place(at, Layout::along, 1)] = a;
    else if (d < Layout::across)
      values[place(at, d, Layout::across)] = a;
  }
  PETSCRRB_HD void put_diagonal(index_t at, T d) const { inverse(at) = d; }
};

} // namespace petscrrb::mic::device
