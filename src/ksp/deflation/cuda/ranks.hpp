// Values on a device that are summed over ranks, by way of the host.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "ksp/deflation/core/deflation.hpp"

#include <memory>

namespace petscrrb::deflation {

class SumOverRanks {
public:
  // ranks null: there is one, and nothing to do. Allocates.
  void setup(const Ranks *ranks, std::size_t n) {
    ranks_ = ranks, n_ = n;
    host_ = ranks && n ? std::make_unique<cuda::Pinned<double>>(n) : nullptr;
  }
  // x becomes the sum in three steps, of which all ranks do the second together.
  void read(const double *x, cudaStream_t stream) const { // waits
    if (!host_) return;
    cuda::check(cudaMemcpyAsync(host_->data(), x, bytes(), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  void sum() const {
    if (host_) ranks_->sum(host_->data(), n_);
  }
  // does not wait: the host's values are written next by read(), in the order of the stream
  void write(double *x, cudaStream_t stream) const {
    if (!host_) return;
    cuda::check(cudaMemcpyAsync(x, host_->data(), bytes(), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  }

private:
  std::size_t bytes() const { return n_ * sizeof(double); }

  const Ranks *ranks_ = nullptr;
  std::size_t n_ = 0;
  std::unique_ptr<cuda::Pinned<double>> host_;
};

} // namespace petscrrb::deflation
