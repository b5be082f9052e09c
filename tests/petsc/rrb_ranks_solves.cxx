// Solves with PCRRB and KSPRRB on several ranks: iterations and solutions of one rank.
#include "reference/hard_problems.hpp"
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

// By support where one rank would, from the first values on and with others.
TEST(RrbRanksSolves, ChooseRedNodesAsOne) {
  const auto by_support = [](const std::string &view) {
    return view.find("red nodes: by support") != std::string::npos;
  };
  const Case c{"smooth", reference::random_faces({64, 60}, 1.5, 1), 5};
  const reference::Problem problems[] = {
      c.problem, reference::anisotropic(64, 60, 70, 1),  reference::anisotropic(64, 60, 1, 20),
      c.problem, reference::random_faces({64, 60}, 1e6), reference::channels(64, 60, 1, 4)};
  const std::string choices = "-pc_type rrb -pc_rrb_levels 12 -pc_rrb_gather_size 300 -pc_rrb_red_nodes auto "
                              "-pc_rrb_cycle amli -ksp_rtol 1e-6 -ksp_norm_type unpreconditioned " +
                              c.grid();
  for (const char *type : {"cg ", "rrb "})
    some_distributions(c, [&](const Distributed &d, const std::string &what) {
      const Matrix A = matrix_of(c.problem);
      const std::string options = choices + "-ksp_type " + type;
      const Solver one = ksp_of(A, options), many = ksp_of(d.A, options);
      for (const reference::Problem &problem : problems) {
        set_values(A, problem.A);
        set_new_values(d, problem.A);
        const Solve alone = solve(one, problem.b), done = solve_on(many, d, problem.b);
        EXPECT_GT(done.reason, 0) << what;
        EXPECT_NEAR(done.iterations, alone.iterations, *type == 'r') << what; // where it is fused
        const std::string shown = view_on_first(many);
        if (rank() == 0) {
          EXPECT_EQ(by_support(shown), by_support(view(one))) << what << shown;
        }
      }
    });
}

} // namespace
