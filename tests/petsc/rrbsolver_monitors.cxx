// Who looks at the RRB-solver while it runs: monitors, users' tests, histories; and what stops it.
#include "rrbsolver_support.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

using namespace petsctest;
using reference::Problem;

namespace {

// What a monitor was told, and what it built.
struct Seen {
  reference::Vector norms, residuals;
  std::vector<reference::Vector> solutions;
};

// Two ways to build each: into vectors of PETSc's and into the monitor's own.
PetscErrorCode watch(KSP ksp, PetscInt step, PetscReal norm, void *context) {
  Seen &seen = *static_cast<Seen *>(context);
  Vec b, x, r;
  PetscReal size;
  PetscFunctionBegin;
  EXPECT_EQ(step, PetscInt(seen.norms.size()));
  PetscCall(KSPGetRhs(ksp, &b));
  const Vector own = like(b), work = like(b), residual = like(b);
  PetscCall(KSPBuildSolution(ksp, nullptr, &x));
  PetscCall(KSPBuildSolution(ksp, own, nullptr));
  EXPECT_EQ(values_of(x), values_of(own));
  PetscCall(KSPBuildResidual(ksp, work, residual, &r));
  PetscCall(VecNorm(r, NORM_2, &size));
  seen.norms.push_back(norm);
  seen.residuals.push_back(size);
  seen.solutions.push_back(values_of(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

class Watched : public testing::TestWithParam<Shared<Named>> {
protected:
  Problem problem = GetParam()->problem;
  Matrix A = matrix_of(problem);
  reference::Vector x0 = reference::random_vector(problem.A.size(), 3);

  Solver solver(const std::string &options) { return ksp_of(A, rrb + grid_option(problem) + options); }
};

TEST_P(Watched, IsTheSame) {
  for (const char *norm : {"natural", "preconditioned", "unpreconditioned", "none"}) {
    const std::string options =
        std::string("-pc_rrb_levels 5 -ksp_norm_type ") + norm + (std::string(norm) == "none" ? " -ksp_max_it 6" : "");
    const Recorded alone = recorded(solver(options), problem.b, x0);
    const Solver ksp = solver(options);
    Seen seen;
    ok(KSPMonitorSet(ksp, watch, &seen, nullptr));
    const Recorded watched = recorded(ksp, problem.b, x0);
    EXPECT_EQ(watched.iterations, alone.iterations) << norm;
    EXPECT_EQ(watched.reason, alone.reason) << norm;
    EXPECT_EQ(watched.history, alone.history) << norm;
    EXPECT_EQ(watched.x, alone.x) << norm;
    EXPECT_EQ(seen.norms, alone.history) << norm;
    EXPECT_EQ(seen.solutions.front(), x0) << norm;
    EXPECT_LT(largest_difference(watched.x, seen.solutions.back()), 1e-14) << norm;
  }
}

// The solution that is built mid-solve is that of a solve that ends there, and its residual is the one reported.
TEST_P(Watched, BuildsWhatItReports) {
  const Solver ksp = solver("-pc_rrb_levels 5 -ksp_norm_type unpreconditioned -ksp_rtol 1e-9");
  Seen seen;
  ok(KSPMonitorSet(ksp, watch, &seen, nullptr));
  const Solve result = solve(ksp, problem.b, x0);
  ASSERT_EQ(seen.norms.size(), result.iterations + 1u);
  for (int step = 0; step <= result.iterations; ++step) {
    reference::Vector r = problem.A.multiply(seen.solutions[step]);
    for (std::size_t p = 0; p < r.size(); ++p) r[p] -= problem.b[p];
    const double size = reference::norm(r), rounding = 1e-13 * seen.norms[0];
    EXPECT_NEAR(seen.norms[step], size, 1e-9 * size + rounding) << step;
    EXPECT_NEAR(seen.residuals[step], size, 1e-9 * size + rounding) << step;
  }
  for (const int step : {1, 3}) {
    if (step > result.iterations) continue;
    const Solver few =
        solver("-pc_rrb_levels 5 -ksp_norm_type unpreconditioned -ksp_rtol 1e-30 -ksp_max_it " + std::to_string(step));
    EXPECT_LT(largest_difference(solve(few, problem.b, x0).x, seen.solutions[step]), 1e-13) << step;
  }
}

TEST_P(Watched, PrintsTheTrueResidual) {
  char name[] = "/tmp/rrbsolver_monitorXXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  Solve result;
  {
    const Solver ksp = solver(std::string("-pc_rrb_levels 5 -ksp_norm_type unpreconditioned -ksp_monitor_true_residual "
                                          "ascii:") +
                              name);
    result = solve(ksp, problem.b);
  }
  std::ifstream text(name);
  int lines = 0;
  for (std::string line; std::getline(text, line);) {
    double reported, real;
    int step;
    if (std::sscanf(line.c_str(), " %d KSP unpreconditioned resid norm %lf true resid norm %lf", &step, &reported,
                    &real) != 3)
      continue;
    EXPECT_EQ(step, lines++) << line;
    EXPECT_NEAR(reported, real, 1e-6 * real) << line;
  }
  EXPECT_EQ(lines, result.iterations + 1);
  std::remove(name);
}

struct StopAt {
  int step;
  KSPConvergedReason reason;
};
PetscErrorCode stop(KSP, PetscInt step, PetscReal, KSPConvergedReason *reason, void *context) {
  const StopAt &at = *static_cast<StopAt *>(context);
  PetscFunctionBegin;
  *reason = step == at.step ? at.reason : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_P(Watched, StopsWhereTheUserSays) {
  for (const std::string norm : {"natural", "none"})
    for (StopAt at : {StopAt{1, KSP_CONVERGED_ITS}, {3, KSP_DIVERGED_BREAKDOWN}, {4, KSP_CONVERGED_HAPPY_BREAKDOWN}}) {
      const Solver ksp = solver("-pc_rrb_levels 2 -ksp_max_it 9 -ksp_norm_type " + norm);
      ok(KSPSetConvergenceTest(ksp, stop, &at, nullptr));
      const Solve result = solve(ksp, problem.b, x0);
      EXPECT_EQ(result.iterations, at.step) << norm;
      EXPECT_EQ(result.reason, at.reason) << norm;
      const Solver few = solver("-pc_rrb_levels 2 -ksp_rtol 1e-30 -ksp_max_it " + std::to_string(at.step));
      EXPECT_LT(largest_difference(result.x, solve(few, problem.b, x0).x), 1e-13) << norm;
    }
}

TEST_P(Watched, LeavesTheGuessAloneWhereTheUserSaysSo) {
  StopAt at{0, KSP_CONVERGED_HAPPY_BREAKDOWN};
  const Solver ksp = solver("-pc_rrb_levels 2");
  ok(KSPSetConvergenceTest(ksp, stop, &at, nullptr));
  const Solve result = solve(ksp, problem.b, x0);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(result.reason, at.reason);
  EXPECT_EQ(result.x, x0);
}

// Reasons and counts of PETSc's own test are KSPCG's, from a guess with which both make the same steps.
TEST_P(Watched, StopsAsKSPCGDoes) {
  const bool five = GetParam()->name == "five_points";
  const reference::Vector guess = five ? guess_with_red_rows(problem) : x0;
  for (const char *options :
       {"-ksp_max_it 3", "-ksp_max_it 3 -ksp_converged_maxits", "-ksp_atol 1e-2 -ksp_rtol 1e-30",
        "-ksp_divtol 1e-3 -ksp_rtol 1e-30", "-ksp_rtol 1e-4", "-ksp_min_it 9 -ksp_rtol 1e-2",
        "-ksp_converged_use_initial_residual_norm", "-ksp_converged_use_min_initial_residual_norm",
        "-ksp_check_norm_iteration 4", "-ksp_convergence_test skip -ksp_max_it 5", "-ksp_rtol 0.99"}) {
    if (std::string(options).find("-ksp_min_it") == 0 && PETSC_VERSION_LT(3, 19, 0)) continue;
    SCOPED_TRACE(options);
    const Solver cg = ksp_of(A, cg_and_rrb + std::string("-pc_rrb_levels 4 ") + options);
    const Solver ksp = ksp_of(A, rrb + std::string("-pc_rrb_levels 4 ") + options);
    const Solve expected = solve(cg, problem.b, guess), result = solve(ksp, problem.b, guess);
    EXPECT_EQ(result.reason, expected.reason);
    EXPECT_EQ(result.iterations, expected.iterations);
    EXPECT_LT(largest_difference(result.x, expected.x), 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(
    RRBSolver, Watched,
    testing::ValuesIn(shared<Named>({{"five_points", reference::random_faces({45, 38}, 10)},
                                     {"nine_points", reference::random_nine_points({37, 40}, 0, 0.1)},
                                     {"odd_ring", reference::random_faces({31, 30, true, false}, 10)}})),
    [](const auto &info) { return info.param->name; });

// x0 = M^-1 b satisfies the red rows: the steps are KSPCG's.
TEST(RRBSolverGuess, OfKnoll) {
  const Problem problem = reference::random_faces({45, 38}, 10);
  const std::string knoll = "-ksp_knoll -pc_rrb_levels 6 ";
  const Recorded result = recorded(problem, rrb + knoll), expected = recorded(problem, cg_and_rrb + knoll);
  expect_near(result.history, expected.history, 1e-8);
  EXPECT_LT(largest_difference(result.x, expected.x), 1e-9);
}

TEST(RRBSolverGuess, OfTheSolveBefore) {
  const Problem problem = reference::random_faces({45, 38}, 10);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, rrb + std::string("-pc_rrb_levels 6 -ksp_initial_guess_nonzero -ksp_rtol 1e-8"));
  const Vector b = vector_of(problem.b), x = like(b);
  PetscInt first, again;
  ok(KSPSolve(ksp, b, x));
  ok(KSPGetIterationNumber(ksp, &first));
  EXPECT_GT(first, 5);
  ok(KSPSolve(ksp, b, x));
  ok(KSPGetIterationNumber(ksp, &again));
  EXPECT_LE(again, 1);
}

// From solutions before, as PETSc projects them.
TEST(RRBSolverGuess, OfFischer) {
  PetscErrorCode (*create)(KSPGuess) = nullptr;
  ok(PetscFunctionListFind(KSPGuessList, KSPGUESSFISCHER, &create));
  if (!create) GTEST_SKIP() << "PETSc has registered its guesses for the first PetscInitialize() of a process only";
  const Problem problem = reference::random_faces({45, 38}, 10);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(
      A, rrb + std::string("-pc_rrb_levels 6 -ksp_guess_type fischer -ksp_guess_fischer_model 1,4 -ksp_rtol 1e-8"));
  const int first = solve(ksp, problem.b).iterations;
  reference::Vector twice = problem.b;
  for (double &value : twice) value *= 2;
  EXPECT_LE(solve(ksp, twice).iterations, first / 2);
}

TEST(RRBSolverHistory, GoesIntoTheUsersArray) {
  const Problem problem = reference::random_faces({45, 38}, 10);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, rrb + std::string("-pc_rrb_levels 6"));
  const Recorded all = recorded(ksp, problem.b);
  for (const PetscInt length : {3, 100}) {
    reference::Vector mine(length + 1, -1);
    const PetscReal *history;
    PetscInt used;
    ok(KSPSetResidualHistory(ksp, mine.data(), length, PETSC_TRUE));
    (void)solve(ksp, problem.b);
    (void)solve(ksp, problem.b); // from the array's start again
    ok(KSPGetResidualHistory(ksp, &history, &used));
    EXPECT_EQ(history, mine.data());
    EXPECT_EQ(used, std::min(length, PetscInt(all.history.size())));
    for (PetscInt k = 0; k < used; ++k) EXPECT_EQ(mine[k], all.history[k]) << k;
    EXPECT_EQ(mine[used], -1);
  }
}

TEST(RRBSolverHistory, GoesOnWhereItIsNotReset) {
  const Problem problem = reference::random_faces({45, 38}, 10);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, rrb + std::string("-pc_rrb_levels 6"));
  const PetscReal *history;
  PetscInt used;
  ok(KSPSetResidualHistory(ksp, nullptr, 500, PETSC_FALSE));
  const int steps = solve(ksp, problem.b).iterations;
  (void)solve(ksp, problem.b);
  ok(KSPGetResidualHistory(ksp, &history, &used));
  ASSERT_EQ(used, 2 * (steps + 1));
  for (int k = 0; k <= steps; ++k) EXPECT_EQ(history[k], history[steps + 1 + k]);
}

} // namespace
