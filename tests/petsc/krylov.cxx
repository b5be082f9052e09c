// Every Krylov method that a symmetric preconditioner can stand in, more than one solver at once, and PETSc twice.
#include "known_iterations.hpp"
#include "support.hpp"
#include "unit/reference_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

struct Method {
  const char *name, *options;
  int iterations;
};

std::ostream &operator<<(std::ostream &o, const Method &m) { return o << m.name; }

class Krylov : public testing::TestWithParam<Method> {};

// The spectrum is [1, kappa], kappa = 6.6 for this problem and number of levels.
TEST_P(Krylov, Converges) {
  Problem problem = reference::poisson(127);
  set_random_rhs(problem);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, std::string("-pc_type rrb -pc_rrb_levels 10 -ksp_rtol 1e-8 ") + GetParam().options);
  for (int times = 0; times < 2; ++times) {
    const Solve result = solve(ksp, problem.b);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
    expect_iterations(result.iterations, GetParam().iterations);
    EXPECT_LT(relative_residual(problem, result.x), 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Every, Krylov,
    testing::Values(Method{"cg", "-ksp_type cg", 21}, Method{"cg_natural", "-ksp_type cg -ksp_norm_type natural", 21},
                    Method{"cg_true", "-ksp_type cg -ksp_norm_type unpreconditioned", 22},
                    Method{"cg_one_reduction", "-ksp_type cg -ksp_cg_single_reduction", 21},
                    Method{"fcg", "-ksp_type fcg", 21}, Method{"pipecg", "-ksp_type pipecg", 21},
                    Method{"minres", "-ksp_type minres", 21}, Method{"gmres", "-ksp_type gmres", 19},
                    Method{"gmres_right", "-ksp_type gmres -ksp_pc_side right", 21},
                    Method{"gmres_symmetric", "-ksp_type gmres -ksp_pc_side symmetric -pc_rrb_coarse cholesky", 21},
                    Method{"bicgstab", "-ksp_type bcgs", 13}, Method{"bicg", "-ksp_type bicg", 21},
                    Method{"chebyshev", "-ksp_type chebyshev -ksp_chebyshev_eigenvalues 0.99,6.7", 25},
                    Method{"chebyshev_estimated", "-ksp_type chebyshev -ksp_chebyshev_esteig 0,0.14,0,1.05", 26},
                    Method{"richardson_scaled", "-ksp_type richardson -ksp_richardson_scale 0.26", 52},
                    Method{"richardson_self_scaled", "-ksp_type richardson -ksp_richardson_self_scale", 24}),
    [](const auto &info) { return info.param.name; });

TEST(Richardson, DivergesWhereItIsNotScaled) {
  Problem problem = reference::poisson(63);
  set_random_rhs(problem);
  const Matrix A = matrix_of(problem);
  const auto reason = [&](const char *levels) {
    return solve(ksp_of(A, std::string("-pc_type rrb -ksp_type richardson -ksp_max_it 500 -pc_rrb_levels ") + levels),
                 problem.b)
        .reason;
  };
  EXPECT_EQ(reason("1"), KSP_CONVERGED_RTOL);
  EXPECT_LT(reason("8"), 0);
}

TEST(Guess, OfTheSolutionNeedsNothing) {
  const Problem problem = reference::random_faces({50, 60}, 10);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, std::string(papers) + "-ksp_rtol 1e-10");
  const Vector b = vector_of(problem.b), x = like(b);
  PetscInt iterations;
  ok(KSPSolve(ksp, b, x));
  ok(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  ok(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  ok(KSPSolve(ksp, b, x));
  ok(KSPGetIterationNumber(ksp, &iterations));
  EXPECT_EQ(iterations, 0);
}

TEST(Transpose, SolvesToo) {
  const Problem problem = reference::random_nine_points({50, 60}, 0.1);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, "-ksp_type gmres -pc_type rrb -ksp_rtol 1e-8");
  const Vector b = vector_of(problem.b), x = like(b);
  ok(KSPSolveTranspose(ksp, b, x));
  EXPECT_LT(relative_residual(problem, values_of(x)), 1e-6);
}

TEST(Several, RightHandSidesAtOnce) {
  const Problem problem = reference::random_nine_points({50, 60}, 0.1);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, "-ksp_type preonly -pc_type rrb");
  const PetscInt n = problem.A.size(), columns = 4;
  const reference::Vector b = reference::random_vector(int(n * columns), 3);
  const Matrix B = dense_of(n, columns, b), X = dense_of(n, columns);
  ok(KSPMatSolve(ksp, B, X));
  const reference::Vector x = values_of_dense(X);
  for (PetscInt j = 0; j < columns; ++j) {
    const auto column = [&](const reference::Vector &v) {
      return reference::Vector(v.begin() + j * n, v.begin() + (j + 1) * n);
    };
    EXPECT_EQ(column(x), applied(pc_of(ksp), column(b)));
  }
}

// Turns taken step by step between two solvers of different sizes change nothing.
TEST(Several, SolversAtOnce) {
  const Problem small = reference::random_faces({40, 30}, 10), large = reference::random_nine_points({61, 50}, 0.1);
  const Matrix A = matrix_of(small), B = matrix_of(large);
  const char *const naive = "-pc_rrb_levels 8 -pc_rrb_storage naive -pc_rrb_coarse ksp";
  const reference::Vector alone = applied(pc_of(A, naive), small.b), other = applied(pc_of(B, ""), large.b);
  const Preconditioner first = pc_of(A, naive), second = pc_of(B, ""), third = pc_of(A, "-pc_rrb_levels 3");
  ok(PCSetUp(second));
  for (int times = 0; times < 3; ++times) {
    EXPECT_EQ(applied(first, small.b), alone);
    EXPECT_EQ(applied(second, large.b), other);
    (void)applied(third, small.b);
  }
}

TEST(Several, Communicators) {
  const Problem problem = reference::random_faces({40, 30}, 10);
  const reference::Vector expected = applied(pc_of(matrix_of(problem)), problem.b);
  MPI_Comm part;
  MPI_Comm_split(PETSC_COMM_WORLD, 1, 0, &part);
  for (MPI_Comm comm : {PETSC_COMM_WORLD, part}) {
    const Matrix A = matrix_of(problem.A, backend.mpi_mat, comm);
    const Solver ksp = ksp_of(A, papers);
    const Vector b = vector_of(problem.b, comm), x = like(b);
    ok(KSPSetUp(ksp));
    ok(PCApply(pc_of(ksp), b, x));
    EXPECT_EQ(values_of(x), expected);
  }
  MPI_Comm_free(&part);
}

// PETSc may be finalized and initialized again in one program; the library has to be initialized again with it.
TEST(Lifecycle, Twice) {
  const Problem problem = reference::poisson(63);
  const Solve before = solve(problem);
  for (int times = 0; times < 2; ++times) {
    stop_petsc();
    start_petsc();
    EXPECT_EQ(solve(problem).x, before.x);
  }
  ok(PetscRRBInitializePackage()); // once more does nothing
  EXPECT_EQ(solve(problem).x, before.x);
}

TEST(Lifecycle, ObjectsComeAndGo) {
  const Problem problem = reference::poisson(20);
  const Matrix A = matrix_of(problem);
  const Preconditioner pc = pc_of(A);
  ok(PCSetType(pc, PCNONE));
  ok(PCSetType(pc, PCRRB));
  const reference::Vector z = applied(pc, problem.b);
  ok(PCSetType(pc, PCJACOBI));
  ok(PCSetType(pc, PCRRB));
  EXPECT_EQ(applied(pc, problem.b), z);
  const Preconditioner never_set_up = pc_of(A);
}

} // namespace
