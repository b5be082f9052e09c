// The RRB-solver on singular matrices: null spaces that are attached or not, consistent right-hand sides and others.
#include "rrbsolver_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

Problem jumps() {
  Problem problem = reference::random_jumps({40, 37}, 1e3, 4, true);
  problem.null_space.push_back(reference::Vector(problem.A.size(), 1.0));
  set_random_rhs(problem);
  return problem;
}

Problem scaled_neumann() {
  reference::Vector D = reference::random_vector(30 * 33, 5);
  for (double &value : D) value = std::pow(10.0, value);
  return reference::scaled(reference::neumann(30, 33), D);
}

std::vector<Named> singular() {
  using namespace reference;
  return {{"neumann", neumann(41, 38)},
          {"neumann_even", neumann(32, 32)},
          {"jumps", jumps()},
          {"torus", periodic({32, 28, true, true}, 0)},
          {"odd_torus", periodic({32, 27, true, true}, 0)},
          {"two_ponds", two_ponds(30, 31)},
          {"canal", straight_canal(40, 33, 9)},
          {"isolated_cells", isolated_cells(30, 31)},
          {"one_line", neumann(25, 1)},
          {"two_by_two", neumann(2, 2)},
          {"two_points", neumann(2, 1)},
          {"scaled", scaled_neumann()}};
}

// The largest part of x in a direction of the null space, relative to x.
double null_part(const Problem &problem, const reference::Vector &x) {
  double part = 0;
  for (const reference::Vector &w : problem.null_space)
    part = std::max(part, std::abs(reference::dot(w, x)) / reference::norm(w));
  return part / std::max(reference::norm(x), 1e-300);
}

void remove_null_part(const Problem &problem, reference::Vector &x) {
  for (const reference::Vector &w : problem.null_space) {
    const double part = reference::dot(w, x) / reference::dot(w, w);
    for (std::size_t p = 0; p < x.size(); ++p) x[p] -= part * w[p];
  }
}

class Singular : public testing::TestWithParam<Shared<Named>> {
protected:
  Problem problem = GetParam()->problem;
};

TEST_P(Singular, HasTheSolutionWithoutNullPart) {
  for (const char *options : {"-pc_rrb_levels 1 ", "-pc_rrb_levels 6 ", "-pc_rrb_levels 6 -pc_rrb_storage naive ",
                              "-pc_rrb_levels 8 -pc_rrb_cycle amli ", "-pc_rrb_levels 5 -pc_rrb_precision single "}) {
    SCOPED_TRACE(options);
    const std::string more = grid_option(problem) + "-ksp_rtol 1e-9 " + options;
    const Solve expected = solve(problem, cg_and_rrb + more), result = solve(problem, rrb + more);
    EXPECT_GT(result.reason, 0);
    EXPECT_LE(result.iterations, expected.iterations + 1);
    EXPECT_GE(result.iterations, expected.iterations - 1 - expected.iterations / 8);
    EXPECT_LT(relative_residual(problem, result.x), 1e-6);
    EXPECT_LT(null_part(problem, result.x), 1e-9);
    EXPECT_LT(largest_difference(result.x, expected.x), 1e-5);
  }
}

TEST_P(Singular, IsSolvedInEachNorm) {
  for (const char *norm : {"natural", "preconditioned", "unpreconditioned"}) {
    const std::string options = grid_option(problem) + "-pc_rrb_levels 5 -ksp_norm_type " + norm;
    const Solve expected = solve(problem, cg_and_rrb + options), result = solve(problem, rrb + options);
    EXPECT_GT(result.reason, 0) << norm;
    EXPECT_NEAR(result.iterations, expected.iterations, 1 + expected.iterations / 20) << norm;
    EXPECT_LT(relative_residual(problem, result.x), 1e-4) << norm;
  }
}

TEST_P(Singular, IsSolvedFromAGuess) {
  const Matrix A = matrix_of(problem);
  const reference::Vector x0 = reference::random_vector(problem.A.size(), 5);
  const Solver ksp = ksp_of(A, rrb + grid_option(problem) + "-pc_rrb_levels 5 -ksp_rtol 1e-9");
  const Solve result = solve(ksp, problem.b, x0);
  EXPECT_GT(result.reason, 0);
  EXPECT_LT(relative_residual(problem, result.x), 1e-6);
}

// A null space that nobody has attached: a right-hand side that has a solution is enough.
TEST_P(Singular, IsSolvedWithoutBeingTold) {
  Problem plain = problem;
  plain.null_space.clear();
  const Solve result = solve(plain, rrb + grid_option(plain) + "-pc_rrb_levels 5 -ksp_rtol 1e-9");
  EXPECT_GT(result.reason, 0);
  EXPECT_LT(relative_residual(plain, result.x), 1e-6);
  for (const double value : result.x) ASSERT_LT(std::abs(value), 1e6);
}

// PETSc takes the null part out of the right-hand side where the transposed matrix has the null space attached, too.
TEST_P(Singular, TakesARightHandSideWithNullPart) {
  const Matrix A = matrix_of(problem);
  MatNullSpace space;
  ok(MatGetNullSpace(A, &space));
  ok(MatSetTransposeNullSpace(A, space));
  const Solver ksp = ksp_of(A, rrb + grid_option(problem) + "-pc_rrb_levels 5 -ksp_rtol 1e-9");
  reference::Vector b = problem.b;
  for (const reference::Vector &w : problem.null_space)
    for (std::size_t p = 0; p < b.size(); ++p) b[p] += 0.7 * w[p];
  const Solve result = solve(ksp, b);
  EXPECT_GT(result.reason, 0);
  EXPECT_LT(relative_residual(problem, result.x), 1e-6); // of what is left of b
  EXPECT_LT(null_part(problem, result.x), 1e-9);
}

// Nothing but null part: x has none of it. What reason there is depends on rounding.
TEST_P(Singular, OfARightHandSideInTheNullSpace) {
  const Matrix A = matrix_of(problem);
  for (const bool transpose_too : {true, false}) {
    MatNullSpace space;
    ok(MatGetNullSpace(A, &space));
    ok(MatSetTransposeNullSpace(A, transpose_too ? space : nullptr));
    const Solver ksp = ksp_of(A, rrb + grid_option(problem) + "-pc_rrb_levels 5 -ksp_max_it 50");
    const Solve result = solve(ksp, problem.null_space[0]);
    for (const double value : result.x) ASSERT_LT(std::abs(value), 1e-6);
  }
}

// The first of several solves must not spoil the next.
TEST_P(Singular, IsSolvedAgainAndAgain) {
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, rrb + grid_option(problem) + "-pc_rrb_levels 5 -ksp_rtol 1e-9");
  const Solve first = solve(ksp, problem.b);
  EXPECT_EQ(solve(ksp, problem.b).x, first.x);
  ok(MatScale(A, 2));
  Solve result = solve(ksp, problem.b);
  for (double &value : result.x) value *= 2;
  EXPECT_LT(largest_difference(result.x, first.x), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(RRBSolver, Singular, testing::ValuesIn(shared(singular())),
                         [](const auto &info) { return info.param->name; });

// A right-hand side without a solution, and no word of it to PETSc but MatSetNullSpace(): as near as KSPCG comes.
TEST(RRBSolverSingular, WithoutASolution) {
  for (const Problem &problem : {reference::neumann(41, 38), reference::two_ponds(30, 31)}) {
    const Matrix A = matrix_of(problem);
    reference::Vector b = problem.b;
    for (const reference::Vector &w : problem.null_space)
      for (std::size_t p = 0; p < b.size(); ++p) b[p] += 1e-3 * w[p];
    const auto distance = [&](const std::string &type) {
      reference::Vector x = solve(ksp_of(A, type + "-pc_rrb_levels 5 -ksp_rtol 1e-8 -ksp_max_it 60"), b).x;
      remove_null_part(problem, x);
      return relative_residual(problem, x);
    };
    EXPECT_LT(distance(rrb), 2 * distance(cg_and_rrb) + 1e-6);
  }
}

// Rows of zeros: the unknown is in the null space, and its value stays.
TEST(RRBSolverSingular, RowsOfZeros) {
  Problem problem = reference::random_faces({20, 21}, 10);
  for (const int p : {45, 46, 150}) {
    for (const auto &[q, a] : problem.A.row[p])
      if (q != p) problem.A.row[q].erase(p);
    problem.A.row[p] = {{p, 0.0}};
    problem.b[p] = 0;
  }
  const Solve result = solve(problem, rrb + std::string("-pc_rrb_levels 5 -ksp_rtol 1e-9"));
  EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
  EXPECT_LT(relative_residual(problem, result.x), 1e-7);
  for (const int p : {45, 46, 150}) EXPECT_EQ(result.x[p], 0) << p;
}

} // namespace
