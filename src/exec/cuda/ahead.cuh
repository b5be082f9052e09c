// Rows of arrays that are on their way from memory while the row before them is worked on, in shared memory: registers could
// not hold so much, and what waits for memory in them is missing to other warps.
#pragma once

#include "exec/cuda/cuda.hpp"

#include <type_traits>

namespace petscrrb::cuda {

// Each thread fetches what it reads itself, so that no barrier is needed: of a row, `pairs` pairs of values, and `edges`
// single values that one lane of a warp has. Values are double or float. One row is ahead: fetch row k + 1, end_row(),
// await(), read row k. Where the device cannot copy asynchronously (before 8.0) the loads are just early.
template <int threads, int pairs, int edges> class RowsAhead {
public:
  static constexpr int bytes = 2 * (pairs * threads * 16 + edges * threads / 32 * 8);

  // shared: so many bytes, for all of the block
  __device__ explicit RowsAhead(char *shared)
      : pair_(shared + threadIdx.x * 16), edge_(shared + 2 * pairs * threads * 16 + threadIdx.x / 32 * 8) {}

  // from: aligned as a pair
  template <class T> __device__ void fetch_pair(int row, int i, const T *from) const {
    copy<2 * sizeof(T)>(pair_at(row, i), from, true);
  }
  // one half of a pair, 0 or 1; 0.0 where it is not there
  template <class T> __device__ void fetch_half(int row, int i, int half, const T *from, bool there) const {
    copy<sizeof(T)>(pair_at(row, i) + half * sizeof(T), from, there);
  }
  template <class T> __device__ void fetch_edge(int row, int i, const T *from, bool there = true) const {
    copy<sizeof(T)>(edge_at(row, i), from, there);
  }
  __device__ void end_row() const {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }
  // for all rows but the last one that was ended
  __device__ void await() const {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
  }
  template <class T> using Two = std::conditional_t<sizeof(T) == sizeof(double), double2, float2>;
  template <class T> __device__ Two<T> pair(int row, int i) const {
    return *reinterpret_cast<const Two<T> *>(pair_at(row, i));
  }
  template <class T> __device__ double edge(int row, int i) const {
    return *reinterpret_cast<const T *>(edge_at(row, i));
  }

private:
  __device__ char *pair_at(int row, int i) const { return pair_ + ((row & 1) * pairs + i) * (threads * 16); }
  __device__ char *edge_at(int row, int i) const { return edge_ + ((row & 1) * edges + i) * (threads / 32 * 8); }

  template <int size> __device__ static void copy(char *to, const void *from, bool there) {
#if __CUDA_ARCH__ >= 800
    const unsigned at = unsigned(__cvta_generic_to_shared(to)),
                   read = there ? size : 0; // the rest is filled with zeroes
    if constexpr (size == 16)               // past the first cache, which has no use for it
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(read) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(size), "r"(read)
                   : "memory");
#else
    using Word = std::conditional_t<size == 16, double2, std::conditional_t<size == 8, double, float>>;
    *reinterpret_cast<Word *>(to) = there ? *static_cast<const Word *>(from) : Word();
#endif
  }

  char *pair_, *edge_;
};

} // namespace petscrrb::cuda
