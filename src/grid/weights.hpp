// What becomes of a row of the matrix: the weights of its couplings and its excess (docs/numerics.md, "The matrix that
// is factored").
#pragma once

#include "backend/range.hpp"

#include <cmath>

namespace petscrrb {

// A positive coupling has no weight; as it goes to both diagonals, it leaves the excess as it is.
PETSCRRB_HD inline double weight(double coupling) { return coupling < 0.0 ? -coupling : 0.0; }

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
