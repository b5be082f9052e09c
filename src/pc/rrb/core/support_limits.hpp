// What red sets may do (docs/numerics.md, "Red nodes chosen by support").
#pragma once

#include "exec/range.hpp"

namespace petscrrb::rrb {

// Equal coefficients make many tests equations: within this relative margin both sides count as equal, so that rounding decides nothing.
constexpr double tie = 1e-9;
PETSCRRB_HD inline bool at_most(double a, double b) { return a <= b + tie * (b < 0.0 ? -b : b); }

// lost <= beta kept at each red node, w <= tau S at each coupling of two of them
struct Limits {
  double beta, tau;

  bool operator==(const Limits &o) const { return beta == o.beta && tau == o.tau; }
};
// A node with more couplings stays black: eliminating it would add their square.
constexpr int most_of_red = 256;
constexpr Limits plain_limits{3.0, 3.0}, choice_limits{1.0, 0.7};
// Beyond these the time of a choice by support on a host comes back in one solve or two: one direction that couples 60 times as strongly
// as the other.
constexpr Limits worth_a_choice{30.0, 30.0};

} // namespace petscrrb::rrb
