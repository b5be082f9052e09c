// RRB that halves the direction of strong couplings, against the reference.
#include "reference/amli_reference.hpp"
#include "reference/halving_reference.hpp"
#include "reference/symmetric_eigenvalues.hpp"
#include "rrb_support.hpp"

#include <gtest/gtest.h>

using namespace reference;
using support::RealRRB;

namespace {

// Faces across x couple `ratio` times as strongly, all of them differ.
Problem uneven(const Grid &grid, double ratio, double shift = 0, double contrast = 1.5) {
  auto random = std::make_shared<Random>(7);
  const auto face = [=](int, int) { return std::pow(contrast, (*random)()); };
  return five_points(
      grid, [=](int i, int j) { return ratio * face(i, j); }, face, shift);
}

Problem closed(int nx, int ny, double ratio) {
  const auto inner = [](int i, int n, double k) { return i > 0 && i < n ? k : 0.0; };
  Problem out = five_points(
      {nx, ny}, [=](int i, int) { return inner(i, nx, ratio); }, [=](int, int j) { return inner(j, ny, 1); });
  out.null_space = {Vector(out.A.size(), 1.0)};
  set_random_rhs(out);
  return out;
}

Problem with_vector(Problem problem) { // V A V is what was A
  Vector D;
  for (int p = 0; p < problem.A.size(); ++p) D.push_back(1 + 0.1 * (p % 5));
  return scaled(problem, D);
}

struct Case {
  std::string name;
  Problem problem;
  std::string halvings;
};

std::vector<Case> cases() {
  return {{"100:1 in x", anisotropic(33, 30, 100, 1), "xxx"},
          {"1000:1 in y", anisotropic(20, 64, 1, 1000), "yyyyy"},
          {"10:1 in x", uneven({40, 21}, 10), "x"},
          {"all differ, 50:1", uneven({47, 30}, 50, 0.3), "xxx"},
          {"a ring in x", uneven({48, 19, true, false}, 60), "xxx"},
          {"a ring in y", uneven({37, 22, false, true}, 60), "xxx"},
          {"rings, odd across", uneven({64, 15, true, true}, 100, 0.1), "xxx"},
          {"closed", closed(36, 25, 100), "xxx"},
          {"with a vector", with_vector(uneven({41, 26}, 40)), "xx"},
          {"isotropic", uneven({30, 30}, 1), ""},
          {"an odd ring in x", uneven({45, 20, true, false}, 60), ""},
          {"few points", anisotropic(8, 8, 100, 1), "xx"},
          {"a wall across",
           five_points(
               {40, 30}, [](int i, int j) { return i == 17 && j > 20 ? 0.0 : 100.0; }, one),
           ""},
          {"a wall along",
           five_points(
               {40, 30}, [](int, int) { return 50.0; }, [](int i, int j) { return j == 7 && i > 20 ? 0.0 : 1.0; }),
           "xxx"},
          {"an identity row",
           identity_rows(
               anisotropic(40, 30, 100, 1), [](int i, int j) { return i == 20 && j == 11; }, false),
           ""},
          {"some places are weak", uneven({40, 30}, 8, 0, 100), ""},
          {"nine points", bilinear_elements(40, 30, 100, 1), ""}};
}

RealRRB by_library(const Problem &problem, int levels = 1000, int last = 20, bool single = false, bool amli = false) {
  support::Choice c;
  c.amli_grid = amli;
  c.levels = levels, c.support = c.halves = true, c.last = last,
  c.precision = single ? petscrrb::rrb::Precision::in_single : petscrrb::rrb::Precision::in_double;
  support::Problem p = support::converted(problem);
  p.corners = false;
  for (int i = 0; i < problem.A.size(); ++i) p.corners = p.corners || problem.A.row[i].size() > 5;
  return RealRRB(p, c);
}

// With as many halvings and levels.
HalvedRRB by_reference(const Problem &problem, RealRRB &real) {
  const std::string halvings = real.core().graph().halvings;
  return HalvedRRB(problem.A, problem.grid, halvings, real.core().options().levels - int(halvings.size()), problem.v,
                   std::min(real.core().options().amli_grid, int(halvings.size())));
}

double difference(const Vector &a, const Vector &b) {
  double largest = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); i++)
    largest = std::max(largest, std::abs(a[i] - b[i])), size = std::max(size, std::abs(b[i]));
  return largest / size;
}

TEST(HalvedRRB, IsTheReference) {
  for (const auto &[name, problem, halvings] : cases())
    for (const int last : {1, 20, 300}) {
      SCOPED_TRACE(name + ", last " + std::to_string(last));
      RealRRB real = by_library(problem, 1000, last);
      ASSERT_TRUE(real.outcome().ok);
      EXPECT_EQ(real.core().graph().halvings, halvings);
      if (halvings.empty()) continue;
      const HalvedRRB M = by_reference(problem, real);
      for (const int seed : {1, 2}) {
        const Vector r = problem.null_space.empty() ? random_vector(problem.A.size(), seed) : problem.b;
        EXPECT_LT(difference(real.apply(r), M.apply(r)), 1e-11);
      }
      RealRRB single = by_library(problem, 1000, last, true);
      EXPECT_LT(difference(single.apply(problem.b), real.apply(problem.b)), 1e-5);
    }
}

// With AMLI's step on a halved grid, or on the one after them: p(t) = (1 + lambda - t)/lambda of the library's own estimate.
TEST(HalvedRRB, WithAMLIIsTheReference) {
  for (const Problem &problem : {anisotropic(120, 100, 1000, 1), uneven({40, 130, true, false}, 1.0 / 700, 0, 1.1),
                                 anisotropic(40, 300, 1, 300)}) {
    RealRRB real = by_library(problem, 1000, 20, false, true);
    const petscrrb::rrb::AmliReport amli = real.core().amli();
    ASSERT_LE(real.core().options().amli_grid, int(real.core().graph().halvings.size()));
    ASSERT_TRUE(amli.used) << amli.lambda_max;
    const HalvedRRB M = by_reference(problem, real);
    EXPECT_EQ(amli.nx * amli.ny, petscrrb::index_t(M.kept_nodes().size()));
    EXPECT_LT(difference(real.apply(problem.b), AMLI(M, amli.lambda_max).apply(problem.b)), 1e-11);
    EXPECT_NEAR(amli.lambda_max, largest_eigenvalue_on_kept(M, random_vector(problem.A.size(), 5)),
                0.1 * amli.lambda_max);
    real.refresh();
    EXPECT_LT(difference(real.apply(problem.b), AMLI(M, real.core().amli().lambda_max).apply(problem.b)), 1e-11);
  }
}

TEST(HalvedRRB, HasNoMoreLevelsThanThatIsAllowed) {
  const Problem problem = anisotropic(60, 40, 1000, 1);
  for (int levels = 2; levels < 9; ++levels) {
    RealRRB real = by_library(problem, levels);
    EXPECT_LE(real.core().options().levels, levels);
    EXPECT_EQ(real.core().graph().halvings, std::string(std::min(levels - 1, 5), 'x')); // and one level at least
    EXPECT_EQ(real.core().unknowns_by_level().size(), std::size_t(real.core().options().levels + 1));
  }
}

// What moves to other lines may make M larger than A, by little.
TEST(HalvedRRB, IsSymmetricAndNear) {
  const std::vector<std::pair<std::string, Problem>> problems{{"x", anisotropic(21, 18, 100, 1)},
                                                              {"y", uneven({15, 26}, 1.0 / 70, 0.3)},
                                                              {"a ring in x", uneven({24, 15, true, false}, 60)},
                                                              {"a ring in y", uneven({19, 16, false, true}, 60)}};
  for (const auto &[name, problem] : problems) {
    RealRRB real = by_library(problem, 1000, 20, false, true);
    const int n = problem.A.size();
    ASSERT_FALSE(real.core().graph().halvings.empty()) << name;
    std::vector<Vector> inverse, A(n, Vector(n, 0.0));
    for (int p = 0; p < n; p++) {
      Vector unit(n, 0.0);
      unit[p] = 1;
      inverse.push_back(real.apply(unit));
      for (const auto &[q, a] : problem.A.row[p]) A[p][q] = a;
    }
    for (int p = 0; p < n; p++)
      for (int q = 0; q < p; q++) ASSERT_NEAR(inverse[p][q], inverse[q][p], 1e-12 * inverse[p][p]) << name;
    std::vector<Vector> product(n, Vector(n, 0.0)); // A M^-1 A
    for (int p = 0; p < n; p++) {
      Vector row(n, 0.0);
      for (const auto &[q, a] : problem.A.row[p])
        for (int k = 0; k < n; k++) row[k] += a * inverse[q][k];
      for (int k = 0; k < n; k++)
        for (const auto &[q, a] : problem.A.row[k]) product[p][q] += row[k] * a;
    }
    const Vector t = eigenvalues_of_pair(product, A);
    EXPECT_GT(t.front(), 0.5) << name;
    EXPECT_LT(t.back(), 5) << name;
  }
}

// Where the couplings still ask for the same; where they do not, it is told.
TEST(HalvedRRB, IsRefreshed) {
  const Problem before = uneven({47, 30}, 50, 0.3), after = uneven({47, 30}, 70, 0.1),
                other = anisotropic(47, 30, 1, 50);
  RealRRB real = by_library(before);
  const auto plain = [](const Problem &problem) {
    support::Problem p = support::converted(problem);
    p.corners = false;
    return p;
  };
  const HalvedRRB M = by_reference(after, real);
  real.refresh(plain(after));
  EXPECT_TRUE(real.outcome().ok);
  EXPECT_EQ(real.outcome().unsupported, 0);
  EXPECT_LT(difference(real.apply(after.b), M.apply(after.b)), 1e-11);
  real.refresh(plain(before));
  EXPECT_EQ(real.apply(before.b), by_library(before).apply(before.b));
  real.refresh(plain(other));
  EXPECT_GT(real.outcome().unsupported, 0);
  real.refresh(plain(identity_rows(
      before, [](int i, int j) { return i == 20 && j == 11; }, false)));
  EXPECT_GT(real.outcome().unsupported, 0);
}

} // namespace
