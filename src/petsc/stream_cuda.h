/* Where our kernels run among PETSc's: on the stream of the current PetscDeviceContext. */
#pragma once

#include "exec/cuda/cuda.hpp"
#include "petsc/agree.h"

#include <petscdevice.h>

#include <memory>

class PetscRRBStream {
public:
  explicit PetscRRBStream(const char type[]) : say(type, PETSC_ERR_GPU) {} /* whose work runs on it */

  petscrrb::Cuda cuda;
  const PetscRRBSay say;

  /* makes PETSc's device ready */
  PetscErrorCode Start() {
    PetscFunctionBegin;
    PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
    PetscCall(Find());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* f(), which may throw, with cuda.stream set. PETSc's operations on vectors that are not told a context are on the
     default stream, whichever context is current: where that is another one, each waits for the other. */
  template <class F> PetscErrorCode Run(const F &f) {
    PetscFunctionBegin;
    const PetscRRBTrouble trouble = Attempt(f);
    PetscCheck(!trouble, PETSC_COMM_SELF, trouble.code, "%s", trouble.why.c_str());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* the same, and what was thrown is not raised */
  template <class F> PetscRRBTrouble Attempt(const F &f) {
    return PetscRRBTroubleOf(say, [&] { Do(f); });
  }
  /* the same, and throws on */
  template <class F> void Do(const F &f) {
    (void)Ready();
    f();
    HandOver();
  }
  /* PETSc's operations may follow on the work so far; our own go on after Ready(). */
  void HandOver() {
    if (cuda.stream) after_.let_wait(nullptr, cuda.stream);
  }
  /* the same without an error handler: the stream, once the work so far is there */
  cudaStream_t Ready() {
    if (Find() != PETSC_SUCCESS) throw std::runtime_error("PETSc has no current stream");
    if (cuda.stream) before_.let_wait(cuda.stream, nullptr);
    return cuda.stream;
  }

private:
  PetscErrorCode Find() {
    PetscDeviceContext context;
    void *handle;

    PetscFunctionBegin;
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
    cuda.stream = *(cudaStream_t *)handle;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  petscrrb::cuda::Event before_, after_;
};

/* Makes a backend of that type that has such a stream, and starts it. */
template <class Made, class Backend, class... Args>
PetscErrorCode PetscRRBCreateOnDevice(const char type[], std::unique_ptr<Backend> *backend, Args... args) {
  std::unique_ptr<Made> made;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBSay(type, PETSC_ERR_GPU), [&] { made = std::make_unique<Made>(args...); }));
  PetscCall(made->Start());
  *backend = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}
