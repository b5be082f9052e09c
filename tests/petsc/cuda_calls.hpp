// Counts the calls of the CUDA runtime that a program, PETSc and the library make, and can let an allocation fail.
#pragma once

#include <cstddef>

namespace petsctest {

struct CudaCalls {
  long allocations = 0, frees = 0; // of device memory and of page-locked memory
  long device_waits = 0;           // for all streams
  long stream_waits = 0;
  long copies = 0; // between host and device, whatever their size
  long bulk = 0;   // of these, those of more than 1 kB: more than scalars and a status
};
extern CudaCalls cuda_calls; // so far

// The k-th allocation of device memory from now on fails; 0: none does.
void fail_cuda_allocation(long k);

CudaCalls operator-(const CudaCalls &a, const CudaCalls &b);

} // namespace petsctest
