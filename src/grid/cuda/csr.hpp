// The rows of a sparse matrix in device memory: a Csr whose arrays lie there, and how the host gets to see them.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "grid/csr.hpp"

#include <vector>

namespace petscrrb::cuda {

// Copies the whole matrix, so it is for error messages, and for what only the host can find.
class HostCopy {
public:
  HostCopy(const Csr &device_rows, cudaStream_t stream) : n_(device_rows.n), ia_(1) {
    if (n_) ia_ = to_host(device_rows.ia, std::size_t(n_) + 1, stream); // without rows there are no arrays
    ja_ = to_host(device_rows.ja, std::size_t(ia_.back()), stream);
    a_ = to_host(device_rows.a, std::size_t(ia_.back()), stream);
  }
  Csr csr() const { return {n_, ia_.data(), ja_.data(), a_.data()}; }

private:
  PetscInt n_;
  std::vector<PetscInt> ia_, ja_;
  std::vector<PetscScalar> a_;
};

} // namespace petscrrb::cuda
