// Sums on the host: the terms of a row are added by one thread, then the rows in order. So the bits do not depend on the number of
// threads.
#pragma once

#include "exec/host/host.hpp"
#include "exec/sums.hpp"

namespace petscrrb {

inline double sum_of(const Terms &t) {
  double sum = 0.0;
  for (index_t i = 0; i < t.count; ++i) sum += t.term[i];
  return sum;
}

template <> class PartialSum<Host> {
public:
  // how many terms add() makes
  static index_t parts(Range2 box) { return box.k1 - box.k0; }
  static index_t parts_of(const Range3 &box) { return box.n[1] * box.n[2]; }
  void reserve(index_t parts) { partial_.resize(parts); }

  void start() { used_ = 0; }
  // Room for terms, which the caller sets.
  double *take(index_t n) { return partial_.data() + std::exchange(used_, used_ + n); }
  // The sum of f(h, k) over the box.
  template <class F> void add(const Host &, Range2 box, const F &f) {
    host::sum_rows(box, box, f, f, take(parts(box)));
  }
  // The sum of f(i, j, k) over the box, and of no other one.
  template <class F> Terms terms_of(const Host &, const Range3 &box, const F &f) {
    double *first = take(parts_of(box));
    host::sum_rows(box, f, first);
    return {first, parts_of(box)};
  }
  // of f(i) for 0 <= i < n, as many as of ListAsBox::points(n)
  template <class F> Terms terms_of_list(const Host &on, index_t n, const F &f) {
    return terms_of(on, ListAsBox::points(n), AtEntry<F>{f, n});
  }
  Terms terms() const { return {partial_.data(), used_}; }
  // to[i] = the i-th sum, wherever it has its place
  static void put(const Host &, const Sums &sums, double *to) {
    for (int i = 0; i < sums.count; ++i) to[i] = sum_of(sums.terms[i]);
  }
  // *to = the sum, then f(0, 0)
  template <class F> static void put_then(const Host &, const Terms &terms, double *to, const F &f) {
    *to = sum_of(terms);
    f(0, 0);
  }
  std::size_t bytes() const { return partial_.bytes(); }

private:
  host::Buffer<double> partial_;
  index_t used_ = 0;
};

template <> class Scalars<Host> {
public:
  explicit Scalars(std::size_t n, index_t rows = 0) : value_(n), row_(rows) {}
  void reserve(index_t rows) { row_.resize(rows); } // of the largest box that is summed over

  double *data() const { return value_.data(); } // for loops that compute several at a time
  const double *at(std::size_t i) const { return value_.data() + i; }

  // at(i) = sum over the box of f(h, k), or of g(h, k) at nodes that are not in inner
  template <class F, class G>
  void sum(const Host &, std::size_t i, Range2 box, Range2 inner, const F &f, const G &g) const {
    if (box.size()) host::sum_rows(box, inner, f, g, row_.data());
    value_.data()[i] = sum_of({row_.data(), box.size() ? box.k1 - box.k0 : 0});
  }
  template <class F> void sum(const Host &on, std::size_t i, Range2 box, const F &f) const {
    sum(on, i, box, box, f, f);
  }
  // at(i) = the sum of f(h, k), at(j) = that of g(h, k)
  template <class F, class G>
  void sum_both(const Host &on, std::size_t i, std::size_t j, Range2 box, const F &f, const G &g) const {
    sum(on, i, box, f);
    sum(on, j, box, g);
  }

  // for the host: all of them, until they change
  const double *read(const Host &) const { return value_.data(); }
  double *show() const { return value_.data(); }
  const double *shown(const Host &) const { return value_.data(); }
  void write(const Host &, std::size_t i, double value, double next) const {
    value_.data()[i] = value, value_.data()[i + 1] = next;
  }
  std::size_t bytes() const { return value_.bytes() + row_.bytes(); }

private:
  host::Buffer<double> value_, row_;
};

} // namespace petscrrb
