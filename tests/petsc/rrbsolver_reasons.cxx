// Why the RRB-solver stops where it cannot go on, where there is nothing to do, and that it can be used again.
#include "rrbsolver_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

const std::string six = rrb + std::string("-pc_rrb_levels 6 ");

// In each form: an own one for five points, on all nodes for nine and for odd rings.
class Reasons : public testing::TestWithParam<Shared<Named>> {
protected:
  Problem problem = GetParam()->problem;
  Matrix A = matrix_of(problem);
  reference::Vector zero = reference::Vector(problem.A.size(), 0.0);

  void expect_solves(KSP ksp) {
    const Solve result = solve(ksp, problem.b, zero);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
    EXPECT_LT(relative_residual(problem, result.x), 1e-4);
  }
  // The preconditioner stays that of the matrix as it was.
  Solver with_kept_preconditioner(const std::string &options = "") {
    Solver ksp = ksp_of(A, six + options);
    expect_solves(ksp);
    ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    return ksp;
  }
};

TEST_P(Reasons, AnIndefiniteMatrix) {
  const Solver ksp = with_kept_preconditioner();
  for (const double shift : {-0.5, -2.0, -4.0}) { // the last one makes some red pivots negative, too
    set_values(A, problem.A);
    ok(MatShift(A, shift));
    const Solve result = solve(ksp, problem.b, zero);
    EXPECT_EQ(result.reason, KSP_DIVERGED_INDEFINITE_MAT) << shift;
  }
  set_values(A, problem.A);
  expect_solves(ksp);
}

TEST_P(Reasons, AreErrorsWhereTheUserWantsThat) {
  const Solver ksp = with_kept_preconditioner("-ksp_error_if_not_converged");
  const Vector b = vector_of(problem.b), x = like(b);
  ok(MatShift(A, -0.5));
  EXPECT_TRUE(refused(KSPSolve(ksp, b, x)));
  EXPECT_EQ(raised.code, PETSC_ERR_NOT_CONVERGED);
}

// PCRRB fails on a matrix that is negative definite, and works on the next one; with KSPCG, too.
TEST_P(Reasons, AFailedPreconditioner) {
  for (const std::string &type : {six, cg_and_rrb + std::string("-pc_rrb_levels 6")}) {
    const Solver ksp = ksp_of(A, type);
    ok(MatScale(A, -1));
    EXPECT_EQ(solve(ksp, problem.b).reason, KSP_DIVERGED_PC_FAILED) << type;
    EXPECT_EQ(solve(ksp, problem.b).reason, KSP_DIVERGED_PC_FAILED) << type;
    ok(MatScale(A, -1));
    if (type != six) ok(KSPSetOperators(ksp, A, A)); // without it PETSc 3.18 has KSPCG fail once more
    expect_solves(ksp);
  }
}

// Only the values are new: KSPSetUp() has nothing to do then, and the solve itself finds out.
TEST_P(Reasons, AFailedRefresh) {
  const Solver ksp = ksp_of(A, six);
  expect_solves(ksp);
  ok(MatScale(A, -1));
  EXPECT_EQ(solve(ksp, problem.b).reason, KSP_DIVERGED_PC_FAILED);
  ok(MatScale(A, -1));
  expect_solves(ksp);
}

TEST_P(Reasons, NaNInTheRightHandSide) {
  const Solver ksp = ksp_of(A, six);
  const int n = problem.A.size();
  for (const int place : {0, n / 2, n / 2 + 1, n - 1})
    for (const double bad : {std::nan(""), double(INFINITY)})
      for (const char *norm : {"natural", "preconditioned", "unpreconditioned"}) {
        KSPNormType type = norm[0] == 'n'   ? KSP_NORM_NATURAL
                           : norm[0] == 'p' ? KSP_NORM_PRECONDITIONED
                                            : KSP_NORM_UNPRECONDITIONED;
        reference::Vector b = problem.b;
        b[place] = bad;
        ok(KSPSetNormType(ksp, type));
        EXPECT_EQ(solve(ksp, b, zero).reason, KSP_DIVERGED_NANORINF) << place << ' ' << norm;
        expect_solves(ksp);
      }
}

TEST_P(Reasons, NaNInTheGuess) {
  const Solver ksp = ksp_of(A, six);
  reference::Vector x0 = zero;
  x0[x0.size() / 2] = std::nan("");
  EXPECT_EQ(solve(ksp, problem.b, x0).reason, KSP_DIVERGED_NANORINF);
  expect_solves(ksp);
}

TEST_P(Reasons, NaNInTheMatrix) {
  const Solver ksp = with_kept_preconditioner();
  for (const int row : {0, problem.A.size() / 2, problem.A.size() / 2 + 1}) {
    Problem bad = problem;
    bad.A.row[row][row] = std::nan("");
    set_values(A, bad.A);
    const Vector b = vector_of(problem.b), x = like(b);
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    // said as a reason, or as an error that names the row
    if (refused(KSPSolve(ksp, b, x))) {
      EXPECT_NE(raised.message.find("not finite"), std::string::npos) << raised.message;
    } else {
      ok(KSPGetConvergedReason(ksp, &reason));
      EXPECT_EQ(reason, KSP_DIVERGED_NANORINF);
    }
    set_values(A, problem.A);
    expect_solves(ksp);
  }
}

TEST_P(Reasons, NothingToDo) {
  const Solver ksp = ksp_of(A, six), cg = ksp_of(A, cg_and_rrb);
  for (const KSPNormType norm : {KSP_NORM_NATURAL, KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED}) {
    ok(KSPSetNormType(ksp, norm));
    ok(KSPSetNormType(cg, norm));
    const Solve result = solve(ksp, zero), expected = solve(cg, zero);
    EXPECT_EQ(result.reason, expected.reason) << norm;
    EXPECT_EQ(result.iterations, 0) << norm;
    EXPECT_EQ(result.x, zero) << norm;
  }
}

TEST_P(Reasons, AZeroRightHandSideAndAGuess) {
  const Solver ksp = ksp_of(A, six);
  const Solve result = solve(ksp, zero, reference::random_vector(problem.A.size()));
  EXPECT_GT(result.reason, 0);
  EXPECT_LT(reference::norm(result.x), 1e-3);
  EXPECT_GT(result.iterations, 3);
}

// Far past what rounding allows: what has been reached stays.
TEST_P(Reasons, TooSmallATolerance) {
  for (const char *norm : {"natural", "preconditioned", "unpreconditioned", "none"})
    for (const char *levels : {"-pc_rrb_levels 1 ", "-pc_rrb_levels 6 "}) {
      const Solver ksp = ksp_of(A, std::string("-ksp_type rrb -ksp_norm_type ") + norm +
                                       " -ksp_rtol 1e-40 -ksp_atol 0 -ksp_max_it 300 " + levels);
      const Solve result = solve(ksp, problem.b);
      EXPECT_LT(relative_residual(problem, result.x), 1e-11) << norm << ' ' << levels << result.reason;
    }
}

TEST_P(Reasons, TooFewSteps) {
  const Solver ksp = ksp_of(A, six + "-ksp_max_it 2");
  EXPECT_EQ(solve(ksp, problem.b).reason, KSP_DIVERGED_ITS);
  ok(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  expect_solves(ksp);
}

// What the user scales comes out scaled, to the smallest and largest numbers.
TEST_P(Reasons, ScalesDoNotMatter) {
  const Solver ksp = ksp_of(A, six);
  const Solve expected = solve(ksp, problem.b);
  for (const double scale : {1e-120, 1e-30, 1e30, 1e120}) {
    reference::Vector b = problem.b;
    for (double &value : b) value *= scale;
    ok(KSPSetTolerances(ksp, PETSC_DEFAULT, 0, PETSC_DEFAULT, PETSC_DEFAULT));
    Solve result = solve(ksp, b, zero);
    EXPECT_EQ(result.iterations, expected.iterations) << scale;
    for (double &value : result.x) value /= scale;
    EXPECT_LT(largest_difference(result.x, expected.x), 1e-12) << scale;
  }
}

// A solver of the last block that diverges, or fails, is a preconditioner that fails.
TEST_P(Reasons, AnInnerSolverThatDiverges) {
  const std::string inner[] = {"-pc_rrb_coarse ksp -rrb_coarse_ksp_type richardson -rrb_coarse_pc_type jacobi "
                               "-rrb_coarse_ksp_richardson_scale 1e200 -rrb_coarse_ksp_max_it 20 "
                               "-rrb_coarse_ksp_norm_type unpreconditioned ",
                               "-pc_rrb_coarse ksp -rrb_coarse_ksp_type richardson -rrb_coarse_pc_type jacobi "
                               "-rrb_coarse_ksp_richardson_scale 50 -rrb_coarse_ksp_max_it 20 "};
  for (const std::string &options : inner)
    for (const std::string levels : {"-pc_rrb_levels 3 ", "-pc_rrb_levels 1 "})
      for (const std::string type : {rrb, cg_and_rrb})
        EXPECT_EQ(solve(ksp_of(A, type + levels + options), problem.b).reason, KSP_DIVERGED_PC_FAILED)
            << type << levels << options;
}

INSTANTIATE_TEST_SUITE_P(
    RRBSolver, Reasons,
    testing::ValuesIn(shared<Named>({{"five_points", reference::random_faces({45, 38}, 10)},
                                     {"nine_points", reference::random_nine_points({37, 40}, 0, 0.1)},
                                     {"odd_ring", reference::random_faces({31, 30, true, false}, 10)}})),
    [](const auto &info) { return info.param->name; });

TEST(RRBSolverReason, KnownRowsAreAll) {
  const auto fixed = [](int i, int j) { return i == 0 || j == 0 || i == 30 || j == 32; };
  for (const bool with_columns : {false, true}) {
    Problem problem = reference::identity_rows(reference::random_faces({31, 33}, 10), fixed, with_columns);
    reference::Vector exact(problem.A.size(), 0.0); // nothing is left but what the known rows say
    for (int p = 0; p < problem.A.size(); ++p)
      if (fixed(p % 31, p / 31)) exact[p] = 1 + p % 3;
    problem.b = problem.A.multiply(exact);
    for (const char *norm : {"natural", "preconditioned", "unpreconditioned"}) {
      const Solve result = solve(problem, six + "-ksp_norm_type " + norm);
      EXPECT_GT(result.reason, 0) << norm;
      EXPECT_LE(result.iterations, 1) << norm;
      EXPECT_LT(largest_difference(result.x, exact), 1e-14) << norm;
    }
  }
}

// Only red rows are wrong: after them nothing is left.
TEST(RRBSolverReason, OnlyRedRowsAreWrong) {
  Problem problem = reference::random_faces({31, 33}, 10);
  const reference::Vector exact = reference::random_vector(problem.A.size(), 4);
  reference::Vector x0 = exact;
  for (int p = 0; p < problem.A.size(); ++p)
    if ((p % 31 + p / 31) % 2) x0[p] += 1 + p % 5;
  problem.b = problem.A.multiply(exact);
  const Matrix A = matrix_of(problem);
  const Solve result = solve(ksp_of(A, six), problem.b, x0);
  EXPECT_GT(result.reason, 0);
  EXPECT_LE(result.iterations, 1);
  EXPECT_LT(largest_difference(result.x, exact), 1e-12);
}

// One step, of length 1, with the operator that is exact there; KSPCG has the same eigenvalue.
TEST(RRBSolverReason, SettledInOneStepHasAnEigenvalue) {
  Problem problem = reference::five_points({31, 33}, reference::one, reference::one); // nothing is rounded
  const Matrix A = matrix_of(problem);
  for (const char *norm : {"natural", "preconditioned", "unpreconditioned"}) {
    const Solver ksp = ksp_of(A, six + "-ksp_rtol 1e-8 -ksp_norm_type " + norm);
    reference::Vector exact(problem.A.size(), 0.0);
    for (int p = 0; p < problem.A.size(); ++p)
      if ((p % 31 + p / 31) % 2) exact[p] = double(p % 16) - 8;
    PetscReal real[40], imaginary[40], largest, smallest;
    PetscInt n = -1;
    ok(KSPSetUp(ksp));
    ok(KSPSetComputeEigenvalues(ksp, PETSC_TRUE)); // even now
    problem.b = problem.A.multiply(exact);
    const Solve result = solve(ksp, problem.b);
    EXPECT_GT(result.reason, 0);
    for (double &value : real) value = std::nan("");
    ok(KSPComputeEigenvalues(ksp, 40, real, imaginary, &n));
    ok(KSPComputeExtremeSingularValues(ksp, &largest, &smallest));
    ASSERT_EQ(result.iterations, 1) << norm;
    ASSERT_EQ(n, 1) << norm;
    EXPECT_EQ(real[0], 1.0) << norm;
    EXPECT_EQ(smallest, real[0]);
    EXPECT_EQ(largest, real[n - 1]);
  }
}

// Two pairs of points, of which each is singular, and constants alone as the null space: what is left of b has no solution.
TEST(RRBSolverReason, WhatIsNotSeenIsNotSolved) {
  Problem problem = reference::five_points({2, 2}, reference::one, reference::one);
  for (int i = 0; i < 4; ++i) problem.A.row[std::size_t(i)] = {{i, 1.0}, {i ^ 2, -1.0}};
  problem.null_space = {reference::Vector(4, 1.0)};
  problem.b = {-0.324292, -0.37527, 0.221283, 0.36546};
  const Matrix A = matrix_of(problem);
  for (const char *norm : {"unpreconditioned", "natural"}) {
    const Solve result = solve(
        ksp_of(A, std::string("-ksp_type rrb -pc_rrb_grid 2,2 -ksp_rtol 1e-8 -ksp_norm_type ") + norm), problem.b);
    EXPECT_LT(result.reason, 0) << norm;
  }
}

} // namespace
