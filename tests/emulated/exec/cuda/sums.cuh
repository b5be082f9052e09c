// A kernel's share of a sum, in place of src/exec/cuda/sums.cuh: see overlap.cuh beside it.
#pragma once

#include "exec/cuda/overlap.cuh"
#include "exec/sums.hpp"

#include <mutex>

namespace petscrrb {
namespace cuda {

constexpr index_t most_point_sums = 16384;

template <int threads> struct BlockSum {
  double *term;

  void add(double value) const {
    static std::mutex one_by_one;
    const std::lock_guard<std::mutex> lock(one_by_one);
    term[blockIdx.x] += value;
  }
};

} // namespace cuda

template <> class PartialSum<Cuda> {
public:
  void reserve(index_t parts) { partial_.resize(std::size_t(parts)); }
  void start() { used_ = 0, partial_.assign(partial_.size(), 0.0); }
  template <int threads> cuda::BlockSum<threads> take(int blocks) {
    used_ += blocks;
    return {partial_.data() + used_ - blocks};
  }

private:
  std::vector<double> partial_;
  index_t used_ = 0;
};

} // namespace petscrrb
