// Which blocks of a matrix that is not constant are as if it were: for kernels that take no others.
#pragma once

#include "pc/blockrelax/cuda/matrix.cuh"

namespace petscrrb::blockrelax {

class Split {
public:
  struct Range {
    const DeviceBlock *blocks;
    index_t count;
  };

  // bounds: of ranges of blocks, in the order of blocks
  Split(index_t blocks, const std::vector<index_t> &bounds);

  // Of the matrix as it is now. Waits for the stream.
  void refresh(const DeviceMatrix &, cudaStream_t);

  // Of the blocks between two bounds, those with the matrix's common couplings, and the rest, each in their order.
  Range uniform(int first, int last) const { return between(at_[first], at_[last]); }
  Range others(int first, int last) const {
    const index_t all = at_.back();
    return between(all + bounds_[first] - at_[first], all + bounds_[last] - at_[last]);
  }
  index_t uniform() const { return at_.back(); }
  double bytes() const;

private:
  Range between(index_t first, index_t last) const { return {sorted_.data() + first, last - first}; }

  const std::vector<index_t> bounds_;
  std::vector<index_t> at_; // uniform blocks before each bound
  cuda::Buffer<DeviceBlock> sorted_;
  cuda::Buffer<index_t> bound_, flag_, before_, counts_;
  cuda::Buffer<char> cub_;
};

} // namespace petscrrb::blockrelax
