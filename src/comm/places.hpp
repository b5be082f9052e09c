// Places in an array, one after the other.
#pragma once

#include "exec/range.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace petscrrb::rrb {

// In runs of equal steps: a side of a box has a few, however long it is.
class Places {
public:
  struct Run {
    index_t first, step, count;

    index_t last() const { return first + step * (count - 1); }
  };

  Places() = default;
  explicit Places(const std::vector<index_t> &places) {
    for (const index_t place : places) push_back(place);
  }

  void push_back(index_t place) {
    ++size_;
    if (runs_.empty()) return runs_.push_back({place, 0, 1});
    Run &run = runs_.back();
    if (run.count == 1) run.step = place - run.first;
    if (place == run.last() + run.step)
      ++run.count;
    else
      runs_.push_back({place, 0, 1});
  }
  void append(const Run &run) {
    runs_.push_back(run);
    size_ += std::size_t(run.count);
  }
  void append(const Places &places) {
    runs_.insert(runs_.end(), places.runs_.begin(), places.runs_.end());
    size_ += places.size_;
  }
  // So many times: all of them, then all of them so much further on, and so forth.
  void repeat(int times, index_t further) {
    const Places once = *this;
    for (int i = 1; i < times; ++i) {
      Places next = once;
      next.move(i * further);
      append(next);
    }
  }
  void move(index_t by) {
    for (Run &run : runs_) run.first += by;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const std::vector<Run> &runs() const { return runs_; }
  // -1 of none
  index_t largest() const {
    index_t largest = -1;
    for (const Run &run : runs_) largest = std::max({largest, run.first, run.last()});
    return largest;
  }
  std::vector<index_t> listed() const {
    std::vector<index_t> places;
    places.reserve(size_);
    for (const Run &run : runs_)
      for (index_t i = 0; i < run.count; ++i) places.push_back(run.first + i * run.step);
    return places;
  }

private:
  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

inline Places joined(Places a, const Places &b) {
  a.append(b);
  return a;
}

} // namespace petscrrb::rrb
