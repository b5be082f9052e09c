// In which precision PCRRB stores its factor: mixed unless the user says otherwise, double where single has no room.
#include "rrb_ranks_support.hpp"
#include "unit/reference_support.hpp"

using namespace petsctest;
using namespace petsctest::distributed;
using reference::Problem;

namespace {

Problem times(Problem p, double factor) {
  for (auto &row : p.A.row)
    for (auto &entry : row) entry.second *= factor;
  for (double &b : p.b) b *= factor;
  return p;
}

std::string factor_in(const std::string &view) {
  const std::string before = "factor: in ";
  const std::size_t at = view.find(before);
  return at == std::string::npos
             ? "nothing"
             : view.substr(at + before.size(), view.find(' ', at + before.size()) - at - before.size());
}

const std::string mixed = "-pc_rrb_precision mixed -pc_rrb_levels 8 ";

TEST(Precision, IsMixedUnlessTheUserSaysOtherwise) {
  Handle<PC, PCDestroy> pc;
  PCRRBPrecision precision;
  ok(PCCreate(PETSC_COMM_SELF, pc.put()));
  ok(PCSetType(pc, PCRRB));
  ok(PCRRBGetPrecision(pc, &precision));
  EXPECT_EQ(precision, PC_RRB_PRECISION_MIXED);
}

TEST(Precision, IsShown) {
  const Problem problem = reference::poisson(63);
  const Matrix A = matrix_of(problem);
  for (const auto &[options, expected] : {std::pair{"", "mixed"},
                                          {"-pc_rrb_precision single", "single"},
                                          {"-pc_rrb_precision double", "double"},
                                          {"-pc_rrb_storage naive", "double"},
                                          {"-pc_rrb_red_nodes support", "double"}}) {
    const Preconditioner pc = pc_of(A, mixed + options);
    ok(PCSetUp(pc));
    EXPECT_EQ(factor_in(view(pc)), expected) << options;
  }
}

TEST(Precision, OutOfTheRangeOfSingleIsDouble) {
  const Problem one = reference::random_faces({61, 50}, 10);
  for (const std::string solver : {"-ksp_type cg -pc_type rrb -ksp_rtol 1e-9 ", "-ksp_type rrb -ksp_rtol 1e-9 "}) {
    const Solve expected = solve(one, solver + "-pc_rrb_levels 8");
    for (const double factor : {1e42, 1e-42, 1e60, 1e-60}) { // of the first two 1 / d is, but for its digits
      const Problem far = times(one, factor);
      const Matrix A = matrix_of(far);
      const Solver ksp = ksp_of(A, solver + mixed);
      for (const char *in : {"double", "double", "again"}) {
        const Problem &problem = in[0] == 'a' ? one : far;
        if (in[0] == 'a') { // at a refresh it stays where it is
          set_values(A, one.A);
          ok(KSPSetOperators(ksp, A, A));
        }
        const Solve done = solve(ksp, problem.b);
        EXPECT_GT(done.reason, 0) << solver << factor;
        EXPECT_NEAR(done.iterations, expected.iterations, 1) << solver << factor;
        EXPECT_LT(relative_residual(problem, done.x), 1e-7) << solver << factor;
        EXPECT_EQ(factor_in(view(pc_of(ksp))), "double") << solver << factor;
      }
      EXPECT_EQ(solve(far, solver + "-pc_rrb_levels 8 -pc_rrb_precision single").reason, KSP_DIVERGED_PC_FAILED);
    }
  }
}

TEST(Precision, BecomesDoubleAtARefresh) {
  const Problem one = reference::random_faces({61, 50}, 10), far = times(one, 1e-50);
  for (const std::string solver : {"-ksp_type cg -pc_type rrb -ksp_rtol 1e-9 ", "-ksp_type rrb -ksp_rtol 1e-9 "}) {
    const Matrix A = matrix_of(one);
    const Solver ksp = ksp_of(A, solver + mixed);
    const Solve before = solve(ksp, one.b);
    EXPECT_EQ(factor_in(view(pc_of(ksp))), "mixed") << solver;
    set_values(A, far.A);
    ok(KSPSetOperators(ksp, A, A));
    const Solve after = solve(ksp, far.b);
    EXPECT_GT(after.reason, 0) << solver;
    EXPECT_NEAR(after.iterations, before.iterations, 1) << solver;
    EXPECT_LT(relative_residual(far, after.x), 1e-7) << solver;
    EXPECT_EQ(factor_in(view(pc_of(ksp))), "double") << solver;
  }
}

TEST(Precision, DoesNotHideThatAMatrixIsIndefinite) {
  Problem problem = reference::poisson(40);
  for (int i = 700; i < 900; ++i) problem.A.row[i][i] = 0.5;
  for (const std::string solver : {"-ksp_type cg -pc_type rrb ", "-ksp_type rrb "})
    EXPECT_EQ(solve(problem, solver + mixed).reason, KSP_DIVERGED_PC_FAILED) << solver;
}

TEST(RrbRanksPrecision, IsThatOfOne) {
  for (const double factor : {1.0, 1e60}) {
    const Case c{"faces", times(reference::random_faces({61, 50}, 10), factor), 5};
    int turn = 0;
    some_distributions(c, [&](const Distributed &d, const std::string &what) {
      const std::string options = (turn++ % 2 ? "-ksp_type rrb " : "-ksp_type cg -pc_type rrb ") + mixed + c.grid() +
                                  "-ksp_rtol 1e-9 -pc_rrb_gather_size 200 -pc_rrb_storage_grids 4 ";
      const Solver one = ksp_of(matrix_of(c.problem), options), many = ksp_of(d.A, options);
      const Solve alone = solve(one, c.problem.b), done = solve_on(many, d, c.problem.b);
      EXPECT_GT(done.reason, 0) << what << ", " << options;
      EXPECT_NEAR(done.iterations, alone.iterations, 1) << what << ", " << options;
      EXPECT_LT(largest_difference(done.x, own_part(d, alone.x)), 1e-8) << what << ", " << options;
      EXPECT_EQ(factor_in(view(pc_of(one))), factor == 1.0 ? "mixed" : "double") << what << ", " << options;
      const std::string shown = view(pc_of(many));
      if (rank() == 0) {
        EXPECT_EQ(factor_in(shown), factor == 1.0 ? "mixed" : "double") << what << ", " << options;
      }
    });
  }
}

} // namespace
