// The rows of a sparse matrix in device memory: a Csr whose arrays lie there, and how the host gets to see them.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "grid/csr.hpp"

#include <vector>

namespace petscrrb::cuda {

// Copies the whole matrix, so it is for error messages, and for what only the host can find.
class HostCopy {
public:
  HostCopy(const Csr &device_rows, cudaStream_t stream) : n_(device_rows.n), ia_(n_ + 1) {
    if (n_) copy(ia_, device_rows.ia, stream); // without rows there are no arrays
    ja_.resize(ia_.back());
    a_.resize(ia_.back());
    copy(ja_, device_rows.ja, stream);
    copy(a_, device_rows.a, stream);
  }
  Csr csr() const { return {n_, ia_.data(), ja_.data(), a_.data()}; }

private:
  template <class T> static void copy(std::vector<T> &to, const T *from, cudaStream_t stream) {
    if (to.empty()) return;
    check(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  PetscInt n_;
  std::vector<PetscInt> ia_, ja_;
  std::vector<PetscScalar> a_;
};

} // namespace petscrrb::cuda
