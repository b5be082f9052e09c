/* Where our kernels run among PETSc's: on the stream of the current PetscDeviceContext. */
#pragma once

#include "backend/cuda.hpp"
#include "glue/findgrid.h"
#include "glue/pc.h"

#include <petscdevice.h>

#include <memory>

class PetscRRBStream {
public:
  petscrrb::Cuda cuda;

  /* makes PETSc's device ready */
  PetscErrorCode Start();
  /* f(), which may throw, with cuda.stream set. PETSc's operations on vectors that are not told a context are on the
     default stream, whichever context is current: where that is another one, each waits for the other. */
  template <class F> PetscErrorCode Run(const F &f) {
    PetscFunctionBegin;
    PetscCall(Find());
    try {
      if (cuda.stream) before_.let_wait(cuda.stream, nullptr);
      f();
      if (cuda.stream) after_.let_wait(nullptr, cuda.stream);
    } catch (const std::exception &e) {
      PetscCall(Failed(e));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* the same without an error handler: the stream, once the work so far is there */
  cudaStream_t Ready();

  /* what is asked about rows on the device; this must outlive it */
  PetscRRBRows Rows(const petscrrb::Csr &);

  /* what was thrown; raised as an error */
  static PetscRRBTrouble Say(const std::exception &);
  static PetscErrorCode Failed(const std::exception &);

private:
  PetscErrorCode Find();

  petscrrb::cuda::Event before_, after_;
};

/* Makes a backend that has such a stream, and starts it. */
template <class Made, class Backend> PetscErrorCode PetscRRBCreateOnDevice(std::unique_ptr<Backend> *backend) {
  Made *made = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBStream::Failed, [&] { backend->reset(made = new Made); }));
  PetscCall(made->Start());
  PetscFunctionReturn(PETSC_SUCCESS);
}
