#if defined(PETSCRRB_HAVE_NCCL)

  #include "comm/cuda/window.hpp"

  #if PETSCRRB_NCCL_WINDOWS

    #include <nccl_device.h>

namespace petscrrb::nccl {

static __global__ void find_parts(ncclWindow_t window, char **part) {
  part[threadIdx.x] = static_cast<char *>(ncclGetLsaPointer(window, 0, int(threadIdx.x)));
}

std::vector<char *> parts_of(ncclWindow_t window, int ranks, cudaStream_t stream) {
  std::vector<char *> parts(static_cast<std::size_t>(ranks));
  const cuda::Buffer<char *> found(parts.size());
  find_parts<<<1, unsigned(ranks), 0, stream>>>(window, found.data());
  cuda::check_launch("find_parts");
  cuda::check(cudaMemcpyAsync(parts.data(), found.data(), found.bytes(), cudaMemcpyDeviceToHost, stream),
              "cudaMemcpyAsync");
  cuda::check(cudaStreamSynchronize(stream), "find_parts");
  return parts;
}

} // namespace petscrrb::nccl

  #endif
#endif
