// The known-good iteration counts and condition numbers of the papers' Poisson problem.
#include "support.hpp"

#include <cmath>
#include <tuple>

using namespace petsctest;

namespace {

struct Known {
  int n, levels, iterations;
  double kappa;
};

std::ostream &operator<<(std::ostream &o, const Known &k) { return o << "n=" << k.n << " l=" << k.levels; }

std::string levels(int l) { return "-pc_rrb_levels " + std::to_string(l) + " "; }

// The largest over the smallest eigenvalue of M^-1 A. The short solve's own estimate is too small: a smooth right-hand
// side hardly meets some eigenvectors, a random one meets all of them. The extremes still settle when the solve, were it
// one, is long over.
double kappa_of(const reference::Problem &problem, int l) {
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, papers + levels(l) + "-ksp_rtol 1e-30 -ksp_atol 0");
  PetscReal largest, smallest;
  ok(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  EXPECT_GT(solve(ksp, reference::random_vector(problem.A.size())).reason, 0);
  ok(KSPComputeExtremeSingularValues(ksp, &largest, &smallest));
  EXPECT_NEAR(smallest, 1, 1e-4); // the spectrum is [1, kappa]
  EXPECT_GT(smallest, 1 - 1e-12);
  return largest / smallest;
}

class Table : public testing::TestWithParam<Known> {};

TEST_P(Table, IterationsAndKappa) {
  const Known known = GetParam();
  const reference::Problem problem = reference::poisson(known.n);
  const Solve result = solve(problem, levels(known.levels));
  EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
  EXPECT_EQ(result.iterations, known.iterations);
  EXPECT_EQ(solve(problem, levels(known.levels) + "-pc_rrb_storage naive").iterations, known.iterations);
  const double kappa = kappa_of(problem, known.levels); // known.kappa comes from fewer steps: at most 0.13 % too small
  EXPECT_GT(kappa, known.kappa - 0.0015);
  EXPECT_LT(kappa, known.kappa * 1.0014);
}

INSTANTIATE_TEST_SUITE_P(Papers, Table,
                         testing::Values(Known{63, 2, 6, 1.997}, Known{63, 4, 8, 1.997}, Known{63, 6, 11, 2.997},
                                         Known{63, 8, 13, 4.326}, Known{63, 10, 13, 4.392}, Known{63, 12, 13, 4.392},
                                         Known{127, 2, 6, 1.999}, Known{127, 4, 8, 1.999}, Known{127, 6, 11, 3.035},
                                         Known{127, 8, 13, 4.569}, Known{127, 10, 16, 6.591}, Known{127, 12, 16, 6.631},
                                         Known{255, 2, 5, 2.000}, Known{255, 4, 8, 2.000}, Known{255, 6, 10, 3.042},
                                         Known{255, 8, 13, 4.628}, Known{255, 10, 16, 6.976},
                                         Known{255, 12, 19, 10.056}),
                         [](const auto &info) {
                           return "n" + std::to_string(info.param.n) + "_l" + std::to_string(info.param.levels);
                         });

TEST(Large, FiveHundredAndEleven) { EXPECT_EQ(solve(reference::poisson(511), levels(12)).iterations, 20); }

// The counts of Table 5.3 of de Jong et al. 2017 and of other levels, norms and lumping at the same size.
TEST(Large, AThousandAndTwentyThree) {
  const reference::Problem problem = reference::poisson(1023);
  const Matrix A = matrix_of(problem);
  const auto count = [&](int l, const char *more = "") {
    return solve(ksp_of(A, papers + levels(l) + more), problem.b).iterations;
  };
  EXPECT_EQ(count(8), 13);
  EXPECT_EQ(count(10), 16);
  EXPECT_EQ(count(12), 20);
  EXPECT_EQ(count(21), 27);
  EXPECT_EQ(count(10, "-ksp_norm_type unpreconditioned"), 24);
  EXPECT_EQ(count(12, "-ksp_norm_type unpreconditioned"), 29);
  EXPECT_GE(count(21, "-pc_rrb_lumping 0.999"), 36); // less than all of the lumping costs convergence
}

// A level takes red nodes that do not couple: on five points nothing is dropped.
TEST(OneLevel, IsExact) {
  for (const auto &[nx, ny] : {std::pair{63, 63}, {64, 31}, {1, 40}, {40, 1}, {2, 2}, {1, 1}}) {
    const reference::Problem problem = reference::random_faces({nx, ny}, 100);
    const Solve result = solve(problem, levels(1) + "-pc_rrb_grid " + std::to_string(nx) + "," + std::to_string(ny));
    EXPECT_EQ(result.iterations, 1) << nx << " x " << ny;
    EXPECT_LT(relative_residual(problem, result.x), 1e-11) << nx << " x " << ny;
  }
}

} // namespace
