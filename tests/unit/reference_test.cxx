// The reference RRB against its own definition and the literature; the library is tested against it elsewhere.
#include "reference_support.hpp"

#include <algorithm>
#include <set>

using namespace reference;

namespace {

TEST(Red, SetsOfTheEightByEightExample) {
  const RRB M = factor(poisson(8), with_levels(7));
  // de Jong et al. 2017, section 2.1, with (1, 1) there being (0, 0) here
  for (int level : {1, 2, 3, 5}) {
    std::set<int> eliminated, expected;
    for (int k = 1; k < level; k++) eliminated.insert(M.red_nodes(k).begin(), M.red_nodes(k).end());
    for (int p = 0; p < 64; p++) {
      if (eliminated.count(p)) continue;
      const int i = p % 8, j = p / 8, s = 1 << (level - 1) / 2;
      // for even levels the paper counts lines from 1; its formula for odd ones needs coordinates from 0
      if (level % 2 ? (i + j) % (2 * s) == s : (j + 1) % 2 == 0) expected.insert(p);
    }
    EXPECT_EQ(std::set<int>(M.red_nodes(level).begin(), M.red_nodes(level).end()), expected) << level;
  }
  EXPECT_EQ(M.red_nodes(4), (std::vector<int>{18, 22, 50, 54})); // where the paper's formula is empty
  EXPECT_EQ(M.red_nodes(6), (std::vector<int>{36}));
  EXPECT_EQ(M.last_block(), (std::vector<int>{0}));
}

TEST(Red, EveryNodeIsEliminatedOnce) {
  for (const auto &[name, problem] : zoo())
    for (int levels : {0, 1, 2, 3, 4, 20}) {
      const RRB M = factor(problem, with_levels(levels));
      std::vector<int> all = M.last_block();
      for (int k = 1; k <= M.levels(); k++) all.insert(all.end(), M.red_nodes(k).begin(), M.red_nodes(k).end());
      std::sort(all.begin(), all.end());
      ASSERT_EQ(all.size(), problem.b.size()) << name;
      for (std::size_t i = 0; i < all.size(); i++) ASSERT_EQ(all[i], static_cast<int>(i)) << name;
    }
}

TEST(Red, LevelsStopAt1024UnknownsAndAtOneNode) {
  EXPECT_EQ(factor(poisson(32)).levels(), 0);
  EXPECT_EQ(factor(poisson(33)).levels(), 1);
  EXPECT_EQ(factor(poisson(63)).levels(), 2);
  EXPECT_EQ(factor(poisson(65)).levels(), 3);
  EXPECT_EQ(factor(poisson(8), with_levels(99)).levels(), 7);
  EXPECT_EQ(factor(random_faces({1, 17}, 1), with_levels(99)).levels(), 11);
  EXPECT_EQ(factor(random_faces({1, 17}, 1), with_levels(99)).last_block().size(), 1u);
}

TEST(Red, ColoursComeFromGlobalCoordinates) {
  // a box of a larger grid: cut off the rest with identity rows and the two must agree
  const int x0 = 3, y0 = 4, nx = 7, ny = 6;
  const Problem box = random_nine_points({nx, ny}, 0);
  Matrix large((x0 + nx) * (y0 + ny));
  const auto place = [&](int p) { return (p / nx + y0) * (x0 + nx) + p % nx + x0; };
  for (int p = 0; p < large.size(); p++) large.add(p, p, 1);
  for (int p = 0; p < nx * ny; p++) {
    large.row[place(p)].clear();
    for (const auto &[q, a] : box.A.row[p]) large.add(place(p), place(q), a);
  }
  for (int levels : {1, 2, 3, 4}) {
    Options options = with_levels(levels);
    const RRB M_large(large, {x0 + nx, y0 + ny}, options);
    options.x0 = x0;
    options.y0 = y0;
    const RRB M(box.A, box.grid, options);
    Vector r(large.size(), 0.0), z(nx * ny);
    for (int p = 0; p < nx * ny; p++) r[place(p)] = box.b[p];
    r = M_large.apply(r);
    for (int p = 0; p < nx * ny; p++) z[p] = r[place(p)];
    EXPECT_LT(difference(z, M.apply(box.b)), 1e-13 * norm(z)) << levels;
    EXPECT_GT(difference(z, factor(box, with_levels(levels)).apply(box.b)), 1e-3 * norm(z)) << levels;
  }
}

TEST(Operator, InverseIsTheInverseOfM) {
  for (const auto &[name, problem] : zoo())
    for (int levels : {0, 1, 2, 3, 4, 5, 20})
      for (double omega : {1.0, 0.7}) {
        const RRB M = factor(problem, with_levels(levels, omega));
        ASSERT_TRUE(M.ok()) << name;
        const auto dense = M.dense_M(), inverse = M.dense_inverse();
        for (std::size_t p = 0; p < dense.size(); p++) {
          // M z = M (M^-1 (M z)) also where M is singular
          const Vector column = times(dense, times(inverse, dense[p]));
          ASSERT_LT(difference(column, dense[p]), 1e-9 * norm(dense[p])) << name << " levels " << levels;
        }
      }
}

TEST(Operator, IsSymmetricAndNotNegative) {
  for (const auto &[name, problem] : zoo())
    for (int levels : {0, 1, 2, 3, 4, 20})
      for (LumpNodes nodes : {LumpNodes::red, LumpNodes::both}) {
        const RRB M = factor(problem, with_levels(levels, 1, nodes));
        ASSERT_TRUE(M.ok()) << name;
        const Vector s = random_vector(problem.A.size(), 11), t = random_vector(problem.A.size(), 12);
        const Vector Ms = M.apply(s), Mt = M.apply(t);
        EXPECT_NEAR(dot(s, Mt), dot(t, Ms), 1e-11 * norm(s) * norm(Mt)) << name;
        EXPECT_GT(dot(s, Ms), 0) << name;
        if (M.unlumped().empty()) {
          EXPECT_EQ(M.null_directions().empty(), problem.null_space.empty()) << name;
        }
      }
}

TEST(Operator, MvIsAvWhenAllIsLumped) {
  std::set<std::string> left_out; // at some number of levels
  for (const auto &[name, problem] : zoo()) {
    if (name == "isolated cells") continue; // rows of zeros are rows of the identity in M
    for (int levels : {0, 1, 2, 3, 4, 20})
      for (LumpNodes nodes : {LumpNodes::red, LumpNodes::both}) {
        const RRB M = factor(problem, with_levels(levels, 1, nodes));
        if (!M.unlumped().empty()) {
          left_out.insert(name);
          continue;
        }
        const Vector v = problem.v.empty() ? Vector(problem.A.size(), 1.0) : problem.v;
        double size = 0;
        for (int p = 0; p < problem.A.size(); p++) size = std::max(size, std::abs(problem.A.at(p, p) * v[p]));
        const Vector Mv = times(M.dense_M(), v), Av = problem.A.multiply(v);
        for (std::size_t p = 0; p < v.size(); p++) ASSERT_NEAR(Mv[p], Av[p], 1e-12 * size) << name << ' ' << levels;
      }
  }
  EXPECT_EQ(left_out, (std::set<std::string>{"bilinear", "straight canal"}));
}

TEST(Operator, LosesWhatIsNotLumped) {
  const Problem problem = poisson(9);
  const Vector one(81, 1.0);
  for (double omega : {0.0, 0.5}) {
    const Vector full = times(factor(problem, with_levels(2)).dense_M(), one);
    const Vector less = times(factor(problem, with_levels(2, omega)).dense_M(), one);
    double gained = 0;
    for (int p = 0; p < 81; p++) gained += less[p] - full[p];
    // level 2 drops couplings of 1/4 + 1/4 or 1/4 between odd nodes two apart: 24 pairs of neighbours
    const double c = 4, weight = 1 / c;
    EXPECT_NEAR(gained, (1 - omega) * 2 * 24 * weight, 1e-12);
  }
}

TEST(Operator, OneLevelIsExactOnFivePoints) {
  for (const Problem &problem : {poisson(12), random_faces({7, 13}, 1e4), periodic({8, 10, true, true}, 0.1)}) {
    const RRB M = factor(problem, with_levels(1));
    EXPECT_LT(difference(M.apply(problem.A.multiply(problem.b)), problem.b), 1e-9 * norm(problem.b));
    EXPECT_EQ(iterations(problem, with_levels(1)), 1);
  }
}

TEST(Operator, NoLevelIsExact) {
  for (const auto &[name, problem] : zoo())
    if (name != "positive couplings" && name != "bilinear" && name != "isolated cells") {
      EXPECT_EQ(iterations(problem, with_levels(0)), 1) << name;
    }
}

TEST(Operator, FullLumpingStaysBelowA) {
  // dropping -w and taking w off both diagonals subtracts a positive semidefinite matrix: lambda_min >= 1
  std::set<std::string> left_out;
  for (const auto &[name, problem] : zoo()) {
    if (name == "positive couplings" || name == "bilinear") continue;
    const RRB M = factor(problem, with_levels(20));
    if (!M.unlumped().empty()) {
      left_out.insert(name);
      continue;
    }
    EXPECT_GT(solve(problem, M, 1e-10).smallest, 1 - 1e-6) << name;
  }
  EXPECT_EQ(left_out, (std::set<std::string>{"isolated cells", "straight canal"}));
}

struct Known {
  int n, levels, iterations;
  double kappa;
};

// CG in the natural norm to 1e-6 on the papers' problem.
TEST(Literature, IterationsAndConditionNumbers) {
  const Known table[] = {{63, 2, 6, 1.997},    {63, 4, 8, 1.997},   {63, 6, 11, 2.997},   {63, 8, 13, 4.326},
                         {63, 10, 13, 4.392},  {63, 12, 13, 4.392}, {127, 2, 6, 1.999},   {127, 4, 8, 1.999},
                         {127, 6, 11, 3.035},  {127, 8, 13, 4.569}, {127, 10, 16, 6.591}, {127, 12, 16, 6.631},
                         {255, 4, 8, 2.000},   {255, 6, 10, 3.042}, {255, 8, 13, 4.628},  {255, 10, 16, 6.976},
                         {255, 12, 19, 10.056}};
  for (const Known &known : table) {
    Problem problem = poisson(known.n);
    const RRB M = factor(problem, with_levels(known.levels));
    EXPECT_EQ(solve(problem, M).iterations, known.iterations) << known.n << ' ' << known.levels;
    set_random_rhs(problem);
    EXPECT_NEAR(solve(problem, M, 1e-30, 150).kappa(), known.kappa, 2e-3 * known.kappa)
        << known.n << ' ' << known.levels;
  }
}

TEST(Literature, LessLumpingIsWorse) {
  EXPECT_GT(iterations(poisson(127), with_levels(12, 0)), 4 * iterations(poisson(127), with_levels(12, 1)));
}

} // namespace
