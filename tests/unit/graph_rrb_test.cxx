// RRB with red nodes chosen by support, as the library does it, against the reference.
#include "by_support.hpp"
#include "reference/amli_reference.hpp"
#include "rrb_support.hpp"
#include "threads.hpp"

#include <gtest/gtest.h>

using namespace reference;
using support::index_t;
using support::RealRRB;

namespace {

std::vector<std::pair<std::string, Problem>> all_problems() {
  auto all = zoo_and_rings();
  for (const auto &rough : rough_problems()) all.push_back(rough);
  return all;
}

support::Choice by_library(int last = 1) {
  support::Choice c;
  c.levels = 1000, c.support = true, c.last = last;
  return c;
}

void expect_the_same(RealRRB &real, const SupportRRB &M, int n, double within) {
  ASSERT_TRUE(M.ok());
  ASSERT_TRUE(real.outcome().ok);
  std::vector<index_t> sizes(M.sizes().begin(), M.sizes().end());
  sizes.push_back(index_t(M.last_block().size()));
  EXPECT_EQ(real.core().unknowns_by_level(), sizes);
  for (std::uint32_t seed = 1; seed <= 2; seed++) {
    const Vector r = random_vector(n, seed);
    EXPECT_LT(relative_difference(real.apply(r), M.apply(r)), within);
  }
}

TEST(GraphRRB, IsTheReference) {
  for (const auto &[name, problem] : all_problems())
    for (int last : {1, 40}) {
      SCOPED_TRACE(name + ", last " + std::to_string(last));
      const SupportRRB M = by_support(problem, deep(last));
      RealRRB real(support::converted(problem), by_library(last));
      EXPECT_EQ(real.redone(), M.redone());
      expect_the_same(real, M, problem.A.size(), 1e-9);
    }
}

TEST(GraphRRB, RefreshKeepsDecisions) {
  for (const auto &[name, problem] : rough_problems()) {
    SCOPED_TRACE(name);
    const SupportRRB before = by_support(problem);
    const Problem after = perturbed(problem, 0.3, 5);
    RealRRB real(support::converted(problem), by_library());
    const Vector r = random_vector(problem.A.size(), 3), first = real.apply(r);
    real.refresh();
    EXPECT_EQ(real.apply(r), first); // to the bit
    real.refresh(support::converted(after));
    SupportOptions options = deep();
    options.v = after.v;
    const SupportRRB M(after.A, after.grid, options, before.decisions());
    expect_the_same(real, M, problem.A.size(), 1e-9);
    real.refresh(support::converted(problem));
    EXPECT_EQ(real.apply(r), first);
  }
}

TEST(GraphRRB, IsSymmetricAndPositive) {
  for (const auto &[name, problem] : rough_problems())
    for (const auto precision : {petscrrb::rrb::Precision::in_double, petscrrb::rrb::Precision::in_single}) {
      SCOPED_TRACE(name);
      support::Choice c = by_library(5);
      c.precision = precision;
      RealRRB real(support::converted(problem), c);
      const Vector x = random_vector(problem.A.size(), 1), y = random_vector(problem.A.size(), 2);
      const Vector Mx = real.apply(x), My = real.apply(y);
      EXPECT_NEAR(dot(y, Mx), dot(x, My), 1e-11 * norm(y) * norm(Mx));
      EXPECT_GT(dot(x, Mx), 0);
    }
}

TEST(GraphRRB, InSinglePrecisionIsNear) {
  for (const auto &[name, problem] : rough_problems()) {
    SCOPED_TRACE(name);
    support::Choice c = by_library(5);
    RealRRB exact(support::converted(problem), c);
    c.precision = petscrrb::rrb::Precision::in_single;
    RealRRB single(support::converted(problem), c);
    const Vector r = random_vector(problem.A.size(), 4);
    EXPECT_LT(relative_difference(single.apply(r), exact.apply(r)), 1e-4);
    EXPECT_GT(relative_difference(single.apply(r), exact.apply(r)), 0);
  }
}

TEST(GraphRRB, MayPauseAtTheFirstSchurComplement) {
  int exact = 0, other = 0;
  for (const auto &[name, problem] : all_problems())
    for (int last : {1, 40}) {
      SCOPED_TRACE(name + ", last " + std::to_string(last));
      RealRRB real(support::converted(problem), by_library(last));
      if (!real.core().has_own_vectors(1)) continue;
      const Vector r = random_vector(problem.A.size(), 6);
      EXPECT_LT(relative_difference(real.apply_by_schur(r), real.apply(r)), 1e-12);
      (real.core().black_graph() ? exact : other)++;
    }
  EXPECT_GT(exact, 0);
  EXPECT_GT(other, 0);
}

// Each decides about a part of the nodes.
TEST(GraphRRB, ManyThreadsDecideAsOne) {
  const Problem problem = rough_cells(300, 251, 3, 1);
  const Vector r = random_vector(problem.A.size(), 1);
  std::vector<index_t> sizes[2];
  Vector z[2];
  for (const int many : {0, 1}) {
    const Threads threads(many ? 3 : 1);
    RealRRB real(support::converted(problem), by_library(1000));
    EXPECT_FALSE(real.core().graph().plain);
    sizes[many] = real.core().unknowns_by_level(), z[many] = real.apply(r);
  }
  EXPECT_GT(sizes[0][1], 1 << 15);
  EXPECT_EQ(sizes[1], sizes[0]);
  EXPECT_EQ(z[1], z[0]);
}

// The test of plain red nodes in arrays.
TEST(PlainTest, IsThatOfTheReference) {
  auto problems = all_problems();
  for (double r : {1.0, 2.0, 4.0, 5.9, 6.1, 10.0, 100.0})
    for (int n : {15, 16, 31, 40}) {
      problems.push_back({"anisotropy " + std::to_string(r) + " on " + std::to_string(n), anisotropic(n, n + 1, r, 1)});
      problems.push_back({"anisotropy 1/" + std::to_string(r) + " on " + std::to_string(n), anisotropic(n, n, 1, r)});
    }
  int plain = 0, other = 0;
  for (const auto &[name, problem] : problems) {
    const bool odd =
        (problem.grid.periodic_x && problem.grid.nx % 2) || (problem.grid.periodic_y && problem.grid.ny % 2);
    if (odd) continue; // never plain, says the reference
    const Prepared prepared(problem.A, problem.grid, problem.v, false);
    if (std::any_of(prepared.positive.begin(), prepared.positive.end(), [](const auto &row) { return !row.empty(); }))
      continue; // they slide there
    SCOPED_TRACE(name);
    const SupportRRB M = by_support(problem);
    const bool expected = M.levels() >= 2 && M.decisions().levels[0].plain && M.decisions().levels[1].plain;
    for (int grids : {0, 1})
      for (const auto precision : {petscrrb::rrb::Precision::in_double, petscrrb::rrb::Precision::in_single}) {
        support::Choice c;
        c.levels = 2, c.storage_grids = grids, c.test = true, c.precision = precision;
        const RealRRB real(support::converted(problem), c);
        if (!real.outcome().ok || real.redone() || M.redone()) continue;
        EXPECT_EQ(real.outcome().unsupported == 0, expected);
      }
    (expected ? plain : other)++;
  }
  EXPECT_GT(plain, 20);
  EXPECT_GT(other, 20);
}

// With AMLI: p(t) = (1 + lambda - t)/lambda of the library's own estimate.
TEST(GraphRRB, WithAMLIIsTheReference) {
  for (const Problem &problem : {random_faces({60, 57}, 1e4), rough_cells(65, 61, 3), channels(61, 60, 1, 4)}) {
    const SupportRRB M = by_support(problem, deep(2));
    support::Choice c = by_library(2);
    c.amli_grid = 1;
    RealRRB real(support::converted(problem), c);
    const petscrrb::rrb::AmliReport amli = real.core().amli();
    ASSERT_TRUE(amli.used) << amli.lambda_max;
    EXPECT_EQ(amli.nx, index_t(M.kept_nodes().size()));
    const Vector r = random_vector(problem.A.size(), 1);
    EXPECT_LT(relative_difference(real.apply(r), AMLI(M, amli.lambda_max).apply(r)), 1e-9);
  }
}

// Where it would not help it is V.
TEST(GraphRRB, WithoutUseOfAMLIIsTheReference) {
  const Problem problem = channels(30, 29, 1, 4);
  const SupportRRB M = by_support(problem, deep(2));
  support::Choice c = by_library(2);
  c.amli_grid = 1;
  RealRRB real(support::converted(problem), c);
  EXPECT_GT(real.core().amli().nx, 0);
  EXPECT_FALSE(real.core().amli().used);
  expect_the_same(real, M, problem.A.size(), 1e-9);
}

} // namespace
