// How blocks are inverted, and their inverses in sine bases: for host and device.
#pragma once

#include "pc/blockrelax/core/band.hpp"
#include "pc/blockrelax/core/blockrelax.hpp"

#include <cmath>
#include <vector>

namespace petscrrb::blockrelax {

enum class Method {
  tensor,
  dense,
  factored
};

inline const char *name_of(Method m) {
  return m == Method::tensor ? "tensor" : m == Method::dense ? "dense" : "factored";
}

// The largest of all blocks.
struct Extent {
  int sides = 1, width = 1; // sides: nx + ny + nz
  std::size_t cells = 0;

  void add(const int n[3], int of_band) {
    sides = std::max(sides, n[0] + n[1] + n[2]);
    width = std::max(width, of_band);
    cells = std::max(cells, std::size_t(n[0]) * n[1] * n[2]);
  }
};

// Whether couplings do not change when a side is turned around.
inline bool even(const Couplings &c, const Neighbours &near) {
  bool same = true;
  for (int m = 0; m < near.count; ++m) {
    const Step s = near.step[m];
    for (int x = -1; x <= 1; x += 2)
      for (int y = -1; y <= 1; y += 2) same = same && c.ahead[m] == c.ahead[near.find({x * s.x, y * s.y, s.z})];
  }
  return same;
}

// Each cell costs 4 (nx + ny + nz) operations by sine bases, and 4 times the width by its factor. common: the couplings of
// all cells, or null
inline Method choose(Inverse wanted, const Couplings *common, const Neighbours &near, const Extent &e) {
  constexpr std::size_t most_dense = 512; // cells: a larger dense inverse is not chosen, since it leaves the cache
  if (wanted == Inverse::dense) return Method::dense;
  if (common && even(*common, near) && (wanted == Inverse::tensor || e.sides <= 4 * e.width)) return Method::tensor;
  return common && e.cells <= most_dense && e.width > 1 ? Method::dense : Method::factored;
}

// Sine bases diagonalize stencils that are alike in all cells and in both directions along a side: orthonormal and symmetric for
// each length, so that each is its own inverse.
class SineBases {
public:
  void add(int n) {
    if (at_.size() <= std::size_t(n)) at_.resize(std::size_t(n) + 1, none);
    if (at_[n] != none) return;
    at_[n] = values_.size();
    const double pi = std::acos(-1.0), scale = std::sqrt(2.0 / (n + 1));
    for (int i = 1; i <= n; ++i)
      for (int j = 1; j <= n; ++j)
        values_.push_back(scale * std::sin(pi * static_cast<double>(std::size_t(i) * j % (2 * (n + 1))) / (n + 1)));
  }
  const double *operator[](int n) const { return values_.data() + at_[n]; }
  std::size_t at(int n) const { return at_[n]; } // of values()
  const std::vector<double> &values() const { return values_; }
  double bytes() const { return static_cast<double>(values_.size() * sizeof(double)); }

private:
  static constexpr std::size_t none = ~std::size_t(0);

  std::vector<double> values_;
  std::vector<std::size_t> at_;
};

PETSCRRB_HD inline double cosine(int k, int n) { return cos(3.14159265358979323846 * (k + 1) / (n + 1)); }

// Of a block of n cells in sine bases.
PETSCRRB_HD inline double tensor_eigenvalue(const Neighbours &near, const Couplings &c, const int n[3], int cell) {
  const Place<int> at(cell, n);
  const double cosines[3] = {cosine(at.x, n[0]), cosine(at.y, n[1]), cosine(at.z, n[2])};
  double value = c.diagonal;
  for (int m = 0; m < near.count; ++m) {
    const Step s = near.step[m];
    value += 2 * c.ahead[m] * (s.x ? cosines[0] : 1) * (s.y ? cosines[1] : 1) * (s.z ? cosines[2] : 1);
  }
  return value;
}

// Returns 0 if the block is not positive definite, else -1.
inline int tensor_inverse(const Neighbours &near, const Couplings &c, const int n[3], double *to) {
  int bad = -1;
  for (int cell = 0; cell < n[0] * n[1] * n[2]; ++cell) {
    const double value = tensor_eigenvalue(near, c, n, cell);
    if (!is_good_pivot(value, c.diagonal)) bad = 0;
    to[cell] = inverse_of_pivot(value, c.diagonal);
  }
  return bad;
}

} // namespace petscrrb::blockrelax
