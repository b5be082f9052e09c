// Which blocks of a matrix that is not constant are as if it were: for kernels that take no others.
#pragma once

#include "exec/cuda/sort.hpp"
#include "pc/blockrelax/cuda/matrix.cuh"

namespace petscrrb::blockrelax {
namespace split_kernels {

struct FindUniform {
  const DeviceBlock *blocks;
  const unsigned char *varying;
  int count;
  index_t *flag;
  __device__ void operator()(int t) const { flag[t] = t < count && !varying[blocks[t].number]; }
};
struct Sort { // before: uniform blocks before each, and all of them
  const DeviceBlock *blocks;
  const index_t *flag, *before;
  int count;
  DeviceBlock *to;
  __device__ void operator()(int t) const { to[flag[t] ? before[t] : before[count] + t - before[t]] = blocks[t]; }
};
struct CountBefore {
  const index_t *bound, *before;
  index_t *to;
  __device__ void operator()(int c) const { to[c] = before[bound[c]]; }
};

} // namespace split_kernels

class Split {
public:
  struct Range {
    const DeviceBlock *blocks;
    index_t count;
  };

  explicit Split(const BlockOrder &order)
      : bounds_(order.bounds()), sorted_(static_cast<std::size_t>(bounds_.back())), flag_(sorted_.size() + 1),
        before_(flag_.size()), counts_(bounds_.size()) {}

  // Of the matrix as it is now. Waits for the stream.
  void refresh(const DeviceMatrix &A, cudaStream_t stream) {
    using namespace split_kernels;
    const int blocks = static_cast<int>(sorted_.size());
    cuda::for_rows("uniform blocks", blocks + 1, FindUniform{A.blocks(), A.varying(), blocks, flag_.data()}, stream);
    cuda::find_offsets({cub_, stream}, flag_.data(), before_.data(), blocks + 1);
    cuda::for_rows("sorted blocks", blocks, Sort{A.blocks(), flag_.data(), before_.data(), blocks, sorted_.data()},
                   stream);
    cuda::for_rows("uniform blocks", int(bounds_.size()), CountBefore{A.bounds(), before_.data(), counts_.data()},
                   stream);
    at_ = cuda::to_host(counts_.data(), counts_.size(), stream);
  }

  // Of the blocks of some colours, those with the matrix's common couplings, and the rest, each in their order.
  Range uniform(int first, int last) const { return between(at_[first], at_[last]); }
  Range others(int first, int last) const {
    const index_t all = at_.back();
    return between(all + bounds_[first] - at_[first], all + bounds_[last] - at_[last]);
  }
  index_t uniform() const { return at_.back(); }
  double bytes() const {
    return static_cast<double>(sorted_.bytes() + flag_.bytes() + before_.bytes() + counts_.bytes() + cub_.bytes());
  }

private:
  Range between(index_t first, index_t last) const { return {sorted_.data() + first, last - first}; }

  const std::vector<index_t> bounds_; // of colours
  std::vector<index_t> at_;           // uniform blocks before each
  cuda::Buffer<DeviceBlock> sorted_;
  cuda::Buffer<index_t> flag_, before_, counts_;
  cuda::Buffer<char> cub_;
};

} // namespace petscrrb::blockrelax
