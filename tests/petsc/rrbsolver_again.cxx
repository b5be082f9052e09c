// The RRB-solver used again: other right-hand sides, other values, other matrices, a preconditioner that is kept.
#include "rrbsolver_support.hpp"

#include <malloc.h>

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

const std::string six = rrb + std::string("-pc_rrb_levels 6 ");

struct Change {
  std::string name;
  Problem before, after;
};
std::ostream &operator<<(std::ostream &o, const Change &c) { return o << c.name; }

// Zeros stored where the other one has entries.
Change shared_pattern(const std::string &name, Problem before, Problem after) {
  for (int p = 0; p < before.A.size(); ++p) {
    for (const auto &entry : before.A.row[p]) after.A.add(p, entry.first, 0);
    for (const auto &entry : after.A.row[p]) before.A.add(p, entry.first, 0);
  }
  return {name, before, after};
}

// As a new solver does it: to rounding, since that may have another order of levels' sums.
class Values : public testing::TestWithParam<Shared<Change>> {
protected:
  const Change &c = *GetParam();

  void expect_as_new(KSP ksp, const Problem &problem, const std::string &options) {
    const Matrix A = matrix_of(problem);
    const Recorded expected = recorded(ksp_of(A, six + grid_option(problem) + options), problem.b);
    const Recorded result = recorded(ksp, problem.b);
    EXPECT_EQ(result.reason, expected.reason);
    EXPECT_EQ(result.history, expected.history);
    EXPECT_EQ(result.x, expected.x);
  }
};

TEST_P(Values, AreFollowed) {
  for (const char *options : {"", "-pc_rrb_storage naive", "-pc_rrb_levels 8 -pc_rrb_cycle amli",
                              "-ksp_norm_type unpreconditioned -pc_rrb_precision single"}) {
    SCOPED_TRACE(options);
    const Matrix A = matrix_of(c.before);
    const Solver ksp = ksp_of(A, six + grid_option(c.before) + options);
    (void)solve(ksp, c.before.b);
    for (const Problem *to : {&c.after, &c.before, &c.after}) {
      ok(MatSetNullSpace(A, nullptr));
      set_values(A, to->A);
      set_null_spaces(A, *to);
      expect_as_new(ksp, *to, options);
    }
  }
}

// Another matrix, and one with as many changes behind it as the first.
TEST_P(Values, OfOtherOperatorsAreTaken) {
  const Matrix A = matrix_of(c.before), B = matrix_of(c.after), C = matrix_of(c.before);
  const Solver ksp = ksp_of(A, six + grid_option(c.before));
  (void)solve(ksp, c.before.b);
  for (const auto &[mat, problem] : {std::pair{&B, &c.after}, {&C, &c.before}, {&B, &c.after}, {&A, &c.before}}) {
    ok(KSPSetOperators(ksp, *mat, *mat));
    expect_as_new(ksp, *problem, "");
  }
}

// The preconditioner is that of other values, the solution that of the matrix.
TEST_P(Values, MayBeNewerThanThePreconditioner) {
  const Matrix A = matrix_of(c.before);
  const Solver ksp = ksp_of(A, six + grid_option(c.before) + "-ksp_rtol 1e-9 -ksp_max_it 400");
  const Solver cg = ksp_of(A, cg_and_rrb + grid_option(c.before) + "-pc_rrb_levels 6 -ksp_rtol 1e-9 -ksp_max_it 400");
  for (KSP each : {KSP(ksp), KSP(cg)}) {
    set_values(A, c.before.A);
    (void)solve(each, c.before.b);
    ok(KSPSetReusePreconditioner(each, PETSC_TRUE));
  }
  set_values(A, c.after.A);
  const Solve expected = solve(cg, c.after.b), result = solve(ksp, c.after.b);
  EXPECT_EQ(result.reason, expected.reason);
  EXPECT_LE(result.iterations, expected.iterations + 2 + expected.iterations / 20); // fewer, where S1 is exact
  EXPECT_LT(relative_residual(c.after, result.x), 1e-6);
  ok(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
  expect_as_new(ksp, c.after, "-ksp_rtol 1e-9");
}

// Another matrix that has changed as often, while the preconditioner is kept.
TEST_P(Values, OfAnotherMatrixAreTakenWithTheOldPreconditioner) {
  const Matrix A = matrix_of(c.before), B = matrix_of(c.after);
  const Solver ksp = ksp_of(A, six + grid_option(c.before) + "-ksp_rtol 1e-9 -ksp_max_it 400");
  (void)solve(ksp, c.before.b);
  ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  ok(KSPSetOperators(ksp, B, B));
  EXPECT_LT(relative_residual(c.after, solve(ksp, c.after.b).x), 1e-6);
  ok(KSPSetOperators(ksp, A, A));
  EXPECT_LT(relative_residual(c.before, solve(ksp, c.before.b).x), 1e-6);
}

std::vector<Change> changes() {
  using namespace reference;
  const auto dry = [](int i, int j) { return i > 12 && j > 4 && i < 20; };
  const auto drier = [](int i, int j) { return i > 5 && j > 4 && j < 9; };
  const Problem plain = random_faces({37, 29}, 10), other = random_faces({37, 29}, 10, 5);
  return {
      shared_pattern("five_points", plain, other),
      shared_pattern("nine_points", random_nine_points({40, 37}, 0, 0.1, 1), random_nine_points({40, 37}, 0, 0.2, 2)),
      shared_pattern("five_to_nine_points", plain, random_nine_points({37, 29}, 0, 0.1)),
      shared_pattern("nine_to_five_points", random_nine_points({37, 29}, 0, 0.1), plain),
      shared_pattern("rows_of_the_identity_appear", plain, identity_rows(plain, dry, false)),
      shared_pattern("rows_of_the_identity_move", identity_rows(plain, dry, false), identity_rows(plain, drier, false)),
      shared_pattern("a_ring_is_cut", random_faces({36, 29, true, false}, 10), random_faces({36, 29}, 10)),
      shared_pattern("large_grid", random_faces({80, 75}, 10), random_faces({80, 75}, 100, 3))};
}

INSTANTIATE_TEST_SUITE_P(RRBSolver, Values, testing::ValuesIn(shared(changes())),
                         [](const auto &info) { return info.param->name; });

// Singular or not, a null space that comes and goes.
// V is 1 at rows that have become identity rows, whatever the preconditioner has there.
TEST(RRBSolverAgain, NewIdentityRowsWithAKeptPreconditionerAndANearNullVector) {
  reference::Vector D = reference::random_vector(31 * 42, 7);
  for (double &value : D) value = std::pow(10.0, value);
  const Problem before = reference::scaled(reference::random_faces({31, 42}, 10), D);
  const std::vector<PetscInt> rows{5, 6, 7, 300, 301, 777, 820, 821, 822};
  for (const bool with_columns : {false, true}) {
    const Matrix A = matrix_of(before);
    const Solver ksp = ksp_of(A, "-ksp_type rrb -pc_rrb_levels 4 -ksp_rtol 1e-10 ");
    EXPECT_LT(relative_residual(before, solve(ksp, before.b).x), 1e-7);
    ok(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
    ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    Problem after = before;
    for (const PetscInt row : rows)
      for (auto &entry : after.A.row[row]) {
        if (with_columns) after.A.row[entry.first][int(row)] = 0;
        entry.second = 0;
      }
    for (const PetscInt row : rows) after.A.row[row][int(row)] = 2;
    ok((with_columns ? MatZeroRowsColumns : MatZeroRows)(A, PetscInt(rows.size()), rows.data(), 2, nullptr, nullptr));
    EXPECT_LT(relative_residual(after, solve(ksp, after.b).x), 1e-7) << with_columns;
  }
}

TEST(RRBSolverAgain, NullSpacesComeAndGo) {
  const Problem singular = reference::neumann(40, 33), regular = reference::random_faces({40, 33}, 10);
  const Matrix A = matrix_of(singular);
  const Solver ksp = ksp_of(A, six + "-ksp_rtol 1e-9");
  for (const Problem *problem : {&singular, &regular, &singular}) {
    ok(MatSetNullSpace(A, nullptr));
    set_values(A, problem->A);
    set_null_spaces(A, *problem);
    const Solve result = solve(ksp, problem->b);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
    EXPECT_LT(relative_residual(*problem, result.x), 1e-7);
  }
}

TEST(RRBSolverAgain, WithOtherRightHandSides) {
  for (const Problem &problem :
       {reference::random_faces({80, 75}, 10), reference::random_nine_points({40, 37}, 0, 0.1)}) {
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, six);
    for (unsigned seed = 1; seed < 6; ++seed) {
      const reference::Vector b = reference::random_vector(problem.A.size(), seed);
      EXPECT_EQ(solve(ksp, b).x, solve(ksp_of(A, six), b).x) << seed;
    }
  }
}

TEST(RRBSolverAgain, WithOtherOptions) {
  const Problem problem = reference::random_faces({80, 75}, 10);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, six);
  (void)solve(ksp, problem.b);
  for (const PetscInt levels : {3, 8, 1}) {
    ok(PCRRBSetLevels(pc_of(ksp), levels));
    EXPECT_EQ(solve(ksp, problem.b).x, solve(problem, rrb + ("-pc_rrb_levels " + std::to_string(levels))).x) << levels;
  }
  ok(PCRRBSetStorage(pc_of(ksp), PC_RRB_STORAGE_NAIVE));
  EXPECT_EQ(solve(ksp, problem.b).x, solve(problem, rrb + std::string("-pc_rrb_levels 1 -pc_rrb_storage naive")).x);
  ok(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  EXPECT_LT(relative_residual(problem, solve(ksp, problem.b).x), 1.1e-6);
}

TEST(RRBSolverAgain, OfAnotherSize) {
  const Problem small = reference::random_faces({40, 33}, 10), large = reference::random_faces({80, 75}, 10);
  const Matrix A = matrix_of(small), B = matrix_of(large);
  const Solver ksp = ksp_of(A, six);
  for (const auto &[mat, problem] : {std::pair{&A, &small}, {&B, &large}, {&A, &small}}) {
    ok(KSPReset(ksp));
    ok(KSPSetOperators(ksp, *mat, *mat));
    EXPECT_EQ(solve(ksp, problem->b).x, solve(*problem, six).x);
  }
}

// Amat is not Pmat: conjugate gradients for Amat, preconditioned by RRB of Pmat.
TEST(RRBSolverAgain, WithAnotherMatrixForThePreconditioner) {
  const Problem problem = reference::random_faces({40, 33}, 10), near = reference::random_faces({40, 33}, 12, 1);
  const Matrix P = matrix_of(near), A = matrix_of(problem);
  Matrix dense;
  ok(MatConvert(A, backend.dense, MAT_INITIAL_MATRIX, dense.put()));
  for (Mat mat : {Mat(A), Mat(dense)})
    for (const char *norm : {"natural", "preconditioned", "unpreconditioned"}) {
      const std::string options = std::string("-ksp_rtol 1e-9 -pc_rrb_levels 6 -ksp_norm_type ") + norm;
      const reference::Vector x0 = reference::random_vector(problem.A.size(), 3);
      const Recorded expected = recorded(ksp_of(mat, cg_and_rrb + options, P), problem.b, x0);
      const Recorded result = recorded(ksp_of(mat, rrb + options, P), problem.b, x0);
      EXPECT_EQ(result.reason, expected.reason) << norm;
      expect_near(result.history, expected.history, 1e-6);
      EXPECT_LT(relative_residual(problem, result.x), 1e-7) << norm;
    }
}

reference::Vector column(const reference::Vector &v, PetscInt n, PetscInt j) {
  return reference::Vector(v.begin() + j * n, v.begin() + (j + 1) * n);
}

TEST(RRBSolverAgain, SeveralRightHandSidesAtOnce) {
  for (const Problem &problem :
       {reference::random_faces({80, 75}, 10), reference::random_nine_points({40, 37}, 0, 0.1)}) {
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, six);
    const PetscInt n = problem.A.size(), columns = 4;
    const reference::Vector b = reference::random_vector(int(n * columns), 3);
    const Matrix B = dense_of(n, columns, b), X = dense_of(n, columns);
    ok(KSPMatSolve(ksp, B, X));
    const reference::Vector x = values_of_dense(X);
    for (PetscInt j = 0; j < columns; ++j) EXPECT_EQ(column(x, n, j), solve(ksp, column(b, n, j)).x) << j;
  }
}

TEST(RRBSolverAgain, TheTransposedSystem) {
  for (const Problem &problem :
       {reference::random_faces({40, 33}, 10), reference::random_nine_points({40, 37}, 0, 0.1)}) {
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, six + "-ksp_rtol 1e-9");
    const Vector b = vector_of(problem.b), x = like(b);
    ok(KSPSolveTranspose(ksp, b, x));
    EXPECT_LT(relative_residual(problem, values_of(x)), 1e-7);
    EXPECT_LT(relative_residual(problem, solve(ksp, problem.b).x), 1e-7);
  }
}

TEST(RRBSolverAgain, HoldsNoMoreMemoryAfterFifty) {
  for (const Problem &problem :
       {reference::random_faces({80, 75}, 10), reference::random_nine_points({40, 37}, 0, 0.1)})
    for (const char *norm : {"natural", "preconditioned"}) {
      const Matrix A = matrix_of(problem);
      const Solver ksp = ksp_of(A, six + "-ksp_norm_type " + norm);
      const Vector b = vector_of(problem.b), x = like(b);
      PetscLogDouble before, after;
      const auto solve_often = [&](int times) {
        for (int i = 0; i < times; ++i) {
          ok(MatScale(A, i % 2 ? 2 : 0.5));
          ok(KSPSolve(ksp, b, x));
        }
      };
      solve_often(4);
      ok(PetscMallocGetCurrentUsage(&before));
      const std::size_t heap = mallinfo2().uordblks;
      solve_often(50);
      ok(PetscMallocGetCurrentUsage(&after));
      EXPECT_EQ(after, before) << norm;
      EXPECT_LE(mallinfo2().uordblks, heap + 1024) << norm;
    }
}

// Two of them in turns, each with values of its own.
TEST(RRBSolverAgain, SeveralSolvers) {
  const Problem first = reference::random_faces({80, 75}, 10), second = reference::random_faces({80, 75}, 10, 4);
  const Matrix A = matrix_of(first), B = matrix_of(second);
  const Solver one = ksp_of(A, six), two = ksp_of(B, six);
  const Solve x = solve(one, first.b), y = solve(two, second.b);
  EXPECT_EQ(solve(one, first.b).x, x.x);
  EXPECT_EQ(solve(two, second.b).x, y.x);
}

} // namespace
