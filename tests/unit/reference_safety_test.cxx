// The reference RRB on what applications bring: singular, masked, scaled, jumping, periodic, or not definite at all.
#include "reference_support.hpp"

#include <limits>
#include <stdexcept>

using namespace reference;

namespace {

TEST(Safety, AbsentCouplingsInEitherDirectionToIdentityRows) {
  const auto fixed = [](int i, int j) { return i == 0 || j == 0 || i == 14 || (i > 5 && i < 9 && j == 7); };
  const Problem without = identity_rows(random_faces({15, 12}, 10), fixed, false);
  const Problem with = identity_rows(random_faces({15, 12}, 10), fixed, true);
  EXPECT_NE(with.A.at(16, 15), 0);
  for (int levels : {0, 2, 20})
    EXPECT_EQ(factor(with, with_levels(levels)).apply(with.b), factor(without, with_levels(levels)).apply(without.b));
  EXPECT_LE(iterations(with, with_levels(20)), 14);
}

TEST(Safety, NullDirectionsArePondsAndIsolatedNodes) {
  for (int levels : {0, 3, 20}) {
    EXPECT_EQ(factor(neumann(17, 12), with_levels(levels)).null_directions().size(), 1u);
    EXPECT_EQ(factor(two_ponds(17, 12), with_levels(levels)).null_directions().size(), 2u);
    EXPECT_EQ(factor(periodic({9, 8, true, true}, 0), with_levels(levels)).null_directions().size(), 1u);
    EXPECT_EQ(factor(periodic({9, 8, true, false}, 0), with_levels(levels)).null_directions().size(), 0u);
  }
}

TEST(Safety, PseudoInverseOfASingularLastBlock) {
  for (const Problem &problem : {neumann(7, 6), two_ponds(9, 6)}) {
    const RRB M = factor(problem, with_levels(0));
    for (const Vector &w : problem.null_space) EXPECT_LT(norm(M.apply(w)), 1e-12 * norm(w));
    // the four conditions of Moore and Penrose are these two, as both are symmetric
    const Vector r = random_vector(problem.A.size(), 3), z = M.apply(r);
    EXPECT_LT(difference(M.apply(problem.A.multiply(z)), z), 1e-11 * norm(z));
    const Vector Ar = problem.A.multiply(r);
    EXPECT_LT(difference(problem.A.multiply(M.apply(Ar)), Ar), 1e-11 * norm(Ar));
  }
}

TEST(Safety, SingularMatricesWithJumpsStaySingular) {
  Problem problem = random_jumps({63, 63}, 1e6, 4, true);
  problem.null_space.push_back(Vector(63 * 63, 1.0));
  set_random_rhs(problem);
  const RRB M = factor(problem);
  EXPECT_EQ(M.null_directions().size(), 1u);
  EXPECT_FALSE(M.redone());
  EXPECT_LE(solve(problem, M).iterations, 9);
}

TEST(Safety, AShiftHoweverSmallIsNotANullDirection) {
  const Problem problem = periodic({16, 16, true, true}, 1e-11);
  EXPECT_TRUE(factor(problem).null_directions().empty());
  const Vector one(256, 1.0), z = factor(problem, with_levels(20)).apply(one);
  for (double value : z) EXPECT_NEAR(value * 1e-11, 1, 1e-4);
}

TEST(Safety, CanalsStayUnlumped) {
  EXPECT_FALSE(factor(straight_canal(64, 64, 9)).unlumped().empty());
  EXPECT_LE(iterations(straight_canal(127, 127, 8), with_levels(12)), 29);
  EXPECT_LE(iterations(straight_canal(64, 64, 9)), 40);
  EXPECT_LE(iterations(diagonal_canal(128), with_levels(12)), 15);
}

TEST(Safety, PositiveCouplings) {
  EXPECT_LE(iterations(bilinear_elements(63, 63, 5, 1), with_levels(12)), 22);
  EXPECT_LE(iterations(bilinear_elements(63, 63, 1, 5), with_levels(12)), 22);
  EXPECT_LE(iterations(random_nine_points({64, 63}, 0.3)), 36);
}

TEST(Safety, TheNearNullSpaceVectorUndoesAScaling) {
  Problem plain = poisson(63);
  set_random_rhs(plain);
  Vector D = random_vector(63 * 63, 5);
  for (std::size_t p = 0; p < D.size(); p++) D[p] = std::pow(10.0, 2 * D[p]) * (p % 3 ? 1 : -1);
  Problem problem = scaled(plain, D);
  const RRB M = factor(problem, with_levels(12)), M_plain = factor(plain, with_levels(12));
  Vector r = plain.b;
  for (std::size_t p = 0; p < D.size(); p++) r[p] *= D[p];
  Vector z = M.apply(r);
  for (std::size_t p = 0; p < D.size(); p++) z[p] *= D[p];
  EXPECT_LT(difference(z, M_plain.apply(plain.b)), 1e-10 * norm(z));
  EXPECT_LE(solve(problem, M).iterations, 17);
  problem.v.clear();
  EXPECT_TRUE(factor(problem, with_levels(12)).ok());
}

TEST(Safety, PeriodicSides) {
  EXPECT_LE(iterations(periodic({64, 64, true, false}, 0), with_levels(12)), 16);
  EXPECT_LE(iterations(periodic({65, 65, true, false}, 0), with_levels(12)), 30);
  EXPECT_LE(iterations(periodic({129, 129, true, false}, 0), with_levels(12)), 41);
}

TEST(Safety, StrongAnisotropyAndJumps) {
  EXPECT_LE(iterations(anisotropic(63, 63, 1000, 1), with_levels(12)), 160);
  EXPECT_LE(iterations(random_jumps({127, 127}, 1e6, 4)), 13);
  EXPECT_LE(iterations(random_jumps({63, 63}, 1e3, 1)), 80);
  EXPECT_LE(iterations(random_faces({127, 127}, 1e4), with_levels(12)), 100);
}

TEST(Safety, AWrongVectorIsRepairedWithoutLumping) {
  // v = 1 is far from the null vector of D A D: lumped pivots are negative
  Vector D = random_vector(400, 5);
  for (double &value : D) value = std::pow(10.0, 2 * value);
  Problem problem = scaled(poisson(20), D);
  problem.v.clear();
  const RRB M = factor(problem, with_levels(20));
  EXPECT_TRUE(M.ok());
  EXPECT_TRUE(M.redone());
  EXPECT_LT(M.failure().value, 0);
  EXPECT_TRUE(solve(problem, M).converged);
}

TEST(Safety, IndefiniteMatricesFailWithTheirNode) {
  Problem problem = poisson(8);
  problem.A.row[9][9] = -4;
  const RRB M = factor(problem, with_levels(20));
  EXPECT_FALSE(M.ok());
  EXPECT_TRUE(M.redone());
  EXPECT_LT(M.failure().value, 0);
  EXPECT_GE(M.failure().level, 1);
  EXPECT_THROW(M.apply(problem.b), std::logic_error);
}

TEST(Refused, WhatIsNoSymmetricStencil) {
  Problem problem = poisson(8);
  problem.A.row[9][10] = -1.1;
  EXPECT_THROW(factor(problem), std::invalid_argument);
  problem = poisson(8);
  problem.A.add(0, 2, -1);
  problem.A.add(2, 0, -1);
  EXPECT_THROW(factor(problem), std::invalid_argument);
  problem = poisson(8);
  problem.A.row[9][9] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(factor(problem), std::invalid_argument);
  EXPECT_THROW(RRB(problem.A, {8, 7}, {}), std::invalid_argument);
}

} // namespace
