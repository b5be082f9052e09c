// Who works on one node of a graph: alone, or several lanes of a device. They look up columns of one row in a table.
#pragma once

#include "pc/rrb/graph/graph.hpp"

#include <algorithm>
#include <vector>

namespace petscrrb::rrb {

// The slots of a table by hashing, of so many columns; a power of 2, twice as many at least.
struct Slots {
  int bits;

  PETSCRRB_HD static Slots of(node_t columns) {
    int bits = 3;
    while (node_t(1) << bits < 2 * columns) ++bits;
    return {bits};
  }
  PETSCRRB_HD int count() const { return 1 << bits; }
  PETSCRRB_HD int first(node_t q) const { return int(std::uint32_t(q) * 2654435769u >> (32 - bits)); }
  PETSCRRB_HD int next(int slot) const { return (slot + 1) & (count() - 1); }
};
constexpr node_t no_column = -1;

// One lane, anywhere. What several do together they call together.
struct Alone {
  static constexpr int lane = 0, count = 1;

  PETSCRRB_HD bool first() const { return true; }
  PETSCRRB_HD node_t least(node_t mine) const { return mine; }
  PETSCRRB_HD double most(double mine) const { return mine; }
  template <class T> PETSCRRB_HD T sum(T mine) const { return mine; }
  // n is a count so far: the place of what this lane has; then it is counted, too.
  PETSCRRB_HD node_t rank(bool mine, node_t &n) const { return mine ? n++ : n; }
  // f(k) of each lane that has one, by all of them
  template <class F> PETSCRRB_HD void each(bool mine, node_t k, const F &f) const {
    if (mine) f(k);
  }
};

// A thread on a host.
class OneLane : public Alone {
public:
  void wait() const {} // for what other lanes have written

  // f(m) for each place of the rows that lanes have, or -1 where there are no more; p < 0: this one has none
  template <class F> void each_place(const Rows &rows, node_t p, const F &f) const {
    if (p < 0) return;
    for (node_t m = rows.start[p]; m < rows.start[p + 1]; ++m) f(m);
  }

  // Whether f(k, lanes) is true of each lane that has a k. Some of the lanes, or all, may do it for one of them.
  template <class F> bool all_of(bool mine, node_t k, const F &f) const { return !mine || f(k, *this); }

  // The places of row p's columns, until another row is opened. The same rows must be given to find().
  template <class List> void open(const List &rows, node_t p) {
    if (row_ == p) return;
    row_ = p, begin_ = rows.start[p], end_ = rows.start[p + 1];
    if (end_ - begin_ <= few || end_ - begin_ > room) return;
    clear(end_ - begin_);
    for (node_t k = begin_; k < end_; ++k) {
      const int slot = slot_of(rows.column_at(k));
      key_[slot] = rows.column_at(k), place_[slot] = k;
    }
  }
  template <class List> node_t find(const List &rows, node_t q) const { // -1: it is not there
    if (end_ - begin_ <= few) {
      node_t place = -1;
      for (node_t k = begin_; k < end_; ++k) place = rows.column_at(k) == q ? k : place;
      return place;
    }
    if (end_ - begin_ > room) return place_in(rows, begin_, end_, q);
    const int slot = slot_of(q);
    return key_[slot] == q ? place_[slot] : -1;
  }

  // A set of at most so many columns, if there is room. add() is false where it might have more than there is room for.
  void start_set(node_t most) {
    row_ = -1, size_ = 0;
    clear(std::min(most, room));
  }
  bool add(bool mine, node_t q) {
    if (size_ == room) return false;
    if (!mine) return true;
    const int slot = slot_of(q);
    if (key_[slot] != q) key_[slot] = list_[size_++] = q;
    return true;
  }
  node_t size() const { return size_; }
  void put_sorted(node_t *to) {
    std::sort(list_, list_ + size_);
    std::copy_n(list_, size_, to);
  }

  // The n-th smallest, n > 0, of key(k), begin <= k < end, whose last 29 binary digits are 0.
  template <class F> std::uint64_t smallest(node_t begin, node_t end, node_t n, const F &key) {
    std::uint64_t some[room];
    std::vector<std::uint64_t> many(end - begin > room ? end - begin : 0);
    std::uint64_t *const keys = many.empty() ? some : many.data();
    for (node_t k = begin; k < end; ++k) keys[k - begin] = key(k);
    std::nth_element(keys, keys + n - 1, keys + (end - begin));
    return keys[n - 1];
  }

  // Where up to n numbers of a row are added up: here, or where they will be. A warp has two such places, each for half of its lanes.
  double *numbers(node_t /* n */, double *there, bool /* second */) const { return there; }
  // f(k, lane, lanes, second) where a lane has a k: its half of the lanes, and which place they have.
  template <class F> void each_in_halves(node_t /* n */, bool mine, bool /* second */, node_t k, const F &f) const {
    if (mine) f(k, 0, 1, false);
  }

private:
  static constexpr node_t few = 12, room = 512; // few: are compared one by one

  void clear(node_t columns) {
    slots_ = Slots::of(columns);
    std::fill_n(key_, slots_.count(), no_column);
  }
  int slot_of(node_t q) const { // its own, or the free one that it would get
    int slot = slots_.first(q);
    while (key_[slot] != q && key_[slot] != no_column) slot = slots_.next(slot);
    return slot;
  }

  node_t row_ = -1, begin_ = 0, end_ = 0, size_ = 0;
  Slots slots_{3};
  node_t key_[2 * room], place_[2 * room], list_[room];
};

} // namespace petscrrb::rrb
