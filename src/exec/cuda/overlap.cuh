// Programmatic dependent launch: a kernel that starts before the one before it in its stream has ended.
#pragma once

#include "exec/cuda/cuda.hpp"

namespace petscrrb::cuda {

// A kernel starts when all blocks of the one before it have called start_next() or ended; what that one computes is there
// after await_previous(). A kernel that has called start_next() itself may be followed by others while kernels long before it
// still run: each of them awaits only the one before it, which has ended when it has awaited its own. So
// - all threads call await_previous() before they end, on every path, or the chain is broken;
// - before it, only what none of these writes may be touched, nor what the kernel before the first of them writes;
// - what one of these writes must not be read by __ldg(), not after await_previous() either: it is for memory that nobody
//   writes while the kernel runs, which begins before that, and the compiler may move such a load before the waiting.
__device__ inline void start_next() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ inline void await_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Of a kernel with little to do for each block: where there are more, starting the next one early costs more than it gains.
constexpr std::int64_t few_blocks = 2048;

// Where a kernel was compiled for 9.0 or later, which the code made from older PTX was not, whatever the device; and graphs
// know of it since 12.3.
template <class... Parameters> bool may_overlap(void (*kernel)(Parameters...)) {
  cudaFuncAttributes attributes;
  int driver = 0;
  check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  return attributes.ptxVersion >= 90 && driver >= 12030 && CUDART_VERSION >= 12030;
}

// overlap: the kernel awaits the one before it by itself
template <class... Parameters, class... Arguments>
void launch(const char *what, void (*kernel)(Parameters...), bool overlap, dim3 blocks, dim3 threads,
            std::size_t shared, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = blocks, how.blockDim = threads;
  how.dynamicSmemBytes = shared, how.stream = stream;
  how.attrs = &attribute, how.numAttrs = overlap;
  check(cudaLaunchKernelEx(&how, kernel, Parameters(arguments)...), what);
}

} // namespace petscrrb::cuda
