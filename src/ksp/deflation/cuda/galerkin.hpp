// E = Z^T A Z on a device, sparse, from the entries of A Z; and what inverts it.
#pragma once

#include "dense/cuda/dense.hpp"
#include "ksp/deflation/core/coarse_pattern.hpp"
#include "ksp/deflation/cuda/az.hpp"
#include "ksp/deflation/cuda/chunk_sums.cuh"

#include <memory>

namespace petscrrb::deflation {

// Values on a device that are summed over ranks, by way of the host. One rank alone has nothing to do.
class SumOverRanks {
public:
  void setup(const Ranks &ranks, std::size_t n) { // allocates
    ranks_ = &ranks, n_ = n;
    host_ = !ranks.alone() && n ? std::make_unique<cuda::Pinned<double>>(n) : nullptr;
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

class DeviceGalerkin {
public:
  // Structure. Allocates, and waits; the pattern is small, and goes to the host. empty: whether a subdomain has no rows.
  // Ranks do this and refresh() together: E is that of all their rows, the same on each.
  CoarsePattern setup(const AzView &, const int *label, const std::vector<int> &empty, const Ranks &, cuda::Scratch &);
  // E from new entries of AZ; an empty subdomain has 1 on the diagonal. Only launches kernels, on one rank.
  void refresh(const AzView &, cudaStream_t) const;

  dense::SparseView view() const { return {n_, ia_.data(), ja_.data(), a_.data(), excess_.data()}; }
  std::size_t bytes() const {
    return ia_.bytes() + ja_.bytes() + from_.bytes() + across_.bytes() + excess_from_.bytes() + empty_.bytes() +
           item_.bytes() + sum_.bytes() + a_.bytes() + excess_.bytes() + sums_.bytes();
  }

private:
  std::vector<SumKey> sort_items(const AzView &, const int *label, std::vector<int> &lengths, cuda::Scratch &);

  int n_ = 0;
  const Ranks *ranks_ = &one_rank;
  SumOverRanks over_ranks_; // of sum_
  cuda::Buffer<int> ia_, ja_, from_, across_, excess_from_, empty_;
  cuda::Buffer<int> item_; // places in AzView::value, sum by sum
  cuda::Buffer<double> sum_, a_, excess_;
  ChunkSums sums_;
};

// E^+: substructured where E is small and on a grid of boxes, otherwise dense. Allocates, and waits. box: of each subdomain;
// empty: there are no boxes. count: boxes each way. library: made where it is needed first.
std::unique_ptr<dense::DeviceInverse> make_inverse(const DeviceGalerkin &, const CoarsePattern &,
                                                   const std::vector<int> &box, const int count[3], Inverse,
                                                   std::shared_ptr<dense::DenseLibrary> &library, cudaStream_t);

} // namespace petscrrb::deflation
