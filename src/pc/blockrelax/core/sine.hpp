// Sine bases, which diagonalize stencils that are alike in all cells and in both directions along a side.
#pragma once

#include "exec/range.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace petscrrb::blockrelax {

// Orthonormal and symmetric for each length, so that it is its own inverse.
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

} // namespace petscrrb::blockrelax
