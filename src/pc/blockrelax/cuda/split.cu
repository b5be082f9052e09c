#include "pc/blockrelax/cuda/split.hpp"

#include "exec/cuda/sort.hpp"

namespace petscrrb::blockrelax {

namespace {

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

} // namespace

Split::Split(index_t blocks, const std::vector<index_t> &bounds)
    : bounds_(bounds), at_(bounds.size()), sorted_(static_cast<std::size_t>(blocks)), bound_(bounds),
      flag_(static_cast<std::size_t>(blocks) + 1), before_(flag_.size()), counts_(bounds.size()) {}

void Split::refresh(const DeviceMatrix &A, cudaStream_t stream) {
  const int blocks = static_cast<int>(sorted_.size());
  cuda::for_rows("uniform blocks", blocks + 1, FindUniform{A.blocks(), A.varying(), blocks, flag_.data()}, stream);
  cuda::find_offsets({cub_, stream}, flag_.data(), before_.data(), blocks + 1);
  cuda::for_rows("sorted blocks", blocks, Sort{A.blocks(), flag_.data(), before_.data(), blocks, sorted_.data()},
                 stream);
  cuda::for_rows("uniform blocks", int(bounds_.size()), CountBefore{bound_.data(), before_.data(), counts_.data()},
                 stream);
  at_ = cuda::to_host(counts_.data(), counts_.size(), stream);
}

double Split::bytes() const {
  return static_cast<double>(sorted_.bytes() + bound_.bytes() + flag_.bytes() + before_.bytes() + counts_.bytes() +
                             cub_.bytes());
}

} // namespace petscrrb::blockrelax
