// Stands in front of the shared CUDA runtime: what is defined in a program is found before what is in a library.
#include "cuda_calls.hpp"

#include <petscconf.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace petsctest {

CudaCalls cuda_calls;
int multiprocessors;
static long until_failure;

void fail_cuda_allocation(long k) { until_failure = k; }

CudaCalls operator-(const CudaCalls &a, const CudaCalls &b) {
  return {a.allocations - b.allocations,   a.frees - b.frees,   a.device_waits - b.device_waits,
          a.stream_waits - b.stream_waits, a.copies - b.copies, a.bulk - b.bulk};
}

} // namespace petsctest

#if defined(PETSC_HAVE_CUDA) || defined(PETSCRRB_HAVE_CUDA)

using petsctest::cuda_calls;

namespace {

const int out_of_memory = 2, host_to_device = 1, device_to_host = 2, either_way = 4; // cudaError, cudaMemcpyKind
const int multiprocessor_count = 16;                                                 // cudaDeviceAttr
using Stream = void *;

template <class... T> int forward(const char *name, T... arguments) {
  void *const symbol = dlsym(RTLD_NEXT, name);
  if (!symbol) {
    std::fprintf(stderr, "no %s in the libraries that are loaded\n", name);
    std::abort();
  }
  return reinterpret_cast<int (*)(T...)>(symbol)(arguments...);
}

bool fails() {
  ++cuda_calls.allocations;
  return petsctest::until_failure && !--petsctest::until_failure;
}

void count_copy(std::size_t bytes, int kind) {
  if (kind != host_to_device && kind != device_to_host && kind != either_way) return;
  ++cuda_calls.copies;
  cuda_calls.bulk += bytes > 1024;
}

} // namespace

// Their types are those of cuda_runtime_api.h, whose header a program without the toolkit cannot have.
extern "C" {
  #pragma GCC visibility push(default)
int cudaMalloc(void **p, std::size_t bytes) { return fails() ? out_of_memory : forward("cudaMalloc", p, bytes); }
int cudaMallocAsync(void **p, std::size_t bytes, Stream stream) {
  return fails() ? out_of_memory : forward("cudaMallocAsync", p, bytes, stream);
}
int cudaMallocHost(void **p, std::size_t bytes) {
  ++cuda_calls.allocations;
  return forward("cudaMallocHost", p, bytes);
}
int cudaHostAlloc(void **p, std::size_t bytes, unsigned flags) {
  ++cuda_calls.allocations;
  return forward("cudaHostAlloc", p, bytes, flags);
}
int cudaFree(void *p) {
  cuda_calls.frees += p != nullptr;
  return forward("cudaFree", p);
}
int cudaFreeAsync(void *p, Stream stream) {
  ++cuda_calls.frees;
  return forward("cudaFreeAsync", p, stream);
}
int cudaFreeHost(void *p) {
  cuda_calls.frees += p != nullptr;
  return forward("cudaFreeHost", p);
}
int cudaDeviceSynchronize() {
  ++cuda_calls.device_waits;
  return forward("cudaDeviceSynchronize");
}
int cudaStreamSynchronize(Stream stream) {
  ++cuda_calls.stream_waits;
  return forward("cudaStreamSynchronize", stream);
}
int cudaDeviceGetAttribute(int *value, int attribute, int device) {
  const int error = forward("cudaDeviceGetAttribute", value, attribute, device);
  if (attribute == multiprocessor_count && petsctest::multiprocessors) *value = petsctest::multiprocessors;
  return error;
}
int cudaMemcpy(void *to, const void *from, std::size_t bytes, int kind) {
  count_copy(bytes, kind);
  return forward("cudaMemcpy", to, from, bytes, kind);
}
int cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, int kind, Stream stream) {
  count_copy(bytes, kind);
  return forward("cudaMemcpyAsync", to, from, bytes, kind, stream);
}
  #pragma GCC visibility pop
}

#endif
