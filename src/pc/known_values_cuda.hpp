// The rows that say a value, found on a device.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "grid/known_rows.hpp"

namespace petscrrb::cuda {

void find_known_rows(const FindKnownRows &, cudaStream_t);

} // namespace petscrrb::cuda
