// What kernels of a setup or a refresh find out, all 0 before, and whether a matrix is refused for it.
#pragma once

#include "ksp/deflation/core/deflation.hpp"

#include <cuda_runtime_api.h>

namespace petscrrb::deflation {

struct Found {
  int not_finite;               // rows from the last to the first such one; 0: none
  unsigned long long asymmetry; // bits of the largest of asymmetry() (facts.hpp)
  int identity_rows;
  int roots;         // connected phases
  int other_labels;  // than at setup
  int other_entries; // of AZ that are not zero
  int rows, entries; // of AZ
};

// Whether a matrix is finite and symmetric. Only launches kernels. Couplings of identity rows, whose label is -1, count for
// nothing.
void check_values(const Csr &, const int *label, Found *, cudaStream_t);
// Why it is refused; empty: it is not. Waits where it is. Ranks find it together.
std::string why_refused(const Csr &, const int *label, const Found &, const Ranks &, cudaStream_t);

} // namespace petscrrb::deflation
