// The CUDA runtime, and the libraries beside it; without their headers, which a host has not.
#include "forward.hpp"

#include <petscconf.h>

#if defined(PETSC_HAVE_CUDA) || defined(PETSCRRB_HAVE_CUDA)

namespace {

const int no_memory = 2, unknown = 999;                          // cudaError_t
const int cublas_error = 14, cusolver_error = 7, nccl_error = 3; // each its own "internal error"
int last = 0;                                                    // what cudaGetLastError() has to say once

int fail(int code) { return last = code; }

} // namespace

  // Waiting, and the end of a capture, take place before they fail: an error of what was launched comes back there.
  #define NO_MEMORY(function)    FORWARDED(function, failures::cuda, return fail(no_memory), (void)0)
  #define FAILS(function)        FORWARDED(function, failures::cuda, return fail(unknown), (void)0)
  #define DONE(function)         FORWARDED(function, failures::cuda, (void)0, return fail(unknown))
  #define OTHER(function, error) FORWARDED(function, failures::cuda, return error, (void)0)

extern "C" {
NO_MEMORY(cudaMalloc)
NO_MEMORY(cudaMallocAsync)
NO_MEMORY(cudaMallocHost)
NO_MEMORY(cudaHostAlloc)
NO_MEMORY(cudaMallocManaged)
FAILS(__cudaLaunchKernel)
FAILS(cudaLaunchKernel)
FAILS(cudaLaunchKernelExC)
FAILS(cudaLaunchCooperativeKernel)
FAILS(cudaDeviceCanAccessPeer)
FAILS(cudaDeviceEnablePeerAccess)
FAILS(cudaDeviceGetAttribute)
FAILS(cudaDriverGetVersion)
FAILS(cudaEventCreate)
FAILS(cudaEventCreateWithFlags)
FAILS(cudaEventRecord)
FAILS(cudaFuncGetAttributes)
FAILS(cudaFuncSetAttribute)
FAILS(cudaGetDevice)
FAILS(cudaGetDeviceCount)
FAILS(cudaGraphAddNode)
FAILS(cudaGraphConditionalHandleCreate)
FAILS(cudaGraphCreate)
FAILS(cudaGraphGetNodes)
FAILS(cudaGraphInstantiate)
FAILS(cudaGraphLaunch)
FAILS(cudaIpcGetMemHandle)
FAILS(cudaIpcOpenMemHandle)
FAILS(cudaMemGetInfo)
FAILS(cudaMemcpy)
FAILS(cudaMemcpyAsync)
FAILS(cudaMemset)
FAILS(cudaMemsetAsync)
FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
FAILS(cudaSetDevice)
FAILS(cudaStreamBeginCapture)
FAILS(cudaStreamBeginCaptureToGraph)
FAILS(cudaStreamCreateWithFlags)
FAILS(cudaStreamQuery)
FAILS(cudaStreamWaitEvent)
DONE(cudaDeviceSynchronize)
DONE(cudaEventSynchronize)
DONE(cudaStreamEndCapture)
DONE(cudaStreamSynchronize)
OTHER(cublasCreate_v2, cublas_error)
OTHER(cublasDgemm_v2, cublas_error)
OTHER(cublasDtrsv_v2, cublas_error)
OTHER(cublasSetStream_v2, cublas_error)
OTHER(cusolverDnCreate, cusolver_error)
OTHER(cusolverDnDpotrf, cusolver_error)
OTHER(cusolverDnDpotrf_bufferSize, cusolver_error)
OTHER(cusolverDnDpotri, cusolver_error)
OTHER(cusolverDnDpotri_bufferSize, cusolver_error)
OTHER(cusolverDnSetStream, cusolver_error)
OTHER(ncclAllGather, nccl_error)
OTHER(ncclCommGetAsyncError, nccl_error)
OTHER(ncclCommInitRank, nccl_error)
OTHER(ncclCommWindowRegister, nccl_error)
OTHER(ncclGetUniqueId, nccl_error)
OTHER(ncclGetVersion, nccl_error)
OTHER(ncclGroupEnd, nccl_error)
OTHER(ncclGroupStart, nccl_error)
OTHER(ncclMemAlloc, nccl_error)
OTHER(ncclRecv, nccl_error)
OTHER(ncclSend, nccl_error)

// An error that a call returned is also the last one, until somebody asks.
__attribute__((visibility("default"))) int cudaGetLastError() {
  static const failures::Function next = failures::next("cudaGetLastError");
  const int code = next(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), ours = last;
  last = 0;
  return code ? code : ours;
}
__attribute__((visibility("default"))) int cudaPeekAtLastError() {
  static const failures::Function next = failures::next("cudaPeekAtLastError");
  const int code = next(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  return code ? code : last;
}
}

#endif
