// Few values from a device to page-locked memory of the host.
#include "exec/cuda/cuda.hpp"

namespace petscrrb::cuda {

namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) store(unsigned *to, const unsigned *from, std::size_t n) {
  for (std::size_t i = threadIdx.x; i < n; i += threads) to[i] = from[i];
}

} // namespace

void bring(void *to, const void *from, std::size_t bytes, cudaStream_t stream) {
  if (!bytes) return;
  store<<<1, threads, 0, stream>>>(static_cast<unsigned *>(to), static_cast<const unsigned *>(from),
                                   bytes / sizeof(unsigned));
  check_launch("store");
}

} // namespace petscrrb::cuda
