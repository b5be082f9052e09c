// The RRB-solver's iterations: the papers' counts, the reference's history, and those of KSPCG with PCRRB.
#include "rrbsolver_support.hpp"

#include <cmath>
#include <tuple>

using namespace petsctest;
using reference::Problem;

namespace {

const reference::Norm norms[] = {reference::Norm::natural, reference::Norm::preconditioned,
                                 reference::Norm::unpreconditioned};
std::string option_of(reference::Norm norm) {
  const char *const names[] = {"natural", "preconditioned", "unpreconditioned"};
  return std::string("-ksp_norm_type ") + names[int(norm)] + ' ';
}

class RRBSolverTable : public testing::TestWithParam<std::tuple<int, int, int>> {};

// Table 5.3 of de Jong et al. 2017, with 12 levels, and fewer.
TEST_P(RRBSolverTable, OfThePapers) {
  const auto [n, levels, iterations] = GetParam();
  const Problem problem = reference::poisson(n);
  for (const char *more :
       {"", "-pc_rrb_storage naive", "-pc_rrb_storage_grids 1", "-pc_rrb_coarse inverse", "-pc_rrb_precision single"}) {
    const Solve result = solve(problem, rrb + ("-pc_rrb_levels " + std::to_string(levels) + ' ') + more);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL) << more;
    EXPECT_EQ(result.iterations, iterations) << more;
  }
}

INSTANTIATE_TEST_SUITE_P(Papers, RRBSolverTable,
                         testing::Values(std::tuple{63, 2, 6}, std::tuple{63, 8, 13}, std::tuple{63, 12, 13},
                                         std::tuple{127, 4, 8}, std::tuple{127, 12, 16}, std::tuple{255, 8, 13},
                                         std::tuple{255, 12, 19}),
                         [](const auto &info) {
                           return "n" + std::to_string(std::get<0>(info.param)) + "_l" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(RRBSolverLarge, CountsOfThePapers) {
  for (const int n : {511, 1023})
    EXPECT_EQ(solve(reference::poisson(n), rrb + std::string("-pc_rrb_levels 12")).iterations, 20);
}

TEST(RRBSolverLarge, CountsOfTheAMLICycle) {
  for (const int n : {255, 511})
    EXPECT_EQ(solve(reference::poisson(n), rrb + std::string("-pc_rrb_levels 12 -pc_rrb_cycle amli")).iterations, 9);
}

class FivePoints : public testing::TestWithParam<Shared<Named>> {};

// With each way of lumping. The reference's last block is exact, as the library's is.
TEST_P(FivePoints, HaveTheHistoryOfTheReference) {
  const Problem &problem = GetParam()->problem;
  const Matrix A = matrix_of(problem);
  for (const int levels : {2, 3, 8})
    for (const bool both : {false, true})
      for (const reference::Norm norm : norms) {
        const reference::Options choice = reference::with_levels(
            levels, both ? 0.9 : 1, both ? reference::LumpNodes::both : reference::LumpNodes::red);
        const reference::Vector x0 = both ? guess_with_known_rows(problem) : reference::Vector();
        const std::string options = option_of(norm) + "-pc_rrb_storage_grids 1 -pc_rrb_levels " +
                                    std::to_string(levels) +
                                    (both ? " -pc_rrb_lump_nodes both -pc_rrb_lumping 0.9" : "");
        if (problem.A.size() == 1) continue; // has one level, hence no grid in this storage
        SCOPED_TRACE(options);
        const Solver ksp = ksp_of(A, rrb + grid_option(problem) + options);
        const reference::CGResult expected = solve_slowly(problem, choice, norm, x0);
        const Recorded result = recorded(ksp, problem.b, x0);
        EXPECT_NE(view(ksp).find("on the first Schur complement"), std::string::npos) << view(ksp);
        EXPECT_GT(result.reason, 0);
        expect_near(result.history, expected.history, 1e-7);
        EXPECT_LT(largest_difference(result.x, expected.x), 1e-6);
      }
}

TEST_P(FivePoints, HaveTheHistoryOfKSPCGWhereTheGuessSatisfiesTheRedRows) {
  const Problem &problem = GetParam()->problem;
  const reference::Vector x0 = guess_with_red_rows(problem);
  for (const char *cycle : {"-pc_rrb_levels 6 ", "-pc_rrb_levels 8 -pc_rrb_cycle amli "})
    for (const reference::Norm norm : norms) {
      const std::string options = option_of(norm) + cycle;
      SCOPED_TRACE(options);
      const Recorded expected = recorded(problem, cg_and_rrb + options, x0),
                     result = recorded(problem, rrb + options, x0);
      EXPECT_EQ(result.reason, expected.reason);
      expect_near(result.history, expected.history, 1e-8);
      EXPECT_LT(largest_difference(result.x, expected.x), 1e-6);
    }
}

// The red rows' residual counts at iteration 0 alone.
TEST_P(FivePoints, CountAboutAsKSPCGFromAnyGuess) {
  const Problem &problem = GetParam()->problem;
  for (const reference::Vector &x0 : {reference::Vector(), reference::random_vector(problem.A.size(), 11)})
    for (const char *cycle : {"-pc_rrb_levels 6 ", "-pc_rrb_levels 8 -pc_rrb_cycle amli "})
      for (const reference::Norm norm : norms) {
        const std::string options = option_of(norm) + cycle;
        SCOPED_TRACE(options);
        const Recorded expected = recorded(problem, cg_and_rrb + options, x0),
                       result = recorded(problem, rrb + options, x0);
        // where the last residual is 0, not nearly so, it is below the absolute tolerance, too
        EXPECT_TRUE(result.reason == expected.reason || result.reason == KSP_CONVERGED_ATOL) << result.reason;
        EXPECT_LE(result.iterations, expected.iterations + 1); // sometimes fewer: it starts from better values
        EXPECT_GE(result.iterations, expected.iterations - 1 - expected.iterations / 10);
        EXPECT_NEAR(result.history[0], expected.history[0], 1e-11 * expected.history[0]);
      }
}

INSTANTIATE_TEST_SUITE_P(RRBSolver, FivePoints, testing::ValuesIn(shared(five_points())),
                         [](const auto &info) { return info.param->name; });

class OtherForms : public testing::TestWithParam<Shared<Named>> {};

// On all nodes it is KSPCG's method, from any guess.
TEST_P(OtherForms, HaveTheHistoryOfKSPCG) {
  const Problem &problem = GetParam()->problem;
  for (const reference::Vector &x0 : {reference::Vector(), reference::random_vector(problem.A.size(), 11)})
    for (const char *cycle :
         {"-pc_rrb_levels 3 ", "-pc_rrb_levels 8 -pc_rrb_storage naive ", "-pc_rrb_levels 8 -pc_rrb_cycle amli "})
      for (const reference::Norm norm : norms) {
        const std::string options = option_of(norm) + cycle;
        SCOPED_TRACE(options);
        const Recorded expected = recorded(problem, cg_and_rrb + options, x0),
                       result = recorded(problem, rrb + options, x0);
        EXPECT_EQ(result.reason, expected.reason);
        expect_near(result.history, expected.history, 1e-7);
        EXPECT_LT(largest_difference(result.x, expected.x), 1e-6);
      }
}

INSTANTIATE_TEST_SUITE_P(RRBSolver, OtherForms, testing::ValuesIn(shared(other_forms())),
                         [](const auto &info) { return info.param->name; });

TEST(RRBSolverThreads, ChangeNothing) {
  for (const Problem &problem :
       {reference::random_faces({150, 133}, 100), reference::random_nine_points({90, 101}, 0)}) {
    const Matrix A = matrix_of(problem);
    Recorded expected;
    for (const int threads : {1, 2, 3, 7}) {
      const Threads these(threads);
      const Recorded result = recorded(ksp_of(A, rrb), problem.b);
      if (threads == 1) expected = result;
      EXPECT_EQ(result.x, expected.x) << threads;
      EXPECT_EQ(result.history, expected.history) << threads;
    }
  }
}

} // namespace
