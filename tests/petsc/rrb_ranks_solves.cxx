// Solves with PCRRB and KSPRRB on several ranks: iterations and solutions of one rank.
#include "rrb_ranks_support.hpp"

using namespace petsctest;
using namespace petsctest::distributed;

namespace {

void expect_same_solve(const Case &c, const std::string &options, int more,
                       const std::function<std::string()> &choice) {
  static int turn = 0;
  some_distributions(c, [&](const Distributed &d, const std::string &what) {
    const std::string all = "-ksp_max_it 2000 -pc_type rrb " + options + c.grid() + choice();
    const Matrix A = matrix_of(c.problem);
    const Solver one = ksp_of(A, all), many = ksp_of(d.A, all);
    const Solve alone = solve(one, c.problem.b), done = solve_on(many, d, c.problem.b);
    EXPECT_GT(done.reason, 0) << what << ", " << all;
    EXPECT_EQ(done.reason, alone.reason) << what << ", " << all;
    EXPECT_NEAR(done.iterations, alone.iterations, more) << what << ", " << all;
    if (turn++ % 2) return;
    for (KSP ksp : {static_cast<KSP>(one), static_cast<KSP>(many)}) // where rounding decides about iterations
      ok(KSPSetTolerances(ksp, 1e-13, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    const reference::Vector x = solve(one, c.problem.b).x;
    EXPECT_LT(largest_difference(solve_on(many, d, c.problem.b).x, own_part(d, x)), 1e-10) << what << ", " << all;
  });
}

TEST(RrbRanksSolves, TakeTheSameIterations) {
  Turns turns;
  for (const Case &c : cases())
    if (c.name != "columns of known values")
      expect_same_solve(c, "-ksp_type cg -ksp_rtol 1e-5 ", 0, [&] { return turns.next(); });
}

TEST(RrbRanksSolves, OfTheRrbSolverTakeOneMoreAtMost) {
  Turns turns;
  int turn = ranks();
  for (const Case &c : cases())
    if (turn++ % 2) expect_same_solve(c, "-ksp_type rrb -ksp_rtol 1e-5 ", 1, [&] { return turns.next(); });
}

// Where grids are distributed without being told.
TEST(RrbRanksSolves, OfALargerProblem) {
  const Case c{"poisson", reference::poisson(127), 5};
  int turn = 0;
  expect_same_solve(c, "-ksp_type cg -ksp_rtol 1e-8 -pc_rrb_levels 10 ", 0,
                    [&] { return turn++ % 2 ? "-pc_rrb_cycle amli" : ""; });
  expect_same_solve(c, "-ksp_type rrb -ksp_rtol 1e-5 ", 1, [&] { return ""; });
}

} // namespace
