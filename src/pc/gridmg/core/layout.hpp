// How a 3D grid's arrays lie in memory: rows along x, the even points of a row before the odd ones, so that the points of one
// colour are side by side; one point around the grid on all sides.
#pragma once

#include "exec/range.hpp"

#include <array>
#include <cmath>

namespace petscrrb::gridmg {

using Sizes = std::array<index_t, 3>;

struct Shape {
  Sizes n = {0, 0, 0};
  std::array<bool, 3> ring = {false, false, false}; // sides that are periodic
  // of several ranks: whether the grid goes on before the first point of a direction and after the last one
  std::array<bool, 3> more_before = {false, false, false}, more_after = {false, false, false};

  index_t points() const { return n[0] * n[1] * n[2]; }
  bool has_more() const {
    bool more = false;
    for (int q = 0; q < 3; ++q) more |= more_before[q] || more_after[q];
    return more;
  }
  // points of a direction, with those of other ranks that are around
  index_t around(int q) const { return n[q] + more_before[q] + more_after[q]; }
  Range3 all() const { return {{n[0], n[1], n[2]}}; }
  // the points of one colour, by half of x
  Range3 halves(index_t colour) const { return {{(n[0] + 1) / 2, n[1], n[2]}, n[0] % 2, 1, colour}; }
  // those of both, by rows of one parity of x, those of the same y side by side
  Range3 halves_of_both() const { return {{(n[0] + 1) / 2, 2 * n[1], n[2]}, n[0] % 2}; }
  // after one step of coarsening in direction q
  Shape coarser(int q) const {
    Shape c = *this;
    c.n[q] = ring[q] ? (n[q] + 1) / 2 : n[q] / 2; // where it goes on after them, they are even
    return c;
  }
};

struct Layout {
  Sizes n = {0, 0, 0};
  index_t half = 0, pitch = 0, plane = 0;

  static constexpr index_t lead = 8; // numbers before the first one of a half: the point -1, and whole cache lines

  Layout() = default;
  explicit Layout(const Sizes &sizes) : n(sizes) {
    half = lead + (n[0] / 2 + 1 + lead - 1) / lead * lead;
    pitch = 2 * half;
    plane = pitch * (n[1] + 2);
  }
  index_t size() const { return plane * (n[2] + 2); }
  index_t first() const { return plane + pitch + lead; } // place of the point (0, 0, 0)
  // of another one, from there
  index_t place(index_t i, index_t j, index_t k) const { return k * plane + j * pitch + (i & 1) * half + (i >> 1); }
};

// An array of that layout, seen from its point (0, 0, 0). Coordinates go from -1 to n.
template <class T> struct Field {
  T *p = nullptr;
  index_t half = 0, pitch = 0, plane = 0;

  Field() = default;
  Field(T *memory, const Layout &x) : p(memory + x.first()), half(x.half), pitch(x.pitch), plane(x.plane) {}

  PETSCRRB_HD T &operator()(index_t i, index_t j, index_t k) const { return row(i & 1, j, k)[i >> 1]; }
  PETSCRRB_HD T &operator()(const index_t (&a)[3]) const { return (*this)(a[0], a[1], a[2]); }
  PETSCRRB_HD index_t place(index_t parity, index_t j, index_t k) const {
#ifdef __CUDA_ARCH__
    return int(k) * int(plane) + int(j) * int(pitch) + int(parity) * int(half); // no device has memory for more
#else
    return k * plane + j * pitch + parity * half;
#endif
  }
  // the points of one parity of row (j, k), by half of their x
  PETSCRRB_HD T *row(index_t parity, index_t j, index_t k) const { return p + place(parity, j, k); }
  // the i-th such row along y (q = 1) or z (2); other: its place in the other one of the two
  template <int q> PETSCRRB_HD T *row_along(index_t parity, index_t i, index_t other) const {
    return q == 1 ? row(parity, i, other) : row(parity, other, i);
  }
};

} // namespace petscrrb::gridmg
