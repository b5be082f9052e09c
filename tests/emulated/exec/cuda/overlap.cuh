// A kernel on the host, in place of src/exec/cuda/overlap.cuh, so that what it computes is tested without a device: its blocks run one
// after the other, with a thread of the host for each of theirs.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __shared__ static // of one block at a time
#define __grid_constant__
#define __launch_bounds__(...)

namespace petscrrb {

struct Dim {
  unsigned x = 0;
};
inline thread_local Dim threadIdx, blockIdx, gridDim;
inline pthread_barrier_t barrier_of_block;
inline void __syncthreads() { pthread_barrier_wait(&barrier_of_block); }
using std::min;

class Cuda {
public:
  int stream = 0;
};

namespace cuda {

inline void start_next() {}
inline void await_previous() {}
template <class Kernel> bool may_overlap(const Kernel &) { return false; }

template <class... Parameters, class... Arguments>
void launch(const char *, void (*kernel)(Parameters...), bool, unsigned blocks, unsigned threads, std::size_t, int,
            const Arguments &...arguments) {
  pthread_barrier_init(&barrier_of_block, nullptr, threads);
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      threadIdx.x = i, gridDim.x = blocks;
      for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
        kernel(arguments...);
        __syncthreads();
      }
    });
  for (std::thread &t : all) t.join();
  pthread_barrier_destroy(&barrier_of_block);
}

} // namespace cuda
} // namespace petscrrb
