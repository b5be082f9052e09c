// The RRB-solver's norms, and without one: fixed steps, as smoothers take them; estimates of the extreme eigenvalues.
#include "rrbsolver_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

const char *const norms[] = {"natural", "preconditioned", "unpreconditioned"};
std::string norm(const char *name) { return std::string("-ksp_norm_type ") + name + ' '; }

std::vector<Named> some() {
  return {{"five_points", reference::random_faces({45, 38}, 10)},
          {"nine_points", reference::random_nine_points({37, 40}, 0, 0.1)},
          {"odd_ring", reference::random_faces({31, 30, true, false}, 10)}};
}

// The residual norm of x as it is, computed by the test.
double norm_of(const Problem &problem, const char *name, const reference::Vector &x) {
  reference::Vector r = problem.A.multiply(x);
  for (std::size_t p = 0; p < r.size(); ++p) r[p] = problem.b[p] - r[p];
  const reference::Vector z = applied(pc_of(matrix_of(problem), "-pc_rrb_levels 6"), r);
  const reference::Norm kind = name == norms[0]   ? reference::Norm::natural
                               : name == norms[1] ? reference::Norm::preconditioned
                                                  : reference::Norm::unpreconditioned;
  return reference::norm_of(kind, r, z);
}

// Also in the last iteration, on all nodes: the red rows hold then.
TEST(RRBSolverNorm, IsThatOfTheSolution) {
  for (const Named &each : some())
    for (const char *name : norms)
      for (const int steps : {1, 2, 5}) {
        SCOPED_TRACE(each.name + ' ' + name + ' ' + std::to_string(steps));
        const reference::Vector x0 = reference::random_vector(each.problem.A.size(), 3);
        const Matrix A = matrix_of(each.problem);
        const Solver ksp =
            ksp_of(A, rrb + norm(name) + "-pc_rrb_levels 6 -ksp_rtol 1e-30 -ksp_max_it " + std::to_string(steps));
        PetscReal last;
        const Recorded result = recorded(ksp, each.problem.b, x0);
        ok(KSPGetResidualNorm(ksp, &last));
        EXPECT_EQ(result.reason, KSP_DIVERGED_ITS);
        EXPECT_EQ(result.iterations, steps);
        const double expected = norm_of(each.problem, name, result.x);
        EXPECT_NEAR(last, expected, 1e-9 * expected);
        EXPECT_EQ(last, result.history.back());
      }
}

// KSPCG says which reason there is for a count of steps, with and without a test.
TEST(RRBSolverNorm, NoneTakesFixedSteps) {
  for (const Named &each : some())
    for (const char *skip : {"", "-ksp_convergence_test skip "})
      for (const int steps : {1, 2, 7}) {
        SCOPED_TRACE(each.name + ' ' + skip + std::to_string(steps));
        const std::string options =
            "-pc_rrb_levels 6 -ksp_norm_type none " + std::string(skip) + "-ksp_max_it " + std::to_string(steps);
        const Recorded result = recorded(each.problem, rrb + options);
        const Recorded cg = recorded(each.problem, cg_and_rrb + options);
        EXPECT_EQ(result.iterations, steps);
        EXPECT_EQ(result.reason, cg.reason);
        EXPECT_EQ(result.history, cg.history);
        const Recorded natural = recorded(
            each.problem, rrb + std::string("-pc_rrb_levels 6 -ksp_rtol 1e-30 -ksp_max_it ") + std::to_string(steps));
        EXPECT_LT(largest_difference(result.x, natural.x), 1e-13);
      }
}

// From a guess that is not zero, which a smoother has after its coarse grid.
TEST(RRBSolverNorm, NoneKeepsTheGuess) {
  const Problem problem = reference::random_faces({30, 31}, 10);
  const Matrix A = matrix_of(problem);
  const reference::Vector x0 = reference::random_vector(930, 2);
  const std::string steps = "-ksp_max_it 3 -pc_rrb_levels 6 ";
  const Solve result = solve(ksp_of(A, rrb + steps + "-ksp_norm_type none"), problem.b, x0);
  const Solve expected = solve(ksp_of(A, rrb + steps + "-ksp_rtol 1e-30"), problem.b, x0);
  EXPECT_LT(largest_difference(result.x, expected.x), 1e-13);
}

struct Extremes {
  PetscReal largest, smallest;
  PetscInt eigenvalues;
  reference::Vector real;
};

Extremes extremes_of(const Problem &problem, const std::string &options, const reference::Vector &x0) {
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, options);
  Extremes out;
  ok(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
  for (int times = 0; times < 2; ++times) {
    const Solve result = solve(ksp, problem.b, x0);
    EXPECT_GT(result.reason, 0);
    reference::Vector real(result.iterations), imaginary(result.iterations);
    ok(KSPComputeExtremeSingularValues(ksp, &out.largest, &out.smallest));
    ok(KSPComputeEigenvalues(ksp, result.iterations, real.data(), imaginary.data(), &out.eigenvalues));
    EXPECT_EQ(imaginary, reference::Vector(result.iterations, 0.0));
    real.resize(out.eigenvalues);
    out.real = real;
  }
  return out;
}

TEST(RRBSolverEigenvalues, AreThoseOfKSPCG) {
  for (const Named &each : some())
    for (const char *name : norms) {
      SCOPED_TRACE(each.name + ' ' + name);
      const bool five = each.name == "five_points";
      const reference::Vector x0 =
          five ? guess_with_red_rows(each.problem) : reference::random_vector(each.problem.A.size(), 9);
      const std::string options = norm(name) + "-pc_rrb_levels 8 ";
      const Extremes result = extremes_of(each.problem, rrb + options, x0),
                     expected = extremes_of(each.problem, cg_and_rrb + options, x0);
      EXPECT_NEAR(result.largest, expected.largest, 1e-6 * expected.largest);
      EXPECT_NEAR(result.smallest, expected.smallest, 1e-6);
      EXPECT_EQ(result.eigenvalues, expected.eigenvalues);
      expect_near(result.real, expected.real, 1e-5);
    }
}

// kappa = 10.056 for 12 levels; the red nodes' eigenvalues are 1, which black ones have too.
TEST(RRBSolverEigenvalues, OfThePapers) {
  Problem problem = reference::poisson(255);
  set_random_rhs(problem);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, rrb + std::string("-pc_rrb_levels 12 -ksp_rtol 1e-30 -ksp_atol 0"));
  PetscReal largest, smallest;
  ok(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  (void)solve(ksp, problem.b);
  ok(KSPComputeExtremeSingularValues(ksp, &largest, &smallest));
  EXPECT_NEAR(smallest, 1, 1e-3); // black nodes alone have little of it
  EXPECT_NEAR(largest / smallest, 10.056, 0.02);
}

TEST(RRBSolverEigenvalues, AreViewed) {
  const Matrix A = matrix_of(reference::poisson(31));
  const Solver ksp = ksp_of(A, rrb + std::string("-ksp_view_singularvalues -ksp_view_eigenvalues"));
  testing::internal::CaptureStdout();
  (void)solve(ksp, reference::random_vector(31 * 31));
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("max/min"), std::string::npos) << text;
  EXPECT_NE(text.find("eigenvalues"), std::string::npos) << text;
}

// Its own Lanczos matrix as the estimator of a Chebyshev smoother, which shares the preconditioner.
TEST(RRBSolverEigenvalues, SuitChebyshev) {
  const Problem problem = reference::random_faces({60, 61}, 10);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, "-ksp_type chebyshev -pc_type rrb -pc_rrb_levels 8 -ksp_rtol 1e-8 "
                               "-ksp_chebyshev_esteig 0,0.14,0,1.05 -esteig_ksp_type rrb");
  const Solve result = solve(ksp, problem.b);
  EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
  EXPECT_LT(result.iterations, 40);
}

} // namespace
