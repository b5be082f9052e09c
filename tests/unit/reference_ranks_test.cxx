// RRB on simulated ranks against the reference on one, and what it sends against docs/design_ranks.md.
#include "reference/rrb_ranks_reference.hpp"
#include "reference_support.hpp"

using namespace reference;
using ranks::Partition;

namespace {

// Cuts at random places: boxes of all sizes, some empty.
std::vector<int> random_cuts(int n, int parts, Random &random) {
  std::vector<int> cuts{0};
  for (int i = 1; i < parts; i++) cuts.push_back(static_cast<int>(random() * (n + 1)));
  cuts.push_back(n);
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

// Parts that differ by one point at most, as a DMDA's.
std::vector<int> even_cuts(int n, int parts) {
  std::vector<int> cuts;
  for (int i = 0; i <= parts; i++) cuts.push_back(n / parts * i + std::min(i, n % parts));
  return cuts;
}

Partition even_boxes(const Grid &g, int columns, int rows) { return {even_cuts(g.nx, columns), even_cuts(g.ny, rows)}; }

std::vector<Partition> partitions(const Grid &g, Random &random) {
  return {even_boxes(g, 1, 4),
          even_boxes(g, 3, 1),
          even_boxes(g, 2, 3),
          {random_cuts(g.nx, 4, random), random_cuts(g.ny, 3, random)}};
}

int most_levels(const Grid &g) {
  int levels = 1;
  while ((1 << levels / 2) < std::max(g.nx, g.ny)) levels += 2;
  return levels;
}

std::string words(const Partition &p) {
  std::string s;
  for (const auto *cuts : {&p.x, &p.y}) {
    s += s.empty() ? "x" : " y";
    for (int c : *cuts) s += " " + std::to_string(c);
  }
  return s;
}

void expect_same(const Problem &problem, Options options, const Partition &parts, int distributed,
                 const std::string &what) {
  options.v = problem.v;
  options.levels = std::min(options.levels, most_levels(problem.grid));
  const RRB one(problem.A, problem.grid, options);
  ranks::RRB many(problem.A, problem.grid, options, parts, distributed);
  const std::string where = what + ", " + words(parts) + ", levels " + std::to_string(options.levels) + ", " +
                            std::to_string(distributed) + " grids distributed";
  ASSERT_EQ(many.ok(), one.ok()) << where;
  EXPECT_EQ(many.redone(), one.redone()) << where;
  if (!one.ok()) return;
  EXPECT_EQ(many.findings().unlumped, static_cast<int>(one.unlumped().size())) << where;
  EXPECT_EQ(many.findings().null, static_cast<int>(one.null_directions().size())) << where;
  const Vector r = random_vector(problem.A.size(), 5), z = one.apply(r), w = many.apply(r);
  EXPECT_LT(difference(w, z), 1e-11 * norm(z)) << where;
}

// Each problem and partition with another choice at a time.
TEST(ReferenceRanks, AreTheSameOperatorAsOne) {
  const std::pair<int, int> choices[] = {{1, 99}, {2, 1},  {3, 1},  {3, 2},  {6, 1},
                                         {6, 2},  {6, 99}, {99, 1}, {99, 2}, {99, 99}}; // levels, distributed
  Random random(3);
  int turn = 0;
  for (const auto &[name, problem] : zoo_and_rings())
    for (const Partition &parts : partitions(problem.grid, random))
      for (int two = 0; two < 2; two++) {
        const auto &[levels, distributed] = choices[turn++ * 3 % 10];
        if (problem.A.size() > 300 && levels < 3) continue; // the last block takes long
        expect_same(problem, with_levels(levels), parts, distributed, name);
      }
}

TEST(ReferenceRanks, AreTheSameWithOtherLumping) {
  const std::pair<Options, int> choices[] = {
      {with_levels(5, 0.7, LumpNodes::both), 99}, {with_levels(99, 1, LumpNodes::both), 2}, {with_levels(4, 0), 99}};
  Random random(4);
  int turn = 0;
  for (const auto &[name, problem] : zoo_and_rings())
    for (const Partition &parts : partitions(problem.grid, random)) {
      const auto &[options, distributed] = choices[turn++ % 3];
      expect_same(problem, options, parts, distributed, name);
    }
}

TEST(ReferenceRanks, MayHaveOnePointEach) {
  for (const auto &[nx, ny] : {std::pair{5, 3}, {4, 4}, {1, 9}, {8, 1}, {2, 2}, {1, 1}})
    for (bool ring : {false, true}) {
      const Problem problem = random_nine_points({nx, ny, ring, ring}, 0);
      for (int levels : {1, 2, 3, 99})
        expect_same(problem, with_levels(levels), even_boxes(problem.grid, nx, ny), 99, "one point each");
    }
}

TEST(ReferenceRanks, FailTogether) {
  Problem problem = random_nine_points({9, 8}, 0);
  problem.A.add(40, 40, -20);
  const Options options = with_levels(4);
  EXPECT_FALSE(factor(problem, options).ok());
  for (int distributed : {0, 1, 2}) {
    const ranks::RRB many(problem.A, problem.grid, options, even_boxes(problem.grid, 2, 2), distributed);
    EXPECT_TRUE(many.redone());
    EXPECT_FALSE(many.ok());
  }
}

// r^T z is known before the way up begins, without a message of its own.
TEST(ReferenceRanks, KnowTheEnergyFromTheGather) {
  for (const auto &[name, problem] : zoo())
    for (int distributed : {1, 2}) {
      Options options = with_levels(5);
      options.v = problem.v;
      ranks::RRB M(problem.A, problem.grid, options, even_boxes(problem.grid, 2, 3), distributed);
      const Vector r = random_vector(problem.A.size(), 9);
      double energy;
      const double product = dot(r, M.apply(r, &energy));
      EXPECT_NEAR(energy, product, 1e-12 * product) << name;
    }
}

TEST(ReferenceRanks, ExchangeOnceAGridAndDirection) {
  const Problem problem = random_nine_points({24, 24}, 0);
  ranks::RRB M(problem.A, problem.grid, with_levels(8), even_boxes(problem.grid, 2, 2), 3);
  M.apply(problem.b);
  EXPECT_EQ(M.log().factor.rounds, 3);
  EXPECT_EQ(M.log().down.rounds, 3);
  EXPECT_EQ(M.log().up.rounds, 3);
  EXPECT_LE(M.log().down.messages, 3 * 4 * 3); // to three neighbours each; across a corner not always
}

// Across a cut of n lines 2 n values go down and n go up, wherever it is.
TEST(ReferenceRanks, SendAFewLines) {
  const int n = 16;
  const Problem problem = random_nine_points({n, n}, 0);
  for (int cut = 3; cut <= 12; cut++)
    for (bool in_x : {true, false}) {
      Partition parts{{0, n}, {0, n}};
      (in_x ? parts.x : parts.y) = {0, cut, n};
      ranks::RRB M(problem.A, problem.grid, with_levels(2), parts, 1);
      M.apply(problem.b);
      EXPECT_EQ(M.log().down.nodes, 2 * n) << cut;
      EXPECT_EQ(M.log().up.nodes, n) << cut;
    }
}

} // namespace
