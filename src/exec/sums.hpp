// Numbers that loops compute and other loops read, where the backend's arrays are: the host need not see them.
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

// A sum to which loops and kernels of many kinds add: as terms, for whoever needs the sum to add in a fixed order.
template <class Backend> class PartialSum;
// A few sums over boxes.
template <class Backend> class Scalars;

} // namespace petscrrb
