// The reference of RRB with red nodes chosen by support on matrices that plain RRB converges slowly on: iterations and
// sizes of levels, as known from the prototype of the method.
#include "reference/amli_reference.hpp"
#include "reference/hard_problems.hpp"
#include "reference/support_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

using namespace reference;

namespace {

using Inverse = std::function<Vector(const Vector &)>;

// Iterations to 1e-6 in the natural norm and in that of the residual.
struct Counts {
  int natural = 0, unpreconditioned = 0;
};

Counts count(const Problem &problem, const Inverse &inverse) {
  Vector natural; // squares
  const CGResult result = cg(
      problem.A, problem.b,
      [&](const Vector &r) {
        const Vector z = inverse(r);
        natural.push_back(dot(r, z));
        return z;
      },
      Norm::unpreconditioned);
  EXPECT_TRUE(result.converged);
  natural.erase(natural.begin()); // cg() asks for the norm of b first
  Counts counts{0, result.iterations};
  while (natural[counts.natural] > 1e-12 * natural[0]) counts.natural++;
  return counts;
}

// As docs/numerics.md estimates it, but for the vector it starts from.
double lambda_of(const SupportRRB &M) {
  Vector x0 = random_vector(M.kept_matrix().size(), 3);
  for (int p : M.kept_nodes()) x0[p] /= std::sqrt(M.kept_matrix().at(p, p));
  const double theta = largest_eigenvalue_on_kept(M, x0, 8);
  return 1 + std::max(1.05 * (theta - 1), 1.25 * (theta - 1) - 1);
}

void expect_counts(int n, const std::vector<Counts> &known) {
  const auto problems = hard_problems(n);
  ASSERT_EQ(problems.size(), known.size());
  for (std::size_t i = 0; i < known.size(); i++) {
    const SupportRRB M(problems[i].second.A, problems[i].second.grid, {});
    EXPECT_FALSE(M.has_amli_level()) << problems[i].first;
    const Counts counts = count(problems[i].second, [&](const Vector &r) { return M.apply(r); });
    EXPECT_NEAR(counts.natural, known[i].natural, 1) << problems[i].first;
    EXPECT_NEAR(counts.unpreconditioned, known[i].unpreconditioned, 1) << problems[i].first;
  }
}

TEST(SupportCounts, OnSmallGrids) {
  expect_counts(63, {{6, 8},
                     {6, 8},
                     {5, 6},
                     {4, 5},
                     {3, 3},
                     {4, 5},
                     {7, 8},
                     {7, 8},
                     {8, 9},
                     {7, 8},
                     {8, 9},
                     {6, 7},
                     {8, 9},
                     {4, 4},
                     {5, 6},
                     {9, 12},
                     {9, 12}});
}

TEST(SupportCounts, OnLargerGrids) {
  expect_counts(127, {{8, 10},
                      {10, 13},
                      {8, 10},
                      {7, 8},
                      {4, 5},
                      {7, 8},
                      {9, 11},
                      {9, 10},
                      {10, 12},
                      {9, 11},
                      {10, 11},
                      {10, 13},
                      {10, 11},
                      {6, 7},
                      {8, 10},
                      {15, 19},
                      {15, 19}});
}

// Level 5 of 7 starts from 1/16 of the unknowns.
TEST(SupportCounts, WithAMLI) {
  const Problem problem = with_ones(anisotropic(255, 255, 100, 1));
  const SupportRRB M(problem.A, problem.grid, {});
  ASSERT_TRUE(M.has_amli_level());
  EXPECT_EQ(M.kept_nodes().size(), 4080u);
  const double lambda = lambda_of(M);
  EXPECT_NEAR(lambda, 2.4, 0.2);
  const Counts with = count(problem, [&](const Vector &r) { return AMLI(M, lambda).apply(r); });
  EXPECT_NEAR(with.natural, 9, 1);
  EXPECT_NEAR(with.unpreconditioned, 11, 1);
}

TEST(SupportCounts, UnknownsAndRedNodesOfLevels) {
  const auto sizes = [](const Problem &problem) {
    const SupportRRB M(problem.A, problem.grid, {});
    std::vector<std::pair<int, int>> unknowns_and_reds;
    for (int k = 0; k < M.levels(); k++)
      unknowns_and_reds.push_back({M.sizes()[k], static_cast<int>(M.decisions().levels[k].reds.size())});
    return unknowns_and_reds;
  };
  using Sizes = std::vector<std::pair<int, int>>;
  const Vector h = geometric_cells(127, 1000);
  EXPECT_EQ(sizes(anisotropic(127, 127, 1000, 1)), (Sizes{{16129, 8064}, {8065, 4001}, {4064, 2032}, {2032, 1016}}));
  EXPECT_EQ(sizes(finite_volumes(h, h, one, one)),
            (Sizes{{16129, 8064}, {8065, 3685}, {4380, 2013}, {2367, 960}, {1407, 553}}));
  EXPECT_EQ(sizes(checkerboard(127, 127, 100)),
            (Sizes{{16129, 8064}, {8065, 3905}, {4160, 1981}, {2179, 935}, {1244, 524}}));
}

} // namespace
