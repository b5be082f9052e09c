// Known numbers of relaxation by blocks: 6 and -1, zero outside, A x = 0, a random start.
#pragma once

#include "blockrelax_support.hpp"

namespace blockrelax_support {

using Size = std::array<int, 3>;

inline Domain cube(int n) { return solid(n, n, n); }

inline Vector start(int n, unsigned seed = 5) { return random_values(n, 0, 1, seed); }

// ||r_3|| / ||r_0|| times 100 of A x = 0.
template <class Sweep> double reduction(const reference::Matrix &A, Vector x, const Sweep &sweep) {
  const Vector b(x.size(), 0.0);
  const double before = residual(A, b, x);
  for (int k = 0; k < 3; ++k) x = sweep(b, x);
  return 100 * residual(A, b, x) / before;
}

struct Known {
  Size block;
  double jacobi, lexicographic, two, eight; // ||r_3|| / ||r_0|| times 100 on 32^3
  double factor_jacobi, factor_seidel;
};
const Known known_numbers[] = {{{2, 2, 2}, 5.43, 2.80, 3.25, 2.80, 0.9928, 0.9820},
                               {{4, 4, 4}, 3.80, 1.88, 2.07, 1.90, 0.9858, 0.9647},
                               {{8, 8, 8}, 2.66, 1.31, 1.40, 1.31, 0.9726, 0.9328}};
constexpr double tolerance = 0.04; // another random start

} // namespace blockrelax_support
