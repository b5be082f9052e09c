#include "glue/petsc_compat.h"

#if PETSCRRB_ON_DEVICES

  #include "glue/stream_cuda.h"
  #include "grid/find_cuda.hpp"

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

PetscRRBRows PetscRRBStream::Rows(const petscrrb::Csr &a) {
  using namespace petscrrb;
  return {a.n, [=](Widest w, const char *option, Grid &g) { return cuda::find_grid(a, w, option, g, Ready()); },
          [=](Widest w, const char *option, Grid &g) { return cuda::check_grid(a, w, option, g, Ready()); }, Failed};
}

PetscRRBTrouble PetscRRBStream::Say(const std::exception &e) {
  const auto *error = dynamic_cast<const petscrrb::cuda::Error *>(&e);
  const bool memory = error ? error->out_of_memory() : dynamic_cast<const std::bad_alloc *>(&e) != nullptr;

  if (memory) return {std::string("No memory for RRB: ") + e.what(), PETSC_ERR_MEM};
  return {std::string("RRB: ") + e.what(), PETSC_ERR_GPU};
}

PetscErrorCode PetscRRBStream::Failed(const std::exception &e) {
  const PetscRRBTrouble trouble = Say(e);
  SETERRQ(PETSC_COMM_SELF, trouble.code, "%s", trouble.why.c_str());
}

#endif
