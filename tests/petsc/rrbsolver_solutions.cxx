// The RRB-solver's solution is the true one, on all nodes: for each kind of matrix, with each option, from any guess.
#include "rrbsolver_support.hpp"

#include "reference/dense.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

// From a known solution, with a value in rows of the identity too.
class Solution : public testing::TestWithParam<Shared<Named>> {
protected:
  Solution() {
    exact = reference::random_vector(problem.A.size(), 21);
    problem.b = problem.A.multiply(exact);
  }
  void expect_solved(const Solve &result) {
    EXPECT_GT(result.reason, 0);
    EXPECT_LT(relative_residual(problem, result.x), 1e-7);
    EXPECT_LT(largest_difference(result.x, exact), 1e-6);
  }

  Problem problem = GetParam()->problem;
  reference::Vector exact;
};

TEST_P(Solution, IsTrue) {
  const Matrix A = matrix_of(problem);
  for (const char *options :
       {"", "-pc_rrb_levels 1", "-pc_rrb_levels 6 -pc_rrb_storage naive", "-pc_rrb_levels 8 -pc_rrb_cycle amli",
        "-pc_rrb_levels 4 -pc_rrb_lump_nodes both -pc_rrb_lumping 0.9", "-pc_rrb_levels 5 -pc_rrb_precision single",
        "-pc_rrb_levels 3 -pc_rrb_coarse inverse", "-pc_rrb_levels 3 -pc_rrb_coarse ksp",
        "-ksp_norm_type unpreconditioned", "-ksp_norm_type preconditioned -pc_rrb_levels 5"}) {
    SCOPED_TRACE(options);
    const Solver ksp = ksp_of(A, rrb + grid_option(problem) + "-ksp_rtol 1e-10 " + options);
    expect_solved(solve(ksp, problem.b));
    expect_solved(solve(ksp, problem.b, reference::random_vector(problem.A.size(), 5)));
  }
}

TEST_P(Solution, NeedsNothingWhereItIsTheGuess) {
  const Matrix A = matrix_of(problem);
  const Solve result = solve(ksp_of(A, rrb + grid_option(problem)), problem.b, exact);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_GT(result.reason, 0);
  EXPECT_EQ(result.x, exact);
}

// What a program sees after few steps is x0 plus something: no value of x is left unset.
TEST_P(Solution, IsNearerAfterEveryStep) {
  const Matrix A = matrix_of(problem);
  const reference::Vector guess = reference::random_vector(problem.A.size(), 6);
  double last = INFINITY;
  for (int steps = 1; steps <= 4; ++steps) {
    const Solver ksp = ksp_of(A, rrb + grid_option(problem) + "-ksp_rtol 1e-30 -ksp_atol 1e-9 -pc_rrb_levels 4 " +
                                     "-ksp_max_it " + std::to_string(steps));
    reference::Vector error = solve(ksp, problem.b, guess).x;
    for (std::size_t p = 0; p < error.size(); ++p) error[p] -= exact[p];
    const double now = reference::dot(error, problem.A.multiply(error)); // what conjugate gradients make smallest
    EXPECT_LT(now, last + 1e-20) << steps;
    last = now;
  }
}

std::vector<Named> all() {
  using namespace reference;
  std::vector<Named> out = five_points();
  for (Named &other : other_forms()) out.push_back(std::move(other));
  unsigned seed = 50;
  for (const auto &[nx, ny] : {std::pair{1, 2}, {5, 1}, {3, 3}, {2, 7}, {64, 32}, {33, 65}})
    out.push_back({std::to_string(nx) + "_by_" + std::to_string(ny), random_faces({nx, ny}, 10, ++seed)});
  const auto dry = [](int i, int j) { return (i * 7 + j * 3) % 5 == 0 || (i > 8 && j > 12); };
  out.push_back({"masked", identity_rows(random_faces({30, 27}, 10), dry, false)});
  out.push_back({"masked_nine_points", identity_rows(random_nine_points({30, 27}, 0, 0.1), dry, false)});
  out.push_back({"masked_odd_ring", identity_rows(random_faces({27, 20, true, false}, 10), dry, false)});
  return out;
}

INSTANTIATE_TEST_SUITE_P(RRBSolver, Solution, testing::ValuesIn(shared(all())),
                         [](const auto &info) { return info.param->name; });

// A coupling of the wrong sign that stands in the matrix and not in M.
TEST(RRBSolverSolution, WithPositiveCouplings) {
  Problem problem = reference::random_faces({30, 31}, 10);
  for (const int p : {44, 301, 600}) {
    const double a = -problem.A.at(p, p + 1) / 4;
    problem.A.row[p][p + 1] = problem.A.row[p + 1][p] = a;
  }
  const Matrix A = matrix_of(problem);
  for (const reference::Vector &x0 : {reference::Vector(), reference::random_vector(930, 4)}) {
    const Solve result = solve(ksp_of(A, std::string(rrb) + "-ksp_rtol 1e-10"), problem.b, x0);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
    EXPECT_LT(relative_residual(problem, result.x), 1e-8);
  }
}

// Differences between a_ij and a_ji that PCRRB takes as rounding.
TEST(RRBSolverSolution, WithTinyAsymmetries) {
  Problem problem = reference::random_faces({20, 31}, 10);
  for (int p = 0; p < 619; ++p)
    if (p % 20 < 19) problem.A.row[p][p + 1] *= 1 + 1e-13;
  const Matrix A = matrix_of(problem);
  const Solve result = solve(ksp_of(A, std::string(rrb) + "-ksp_rtol 1e-10"), problem.b);
  EXPECT_LT(relative_residual(problem, result.x), 1e-8);
}

// Dirichlet rows whose columns the neighbours keep: nonsymmetric there, with values that are not 0.
class KnownRows : public testing::TestWithParam<Shared<Named>> {};

TEST_P(KnownRows, AreMovedToTheRightHandSide) {
  Problem problem = GetParam()->problem;
  problem.b = reference::random_vector(problem.A.size(), 8);
  const reference::Vector exact = reference::dense_solve(problem.A, problem.b);
  const Matrix A = matrix_of(problem);
  for (const char *options :
       {"", "-pc_rrb_levels 1", "-pc_rrb_levels 6 -pc_rrb_storage naive", "-pc_rrb_levels 8 -pc_rrb_cycle amli",
        "-ksp_norm_type unpreconditioned", "-ksp_norm_type preconditioned"})
    for (const reference::Vector &x0 : {reference::Vector(), reference::random_vector(problem.A.size(), 5)}) {
      SCOPED_TRACE(options);
      const Solve result = solve(ksp_of(A, rrb + grid_option(problem) + "-ksp_rtol 1e-11 " + options), problem.b, x0);
      EXPECT_GT(result.reason, 0);
      EXPECT_LT(result.iterations, 60);
      EXPECT_LT(largest_difference(result.x, exact), 1e-7);
    }
}

std::vector<Named> known_rows() {
  using namespace reference;
  const auto sides = [](int nx, int ny) {
    return [=](int i, int j) { return i == 0 || j == 0 || i == nx - 1 || j == ny - 1 || (i > 3 && i < 7 && j == 5); };
  };
  const auto scattered = [](int i, int j) { return (3 * i + 5 * j) % 11 == 0; };
  Problem scales = identity_rows(random_faces({17, 16}, 10), sides(17, 16), true);
  for (int p = 0; p < scales.A.size(); ++p)
    if (scales.A.row[p].size() == 1) scales.A.row[p][p] = 0.01 * (1 + p % 7);
  return {{"sides", identity_rows(random_faces({21, 18}, 10), sides(21, 18), true)},
          {"scattered", identity_rows(random_faces({20, 19}, 10), scattered, true)},
          {"scaled_rows", scales},
          {"rings", identity_rows(random_faces({18, 14, true, true}, 10), scattered, true)},
          {"odd_ring", identity_rows(random_faces({15, 14, true, false}, 10), scattered, true)},
          {"nine_points", identity_rows(random_nine_points({19, 17}, 0, 0.1), sides(19, 17), true)},
          {"one_line", identity_rows(
                           random_faces({23, 1}, 10), [](int i, int) { return i % 7 == 2; }, true)},
          {"all_but_one", identity_rows(
                              random_faces({9, 8}, 10), [](int i, int j) { return i != 4 || j != 4; }, true)},
          {"all_but_a_red_one", identity_rows(
                                    random_faces({9, 8}, 10), [](int i, int j) { return i != 5 || j != 4; }, true)},
          {"all", identity_rows(
                      random_faces({6, 5}, 10), [](int, int) { return true; }, true)}};
}

INSTANTIATE_TEST_SUITE_P(RRBSolver, KnownRows, testing::ValuesIn(shared(known_rows())),
                         [](const auto &info) { return info.param->name; });

// Iteration 0 is the guess with known values.
TEST(RRBSolverSolution, OfKnownRowsHasTheHistoryOfTheReference) {
  for (const Named &named : {known_rows()[0], known_rows()[1], known_rows()[3]}) {
    Problem problem = named.problem;
    problem.b = reference::random_vector(problem.A.size(), 8);
    SCOPED_TRACE(named.name);
    reference::Vector guess(problem.b.size(), 0.0);
    for (int p = 0; p < problem.A.size(); ++p)
      if (problem.A.row[p].size() == 1) guess[p] = problem.b[p] / problem.A.at(p, p);
    const reference::CGResult expected =
        solve_slowly(problem, reference::with_levels(4), reference::Norm::natural, guess);
    const Recorded schur = recorded(problem, rrb + std::string("-pc_rrb_levels 4 -pc_rrb_storage_grids 2"));
    expect_near(schur.history, expected.history, 1e-7);
    EXPECT_LT(largest_difference(schur.x, expected.x), 1e-9);
    if (backend.device) continue; // it has no other storage
    const Recorded full = recorded(problem, rrb + std::string("-pc_rrb_levels 4 -pc_rrb_storage naive"));
    EXPECT_NEAR(full.history[0], expected.history[0], 1e-11 * expected.history[0]);
    EXPECT_NEAR(full.iterations, expected.iterations, 1);
  }
}

} // namespace
