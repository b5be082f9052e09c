// Rows in cache, what the host's sweeps (sweeps.hpp) are made of: the loop along a row, splitting, scratch, and which
// thread has which rows.
#pragma once

#include "exec/host/host.hpp"
#include "pc/rrb/core/dense_grid.hpp"

#include <limits>

#if defined(_OPENMP)
  #include <omp.h>
#endif

namespace petscrrb::rrb {

// Rows k-1, k and k+1 of a class; the functors are called with k = 0.
struct Rows {
  double *row[3] = {};

  double operator()(index_t h, index_t k) const { return row[k + 1][h]; }
  double &at(index_t h, index_t k) const { return row[k + 1][h]; }
};

template <class T> DenseOf<T> from_row(const DenseOf<T> &a, index_t k) { return {a.p + k * a.pitch, a.pitch}; }

template <bool Couple, class T> auto factor_from_row(const FactorFields<DenseFieldOf<T>> &f, index_t k) {
  FactorViews<DenseOf<T>, std::conditional_t<Couple, DenseOf<T>, Zero>> v;
  for (Class c : {r1, r2, b1}) {
    if constexpr (Couple)
      for (int i = 0; i < 4; ++i) v.w[i].c[c] = from_row(f.w[i].q[c], k);
    v.dinv.c[c] = from_row(f.dinv.q[c], k);
  }
  return v;
}

// f along a row. Where the coefficients come from memory, those that the next row will need are fetched meanwhile, a
// cache line at a time: hardware prefetchers stop at a row's end, and there are a dozen of rows.
template <class F, class T, int N> void along_row(Range2 nodes, const F &f, const T *const (&next)[N], bool fetch) {
  constexpr index_t line = 64 / sizeof(T);
  const index_t step = fetch ? line : nodes.h1 - nodes.h0;
  for (index_t b = nodes.h0; b < nodes.h1; b += step) {
    if (fetch)
      for (const T *row : next) __builtin_prefetch(row + b);
    const index_t end = std::min(b + step, nodes.h1);
#pragma omp simd
    for (index_t h = b; h < end; ++h) f(h, 0);
  }
}

// The sum of f along a row.
template <class F> double sum_along_row(Range2 nodes, const F &f) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t h = nodes.h0; h < nodes.h1; ++h) sum += f(h);
  return sum;
}

// A row in natural order to its even and odd points and back; both halves are indexed by h.
inline void split_row(const double *natural, const Side &x, double *even, double *odd) {
  const double *p = natural - x.lo;
  if (x.lo & 1) odd[half_down(x.lo)] = p[x.lo];
  const index_t end = half_down(x.hi);
#pragma omp simd
  for (index_t h = half_up(x.lo); h < end; ++h) {
    even[h] = p[2 * h];
    odd[h] = p[2 * h + 1];
  }
  if (x.hi & 1 && x.hi > x.lo) even[end] = p[2 * end];
}

inline void merge_row(double *natural, const Side &x, const double *even, const double *odd) {
  double *p = natural - x.lo;
  if (x.lo & 1) p[x.lo] = odd[half_down(x.lo)];
  const index_t end = half_down(x.hi);
#pragma omp simd
  for (index_t h = half_up(x.lo); h < end; ++h) {
    p[2 * h] = even[h];
    p[2 * h + 1] = odd[h];
  }
  if (x.hi & 1 && x.hi > x.lo) p[2 * end] = even[end];
}

// x *= v along a row in natural order.
inline void scale_row(double *x, const double *v, index_t n) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) x[i] *= v[i];
}

// Rows of b2 to and from where it continues.
struct NextRows {
  NextGrid next;

  void store(const double *b2_row, index_t k) const {
    const Side &x = next.extent.x;
    if (!next.dense)
      std::copy(b2_row + x.lo, b2_row + x.hi, &next.natural.at(x.lo, k));
    else
      split_row(b2_row + x.lo, x, &even(k).at(0, half_down(k)), &odd(k).at(0, half_down(k)));
  }
  void load(double *b2_row, index_t k) const {
    const Side &x = next.extent.x;
    if (!next.dense)
      std::copy_n(&next.natural.at(x.lo, k), x.hi - x.lo, b2_row + x.lo);
    else
      merge_row(b2_row + x.lo, x, &even(k).at(0, half_down(k)), &odd(k).at(0, half_down(k)));
  }

private:
  const Dense &even(index_t k) const { return next.split[k & 1 ? r2 : b2]; }
  const Dense &odd(index_t k) const { return next.split[k & 1 ? b1 : r1]; }
};

// Scratch rows of every thread, with room for a border on both sides.
class RowScratch {
public:
  static constexpr int rows = 14;

  RowScratch() = default;
  explicit RowScratch(const Side &x) {
#if defined(_OPENMP)
    threads_ = omp_get_max_threads();
#endif
    first_ = half_down(x.lo) - 8;
    length_ = (half_down(x.hi - 1) + 1 - first_ + 8 + 7) / 8 * 8;
    memory_.resize(std::size_t(threads_) * rows * length_);
  }
  double *row(int thread, int i) const { return memory_.data() + (std::size_t(thread) * rows + i) * length_ - first_; }
  int threads() const { return threads_; }
  std::size_t bytes() const { return memory_.bytes(); }

private:
  host::Buffer<double> memory_;
  int threads_ = 1;
  index_t first_ = 0, length_ = 0;
};

// How loops over the rows of one r1/r2/b1/b2 grid are dealt out to threads: a chunk of rows each.
class Chunks {
public:
  static constexpr index_t none = std::numeric_limits<index_t>::min();

  struct Chunk {
    index_t k0, k1;
    int thread;
    const RowScratch *rows;

    double *scratch(int i) const { return rows->row(thread, i); }
  };

  Chunks(const Extent &x, const RowScratch &scratch) : x_(x), scratch_(scratch) {
    for (Class c : {r1, r2, b1, b2}) n_[c] = x.nodes_of(c);
    k0_ = half_down(x.y.lo);
    k1_ = x.empty() ? k0_ : half_down(x.y.hi - 1) + 1;
  }

  // main(chunk) for all rows, once before(chunk) has been done for all of them
  template <class Before, class Main> void run(const Before &before, const Main &main) const {
    const index_t rows = k1_ - k0_;
    if (rows <= 0) return;
    const int threads = x_.nodes() > 4 * host::serial_below ? std::min<index_t>(scratch_.threads(), rows) : 1;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      int me = 0, all = 1;
#if defined(_OPENMP)
      me = omp_get_thread_num(), all = omp_get_num_threads();
#endif
      const Chunk c{k0_ + rows * me / all, k0_ + rows * (me + 1) / all, me, &scratch_};
      before(c);
#pragma omp barrier
      main(c);
    }
  }

  index_t first() const { return k0_; }
  index_t rows() const { return k1_ - k0_; }
  // The row below / above in a ring or in the domain, or none.
  index_t below(index_t k) const { return k > k0_ ? k - 1 : (x_.y.wraps() ? k1_ - 1 : none); }
  index_t above(index_t k) const { return k + 1 < k1_ ? k + 1 : (x_.y.wraps() ? k0_ : none); }
  bool owns(Class c, index_t k) const { return k >= n_[c].k0 && k < n_[c].k1 && n_[c].h1 > n_[c].h0; }
  const Range2 &nodes(Class c) const { return n_[c]; }
  // What a row's neighbours read past its ends.
  void border(Class c, double *row) const {
    const bool ring = x_.x.wraps();
    row[n_[c].h0 - 1] = ring ? row[n_[c].h1 - 1] : 0.0;
    row[n_[c].h1] = ring ? row[n_[c].h0] : 0.0;
  }
  void clear(double *row) const { std::fill(row + half_down(x_.x.lo) - 1, row + half_down(x_.x.hi - 1) + 2, 0.0); }

private:
  const Extent &x_;
  const RowScratch &scratch_;
  Range2 n_[4];
  index_t k0_, k1_;
};

} // namespace petscrrb::rrb
