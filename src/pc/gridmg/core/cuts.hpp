// How a grid is dealt out to ranks in boxes, and what it is to a box that it goes on beyond it (docs/design_ranks.md).
#pragma once

#include "pc/gridmg/core/layout.hpp"

#include <vector>

namespace petscrrb::gridmg {

// Rank rank_of({i, j, k}), of px, py and pz parts, has the points from cut i to cut i + 1 of x, and so on; none where these are
// one. Cuts go from 0 to the grid's points.
struct Cuts {
  std::array<std::vector<index_t>, 3> at;
  std::array<bool, 3> ring = {false, false, false};

  static Cuts uncut(const Shape &x) { return {{{{0, x.n[0]}, {0, x.n[1]}, {0, x.n[2]}}}, x.ring}; }

  int parts(int q) const { return int(at[q].size()) - 1; }
  int count() const { return parts(0) * parts(1) * parts(2); }
  std::array<int, 3> parts_of(int rank) const {
    return {rank % parts(0), rank / parts(0) % parts(1), rank / parts(0) / parts(1)};
  }
  int rank_of(const std::array<int, 3> &part) const { return (part[2] * parts(1) + part[1]) * parts(0) + part[0]; }
  index_t first(int rank, int q) const { return at[q][parts_of(rank)[q]]; }
  Sizes sizes(int rank) const {
    const auto part = parts_of(rank);
    Sizes n;
    for (int q = 0; q < 3; ++q) n[q] = at[q][part[q] + 1] - at[q][part[q]];
    return n;
  }
  Shape whole() const { return {{at[0].back(), at[1].back(), at[2].back()}, ring}; }
  // Whether one part has all points of a direction.
  bool is_whole(int q) const {
    for (int i = 0; i < parts(q); ++i)
      if (at[q][i + 1] - at[q][i] == at[q].back()) return true;
    return false;
  }
  Shape box(int rank) const {
    Shape x;
    x.n = sizes(rank);
    for (int q = 0; q < 3; ++q) {
      const index_t here = first(rank, q);
      x.ring[q] = ring[q] && is_whole(q);
      x.more_before[q] = !is_whole(q) && (ring[q] || here > 0);
      x.more_after[q] = !is_whole(q) && (ring[q] || here + x.n[q] < at[q].back());
    }
    return x;
  }
  // The part that has point i of direction q.
  int part_with(int q, index_t i) const {
    return int(std::upper_bound(at[q].begin(), at[q].end(), i) - at[q].begin()) - 1;
  }

  // Whether all boxes begin with points that are even in every direction, have coarse points of their own, and rings that are cut
  // have an even number: then boxes are coarsened each by itself, and their colours are the grid's.
  bool even() const {
    for (int q = 0; q < 3; ++q) {
      if (is_whole(q)) continue;
      for (int i = 0; i < parts(q); ++i) {
        const index_t first = at[q][i], end = at[q][i + 1];
        if (end > first && (first % 2 || end - first < 2)) return false;
      }
      if (ring[q] && at[q].back() % 2) return false;
    }
    return true;
  }
  // after one step of coarsening in direction q; pairs: one more where the last point is by itself
  Cuts coarser(int q, bool pairs = false) const {
    Cuts c = *this;
    for (index_t &cut : c.at[q]) cut = ring[q] || pairs ? (cut + 1) / 2 : cut / 2;
    return c;
  }
  bool operator==(const Cuts &o) const { return at == o.at && ring == o.ring; }
};

} // namespace petscrrb::gridmg
