// Which red nodes the reference of RRB by support chooses, and which couplings slide.
#include "by_support.hpp"

#include <set>
#include <vector>

using namespace reference;

namespace {

TEST(SupportChoice, RoundsGiveTheSetOfTheSequence) {
  auto problems = zoo_and_rings();
  for (const auto &rough : rough_problems()) problems.push_back(rough);
  int levels = 0;
  for (const auto &[name, problem] : problems) {
    SupportOptions options = deep();
    options.graphs = true;
    const SupportRRB M = by_support(problem, options);
    for (std::size_t k = 0; k < M.graphs().size(); k++) {
      const LevelGraph &graph = M.graphs()[k];
      const std::vector<int> in_sequence = choose_in_sequence(graph, problem.grid.nx);
      ASSERT_EQ(choose_in_rounds(graph, problem.grid.nx).reds, in_sequence) << name << ", level " << k + 1;
      if (M.decisions().levels[k].plain) continue;
      ASSERT_EQ(M.decisions().levels[k].reds, in_sequence) << name << ", level " << k + 1;
      levels++;
    }
  }
  EXPECT_GT(levels, 300);
}

TEST(SupportChoice, OnPoissonIsThatOfPlainRRB) {
  for (int n : {15, 31, 63}) { // where a side ends with a red node that loses half of its support there, it is not
    SupportOptions options = deep(16);
    options.graphs = true;
    const SupportRRB M = by_support(poisson(n), options);
    for (int k = 0; k < M.levels(); k++) {
      EXPECT_TRUE(M.decisions().levels[k].plain) << n << ", level " << k + 1;
      EXPECT_EQ(choose_in_sequence(M.graphs()[k], n), M.decisions().levels[k].reds) << n << ", level " << k + 1;
    }
  }
}

TEST(SupportChoice, OfFivePointsStartsRedBlack) {
  for (std::uint32_t seed = 1; seed <= 3; seed++) {
    const SupportRRB M = by_support(random_faces({20, 17}, 1e6, seed));
    EXPECT_FALSE(M.decisions().levels[0].plain);
    std::vector<int> red;
    for (int p = 0; p < 20 * 17; p++)
      if ((p % 20 + p / 20) % 2 == 1) red.push_back(p);
    EXPECT_EQ(M.decisions().levels[0].reds, red);
  }
}

TEST(SupportChoice, IsNotPlainAroundAnOddRing) {
  const auto starts_plain = [](const Grid &grid) {
    Problem problem = random_nine_points(grid, 0);
    for (int p = 0; p < problem.A.size(); p++)
      for (auto &[q, a] : problem.A.row[p]) a = q == p ? static_cast<double>(problem.A.row[p].size()) : -1;
    return by_support(problem, deep(400)).decisions().levels[0].plain;
  };
  EXPECT_TRUE(starts_plain({24, 24, true, true}));
  EXPECT_FALSE(starts_plain({24, 25, true, true}));
  EXPECT_TRUE(starts_plain({24, 25, true, false}));
}

// Uniform coefficients make equations of many tests; a third of the matrix is rounded otherwise.
TEST(SupportChoice, RoundingDecidesNothing) {
  for (auto &[name, problem] : hard_problems(37)) {
    const SupportDecisions decisions = by_support(problem, deep(100)).decisions();
    for (auto &row : problem.A.row)
      for (auto &entry : row) entry.second /= 3;
    const SupportDecisions third = by_support(problem, deep(100)).decisions();
    ASSERT_EQ(third.levels.size(), decisions.levels.size()) << name;
    for (std::size_t k = 0; k < decisions.levels.size(); k++) {
      EXPECT_EQ(third.levels[k].plain, decisions.levels[k].plain) << name << ", level " << k + 1;
      EXPECT_EQ(third.levels[k].reds, decisions.levels[k].reds) << name << ", level " << k + 1;
    }
  }
}

TEST(SupportChoice, FollowsItsLimits) {
  // 0-1 couples two red nodes over 2 and 3, which are black: 1 and 1 in series, 2 and 2 in series
  LevelGraph graph{{0, 1, 2, 3}, Graph(4), Vector(4, 0.0)};
  const auto couple = [&](int p, int q, double w) { graph.weight[p][q] = graph.weight[q][p] = w; };
  couple(0, 2, 1);
  couple(1, 2, 1);
  couple(0, 3, 2);
  couple(1, 3, 2);
  EXPECT_DOUBLE_EQ(support(graph, 0, 1, Flags(4, false)), 1.5);
  EXPECT_DOUBLE_EQ(support(graph, 0, 1, {false, false, false, true}), 0.5);
  const auto both_turn_red = [&](double w) {
    couple(0, 1, w);
    Flags red{true, false, false, false};
    return may_turn_red(graph, 1, red);
  };
  EXPECT_TRUE(both_turn_red(0.7 * 1.5));
  EXPECT_FALSE(both_turn_red(0.7 * 1.5 + 1e-6));
  graph.excess[0] = -2.2; // keeps 0.8
  EXPECT_TRUE(both_turn_red(0.8));
  EXPECT_FALSE(both_turn_red(0.8 + 1e-6));
  graph.excess[0] = 0;
  couple(0, 1, 4.5);
  EXPECT_EQ(count_failing(graph, {0, 1}, {10, 3}), 0);
  EXPECT_EQ(count_failing(graph, {0, 1}, {10, 2.9}), 2);
  EXPECT_EQ(count_failing(graph, {0, 1}, {1.5, 3}), 0);
  EXPECT_EQ(count_failing(graph, {0, 1}, {1.4, 3}), 2);
  EXPECT_EQ(count_failing(graph, {0, 1}, plain_limits), 0);
  graph.excess[0] = -1.51; // keeps 1.49
  EXPECT_EQ(count_failing(graph, {0, 1}, plain_limits), 1);
}

// Nodes 1 and 4 are two couplings apart. Beside 3, which is red before them, one of them may turn red, but not both.
TEST(SupportChoice, RoundsWaitForNodesTwoCouplingsAway) {
  LevelGraph graph{{0, 1, 3, 4}, Graph(8), Vector(8, 0.0)};
  const auto couple = [&](int p, int q, double w) { graph.weight[p][q] = graph.weight[q][p] = w; };
  couple(1, 3, 1);
  couple(4, 3, 1);
  couple(0, 3, 1.5);
  couple(0, 1, 100);
  couple(0, 4, 100);
  EXPECT_EQ(by_priority(graph, 4), (std::vector<int>{3, 1, 4, 0}));
  EXPECT_EQ(choose_in_sequence(graph, 4), (std::vector<int>{1, 3}));
  EXPECT_EQ(choose_in_rounds(graph, 4).reds, (std::vector<int>{1, 3}));
  EXPECT_EQ(choose_in_rounds(graph, 4).rounds, 3);
}

TEST(SupportSlides, PositiveCouplingsSlideOrGoToTheDiagonals) {
  // 0-3 is positive and weaker than 0-1 and 1-3, not than 0-2; around 2-3, also positive, nothing is strong enough
  Problem problem{{2, 2}, Matrix(4), {}, {}, {}};
  const auto couple = [&](int p, int q, double a) {
    problem.A.add(p, q, a);
    problem.A.add(q, p, a);
    problem.A.add(p, p, 1 - a);
    problem.A.add(q, q, 1 - a);
  };
  couple(0, 1, -1);
  couple(1, 3, -3);
  couple(0, 2, -0.1);
  couple(0, 3, 0.4);
  couple(2, 3, 4);
  const SupportRRB M = by_support(problem, deep(4));
  ASSERT_EQ(M.decisions().positive.size(), 1u);
  const Graph &weight = M.last_graph().weight;
  EXPECT_DOUBLE_EQ(weight[1].at(3), 3 - 0.4 / 4);     // in proportion to 0-1
  EXPECT_DOUBLE_EQ(weight[0].at(1), 1 - 0.4 * 3 / 4); // in proportion to 1-3
  EXPECT_EQ(weight[0].size(), 2u);
  EXPECT_EQ(weight[2].size(), 1u);
}

TEST(SupportSlides, TheLightestGoButNeverOneOfEight) {
  LevelGraph graph{{}, Graph(25), Vector(25, 0.0)};
  for (int p = 0; p < 25; p++) graph.nodes.push_back(p);
  const auto light = [&](int couplings) {
    graph.weight.assign(25, {});
    for (int q = 1; q <= couplings; q++) graph.weight[0][q] = graph.weight[q][0] = q == 4 ? 0.25 : q < 8 ? 1 : 2;
    return light_couplings(graph)[0];
  };
  EXPECT_EQ(light(8), std::set<int>());
  EXPECT_EQ(light(9), std::set<int>({4}));
  EXPECT_EQ(light(13), std::set<int>({4, 7})); // of equal ones those of higher nodes
  EXPECT_EQ(light(24), std::set<int>({4, 5, 6, 7}));
}

} // namespace
