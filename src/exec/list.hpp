// Lists, for loops over boxes.
#pragma once

#include "exec/range.hpp"

#include <utility>

namespace petscrrb {

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
