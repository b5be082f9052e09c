// The kinds of rows of a matrix by its diagonals, where it has few different ones, as with constant coefficients: a byte says which one a row
// is, and a product reads that instead of the row.
#pragma once

#include "stencil/facts.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace petscrrb::rrbsolver {

// --- by diagonals: the main one, and so many pairs above and below it, of which the upper ones are kept ---

template <int pairs> struct Diagonals {
  index_t n;
  double *main, *upper[pairs]; // a_ii, and a_ij at i
  index_t offset[pairs];       // j - i

  // which pair this offset is of; `pairs`: of none
  PETSCRRB_HD int find(index_t of) const {
    int found = pairs;
    PETSCRRB_UNROLL
    for (int k = 0; k < pairs; ++k)
      if (offset[k] == of) found = k;
    return found;
  }
};

// The bits of a row's values: main, then above and below of each pair; 0 for what lies outside of the matrix.
template <int pairs> struct RowBits {
  static constexpr int count = 2 * pairs + 1;
  std::uint64_t bits[count];

  PETSCRRB_HD RowBits(const Diagonals<pairs> &a, index_t i) {
    put(0, a.main[i]);
    PETSCRRB_UNROLL
    for (int k = 0; k < pairs; ++k) {
      put(2 * k + 1, a.upper[k][i]);
      put(2 * k + 2, i < a.offset[k] ? 0.0 : a.upper[k][i - a.offset[k]]);
    }
  }
  PETSCRRB_HD std::uint64_t hash() const { // not 0
    std::uint64_t h = 0;
    PETSCRRB_UNROLL
    for (int k = 0; k < count; ++k) {
      h = (h ^ bits[k]) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    }
    return h ? h : 1;
  }

private:
  PETSCRRB_HD void put(int k, double value) { std::memcpy(&bits[k], &value, sizeof value); }
};

// --- by kinds ---

// A hash table, whose places are the kinds.
struct KindTable {
  static constexpr int places = 256; // that a byte tells apart
  static constexpr int tries = 64;

  std::uint64_t *hash; // 0: nobody's
  index_t *row;        // that has taken the place
  int *full;           // whether some row found no place: there are too many kinds

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

  PETSCRRB_HD RowFacts operator()(index_t place) const {
    table.hash[place] = 0;
    if (!place) *table.full = 0;
    return {};
  }
};
// scattered: of rows from everywhere, since those at equal distances may be of a side of the grid
template <int pairs, bool scattered> struct TakeKinds {
  Diagonals<pairs> a;
  KindTable table;
  std::uint8_t *kind;

  PETSCRRB_HD RowFacts operator()(index_t k) const {
    if (*table.full) return {};
    const index_t i = scattered ? index_t((std::uint64_t(k) * 0x9e3779b97f4a7c15u >> 1) % std::uint64_t(a.n)) : k;
    const int place = table.take(RowBits<pairs>(a, i).hash(), i);
    if (place < 0) *table.full = 1;
    kind[i] = std::uint8_t(place);
    return {};
  }
};
template <int pairs> struct PutKinds {
  Diagonals<pairs> a;
  KindTable table;
  double *values;

  PETSCRRB_HD RowFacts operator()(index_t place) const {
    if (*table.full || !table.hash[place]) return {};
    const RowBits<pairs> row(a, table.row[place]);
    std::memcpy(values + place * row.count, row.bits, sizeof row.bits);
    return {};
  }
};
// Whether each row is of its kind: two could have one hash.
template <int pairs> struct CompareKinds {
  Diagonals<pairs> a;
  KindTable table;
  const std::uint8_t *kind;
  const double *values;

  PETSCRRB_HD RowFacts operator()(index_t i) const {
    RowFacts found;
    found.varies = true;
    if (*table.full) return found;
    const RowBits<pairs> row(a, i);
    const double *const of_kind = values + kind[i] * row.count;
    found.varies = false;
    PETSCRRB_UNROLL
    for (int k = 0; k < row.count; ++k) {
      std::uint64_t bits;
      std::memcpy(&bits, of_kind + k, sizeof bits);
      found.varies |= bits != row.bits[k];
    }
    return found;
  }
};

// q = A p by the kinds of its rows; returns p q, with the bits of the product by diagonals. In two parts, as the next row may be read before q is
// stored. Numbers are of 32 bits: most of the time goes into instructions.
template <int pairs> struct KindsTimes {
  int n, most; // the largest offset
  int offset[pairs];
  const std::uint8_t *kind;
  const double *values; // as in RowBits, of each kind
  const double *p;
  double *q;

  struct Product {
    double p, q;
  };

  PETSCRRB_HD Product compute(int i) const { return i >= most && i < n - most ? product<true>(i) : product<false>(i); }
  PETSCRRB_HD double put(int i, const Product &x) const {
    q[i] = x.q;
    return x.p * x.q;
  }

private:
  // inner: there are rows at all offsets
  template <bool inner> PETSCRRB_HD Product product(int i) const {
    const double *const value = values + kind[i] * RowBits<pairs>::count;
    const double here = p[i];
    double sum = value[0] * here;
    PETSCRRB_UNROLL
    for (int k = 0; k < pairs; ++k) {
      if (inner || i < n - offset[k]) sum += value[2 * k + 1] * p[i + offset[k]];
      if (inner || i >= offset[k]) sum += value[2 * k + 2] * p[i - offset[k]];
    }
    return {here, sum};
  }
};

template <class Backend> class RowKinds {
public:
  // for matrices of so many rows, with so many pairs of diagonals; 0: none
  void resize(index_t n, int pairs) {
    if (kind_.size() != std::size_t(n)) kind_.resize(n);
    const std::size_t values = n ? std::size_t(KindTable::places) * (2 * pairs + 1) : 0,
                      places = n ? KindTable::places : 0;
    if (values_.size() == values) return;
    values_.resize(values), hash_.resize(places), row_.resize(places), full_.resize(n ? 1 : 0);
  }
  std::size_t bytes() const { return kind_.bytes() + values_.bytes() + hash_.bytes() + row_.bytes() + full_.bytes(); }

  // The facts of these loops vary where there are too many kinds.
  template <int pairs> void find(const Diagonals<pairs> &a, RowLoops<Backend> &loops) {
    const KindTable table{hash_.data(), row_.data(), full_.data()};
    loops.at_rows(table.places, ClearKinds{table});
    // first a few, so that not all rows take the same place at once, or find out that there are too many
    loops.at_rows(some, TakeKinds<pairs, true>{a, table, kind_.data()});
    loops.at_rows(a.n, TakeKinds<pairs, false>{a, table, kind_.data()});
    loops.at_rows(table.places, PutKinds<pairs>{a, table, values_.data()});
    loops.at_rows(a.n, CompareKinds<pairs>{a, table, kind_.data(), values_.data()});
  }
  template <int pairs> KindsTimes<pairs> times(const Diagonals<pairs> &a, const double *p, double *q) const {
    KindsTimes<pairs> f{int(a.n), 0, {}, kind_.data(), values_.data(), p, q};
    for (int k = 0; k < pairs; ++k) f.offset[k] = int(a.offset[k]), f.most = std::max(f.most, f.offset[k]);
    return f;
  }

private:
  static constexpr PetscInt some = 4096;

  typename Backend::template Array<std::uint8_t> kind_;
  typename Backend::template Array<double> values_;
  typename Backend::template Array<std::uint64_t> hash_;
  typename Backend::template Array<index_t> row_;
  typename Backend::template Array<int> full_;
};

} // namespace petscrrb::rrbsolver
