// cuBLAS as the rest of the library uses it: a handle, and errors as exceptions.
#pragma once

#include "exec/not_copied.hpp"
#include "exec/cuda/cuda.hpp"

#include <cublas_v2.h>

namespace petscrrb::cuda {

inline void check(cublasStatus_t status, const char *what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) check(cudaErrorMemoryAllocation, what);
  throw std::runtime_error(std::string(what) + ": cuBLAS error " + std::to_string(int(status)));
}

class Blas : NotCopied {
public:
  Blas() { check(cublasCreate(&handle_), "cublasCreate"); }
  ~Blas() { (void)cublasDestroy(handle_); }

  cublasHandle_t on(cudaStream_t stream) const {
    check(cublasSetStream(handle_, stream), "cublasSetStream");
    return handle_;
  }

private:
  cublasHandle_t handle_ = nullptr;
};

} // namespace petscrrb::cuda
