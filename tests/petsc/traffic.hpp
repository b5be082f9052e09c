// What a piece of work moves between host and device, and what it asks of CUDA meanwhile.
#pragma once

#include "cuda_calls.hpp"

#include <petscsys.h>

#include <petsclog.h>

#include <functional>

namespace petsctest {

// What PETSc itself has copied between host and device: vectors and matrices, without the scalars of dot products.
inline double petsc_copies() {
#if defined(PETSC_HAVE_DEVICE) && defined(PETSC_USE_LOG)
  return petsc_ctog_ct + petsc_gtoc_ct;
#else
  return 0;
#endif
}

struct Traffic {
  double petsc;
  CudaCalls cuda;
};

inline Traffic traffic_of(const std::function<void()> &work) {
  const double petsc = petsc_copies();
  const CudaCalls cuda = cuda_calls;
  work();
  return {petsc_copies() - petsc, cuda_calls - cuda};
}

} // namespace petsctest
