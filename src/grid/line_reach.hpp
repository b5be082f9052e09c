// Where the neighbours of points stand, for points in the order of their lines: a reach is made when the line changes.
#pragma once

#include "grid/reach.hpp"

namespace petscrrb {

class LineReach {
public:
  explicit LineReach(const Grid &grid) : g_(grid), begin_(-grid.n[0]) {}

  // of the point with this place in the natural order
  const Reach &operator()(index_t place) {
    if (place < begin_ || place >= begin_ + g_.n[0]) begin_line(place / g_.n[0]);
    at_[0] = place - begin_;
    return at_[0] == 0 ? first_ : at_[0] == g_.n[0] - 1 ? last_ : inner_;
  }
  // whether that point is the first or the last one along a side
  bool at_start(int side) const { return at_[side] == 0; }
  bool at_end(int side) const { return at_[side] == g_.n[side] - 1; }

private:
  void begin_line(index_t line) {
    begin_ = line * g_.n[0];
    at_[1] = line % g_.n[1], at_[2] = line / g_.n[1];
    first_ = reach(g_, 0, at_[1], at_[2]);
    last_ = reach(g_, g_.n[0] - 1, at_[1], at_[2]);
    inner_ = g_.n[0] > 2 ? reach(g_, 1, at_[1], at_[2]) : first_;
  }

  Grid g_;
  index_t begin_, at_[3] = {}; // begin_: the place of the line's first point
  Reach first_{}, inner_{}, last_{};
};

} // namespace petscrrb
