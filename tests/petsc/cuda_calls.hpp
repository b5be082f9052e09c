// Counts the calls of the CUDA runtime that a program, PETSc and the library make, and can let an allocation fail, or let a device look
// like a smaller one.
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

// How many multiprocessors the device is said to have; 0: the truth. Kernels whose blocks march through a grid take as many steps for a
// small grid on a small device as for a large grid on a large one.
extern int multiprocessors;

CudaCalls operator-(const CudaCalls &a, const CudaCalls &b);

} // namespace petsctest
