// Copies of many bytes at once into shared memory, which barriers wait for: from compute capability 9.0 on.
#pragma once

#include "exec/cuda/shared.cuh"

namespace petscrrb::cuda {

// Whether this code is compiled for a device that has them. Where it is not, what is below does nothing.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  #define PETSCRRB_BULK_COPIES 1
#else
  #define PETSCRRB_BULK_COPIES 0
#endif
constexpr bool has_bulk_copies = PETSCRRB_BULK_COPIES;

// A barrier in shared memory. Its phases end one after the other, each when someone has arrived and the bytes that it
// expects have come; a phase is known by its number modulo 2.
using PhaseBarrier = std::uint64_t;

__device__ inline void init_phases(unsigned barrier) {
#if PETSCRRB_BULK_COPIES
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
#endif
}
// Before other threads may use what this one has initialized, and a barrier of theirs.
__device__ inline void publish_phases() {
#if PETSCRRB_BULK_COPIES
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
__device__ inline void arrive_expecting(unsigned barrier, int bytes) {
#if PETSCRRB_BULK_COPIES
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
#endif
}
__device__ inline void await_phase(unsigned barrier, int phase) {
#if PETSCRRB_BULK_COPIES
  unsigned done;
  do {
    asm volatile("{\n\t.reg .pred done;\n\t"
                 "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, done;\n\t}"
                 : "=r"(done)
                 : "r"(barrier), "r"(unsigned(phase) % 2)
                 : "memory");
  } while (!done);
#endif
}

// Contiguous bytes of global memory, a multiple of 16, that the barrier counts when they have come.
__device__ inline void copy_bulk(unsigned to, const void *from, int bytes, unsigned barrier) {
#if PETSCRRB_BULK_COPIES
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
               : "memory");
#endif
}

} // namespace petscrrb::cuda
