#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

  #include "petsc/stream_cuda.h"

PetscErrorCode PetscRRBStream::Start() {
  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(Find());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBStream::Find() {
  PetscDeviceContext context;
  void *handle;

  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
  cuda.stream = *(cudaStream_t *)handle;
  PetscFunctionReturn(PETSC_SUCCESS);
}

cudaStream_t PetscRRBStream::Ready() {
  if (Find() != PETSC_SUCCESS) throw std::runtime_error("PETSc has no current stream");
  if (cuda.stream) before_.let_wait(cuda.stream, nullptr);
  return cuda.stream;
}

#endif
