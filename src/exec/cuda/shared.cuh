// Shared memory by its own addresses, and copies into it that are on their way while the thread goes on: of values and, from compute
// capability 9.0 on, of many bytes at once, which barriers wait for.
#pragma once

#include "exec/cuda/cuda.hpp"

#include <cstdint>

namespace petscrrb::cuda {

// The compiler would compute a generic address again in each step of a loop that is short of time. These keep their order
// among themselves and with barriers.
__device__ inline unsigned shared_address(const void *p) { return unsigned(__cvta_generic_to_shared(p)); }

__device__ inline void load_shared(unsigned from, double &v) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(v) : "r"(from));
}
__device__ inline void load_shared(unsigned from, float &v) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(from));
}
__device__ inline void load_shared(unsigned from, double2 &v) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "r"(from));
}
__device__ inline void load_shared(unsigned from, float2 &v) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(from));
}
__device__ inline void store_shared(unsigned to, double v) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(to), "d"(v));
}

// One value of 4, 8 or 16 bytes. Where the device cannot copy asynchronously (before 8.0) the loads are just early.
template <class V> __device__ void copy_ahead(unsigned to, const V *from) {
  static_assert(sizeof(V) == 4 || sizeof(V) == 8 || sizeof(V) == 16, "what copies can be of");
#if __CUDA_ARCH__ >= 800
  if (sizeof(V) == 16) // past the first cache, which has no use for it
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(sizeof(V)));
#else
  const V v = *from;
  if constexpr (sizeof(V) == 4)
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(reinterpret_cast<const unsigned &>(v)));
  else if constexpr (sizeof(V) == 8)
    asm volatile("st.shared.b64 [%0], %1;" ::"r"(to), "l"(reinterpret_cast<const std::uint64_t &>(v)));
  else
    asm volatile("st.shared.v2.b64 [%0], {%1, %2};" ::"r"(to), "l"(reinterpret_cast<const std::uint64_t *>(&v)[0]),
                 "l"(reinterpret_cast<const std::uint64_t *>(&v)[1]));
#endif
}
// The copies since the last such call are one group.
__device__ inline void end_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;");
#endif
}
// Until all groups but the last so many are there.
template <int groups> __device__ void await_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(groups));
#endif
}

// A barrier of so many threads of a block, in whole warps that may be at different places of the program.
template <int threads, int barrier> __device__ void meet() {
  asm volatile("bar.sync %0, %1;" ::"n"(barrier), "n"(threads) : "memory");
}
// Barrier first + k of `count`; which one must be known from the instruction, or tools take it for that of the whole block.
template <int threads, int first, int count> __device__ void meet_at(int k) {
  if (count == 1 || k == 0)
    meet<threads, first>();
  else if constexpr (count > 1)
    meet_at<threads, first + 1, count - 1>(k - 1);
}

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
