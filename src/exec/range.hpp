// Numbers of grid points, boxes of nodes, lists as boxes, and the mark of functions that run on host and device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#if defined(__CUDACC__)
  #define PETSCRRB_HD          __host__ __device__
  #define PETSCRRB_HD_AT_EDGES __host__ __device__
#else
  #define PETSCRRB_HD          [[gnu::always_inline]] // a loop with a call in it is not vectorized
  #define PETSCRRB_HD_AT_EDGES [[gnu::noinline]]      // inlined hundreds of times it would be most of the code
#endif
#if defined(__CUDA_ARCH__)
  #define PETSCRRB_PRAGMA(what)     _Pragma(#what)
  #define PETSCRRB_UNROLL           _Pragma("unroll")             // what is indexed by a loop stays in registers
  #define PETSCRRB_UNROLL_BY(times) PETSCRRB_PRAGMA(unroll times) // reads do not wait for one another
#else
  #define PETSCRRB_UNROLL
  #define PETSCRRB_UNROLL_BY(times)
#endif

namespace petscrrb {

using index_t = std::int64_t; // of grid points; matrix indices are PetscInt

struct Range2 {
  index_t h0 = 0, h1 = 0, k0 = 0, k1 = 0; // h0 <= h < h1, k0 <= k < k1

  PETSCRRB_HD index_t size() const { return h1 > h0 && k1 > k0 ? (h1 - h0) * (k1 - k0) : 0; }
};

struct Range3 {
  index_t n[3] = {0, 0, 0}; // 0 <= i < n[0], and so on
  index_t odd_lack = 0;     // so many points fewer in odd rows: in those of odd j,
  index_t plane = 0;        // or of odd j + plane k + first
  index_t first = 0;

  PETSCRRB_HD index_t size() const { return n[0] * n[1] * n[2]; }
  // its points
  PETSCRRB_HD index_t row(index_t j, index_t k) const { return n[0] - ((j + plane * k + first) & 1 ? odd_lack : 0); }
};

// f for many points: with the numbers it is to read from memory, where it says which, so that they need not be looked up at each point.
template <class F> PETSCRRB_HD inline auto with_numbers(const F &f, int) -> decltype(f.read()) { return f.read(); }
template <class F> PETSCRRB_HD inline F with_numbers(const F &f, long) { return f; }
template <class F> PETSCRRB_HD inline auto with_numbers(const F &f) { return with_numbers(f, 0); }

inline Range2 intersection(Range2 a, Range2 b) {
  Range2 c{std::max(a.h0, b.h0), std::min(a.h1, b.h1), std::max(a.k0, b.k0), std::min(a.k1, b.k1)};
  if (c.h1 <= c.h0 || c.k1 <= c.k0) return {a.h1, a.h1, a.k1, a.k1};
  return c;
}

// A list as a box. Its last row may go past the end of the list.
struct ListAsBox {
  static constexpr index_t width = 4096;

  static index_t rows(index_t n) { return (n + width - 1) / width; }
  static Range2 box(index_t n) { return {0, width, 0, rows(n)}; }
  static Range3 points(index_t n) { return {{std::min(n, width), rows(n), 1}}; } // no row is longer than the list
  PETSCRRB_HD static index_t entry(index_t h, index_t k) { return k * width + h; }
};
// f(i) of an entry, where a loop over the box comes to it.
template <class F> struct AtEntry {
  F f;
  index_t n; // entries

  PETSCRRB_HD auto operator()(index_t h, index_t k, index_t = 0) const {
    const index_t i = ListAsBox::entry(h, k);
    return i < n ? f(i) : decltype(f(i))();
  }
  template <class G = F> PETSCRRB_HD auto read() const -> AtEntry<decltype(std::declval<G>().read())> {
    return {f.read(), n};
  }
};

} // namespace petscrrb
