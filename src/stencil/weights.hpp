// What becomes of a row of the matrix: the weights of its couplings and its excess (docs/numerics.md, "The matrix that
// is factored").
#pragma once

#include "exec/range.hpp"

#include <cmath>

namespace petscrrb {

// What becomes of positive couplings: they are moved to both diagonals, which leaves the excesses as they are, and have no
// weight; or they stay, and have a negative one.
enum class Positive {
  moves,
  stays
};

PETSCRRB_HD inline double weight(double coupling, Positive positive) {
  return coupling < 0.0 || positive == Positive::stays ? -coupling : 0.0;
}

// The sum of a row, begun with its diagonal. What is below `rounding` times the row's magnitudes is taken for 0.
struct Excess {
  double sum, size;

  PETSCRRB_HD explicit Excess(double diagonal) : sum(diagonal), size(std::abs(diagonal)) {}
  PETSCRRB_HD void add(double coupling) {
    sum += coupling;
    size += std::abs(coupling);
  }
  PETSCRRB_HD double value(double rounding) const { return std::abs(sum) <= rounding * size ? 0.0 : sum; }
};

} // namespace petscrrb
