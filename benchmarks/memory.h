/* How much of the device's memory is taken. */
#pragma once

#include "solver.h"
#if defined(PETSC_HAVE_CUDA) && defined(PETSCRRB_HAVE_CUDA)
  #include <cuda_runtime_api.h>
#endif

/* By whatever runs there; of the rank's own device. 0 on the host. */
static PetscErrorCode DeviceMegabytes(const Task *task, PetscReal *megabytes) {
  PetscFunctionBeginUser;
  *megabytes = 0;
#if defined(PETSC_HAVE_CUDA) && defined(PETSCRRB_HAVE_CUDA)
  if (task->problem.device) {
    size_t unused, all;
    PetscLogDouble now;

    PetscCall(Clock(task, &now)); /* what is freed in order is free */
    PetscCheck(cudaMemGetInfo(&unused, &all) == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_LIB, "cudaMemGetInfo() failed");
    *megabytes = 1e-6 * (PetscReal)(all - unused);
  }
#else
  (void)task;
#endif
  PetscFunctionReturn(0);
}
