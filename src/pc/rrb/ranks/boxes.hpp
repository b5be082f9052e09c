// The boxes that the points of a grid are dealt out in, and who has which point (docs/design_ranks.md).
#pragma once

#include "pc/rrb/core/views.hpp"

#include <algorithm>
#include <vector>

namespace petscrrb::rrb {

// Rank j * columns + i has the points x[i] <= a < x[i + 1], y[j] <= b < y[j + 1] of the finest grid; there may be none.
class Boxes {
public:
  Boxes(std::vector<index_t> x, std::vector<index_t> y, bool periodic_x, bool periodic_y)
      : x_(std::move(x)), y_(std::move(y)), periodic_{periodic_x, periodic_y} {}

  int count() const { return columns() * int(y_.size() - 1); }
  // of a rank, on grid g
  Extent extent(int rank, int g) const {
    const int i = rank % columns(), j = rank / columns();
    return on_grid({{x_[i], x_[i + 1], x_.back(), periodic_[0]}, {y_[j], y_[j + 1], y_.back(), periodic_[1]}}, g);
  }
  Extent all(int g) const { // of all ranks
    return on_grid({{0, x_.back(), x_.back(), periodic_[0]}, {0, y_.back(), y_.back(), periodic_[1]}}, g);
  }
  // who has the point (a, b) of grid g
  int owner(index_t a, index_t b, int g) const { return part(y_, b << g) * columns() + part(x_, a << g); }

private:
  int columns() const { return int(x_.size()) - 1; }
  static int part(const std::vector<index_t> &cuts, index_t a) {
    return int(std::upper_bound(cuts.begin(), cuts.end(), a) - cuts.begin()) - 1;
  }
  static Extent on_grid(Extent x, int g) {
    for (; g > 0; --g) x = x.coarser();
    return folded(x);
  }

  std::vector<index_t> x_, y_; // cuts
  bool periodic_[2];
};

} // namespace petscrrb::rrb
