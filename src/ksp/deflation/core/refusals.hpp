// The words in which host and device refuse a matrix or a space.
#pragma once

#include "ksp/deflation/core/deflation.hpp"

namespace petscrrb::deflation {

inline std::string too_many(index_t subdomains) {
  return std::to_string(subdomains) + " subdomains are too many, at most " + std::to_string(most_subdomains) +
         " can be: use fewer -ksp_deflation_blocks, more -ksp_deflation_stripe_lines, or a larger -ksp_deflation_jump";
}
inline std::string not_symmetric(index_t row) {
  return "the matrix is not symmetric at row " + std::to_string(row) +
         ", and deflation needs a symmetric one: E = Z^T A Z would not be positive definite";
}

} // namespace petscrrb::deflation
