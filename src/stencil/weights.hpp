// What becomes of a row of the matrix: the weights of its couplings and its excess (docs/numerics.md, "The matrix that
// is factored").
#pragma once

#include "stencil/facts.hpp"

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

// V of V A V: the near null vector x, and 1 at identity rows.
PETSCRRB_HD inline double scaling(double x, bool identity) { return identity ? 1.0 : x; }

// Where it is 0 or not finite it says nothing about the row, and the vector is not used.
PETSCRRB_HD inline bool is_useful(double v) { return v != 0.0 && v * 0.0 == 0.0; }

// Of all rows, on the host; the first one where x, which may be v, is not useful is told.
inline void take_vector(index_t rows, const unsigned char *identity, const double *x, double *v, RowFacts &f) {
  f.useless_row = no_row;
  for (index_t p = 0; p < rows; ++p) {
    v[p] = scaling(x[p], identity[p]);
    if (!is_useful(v[p]) && f.useless_row == no_row) f.useless_row = p, f.useless_value = v[p];
  }
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
  PETSCRRB_HD bool rounded(double rounding) const { // RowFacts
    return std::abs(sum) <= rounding * size && std::abs(sum) > zero_sum * size;
  }
};

} // namespace petscrrb
