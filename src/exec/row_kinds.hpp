// The kinds of a matrix's rows, where it has few different ones, as with constant coefficients: a byte says which one a row is, and a product
// reads that instead of the row.
#pragma once

#include "exec/counts.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace petscrrb {

// Rows: `count` values each, value(k, i) of row i, which number size().

// Where there are fewer rows, a solve hardly gains what it takes to look for their kinds, and to wait for that.
constexpr index_t least_rows_for_kinds = index_t(1) << 19;
// The same where nobody waits for that.
constexpr index_t least_rows_for_kinds_beside = index_t(1) << 17;

// The bits of a row's values.
template <class Rows> struct RowBits {
  std::uint64_t bits[Rows::count];

  PETSCRRB_HD RowBits(const Rows &rows, index_t i) {
    PETSCRRB_UNROLL
    for (int k = 0; k < Rows::count; ++k) {
      const double value = rows.value(k, i);
      std::memcpy(&bits[k], &value, sizeof value);
    }
  }
  PETSCRRB_HD std::uint64_t hash() const { // not 0
    std::uint64_t h = 0;
    PETSCRRB_UNROLL
    for (int k = 0; k < Rows::count; ++k) {
      h = (h ^ bits[k]) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    }
    return h ? h : 1;
  }
  PETSCRRB_HD bool are(const double *values) const {
    bool same = true;
    PETSCRRB_UNROLL
    for (int k = 0; k < Rows::count; ++k) {
      std::uint64_t of_value;
      std::memcpy(&of_value, values + k, sizeof of_value);
      same &= of_value == bits[k];
    }
    return same;
  }
};

// A hash table, whose places are the kinds.
struct KindTable {
  static constexpr int places = 256; // that a byte tells apart
  static constexpr int tries = 64;

  std::uint64_t *hash; // 0: nobody's
  index_t *row;        // that has taken the place
  int *known;          // whether its values are in the table
  int *late;           // whether some of all rows had a place that was not
  index_t *many;       // whether there are more kinds than places, or rows that only look alike

  // That of a row with this hash; -1: there is none.
  PETSCRRB_HD int take(std::uint64_t h, index_t i) const {
    int at = int(h % places);
    for (int tried = 0; tried < tries; ++tried, at = (at + 1) % places) {
      std::uint64_t there = hash[at]; // what a cache has of it may be of before
      if (!there) there = look(hash + at);
      if (!there) there = replace_zero(hash + at, h);
      if (!there) row[at] = i;
      if (!there || there == h) return at;
    }
    return -1;
  }

private:
  // What others may write meanwhile, and what was there before.
#if defined(__CUDA_ARCH__)
  __device__ static std::uint64_t look(const std::uint64_t *from) {
    return *const_cast<const volatile std::uint64_t *>(from);
  }
  __device__ static std::uint64_t replace_zero(std::uint64_t *at, std::uint64_t by) {
    return atomicCAS(reinterpret_cast<unsigned long long *>(at), 0ull, static_cast<unsigned long long>(by));
  }
#else
  static std::uint64_t look(const std::uint64_t *from) { return __atomic_load_n(from, __ATOMIC_RELAXED); }
  static std::uint64_t replace_zero(std::uint64_t *at, std::uint64_t by) {
    std::uint64_t before = 0;
    __atomic_compare_exchange_n(at, &before, by, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return before;
  }
#endif
};

struct ClearKinds {
  KindTable table;

  PETSCRRB_HD void operator()(index_t place) const {
    table.hash[place] = 0, table.known[place] = 0;
    if (!place) *table.many = 0, *table.late = 0;
  }
};
// The kinds of all rows, which are compared with those whose values are known; or of a few rows from everywhere, since those at equal distances
// may be of a side of the grid.
template <class Rows, bool few> struct TakeKinds {
  Rows rows;
  KindTable table;
  std::uint8_t *kind;
  const double *values;

  PETSCRRB_HD void operator()(index_t k) const {
    if (*table.many) return;
    const index_t i = few ? index_t((std::uint64_t(k) * 0x9e3779b97f4a7c15u >> 1) % std::uint64_t(rows.size())) : k;
    const RowBits<Rows> row(rows, i);
    const int place = table.take(row.hash(), i);
    if (!few) kind[i] = std::uint8_t(place);
    if (place < 0 || (!few && table.known[place] && !row.are(values + place * Rows::count)))
      *table.many = 1;
    else if (!few && !table.known[place])
      *table.late = 1;
  }
};
template <class Rows> struct PutKinds {
  Rows rows;
  KindTable table;
  double *values;
  bool known; // from now on

  PETSCRRB_HD void operator()(index_t place) const {
    if (*table.many || !table.hash[place] || table.known[place]) return;
    const RowBits<Rows> row(rows, table.row[place]);
    std::memcpy(values + place * Rows::count, row.bits, sizeof row.bits);
    table.known[place] = known;
  }
};
// The rows of kinds that were not known when they were taken.
template <class Rows> struct CompareKinds {
  Rows rows;
  KindTable table;
  const std::uint8_t *kind;
  const double *values;

  PETSCRRB_HD void operator()(index_t i) const {
    if (*table.many || !*table.late) return;
    const int place = kind[i];
    if (table.known[place]) return;
    if (!RowBits<Rows>(rows, i).are(values + place * Rows::count)) *table.many = 1;
  }
};

template <class Backend> class RowKinds {
public:
  // for so many rows of so many values; 0: none. Nothing where that is what there was, and false where only rows are more or less.
  bool resize(index_t n, int count) {
    const std::size_t places = n ? KindTable::places : 0;
    const std::size_t rows = n ? n + past_the_end : 0;
    if (kind_.size() != rows) kind_.resize(rows);
    if (values_.size() == places * count) return false;
    values_.resize(places * count), hash_.resize(places), row_.resize(places), known_.resize(places + 1);
    return true;
  }
  bool empty() const { return !kind_.size(); }
  std::size_t bytes() const { return kind_.bytes() + values_.bytes() + hash_.bytes() + row_.bytes() + known_.bytes(); }

  // Of these rows; *many: 0 where there are few. Waits for nothing.
  template <class Rows> void look(const Backend &on, const Rows &rows, index_t *many) const {
    const KindTable table{hash_.data(), row_.data(), known_.data(), known_.data() + KindTable::places, many};
    each(on, table.places, ClearKinds{table});
    // first a few, so that not all rows take the same place at once, or find out that there are too many kinds
    each(on, some, TakeKinds<Rows, true>{rows, table, kind_.data(), values_.data()});
    each(on, table.places, PutKinds<Rows>{rows, table, values_.data(), true});
    each(on, rows.size(), TakeKinds<Rows, false>{rows, table, kind_.data(), values_.data()});
    each(on, table.places, PutKinds<Rows>{rows, table, values_.data(), false});
    each(on, rows.size(), CompareKinds<Rows>{rows, table, kind_.data(), values_.data()});
  }
  const std::uint8_t *kind() const { return kind_.data(); }
  const double *values() const { return values_.data(); } // of each kind, one kind after the other

private:
  static constexpr index_t some = 4096, past_the_end = 2; // which may be read: a pair

  template <class F> static void each(const Backend &on, index_t n, const F &f) {
    on.for_each_point(ListAsBox::points(n), AtEntry<F>{f, n});
  }

  typename Backend::template Array<std::uint8_t> kind_;
  typename Backend::template Array<double> values_;
  typename Backend::template Array<std::uint64_t> hash_;
  typename Backend::template Array<index_t> row_;
  typename Backend::template Array<int> known_;
};

// Those of rows that may be of another matrix each time. Where there were many, the next one, two, four ... times nobody looks.
template <class Backend> class AwaitedKinds : RowKinds<Backend> {
  using Base = RowKinds<Backend>;

public:
  using Base::kind, Base::values;

  void resize(index_t n, int count) {
    if (Base::resize(n, count)) wait_ = 0, next_wait_ = 1, found_.resize(n ? 1 : 0);
  }
  std::size_t bytes() const { return Base::bytes() + found_.bytes(); }
  template <class Rows> void look(const Backend &on, const Rows &rows) {
    looks_ = !wait_;
    if (!looks_) return void(--wait_);
    Base::look(on, rows, &found_.data()->failed);
  }
  // Waits for that: whether there are few, as far as was looked.
  bool are_few(const Backend &on) {
    if (!looks_) return false;
    const bool few = !on.read(found_)->failed;
    wait_ = few ? 0 : next_wait_;
    next_wait_ = few ? 1 : std::min(2 * next_wait_, most_waits);
    return few;
  }

private:
  static constexpr int most_waits = 64;

  bool looks_ = false;
  int wait_ = 0, next_wait_ = 1;                       // so many times
  typename Backend::template Array<NodeCounts> found_; // failed: there are many
};

} // namespace petscrrb
