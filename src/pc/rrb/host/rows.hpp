// Rows in cache, what the host's sweeps (sweeps.hpp, box_sweeps.hpp) are made of: the loop along a row, splitting, scratch, which
// thread has which rows, and the factor's.
#pragma once

#include "exec/host/host.hpp"
#include "pc/rrb/core/dense_grid.hpp"

#include <limits>

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

// The two classes that a row of a grid in r1/r2/b1/b2 storage consists of.
struct RowPair {
  double *even, *odd;
};
inline RowPair row_of(const Quad<Dense> &q, index_t b) {
  const index_t k = half_down(b);
  return {&q[b & 1 ? r2 : b2].at(0, k), &q[b & 1 ? b1 : r1].at(0, k)};
}

// A row in natural order to its even and odd points and back; both halves are indexed by h.
inline void split_row(const double *natural, const Side &x, const RowPair &to) {
  double *even = to.even, *odd = to.odd;
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

inline void merge_row(double *natural, const Side &x, const RowPair &from) {
  const double *even = from.even, *odd = from.odd;
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
      split_row(b2_row + x.lo, x, row_of(next.split, k));
  }
  void load(double *b2_row, index_t k) const {
    const Side &x = next.extent.x;
    if (!next.dense)
      std::copy_n(&next.natural.at(x.lo, k), x.hi - x.lo, b2_row + x.lo);
    else
      merge_row(b2_row + x.lo, x, row_of(next.split, k));
  }
};

// Scratch rows of every thread, with room for a border on both sides.
class RowScratch {
public:
  static constexpr index_t margin = 8;

  explicit RowScratch(const Side &x, int rows = 14)
      : threads_(host::most_threads()), rows_(rows),
        length_((half_down(x.hi - 1) + 1 - half_down(x.lo) + 2 * margin + 7) / 8 * 8),
        memory_(std::size_t(threads_) * rows * length_) {}

  double *row(int thread, int i) const { return memory_.data() + (std::size_t(thread) * rows_ + i) * length_; }
  int threads() const { return threads_; }
  std::size_t bytes() const { return memory_.bytes(); }

private:
  int threads_, rows_;
  index_t length_;
  host::Buffer<double> memory_;
};

// How loops over the rows of one r1/r2/b1/b2 grid are dealt out to threads: a chunk of rows each.
class Chunks {
public:
  static constexpr index_t none = std::numeric_limits<index_t>::min();

  struct Chunk {
    index_t k0, k1, h0;
    int thread;
    const RowScratch *rows;

    double *scratch(int i) const { return rows->row(thread, i) + RowScratch::margin - h0; }
  };

  // around: of b1, how many steps around x are swept, too
  Chunks(const Extent &x, const RowScratch &scratch, index_t around = 0) : x_(x), scratch_(scratch) {
    for (Class c : {r1, r2, b1, b2}) n_[c] = x.nodes_of(c);
    if (around) n_[b1] = widened(x, around).nodes_of(b1);
    k0_ = k1_ = half_down(x.y.lo);
    if (x.empty()) return;
    k1_ = half_down(x.y.hi - 1) + 1;
    if (n_[b1].size()) k0_ = std::min(k0_, n_[b1].k0), k1_ = std::max(k1_, n_[b1].k1);
  }

  // main(chunk) for all rows, once before(chunk) has been done for all of them
  template <class Before, class Main> void run(const Before &before, const Main &main) const {
    const index_t rows = k1_ - k0_;
    if (rows <= 0) return;
    const int threads = x_.nodes() > 4 * host::serial_below ? std::min<index_t>(scratch_.threads(), rows) : 1;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      const int me = host::member(), all = host::team();
      const Chunk c{k0_ + rows * me / all, k0_ + rows * (me + 1) / all, half_down(x_.x.lo), me, &scratch_};
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

// What a sweep does along row k, with the rows that are fetched ahead. T: what the factor is stored in; in, z1, z2: views of the vector's rows.
template <class T> class FactorRows : protected Chunks {
protected:
  FactorRows(const FactorFields<DenseFieldOf<T>> &factor, const Extent &x, const RowScratch &scratch,
             index_t around = 0)
      : Chunks(x, scratch, around), factor_(factor), fetch_(x.nodes() > fetch_above) {}

  static Rows only(double *row) { return {{nullptr, row, nullptr}}; }
  const T *dinv(Class c, index_t k) const { return &factor_.dinv.q[c].at(0, k); }

  template <bool Couple, class X> void forward_b1(index_t k, const Quad<X> &in, double *out) const {
    const auto f = factor_from_row<Couple>(factor_, k);
    const T *const next[] = {w(E, r2, k + 1), w(W, r2, k + 1), w(N, r1, k + 1), w(S, r1, k + 2)};
    along_row(nodes(b1), ForwardB1{f, in, only(out)}, next, fetch_);
  }
  template <bool Couple, class X>
  void forward_b2(index_t k, const Quad<X> &in, double *b1_below, double *b1_here, double *out) const {
    const auto f = factor_from_row<Couple>(factor_, k);
    const T *const next[] = {w(W, r1, k + 1),  w(E, r1, k + 1),  w(S, r2, k + 1), w(N, r2, k),
                             w(SW, b1, k + 1), w(SE, b1, k + 1), w(NW, b1, k),    w(NE, b1, k)};
    along_row(nodes(b2), ForwardB2{f, in, Rows{{b1_below, b1_here, nullptr}}, only(out), true}, next, fetch_);
  }
  template <bool Couple, class X, class Z>
  void backward_b1(index_t k, const X &in, const Z &z2, double *out, Scaling scaling) const {
    const auto f = factor_from_row<Couple>(factor_, k);
    along<b1>(k, BackwardB1{f, in, z2, only(out), scaling});
  }
  // In place.
  template <bool Couple, Class c, class X, class Z>
  void backward_red(index_t k, const X &r, const Rows &z1, const Z &z2, Scaling scaling) const {
    const auto f = factor_from_row<Couple>(factor_, k);
    if constexpr (c == r1)
      along<r1>(k, BackwardR1{f, r, z1, z2, r, scaling});
    else
      along<r2>(k, BackwardR2{f, r, z1, z2, r, scaling});
  }

private:
  static constexpr index_t fetch_above = 400000; // nodes, of 30 bytes of factor each; measured

  // rows of the factor, for what is fetched ahead; k may be past the last one
  const T *w(int i, Class c, index_t k) const { return &factor_.w[i].q[c].at(0, k); }
  // f at class c, whose own factor it reads
  template <Class c, class F> void along(index_t k, const F &f) const {
    const T *const next[] = {w(0, c, k + 1), w(1, c, k + 1), w(2, c, k + 1), w(3, c, k + 1), dinv(c, k + 1)};
    along_row(nodes(c), f, next, fetch_);
  }

  const FactorFields<DenseFieldOf<T>> &factor_;
  bool fetch_; // the factor does not fit in cache
};

} // namespace petscrrb::rrb
