// Scalars on the host.
#pragma once

#include "backend/host.hpp"
#include "backend/scalars.hpp"

namespace petscrrb {

template <> class Scalars<Host> {
public:
  // rows: of the largest box that is summed over
  Scalars(std::size_t n, index_t rows) : value_(n), row_(rows) {}

  const double *at(std::size_t i) const { return value_.data() + i; }

  // at(i) = sum of f(h, k) over the box. Rows are summed first, each by one thread, and then added in order: the same
  // bits whatever the number of threads.
  template <class F> void sum(const Host &, std::size_t i, Range2 box, const F &f) const {
    double *row = row_.data(), total = 0.0;
#pragma omp parallel for schedule(static) if (box.size() > host::serial_below)
    for (index_t k = box.k0; k < box.k1; ++k) {
      double s = 0.0;
#pragma omp simd reduction(+ : s)
      for (index_t h = box.h0; h < box.h1; ++h) s += f(h, k);
      row[k - box.k0] = s;
    }
    for (index_t k = box.k0; k < box.k1; ++k) total += row[k - box.k0];
    value_.data()[i] = total;
  }

  // for the host: all of them, until they change
  const double *read(const Host &) const { return value_.data(); }
  void write(const Host &, std::size_t i, double value) const { value_.data()[i] = value; }
  std::size_t bytes() const { return value_.bytes() + row_.bytes(); }

private:
  host::Buffer<double> value_, row_;
};

} // namespace petscrrb
