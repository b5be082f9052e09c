// The reference of RRB with red nodes chosen by support on matrices that plain RRB converges slowly on: iterations as known from the prototype of
// the method, and sizes of levels. Those of the first three are the prototype's, too; it lets more couplings slide in a pass.
#include "reference/amli_reference.hpp"
#include "reference/hard_problems.hpp"
#include "reference/support_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
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

struct Known {
  std::string name;
  Counts at_63, at_127;
  std::vector<std::pair<int, int>> levels_at_127; // unknowns and red nodes, where they are known
};

const std::vector<Known> known{
    {"poisson", {6, 8}, {8, 10}, {{16129, 8064}, {8065, 3969}, {4096, 2048}, {2048, 1024}}},
    {"anisotropy 10 in x", {6, 8}, {10, 13}, {}},
    {"anisotropy 100 in x", {5, 6}, {8, 10}, {}},
    {"anisotropy 1000 in x", {4, 5}, {7, 8}, {{16129, 8064}, {8065, 4001}, {4064, 2032}, {2032, 1016}}},
    {"anisotropy 10000 in x", {3, 3}, {4, 5}, {}},
    {"anisotropy 1000 in y", {4, 5}, {7, 8}, {}},
    {"stretched in y to 30", {7, 8}, {9, 11}, {}},
    {"stretched in y to 1000", {7, 8}, {9, 10}, {}},
    {"stretched in x and y to 30", {8, 9}, {10, 12}, {}},
    {"stretched in x and y to 1000",
     {7, 8},
     {9, 11},
     {{16129, 8064}, {8065, 3685}, {4380, 2013}, {2367, 971}, {1396, 543}}},
    {"tanh in x and y", {8, 9}, {10, 11}, {}},
    {"checkerboard", {6, 7}, {10, 13}, {{16129, 8064}, {8065, 3905}, {4160, 1981}, {2179, 935}, {1244, 545}}},
    {"channels at 1 mod 4", {8, 9}, {10, 11}, {}},
    {"channels at 2 mod 4", {4, 4}, {6, 7}, {}},
    {"channels at 1 mod 2", {5, 6}, {8, 10}, {}},
    {"elements 10 in x", {9, 12}, {15, 19}, {}},
    {"elements 100 in x", {9, 12}, {15, 19}, {}}};

void expect_near(const Counts &counts, const Counts &expected) {
  EXPECT_NEAR(counts.natural, expected.natural, 1);
  EXPECT_NEAR(counts.unpreconditioned, expected.unpreconditioned, 1);
}

TEST(SupportCounts, OnGridsOf63) {
  const auto problems = hard_problems(63);
  for (std::size_t i = 0; i < known.size(); i++) {
    SCOPED_TRACE(known[i].name);
    ASSERT_EQ(problems[i].first, known[i].name);
    const SupportRRB M(problems[i].second.A, problems[i].second.grid, {});
    expect_near(count(problems[i].second, [&](const Vector &r) { return M.apply(r); }), known[i].at_63);
  }
}

TEST(SupportCounts, OnGridsOf127) {
  const auto problems = hard_problems(127);
  for (std::size_t i = 0; i < known.size(); i++) {
    SCOPED_TRACE(known[i].name);
    ASSERT_EQ(problems[i].first, known[i].name);
    const SupportRRB M(problems[i].second.A, problems[i].second.grid, {});
    EXPECT_FALSE(M.has_amli_level());
    expect_near(count(problems[i].second, [&](const Vector &r) { return M.apply(r); }), known[i].at_127);
    std::vector<std::pair<int, int>> levels;
    for (int k = 0; k < M.levels(); k++)
      levels.push_back({M.sizes()[k], static_cast<int>(M.decisions().levels[k].reds.size())});
    if (!known[i].levels_at_127.empty()) {
      EXPECT_EQ(levels, known[i].levels_at_127);
    }
  }
}

// Level 5 of 7 starts from 1/16 of the unknowns.
TEST(SupportCounts, WithAMLI) {
  const Problem problem = with_ones(anisotropic(255, 255, 100, 1));
  const SupportRRB M(problem.A, problem.grid, {});
  ASSERT_TRUE(M.has_amli_level());
  EXPECT_EQ(M.kept_nodes().size(), 4080u);
  const double lambda = lambda_of(M);
  EXPECT_NEAR(lambda, 2.4, 0.2);
  expect_near(count(problem, [&](const Vector &r) { return AMLI(M, lambda).apply(r); }), {9, 11});
}

} // namespace
