// A sum to which loops and kernels of many kinds add, where the backend's arrays are: as terms, for whoever needs the sum to
// add in a fixed order.
#pragma once

#include "grid/grid.hpp"

namespace petscrrb {

struct Terms {
  const double *term = nullptr;
  index_t count = 0;
};

template <class Backend> class PartialSum; // partial_sum_host.hpp, partial_sum_cuda.cuh

} // namespace petscrrb
