// A sum of many parts on the host: the terms of a row are added by one thread, then the rows in order.
#pragma once

#include "backend/host.hpp"
#include "backend/partial_sum.hpp"

namespace petscrrb {

template <> class PartialSum<Host> {
public:
  // how many terms add() makes
  static index_t parts(Range2 box) { return box.k1 - box.k0; }
  void reserve(index_t parts) { partial_.resize(parts); }

  void start() { used_ = 0; }
  // Room for terms, which the caller sets.
  double *take(index_t n) { return partial_.data() + std::exchange(used_, used_ + n); }
  // The sum of f(h, k) over the box.
  template <class F> void add(const Host &, Range2 box, const F &f) {
    double *row = take(parts(box));
#pragma omp parallel for schedule(static) if (box.size() > host::serial_below)
    for (index_t k = box.k0; k < box.k1; ++k) {
      double s = 0.0;
#pragma omp simd reduction(+ : s)
      for (index_t h = box.h0; h < box.h1; ++h) s += f(h, k);
      row[k - box.k0] = s;
    }
  }
  Terms terms() const { return {partial_.data(), used_}; }
  std::size_t bytes() const { return partial_.bytes(); }

private:
  host::Buffer<double> partial_;
  index_t used_ = 0;
};

inline double sum_of(const Terms &t) {
  double sum = 0.0;
  for (index_t i = 0; i < t.count; ++i) sum += t.term[i];
  return sum;
}

} // namespace petscrrb
