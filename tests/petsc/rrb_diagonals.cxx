// Diagonal entries that are not positive: which rows PCRRB takes, and what it says of the others.
#include "rrb_ranks_support.hpp"
#include "unit/reference_support.hpp"

#include <cmath>

using namespace petsctest;
using namespace petsctest::distributed;
using reference::Problem;

namespace {

constexpr int nx = 12, ny = 9;

Problem twelve_by_nine(int row, double diagonal) {
  Problem p = reference::five_points({nx, ny}, reference::one, reference::one);
  p.b = reference::random_vector(nx * ny);
  p.A.row[row][row] = diagonal;
  return p;
}

const char *const solvers[] = {"-ksp_type cg -pc_type rrb -pc_rrb_grid 12,9 ", "-ksp_type rrb -pc_rrb_grid 12,9 "};
constexpr int red = 40, black = 41; // (4, 3) and (5, 3)

TEST(Diagonal, ThatIsNotPositiveIsNoNullDirection) {
  for (const std::string solver : solvers)
    for (const int row : {red, black})
      for (const double bad : {0.0, -0.0, -4.0, -1e-300}) {
        const Problem problem = twelve_by_nine(row, bad);
        const Matrix A = matrix_of(problem);
        const std::string what = solver + std::to_string(row) + ": " + std::to_string(bad);
        EXPECT_EQ(solve(ksp_of(A, solver), problem.b).reason, KSP_DIVERGED_PC_FAILED) << what;
        const Solver strict = ksp_of(A, solver + "-ksp_error_if_not_converged");
        const Vector b = vector_of(problem.b), x = like(b);
        EXPECT_TRUE(refused(KSPSolve(strict, b, x))) << what;
        EXPECT_NE(raised.message.find("the diagonal entry of row " + std::to_string(row) + " at (" +
                                      std::to_string(row % nx) + ", 3) is not positive"),
                  std::string::npos)
            << what << raised.message;
      }
}

// What is left of such a pivot is rounding: it is neither a null direction nor of any use.
TEST(Diagonal, ThatIsTinyIsNoNullDirection) {
  for (const std::string solver : solvers)
    for (const int row : {red, black}) {
      const Problem problem = twelve_by_nine(row, 1e-20);
      EXPECT_EQ(solve(ksp_of(matrix_of(problem), solver), problem.b).reason, KSP_DIVERGED_PC_FAILED) << solver << row;
    }
}

TEST(Diagonal, MayBecomeGoodAgain) {
  const Problem good = twelve_by_nine(red, 4), bad = twelve_by_nine(red, 0);
  for (const std::string solver : solvers) {
    const Matrix A = matrix_of(good);
    const Solver ksp = ksp_of(A, solver + "-ksp_rtol 1e-10");
    for (int i = 0; i < 2; ++i) {
      EXPECT_LT(relative_residual(good, solve(ksp, good.b).x), 1e-8) << solver;
      set_values(A, bad.A);
      ok(KSPSetOperators(ksp, A, A));
      EXPECT_EQ(solve(ksp, good.b).reason, KSP_DIVERGED_PC_FAILED) << solver;
      set_values(A, good.A);
      ok(KSPSetOperators(ksp, A, A)); // without it PETSc 3.18 has KSPCG fail once more
    }
  }
}

// Rows of zeros, whose right-hand side is 0, are identity rows; so are rows with a tiny entry alone; and what is singular as
// a whole has null directions.
TEST(Diagonal, OfLegalRows) {
  for (const std::string solver : solvers)
    for (const int row : {red, black})
      for (const double diagonal : {0.0, 1e-300, 1e-20}) {
        Problem problem = twelve_by_nine(row, 4);
        for (const auto &entry : problem.A.row[row]) problem.A.row[entry.first][row] = 0;
        for (auto &entry : problem.A.row[row]) entry.second = 0;
        problem.A.row[row][row] = diagonal;
        problem.b[row] = diagonal; // its solution is 1, or anything
        const Solve result = solve(ksp_of(matrix_of(problem), solver + "-ksp_rtol 1e-10"), problem.b);
        reference::Vector r = problem.A.multiply(result.x);
        for (std::size_t i = 0; i < r.size(); ++i) r[i] -= problem.b[i];
        r[row] = diagonal > 0 ? result.x[row] - 1 : 0;
        EXPECT_LT(reference::norm(r), 1e-7) << solver << row << ", " << diagonal;
        EXPECT_GT(result.reason, 0) << solver << row << ", " << diagonal;
      }
  for (const std::string type : {"cg", "rrb"})
    for (const Problem &problem : {reference::neumann(12, 9), reference::two_ponds(12, 9)}) {
      const Solve result = solve(problem, "-ksp_type " + type + " -ksp_rtol 1e-10 ");
      EXPECT_LT(relative_residual(problem, result.x), 1e-7) << type;
    }
}

TEST(DiagonalOnRanks, IsNamedByAll) {
  if (ranks() == 1) GTEST_SKIP() << "of several ranks";
  for (const int row : {red, black, nx * ny - 1}) {
    const Case c{"twelve by nine", twelve_by_nine(row, 0), 5};
    some_distributions(c, [&](const Distributed &d, const std::string &what) {
      for (const std::string type : {"-ksp_type cg -pc_type rrb ", "-ksp_type rrb "}) {
        EXPECT_EQ(solve_on(ksp_of(d.A, type + c.grid()), d, c.problem.b).reason, KSP_DIVERGED_PC_FAILED) << what;
        const Solver strict = ksp_of(d.A, type + c.grid() + "-ksp_error_if_not_converged");
        const Vector b = vector_on(d, c.problem.b), x = like(b);
        EXPECT_TRUE(refused(KSPSolve(strict, b, x))) << what;
        EXPECT_NE(raised.message.find("is not positive"), std::string::npos) << what << raised.message;
        EXPECT_NE(raised.message.find("(" + std::to_string(row % nx) + ", " + std::to_string(row / nx) + ")"),
                  std::string::npos)
            << what << raised.message;
      }
    });
  }
}

} // namespace
