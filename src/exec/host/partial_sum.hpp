// A sum of many parts on the host: the terms of a row are added by one thread, then the rows in order.
#pragma once

#include "exec/host/host.hpp"
#include "exec/partial_sum.hpp"

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
    host::sum_rows(box, box, f, f, take(parts(box)));
  }
  Terms terms() const { return {partial_.data(), used_}; }
  // to[i] = the i-th sum, wherever it has its place
  static void put(const Host &, const Sums &, double *to);
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
inline void PartialSum<Host>::put(const Host &, const Sums &sums, double *to) {
  for (int i = 0; i < sums.count; ++i) to[i] = sum_of(sums.terms[i]);
}

} // namespace petscrrb
