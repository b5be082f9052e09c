// E = Z^T A Z on a device, sparse, from the entries of A Z.
#pragma once

#include "ksp/deflation/cuda/az.hpp"
#include "ksp/deflation/cuda/chunk_sums.cuh"
#include "ksp/deflation/core/coarse_pattern.hpp"
#include "ksp/deflation/cuda/ranks.hpp"

namespace petscrrb::deflation {

// In device memory.
struct CoarseView {
  int n;
  const int *ia, *ja;
  const double *a, *excess; // excess: row sums, exact where they are 0
};

class DeviceGalerkin {
public:
  // Structure. Allocates, and waits; the pattern is small, and goes to the host. rows: how many each subdomain has.
  // Ranks, if there are, do this and refresh() together: then E is that of all their rows, the same on each.
  CoarsePattern setup(const AzView &, const int *label, const std::vector<int> &rows, const Ranks *, cuda::Scratch &);
  // E from new entries of AZ; an empty subdomain has 1 on the diagonal. Only launches kernels, on one rank.
  void refresh(const AzView &, cudaStream_t) const;

  CoarseView view() const { return {n_, ia_.data(), ja_.data(), a_.data(), excess_.data()}; }
  std::size_t bytes() const {
    return ia_.bytes() + ja_.bytes() + from_.bytes() + across_.bytes() + excess_from_.bytes() + empty_.bytes() +
           item_.bytes() + sum_.bytes() + a_.bytes() + excess_.bytes() + sums_.bytes();
  }

private:
  std::vector<SumKey> sort_items(const AzView &, const int *label, std::vector<int> &lengths, cuda::Scratch &);

  int n_ = 0;
  const Ranks *ranks_ = nullptr;
  SumOverRanks over_ranks_; // of sum_
  cuda::Buffer<int> ia_, ja_, from_, across_, excess_from_, empty_;
  cuda::Buffer<int> item_; // places in AzView::value, sum by sum
  cuda::Buffer<double> sum_, a_, excess_;
  ChunkSums sums_;
};

} // namespace petscrrb::deflation
