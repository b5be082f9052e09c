// A sum to which loops and kernels of many kinds add, where the backend's arrays are: as terms, for whoever needs the sum to
// add in a fixed order.
#pragma once

#include "exec/range.hpp"

namespace petscrrb {

struct Terms {
  const double *term = nullptr;
  index_t count = 0;
};

// Some sums, each with a place for it.
struct Sums {
  static constexpr int most = 8;

  Terms terms[most];
  double *to[most] = {};
  int count = 0;

  void add(const Terms &t, double *place) {
    terms[count] = t;
    to[count++] = place;
  }
};

template <class Backend> class PartialSum; // host/partial_sum.hpp, cuda/partial_sum.cuh

} // namespace petscrrb
