// A sum to which loops and kernels of many kinds add their terms, where the backend's arrays are: in a fixed order.
#pragma once

namespace petscrrb {

template <class Backend> class PartialSum; // partial_sum_host.hpp, partial_sum_cuda.cuh

} // namespace petscrrb
