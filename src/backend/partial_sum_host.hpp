// A sum of many parts on the host: the terms of a row are added by one thread, then the rows in order.
#pragma once

#include "backend/host.hpp"
#include "backend/partial_sum.hpp"

namespace petscrrb {

template <> class PartialSum<Host> {
public:
  PartialSum() : total_(1) {}

  // how many partial values add() takes
  static index_t parts(Range2 box) { return box.k1 - box.k0; }
  void reserve(index_t parts) { partial_.resize(parts); }

  void start() { used_ = 0; }
  // Room for partial values, which the caller sets.
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
  // Sets the total.
  void finish(const Host &) const {
    double sum = 0.0;
    for (index_t i = 0; i < used_; ++i) sum += partial_.data()[i];
    *total_.data() = sum;
  }
  const double *total() const { return total_.data(); }
  std::size_t bytes() const { return partial_.bytes() + total_.bytes(); }

private:
  host::Buffer<double> partial_, total_;
  index_t used_ = 0;
};

} // namespace petscrrb
