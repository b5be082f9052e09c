// The reference of RRB by support: its operator, what a refresh keeps, and what applications bring.
#include "by_support.hpp"
#include "reference/dense.hpp"
#include "reference/symmetric_eigenvalues.hpp"

#include <algorithm>
#include <stdexcept>

using namespace reference;

namespace {

std::vector<Vector> sum(std::vector<Vector> A, const std::vector<Vector> &B) {
  for (std::size_t p = 0; p < A.size(); p++)
    for (std::size_t q = 0; q < A.size(); q++) A[p][q] += B[p][q];
  return A;
}

std::vector<Vector> outer_products(const std::vector<Vector> &vectors, std::size_t n) {
  std::vector<Vector> A(n, Vector(n, 0.0));
  for (const Vector &w : vectors)
    for (std::size_t p = 0; p < n; p++)
      for (std::size_t q = 0; q < n; q++) A[p][q] += w[p] * w[q];
  return A;
}

double largest_difference(const std::vector<Vector> &A, const std::vector<Vector> &B) {
  double largest = 0;
  for (std::size_t p = 0; p < A.size(); p++)
    for (std::size_t q = 0; q < A.size(); q++) largest = std::max(largest, std::abs(A[p][q] - B[p][q]));
  return largest;
}

// M = A + what lumping and sliding change, level by level, as nothing else is inexact: a dense computation from the
// definition of the Schur complement.
std::vector<Vector> dense_by_decisions(const Problem &problem, const SupportDecisions &decisions) {
  std::vector<Vector> M = dense_of(problem.A), S = M;
  const std::size_t n = M.size();
  const auto add_coupling = [&](int p, int q, double w) {
    for (auto *A : {&M, &S}) {
      (*A)[p][p] += w;
      (*A)[q][q] += w;
      (*A)[p][q] -= w;
      (*A)[q][p] -= w;
    }
  };
  const auto slide = [&](const std::vector<Slide> &slides) {
    const std::vector<Vector> before = S;
    for (const Slide &slide : slides) {
      double total = 0;
      for (const auto &[near, middle] : slide.along) total += before[near][middle];
      for (const auto &[near, middle] : slide.along)
        add_coupling(slide.far(near), middle, -before[slide.p][slide.q] * before[near][middle] / total);
      add_coupling(slide.p, slide.q, before[slide.p][slide.q]);
    }
  };
  slide(decisions.positive);
  for (std::size_t p = 0; p < n; p++)
    for (std::size_t q = 0; q < p; q++)
      if (S[p][q] > 0 || !decisions.pattern[p].count(static_cast<int>(q)))
        add_coupling(static_cast<int>(p), static_cast<int>(q), S[p][q]);
  for (const SupportDecisions::Level &level : decisions.levels) {
    for (int p : level.reds)
      for (int q : level.reds)
        if (p < q) add_coupling(p, q, S[p][q]);
    for (int p : level.reds) {
      const Vector row = S[p];
      for (std::size_t q = 0; q < n; q++)
        for (std::size_t r = 0; r < n; r++) S[q][r] -= row[q] == 0 || row[r] == 0 ? 0 : row[q] * row[r] / row[p];
    }
    for (const auto &pass : level.passes) slide(pass);
  }
  return M;
}

TEST(SupportOperator, IsWhatItsDecisionsSay) {
  int slides = 0;
  for (const Problem &problem : {random_faces({13, 12}, 1e4), random_nine_points({12, 11}, 0.3), channels(12, 13, 1, 4),
                                 random_nine_points({9, 10, true, true}, 0.1), poisson(12)}) {
    const SupportRRB M = by_support(problem, deep(3));
    EXPECT_LT(largest_difference(M.dense_M(), dense_by_decisions(problem, M.decisions())), 1e-9);
    for (const auto &level : M.decisions().levels)
      for (const auto &pass : level.passes) slides += static_cast<int>(pass.size());
    // with decisions that other numbers would not have led to
    const Problem other = perturbed(problem, 0.7, 5);
    const SupportRRB refreshed(other.A, other.grid, deep(3), M.decisions());
    EXPECT_LT(largest_difference(refreshed.dense_M(), dense_by_decisions(other, M.decisions())), 1e-9);
  }
  EXPECT_GT(slides, 20);
}

TEST(SupportOperator, InverseIsTheInverseOfM) {
  for (const auto &[name, problem] : zoo())
    for (int last : {1, 30}) {
      const SupportRRB M = by_support(problem, deep(last));
      ASSERT_TRUE(M.ok()) << name;
      const auto dense = M.dense_M();
      const Vector Mx = times(dense, random_vector(problem.A.size(), 4));
      EXPECT_LT(difference(times(dense, M.apply(Mx)), Mx), 1e-9 * norm(Mx)) << name;
    }
}

TEST(SupportOperator, IsSymmetricAndPositiveDefinite) {
  auto problems = zoo();
  for (const auto &rough : rough_problems())
    if (rough.second.A.size() < 410) problems.push_back(rough);
  for (const auto &[name, problem] : problems) {
    const SupportRRB M = by_support(problem);
    ASSERT_TRUE(M.ok() && !M.redone()) << name;
    const Vector s = random_vector(problem.A.size(), 11), t = random_vector(problem.A.size(), 12);
    const Vector Ms = M.apply(s), Mt = M.apply(t);
    EXPECT_NEAR(dot(s, Mt), dot(t, Ms), 1e-11 * norm(s) * norm(Mt)) << name;
    if (problem.A.size() > 200 || name == "isolated cells") continue; // those are null vectors of A, not of M
    const auto dense = sum(M.dense_M(), outer_products(problem.null_space, s.size()));
    EXPECT_GT(symmetric_eigenvalues(dense)[0], 1e-9) << name;
  }
}

TEST(SupportOperator, KeepsTheVector) {
  for (const auto &[name, problem] : zoo()) {
    if (name == "isolated cells") continue; // rows of zeros are rows of the identity in M
    const SupportRRB M = by_support(problem);
    const Vector v = problem.v.empty() ? Vector(problem.A.size(), 1.0) : problem.v;
    const Vector Av = problem.A.multiply(v);
    double scale = 0;
    for (int p = 0; p < problem.A.size(); p++) scale = std::max(scale, std::abs(problem.A.at(p, p) * v[p]));
    EXPECT_LT(difference(times(M.dense_M(), v), Av), 1e-11 * scale) << name;
  }
}

TEST(SupportOperator, HasNoEigenvalueBelowOneWithoutSlides) {
  for (const Problem &problem :
       {random_faces({11, 10}, 1e4), anisotropic(10, 11, 100, 1), random_faces({9, 10, true, false}, 1e3),
        neumann(10, 10), channels(10, 11, 1, 4), random_jumps({10, 11}, 1e6, 1), poisson(10), two_ponds(10, 9)}) {
    const auto null = outer_products(problem.null_space, problem.b.size());
    const SupportRRB M = by_support(problem, deep(1, 0));
    const Vector values = eigenvalues_of_pair(sum(dense_of(problem.A), null), sum(M.dense_M(), null));
    EXPECT_GT(values.front(), 1 - 1e-10);
    EXPECT_LT(values.back(), 6);
  }
}

TEST(SupportOperator, OnPoissonIsPlainRRB) {
  for (int n : {37, 63, 65}) {
    const Problem problem = poisson(n);
    const SupportRRB M = by_support(problem, deep(1024));
    const RRB plain = factor(problem);
    EXPECT_EQ(M.levels(), plain.levels());
    EXPECT_EQ(M.last_block(), plain.last_block());
    const Vector z = plain.apply(problem.b);
    EXPECT_LT(difference(M.apply(problem.b), z), 1e-12 * norm(z));
  }
}

TEST(SupportRefresh, WithTheSameValuesIsTheFirst) {
  for (const auto &[name, problem] : rough_problems()) {
    const SupportRRB M = by_support(problem, deep(10)), again(problem.A, problem.grid, deep(10), M.decisions());
    EXPECT_EQ(again.apply(problem.b), M.apply(problem.b)) << name;
    EXPECT_EQ(again.outdated().all(), 0) << name;
  }
}

// Values that lead to the same decisions: so close that no comparison turns out otherwise, or multiplied by a power of 2.
TEST(SupportRefresh, WhereDecisionsAreTheSameIsAFactorization) {
  for (const auto &[name, problem] : rough_problems()) {
    Problem other = perturbed(problem, 1e-9, 3);
    for (auto &row : other.A.row)
      for (auto &entry : row) entry.second *= 4;
    const SupportRRB first = by_support(problem, deep(10)), fresh = by_support(other, deep(10));
    const SupportRRB refreshed(other.A, other.grid, deep(10), first.decisions());
    ASSERT_EQ(refreshed.outdated().all(), 0) << name;
    EXPECT_EQ(refreshed.apply(problem.b), fresh.apply(problem.b)) << name;
    EXPECT_NE(refreshed.apply(problem.b), first.apply(problem.b)) << name;
  }
}

TEST(SupportRefresh, CountsWhatNoLongerHolds) {
  const Problem problem = random_faces({24, 25}, 1e4), uniform = poisson(31);
  const SupportDecisions decisions = by_support(problem, deep(10)).decisions();
  int before = 0;
  for (double sigma : {0.03, 0.3, 3.0}) {
    const Problem other = perturbed(problem, sigma, 3);
    const SupportRRB M(other.A, other.grid, deep(10), decisions);
    EXPECT_TRUE(M.ok());
    EXPECT_GT(M.outdated().chosen, before);
    before = M.outdated().chosen;
    EXPECT_EQ(M.outdated().plain, 0);
    const Vector one(problem.A.size(), 1.0), A_one = other.A.multiply(one);
    EXPECT_LT(difference(M.apply(A_one), one), 1e-8 * norm(one));
  }
  const SupportDecisions plain = by_support(uniform, deep(10)).decisions();
  EXPECT_EQ(SupportRRB(perturbed(uniform, 0.1, 3).A, {31, 31}, deep(10), plain).outdated().all(), 0);
  EXPECT_GT(SupportRRB(perturbed(uniform, 3, 3).A, {31, 31}, deep(10), plain).outdated().plain, 0);
  const SupportRRB wider(random_nine_points({31, 31}, 0).A, {31, 31}, deep(10), plain);
  EXPECT_EQ(wider.outdated().couplings, 2 * 30 * 30); // no room for corners
}

TEST(SupportSafety, SingularMatricesStayExactlySingular) {
  Problem jumps = random_jumps({40, 37}, 1e6, 1, true);
  jumps.null_space.push_back(Vector(40 * 37, 1.0));
  set_random_rhs(jumps);
  for (const Problem &problem : {neumann(33, 20), two_ponds(20, 17), jumps}) {
    const SupportRRB M = by_support(problem, deep(100));
    for (const Vector &w : problem.null_space)
      for (int p : M.last_block()) EXPECT_TRUE(w[p] == 0 || M.last_graph().excess[p] == 0);
    const CGResult result = cg(problem.A, problem.b, [&](const Vector &r) { return M.apply(r); });
    EXPECT_TRUE(result.converged);
    EXPECT_LE(result.iterations, 10);
  }
}

TEST(SupportSafety, NegativeRowSums) {
  for (const Problem &problem : {five_points({20, 19}, one, one, -0.02), random_faces({20, 19}, 1e4)}) {
    Vector D = random_vector(20 * 19, 5);
    for (double &value : D) value = std::pow(10.0, value);
    Problem other = scaled(problem, D);
    other.v.clear();
    for (const Problem &negative : {problem, other}) {
      const SupportRRB M = by_support(negative, deep(20));
      ASSERT_TRUE(M.ok());
      const auto inverse = [&](const Vector &r) { return M.apply(r); };
      EXPECT_TRUE(cg(negative.A, negative.b, inverse, Norm::natural, 1e-6, 300).converged);
    }
  }
  Problem indefinite = poisson(12);
  indefinite.A.row[40][40] = -4;
  const SupportRRB M = by_support(indefinite);
  EXPECT_FALSE(M.ok());
  EXPECT_THROW(M.apply(indefinite.b), std::logic_error);
}

TEST(SupportSafety, MasksAndIdentityRows) {
  const auto dry = [](int i, int j) { return (i * 7 + j * 3) % 4 == 0; };
  const Problem kept = identity_rows(random_faces({22, 21}, 1e4), dry, true);
  const Problem without = identity_rows(random_faces({22, 21}, 1e4), dry, false);
  const SupportRRB M = by_support(kept);
  EXPECT_EQ(M.apply(kept.b), by_support(without).apply(kept.b));
  EXPECT_LE(cg(without.A, without.b, [&](const Vector &r) { return M.apply(r); }).iterations, 9);
}

} // namespace
