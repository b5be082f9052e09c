// The reference RRB-solver against dense elimination and against conjugate gradients on all nodes.
#include "reference/dense.hpp"
#include "reference/schur_cg_reference.hpp"
#include "reference_support.hpp"

using namespace reference;

namespace {

// Each kind of five-point matrix whose red nodes do not couple, regular ones.
std::vector<std::pair<std::string, Problem>> five_point_problems() {
  const auto fixed = [](int i, int j) { return i == 0 || j == 6 || (i > 3 && i < 6 && j == 3); };
  Vector D = random_vector(12 * 9, 7);
  for (double &value : D) value = std::pow(10.0, value);
  auto all = std::vector<std::pair<std::string, Problem>>{
      {"poisson", poisson(9)},
      {"random faces", random_faces({13, 8}, 100)},
      {"jumps", random_jumps({12, 9}, 1e4, 3)},
      {"rings", periodic({8, 6, true, true}, 0.1)},
      {"fixed rows", identity_rows(random_faces({12, 9}, 10), fixed, false)},
      {"fixed rows with columns", identity_rows(random_faces({12, 9}, 10), fixed, true)},
      {"scaled", scaled(random_faces({12, 9}, 10), D)},
      {"one line", random_faces({17, 1}, 10)},
      {"one point", random_faces({1, 1}, 10)},
      {"two by two", random_faces({2, 2}, 10)}};
  for (auto &entry : all) entry.second.b = random_vector(entry.second.A.size(), 3);
  return all;
}

Vector zeros(const Problem &problem) { return Vector(problem.b.size(), 0.0); }

CGResult schur(const Problem &problem, const RRB &M, const Vector &x0, Norm norm, double rtol = 1e-6, int most = 3000) {
  return schur_cg(
      problem.A, problem.grid, problem.b, x0, [&](const Vector &r) { return M.apply(r); }, norm, rtol, most);
}

// x0 with which the red rows hold: x there from random values elsewhere.
Vector guess_with_red_rows(const Problem &problem) {
  return FirstSchur(problem.A, problem.grid).extend(random_vector(problem.A.size(), 9), problem.b);
}

TEST(FirstSchur, IsWhatDenseEliminationGives) {
  for (const auto &[name, problem] : five_point_problems()) {
    const FirstSchur schur(problem.A, problem.grid);
    const Vector x = dense_solve(problem.A, problem.b), r = schur.reduce(problem.b);
    const Vector S_x = schur.matrix().multiply(x);
    for (int p = 0; p < problem.A.size(); p++)
      ASSERT_NEAR(S_x[p], schur.is_black(p) ? r[p] : 0, 1e-9 * norm(problem.b)) << name;
    EXPECT_LT(difference(schur.extend(x, problem.b), x), 1e-12 * norm(x)) << name;
    for (int p = 0; p < problem.A.size(); p++)
      for (const auto &[q, a] : schur.matrix().row[p]) {
        ASSERT_TRUE(schur.is_black(p) && schur.is_black(q)) << name;
        ASSERT_NEAR(a, schur.matrix().at(q, p), 1e-13 * schur.matrix().at(p, p)) << name;
      }
  }
}

TEST(FirstSchur, WantsRedNodesThatDoNotCouple) {
  for (const Problem &problem :
       {random_nine_points({8, 8}, 0), periodic({7, 8, true, false}, 0.1), periodic({8, 9, false, true}, 0.1)})
    EXPECT_THROW(FirstSchur(problem.A, problem.grid), std::invalid_argument);
  Problem zero = poisson(4);
  zero.A.row[5].clear();
  EXPECT_THROW(FirstSchur(zero.A, zero.grid), std::invalid_argument);
}

TEST(SchurCG, SolvesOnAllNodes) {
  for (const auto &[name, problem] : five_point_problems())
    for (const Norm norm : {Norm::natural, Norm::preconditioned, Norm::unpreconditioned})
      for (const Vector &x0 : {zeros(problem), random_vector(problem.A.size(), 4)}) {
        const CGResult result = schur(problem, factor(problem, with_levels(5)), x0, norm, 1e-12);
        EXPECT_TRUE(result.converged) << name;
        EXPECT_EQ(result.history.size(), result.iterations + 1u) << name;
        const Vector exact = dense_solve(problem.A, problem.b);
        EXPECT_LT(difference(result.x, exact), 1e-8 * reference::norm(exact)) << name;
      }
}

// Where x0 satisfies the red rows both make the same Krylov space.
TEST(SchurCG, IsConjugateGradientsOnAllNodes) {
  for (const auto &[name, given] : five_point_problems()) {
    if (name == "fixed rows with columns") continue; // the matrix is not symmetric
    const RRB M = factor(given, with_levels(5));
    const auto precondition = [&](const Vector &r) { return M.apply(r); };
    Problem problem = given;
    const Vector x0 = guess_with_red_rows(given), A_x0 = given.A.multiply(x0);
    for (std::size_t p = 0; p < A_x0.size(); p++) problem.b[p] -= A_x0[p];
    for (const Norm norm : {Norm::natural, Norm::preconditioned, Norm::unpreconditioned}) {
      const CGResult all = cg(problem.A, problem.b, precondition, norm);
      const CGResult black = schur(problem, M, zeros(problem), norm);
      ASSERT_EQ(black.iterations, all.iterations) << name;
      for (int k = 0; k <= all.iterations; k++)
        EXPECT_NEAR(black.history[k], all.history[k], 1e-7 * all.history[k] + 1e-12 * all.history[0])
            << name << ' ' << k;
      EXPECT_NEAR(black.largest, all.largest, 1e-6 * all.largest) << name;
      EXPECT_NEAR(black.smallest, all.smallest, 1e-6 * all.smallest) << name;
      EXPECT_LT(difference(black.x, all.x), 1e-8 * reference::norm(all.x) + 1e-14) << name;
    }
  }
}

TEST(SchurCG, IterationZeroIsTheGuessOnAllNodes) {
  for (const auto &[name, problem] : five_point_problems()) {
    const RRB M = factor(problem, with_levels(3));
    const Vector z = M.apply(problem.b);
    for (const Norm norm : {Norm::natural, Norm::preconditioned, Norm::unpreconditioned})
      EXPECT_DOUBLE_EQ(schur(problem, M, zeros(problem), norm).history[0], norm_of(norm, problem.b, z)) << name;
  }
}

TEST(SchurCG, OfTheLiterature) {
  for (const auto &[n, iterations] : {std::pair{63, 13}, {127, 16}}) {
    const Problem problem = poisson(n);
    EXPECT_EQ(schur(problem, factor(problem, with_levels(12)), zeros(problem), Norm::natural).iterations, iterations);
  }
}

TEST(SchurCG, StopsWhereItIsTold) {
  const Problem problem = poisson(9);
  const RRB M = factor(problem, with_levels(5));
  const CGResult few = schur(problem, M, zeros(problem), Norm::natural, 1e-12, 2);
  EXPECT_EQ(few.iterations, 2);
  EXPECT_FALSE(few.converged);
  const CGResult none = schur(problem, M, dense_solve(problem.A, problem.b), Norm::natural, 1e-6);
  EXPECT_EQ(none.iterations, 0);
  EXPECT_TRUE(none.converged);
}

} // namespace
