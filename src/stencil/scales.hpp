// Powers of two that bring numbers to where there are exponents for them, or where somebody else's thresholds are.
#pragma once

#include "exec/range.hpp"

#include <cmath>

namespace petscrrb {

// What brings the largest number of some to between 1 and 2, and back; it changes no digit.
struct Scales {
  double to = 1.0, from = 1.0;

  PETSCRRB_HD static Scales of(double largest) {
    if (!(largest > 0.0) || largest - largest != 0.0) return {};
    int exponent;
    (void)frexp(largest, &exponent);
    // both have to be numbers
    exponent = exponent < -1021 ? -1021 : exponent > 1021 ? 1021 : exponent;
    return {ldexp(1.0, 1 - exponent), ldexp(1.0, exponent - 1)};
  }
};

} // namespace petscrrb
