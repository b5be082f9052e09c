// The reference of relaxation by blocks has the known numbers.
#include "blockrelax_known.hpp"

#include <gtest/gtest.h>

using namespace blockrelax_support;

namespace {

TEST(BlockRelaxReference, HasTheKnownReductions) {
  const Domain domain = cube(32);
  const SmallMatrix rows = laplacian(domain);
  const reference::Matrix A = reference_of(rows);
  const Vector x = start(A.size());
  for (const Known &k : known_numbers) {
    const auto &[bx, by, bz] = k.block;
    const auto two = relaxation(domain, rows, coloured(bx, by, bz, 2));
    const auto eight = relaxation(domain, rows, coloured(bx, by, bz, 8));
    const auto in_colours = [](const auto &r) {
      return [&](const Vector &b, const Vector &u) { return r.coloured(b, u); };
    };
    const auto jacobi = [&](const Vector &b, const Vector &u) { return two.jacobi(b, u, 0.8); };
    const auto in_order = [&](const Vector &b, const Vector &u) { return two.lexicographic(b, u); };
    EXPECT_NEAR(reduction(A, x, jacobi), k.jacobi, tolerance);
    EXPECT_NEAR(reduction(A, x, in_order), k.lexicographic, tolerance);
    EXPECT_NEAR(reduction(A, x, in_colours(two)), k.two, tolerance);
    EXPECT_NEAR(reduction(A, x, in_colours(eight)), k.eight, tolerance);
  }
}

} // namespace
