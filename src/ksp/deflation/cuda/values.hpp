// Whether a matrix on a device is finite and symmetric.
#pragma once

#include "ksp/deflation/core/deflation.hpp"
#include "ksp/deflation/cuda/found.hpp"
#include "grid/csr.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace petscrrb::deflation {

// Only launches kernels. Couplings of identity rows, whose label is -1, count for nothing.
void check_values(const Csr &, const int *label, Found *, cudaStream_t);
// Why it is refused; empty: it is not. Waits where it is. Ranks, if there are, find it together.
std::string why_refused(const Csr &, const int *label, const Found &, const Ranks *, cudaStream_t);

} // namespace petscrrb::deflation
