// Scalars on the host.
#pragma once

#include "exec/host/host.hpp"
#include "exec/scalars.hpp"

namespace petscrrb {

template <> class Scalars<Host> {
public:
  // rows: of the largest box that is summed over
  Scalars(std::size_t n, index_t rows) : value_(n), row_(rows) {}

  double *data() const { return value_.data(); } // for loops that compute several at a time
  const double *at(std::size_t i) const { return value_.data() + i; }

  // at(i) = sum over the box of f(h, k), or of g(h, k) at nodes that are not in inner. Rows are summed first, each by one
  // thread, and then added in order: the same bits whatever the number of threads.
  template <class F, class G>
  void sum(const Host &, std::size_t i, Range2 box, Range2 inner, const F &f, const G &g) const {
    double *row = row_.data(), total = 0.0;
    if (box.size()) host::sum_rows(box, inner, f, g, row);
    for (index_t k = box.k0; k < box.k1 && box.size(); ++k) total += row[k - box.k0];
    value_.data()[i] = total;
  }
  template <class F> void sum(const Host &on, std::size_t i, Range2 box, const F &f) const {
    sum(on, i, box, box, f, f);
  }

  // for the host: all of them, until they change
  const double *read(const Host &) const { return value_.data(); }
  void write(const Host &, std::size_t i, double value) const { value_.data()[i] = value; }
  std::size_t bytes() const { return value_.bytes() + row_.bytes(); }

private:
  host::Buffer<double> value_, row_;
};

} // namespace petscrrb
