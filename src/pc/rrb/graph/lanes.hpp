// Who works on one node of a graph: alone, or several lanes of a device. They look up columns of one row in a table.
#pragma once

#include "pc/rrb/graph/graph.hpp"

#include <algorithm>
#include <vector>

namespace petscrrb::rrb {

// One lane, anywhere. What several do together they call together.
struct Alone {
  static constexpr int lane = 0, count = 1, ahead = 0;

  PETSCRRB_HD bool first() const { return true; }
  PETSCRRB_HD double most(double mine) const { return mine; }
  template <class T> PETSCRRB_HD T sum(T mine) const { return mine; }
  // n is a count so far: the place of what this lane has; then it is counted, too.
  PETSCRRB_HD node_t rank(bool mine, node_t &n) const { return mine ? n++ : n; }
  // The same of `mine` things.
  PETSCRRB_HD node_t rank_of(node_t mine, node_t &n) const { return (n += mine) - mine; }
  // f(k) of each lane that has one, by all of them
  template <class F> PETSCRRB_HD void each(bool mine, node_t k, const F &f) const {
    if (mine) f(k);
  }
};

// Of each row the couplings with is_one(p, k): how many there are, and then, behind those of the rows before, their rows, columns and places, as
// far as these are wanted: not NULL.
template <class Is> struct CountCouplings {
  Rows rows;
  Is is_one;
  node_t *count;

  PETSCRRB_HD void operator()(node_t p) const {
    node_t n = 0;
    for (node_t k = rows.start[p]; k < rows.start[p + 1]; ++k) n += is_one(p, k);
    count[p] = n;
  }
};
template <class Is> struct ListCouplings {
  Rows rows;
  Is is_one;
  const node_t *before; // each row
  node_t *row, *column, *place;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, const Lanes &lanes) const {
    const node_t end = rows.start[p + 1];
    node_t n = before[p];
    if (before[p + 1] == n) return;
    for (node_t from = rows.start[p]; from < end; from += lanes.count) {
      const node_t k = from + lanes.lane;
      const bool mine = k < end && is_one(p, k);
      const node_t i = lanes.rank(mine, n);
      if (mine && row) row[i] = p;
      if (mine && column) column[i] = rows.column[k];
      if (mine && place) place[i] = k;
    }
  }
  PETSCRRB_HD void operator()(node_t p) const { (*this)(p, Alone()); }
};

// This lane's of the numbers w[of[k]], begin <= k < end. A device finds some of the places at once, and keeps their numbers.
template <class Lanes> class Gathered {
public:
  PETSCRRB_HD Gathered(const node_t *of, node_t begin, node_t end, const Lanes &lanes)
      : of_(of), begin_(begin + lanes.lane), end_(end) {
    PETSCRRB_UNROLL
    for (int j = 0; j < ahead; ++j)
      if (at(j) < end_) place_[j] = of[at(j)];
  }
  PETSCRRB_HD void read(const double *w) {
    w_ = w;
    PETSCRRB_UNROLL
    for (int j = 0; j < ahead; ++j)
      if (at(j) < end_) number_[j] = w[place_[j]];
  }
  // f(k, number)
  template <class F> PETSCRRB_HD void each(const F &f) const {
    PETSCRRB_UNROLL
    for (int j = 0; j < ahead; ++j)
      if (at(j) < end_) f(at(j), number_[j]);
    for (node_t k = at(ahead); k < end_; k += Lanes::count) f(k, w_[of_[k]]);
  }

private:
  static constexpr int ahead = Lanes::ahead;

  PETSCRRB_HD node_t at(int j) const { return begin_ + j * Lanes::count; }

  const node_t *of_;
  const double *w_ = nullptr;
  node_t begin_, end_, place_[ahead + 1];
  double number_[ahead + 1];
};

// A thread on a host. Its table has room for as many columns as there are: one stays with a thread in a loop.
class OneLane : public Alone {
public:
  void wait() const {} // for what other lanes have written
  // Starts to read n values, which are wanted soon.
  template <class T> void fetch(const T *first, node_t n) const {
    for (std::size_t at = 0; at < n * sizeof(T); at += 64)
      __builtin_prefetch(reinterpret_cast<const char *>(first) + at);
  }

  // Whether f(k, lanes) is true of each lane that has a k. Some of the lanes, or all, may do it for one of them.
  template <class F> bool all_of(bool mine, node_t k, const F &f) const { return !mine || f(k, *this); }

  // The places of row p's columns, until another row is opened. The same rows must be given to find().
  template <class List> void open(const List &rows, node_t p) {
    if (row_ == p) return;
    row_ = p, begin_ = rows.begin(p), end_ = rows.end(p);
    if (end_ - begin_ <= few) return;
    for (node_t k = begin_; k < end_; ++k) place_of(rows.column_at(k)) = k;
  }
  template <class List> node_t find(const List &rows, node_t q) const { // -1: it is not there
    if (end_ - begin_ <= few) {
      node_t place = -1;
      for (node_t k = begin_; k < end_; ++k) place = rows.column_at(k) == q ? k : place;
      return place;
    }
    const node_t k = std::size_t(q) < place_.size() ? place_[q] : -1; // where the row lacks q, some other row's
    return begin_ <= k && k < end_ && rows.column_at(k) == q ? k : -1;
  }

  // Room for n couplings, one of three.
  Coupling *list(int which, node_t n) {
    auto &list = lists_[which];
    if (list.size() < std::size_t(n)) list.resize(2 * std::size_t(n));
    return list.data();
  }

  // The n-th smallest, n > 0, of key(k), begin <= k < end, whose last 29 binary digits are 0. n is far smaller than how many there are: most keys
  // are compared once, with the n-th smallest so far.
  template <class F> std::uint64_t smallest(node_t begin, node_t end, node_t n, const F &key) {
    smallest_.assign(n, ~std::uint64_t(0)); // ascending
    for (node_t k = begin; k < end; ++k) {
      const std::uint64_t mine = key(k);
      if (mine >= smallest_[n - 1]) continue;
      node_t at = n - 1;
      for (; at > 0 && smallest_[at - 1] > mine; --at) smallest_[at] = smallest_[at - 1];
      smallest_[at] = mine;
    }
    return smallest_[n - 1];
  }
  // key(k), begin <= k < end, for several uses: a function.
  template <class F> auto once(node_t begin, node_t end, const F &key) {
    keys_.resize(end - begin);
    for (node_t k = begin; k < end; ++k) keys_[k - begin] = key(k);
    return [keys = keys_.data() - begin](node_t k) { return keys[k]; };
  }

  // Numbers w[begin] ... w[end - 1] of a row that are added up: here where they will be. Those of a warp begin a row, or go on in it: each group of
  // its lanes has its own sums, of so many as there is room for.
  struct Sums {
    double *w;
    node_t begin, end;

    void clear(const OneLane &) const { std::fill(w + begin, w + end, 0.0); }
    void add(int /* group */, node_t k, double more) const { w[k] += more; }
    void put(const OneLane &) const {}
  };
  Sums sums(double *w, node_t begin, node_t end) const { return {w, begin, end}; }
  // use(value, lane, lanes, group, read(value, lane, lanes)) where a lane has a value, by a group of lanes that `key` chooses. What the next one
  // reads is on its way while one is used.
  template <class V, class Read, class Use>
  void each_in_groups(bool mine, node_t /* key */, const V &value, const Read &read, const Use &use) const {
    if (mine) use(value, 0, 1, 0, read(value, 0, 1));
  }

private:
  static constexpr node_t few = 12; // are compared one by one

  node_t &place_of(node_t q) {
    if (std::size_t(q) >= place_.size()) place_.resize(std::max<std::size_t>(q + 1, 2 * place_.size()));
    return place_[q];
  }

  node_t row_ = -1, begin_ = 0, end_ = 0;
  std::vector<node_t> place_; // of a column in the row; whatever it was, where it is not there
  std::vector<Coupling> lists_[3];
  std::vector<std::uint64_t> keys_, smallest_;
};

} // namespace petscrrb::rrb
