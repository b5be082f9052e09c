// What a deflated solve starts from, follows and leaves as it was: guesses, the norm that residuals are compared with, new
// values, new choices.
#include "deflation_support.hpp"

#include <petsc/private/kspimpl.h>

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

class Variant : public testing::TestWithParam<const char *> {
protected:
  std::string options = std::string("-ksp_type cg -pc_type jacobi -ksp_rtol 1e-8 -ksp_deflation block "
                                    "-ksp_deflation_blocks 4,4 -ksp_deflation_variant ") +
                        GetParam() + " ";
};

TEST_P(Variant, LeavesTheSolverAsItWas) {
  const Problem problem = reference::two_phase(24);
  const Matrix A = matrix_of(problem);
  for (const std::string guess : {"zero", "nonzero", "knoll"}) {
    const Solver ksp = ksp_of(A, options);
    ok(KSPSetInitialGuessNonzero(ksp, (PetscBool)(guess == "nonzero")));
    ok(KSPSetInitialGuessKnoll(ksp, (PetscBool)(guess == "knoll")));
    const petsctest::Vector b = vector_of(problem.b), x = like(b);
    const _p_KSP before = *KSP(ksp);
    for (int again = 0; again < 2; ++again) {
      Mat operators[2];
      Vec rhs;
      ok(KSPSolve(ksp, b, x));
      ok(KSPGetOperators(ksp, &operators[0], &operators[1]));
      ok(KSPGetRhs(ksp, &rhs));
      EXPECT_EQ(KSP(ksp)->guess_zero, before.guess_zero) << guess;
      EXPECT_EQ(KSP(ksp)->guess_knoll, before.guess_knoll) << guess;
      EXPECT_EQ(KSP(ksp)->converged, before.converged);
      EXPECT_EQ(KSP(ksp)->cnvP, before.cnvP);
      EXPECT_EQ(operators[0], Mat(A));
      EXPECT_EQ(operators[1], Mat(A));
      EXPECT_EQ(rhs, Vec(b));
    }
    EXPECT_EQ(values_of(b), problem.b);
    EXPECT_LT(relative_residual(problem, values_of(x)), 1e-6);
  }
}

// A plain wrapper would compare with the norm of (P^T M^-1 + Q) b, hundreds of times too large.
TEST_P(Variant, ComparesWithTheNormThatIsTheUsers) {
  const Problem problem = reference::two_phase(32);
  const Matrix A = matrix_of(problem);
  for (const char *norm : {"preconditioned", "unpreconditioned", "natural"})
    for (const bool guess : {false, true}) {
      const std::string more = std::string("-ksp_norm_type ") + norm;
      const Solver ksp = ksp_of(A, options + more),
                   plain = ksp_of(A, "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-8 " + more);
      const reference::Vector x0 = guess ? reference::random_vector(problem.A.size(), 4) : reference::Vector();
      (void)solve(ksp, problem.b, x0);
      (void)solve(plain, problem.b, x0);
      EXPECT_NEAR(KSP(ksp)->rnorm0, KSP(plain)->rnorm0, 1e-10 * KSP(plain)->rnorm0) << norm << guess;
      EXPECT_NEAR(KSP(ksp)->ttol, KSP(plain)->ttol, 1e-10 * KSP(plain)->ttol) << norm << guess;
    }
}

TEST_P(Variant, UsesAGoodGuess) {
  const Problem problem = reference::two_phase(24);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, options);
  const Solve first = solve(ksp, problem.b);
  EXPECT_LE(solve(ksp, problem.b, first.x).iterations, 2);
  reference::Vector near = first.x; // the error is in the deflated space
  for (double &value : near) value += 100;
  EXPECT_LE(solve(ksp, problem.b, near).iterations, 2);
}

// PETSc multiplies the guess of some of them by the preconditioner: they get none.
TEST_P(Variant, SolvesWithThePreconditionerOnTheRight) {
  const Problem plain = reference::two_phase(24), known = reference::identity_rows(
                                                      plain, [](int i, int j) { return i == 0 || j == 0; }, true);
  for (const Problem &problem : {plain, known})
    for (const char *type : {"cgs", "tfqmr", "tcqmr", "ibcgs", "bcgs", "fbcgs", "gmres"}) {
      if (backend.device && type == std::string("ibcgs")) continue; // PETSc 3.26's diverges there with Jacobi alone
      const std::string of = " -ksp_pc_side right -ksp_max_it 500 -ksp_type ";
      const Solve result = solve(ksp_of(matrix_of(problem), options + of + type), problem.b);
      EXPECT_GT(result.reason, 0) << type;
      EXPECT_LT(relative_residual(problem, result.x), 1e-5) << type;
    }
}

TEST_P(Variant, HasTheTrueResidual) {
  const Problem problem = reference::two_phase(24);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, options + "-ksp_norm_type unpreconditioned");
  const Solve result = solve(ksp, problem.b);
  PetscReal norm;
  ok(KSPGetResidualNorm(ksp, &norm));
  EXPECT_NEAR(norm / std::sqrt(reference::dot(problem.b, problem.b)), relative_residual(problem, result.x), 1e-11);
}

Problem other_values(int n) { // the phases the other way round
  return reference::two_phase(n, n, [n](int, int j) { return j < n / 2 ? 1.0 : 1e-3; });
}

// A penalty in the place of a known value: beside it the row's couplings look like rounding.
TEST_P(Variant, TakesAPenaltyOfAnySize) {
  for (const double penalty : {1e6, 1e17, 1e20, 1e100, 1e300}) {
    Problem problem = reference::neumann(13, 17);
    problem.A.row[40][40] = penalty;
    problem.null_space.clear();
    const Matrix A = matrix_of(problem);
    const std::string subdomains = "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-8 -ksp_deflation levelset "
                                   "-ksp_deflation_grid 13,17 -ksp_norm_type unpreconditioned -ksp_deflation_variant ";
    const Solver ksp = ksp_of(A, subdomains + GetParam());
    const Solve solved = solve(ksp, problem.b);
    EXPECT_EQ(solved.reason, KSP_CONVERGED_RTOL) << penalty;
    EXPECT_LT(relative_residual(problem, solved.x), 1e-7) << penalty;
  }
}

TEST_P(Variant, FollowsNewValues) {
  const Problem one = reference::two_phase(24), other = other_values(24);
  const Matrix A = matrix_of(one), B = matrix_of(other);
  const Solver ksp = ksp_of(A, options), fresh = ksp_of(B, options);
  const int before = solve(ksp, one.b).iterations;
  set_values(A, other.A);
  const Solve result = solve(ksp, other.b);
  EXPECT_EQ(result.iterations, solve(fresh, other.b).iterations);
  EXPECT_LT(relative_residual(other, result.x), 1e-6);
  EXPECT_NE(view(ksp).find("1 from scratch, 1 with new values"), std::string::npos) << view(ksp);
  set_values(A, one.A);
  EXPECT_EQ(solve(ksp, one.b).iterations, before);
}

// M^-1 is kept, E is not: it belongs to A.
TEST_P(Variant, FollowsNewValuesWhereThePreconditionerIsReused) {
  const Problem one = reference::two_phase(24),
                other =
                    reference::two_phase(24, 24, [](int i, int j) { return (j < 12 ? 1e-3 : 1.0) * (i < 8 ? 3 : 1); });
  const Matrix A = matrix_of(one);
  const Solver ksp = ksp_of(A, options + "-ksp_norm_type unpreconditioned");
  (void)solve(ksp, one.b);
  ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  set_values(A, other.A);
  const Solve result = solve(ksp, other.b);
  EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
  EXPECT_LT(relative_residual(other, result.x), 1e-7);
  const reference::Labels labels = reference::block_labels(other.A, {24, 24, 1}, {4, 4, 1});
  const reference::Deflation d = reference::deflation_of(other.A, reference::columns_of(labels));
  const reference::Vector r = reference::random_vector(other.A.size(), 7), y = jacobi(one.A, r);
  EXPECT_LT(largest_difference(applied(inner_of(ksp), r), y), 1e-13);
  if (std::string(GetParam()) == "def1") return;
  EXPECT_LT(largest_difference(applied(pc_of(ksp), r), d.adef2(r, y)), 1e-8);
}

TEST_P(Variant, TakesAnotherMatrix) {
  const Problem one = reference::two_phase(24), other = reference::two_phase(20);
  const Matrix A = matrix_of(one), B = matrix_of(other);
  const Solver ksp = ksp_of(A, options);
  (void)solve(ksp, one.b);
  ok(KSPReset(ksp));
  ok(KSPSetOperators(ksp, B, B));
  EXPECT_LT(relative_residual(other, solve(ksp, other.b).x), 1e-6);
}

TEST_P(Variant, TakesWhatIsSetAnew) {
  const Problem problem = reference::two_phase(24);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, options);
  const int few = solve(ksp, problem.b).iterations;
  ok(KSPDeflationSetBlocks(ksp, 12, 12, 1));
  EXPECT_LT(solve(ksp, problem.b).iterations, few);
  EXPECT_NE(view(ksp).find("dimension: 144"), std::string::npos);
  PetscInt nx;
  ok(KSPDeflationGetBlocks(ksp, &nx, nullptr, nullptr));
  EXPECT_EQ(nx, 12);
}

TEST_P(Variant, SolvesSeveralRightHandSidesAtOnce) {
  const Problem problem = reference::two_phase(24);
  const Matrix A = matrix_of(problem);
  const PetscInt n = problem.A.size();
  reference::Vector columns = problem.b;
  const reference::Vector second = problem.A.multiply(reference::random_vector(n, 3));
  columns.insert(columns.end(), second.begin(), second.end());
  const Matrix B = dense_of(n, 2, columns), X = dense_of(n, 2);
  const Solver ksp = ksp_of(A, options + "-ksp_norm_type unpreconditioned");
  ok(KSPMatSolve(ksp, B, X));
  const reference::Vector x = values_of_dense(X);
  for (int k = 0; k < 2; ++k) {
    Problem one = problem;
    one.b.assign(columns.begin() + k * n, columns.begin() + (k + 1) * n);
    EXPECT_LT(relative_residual(one, {x.begin() + k * n, x.begin() + (k + 1) * n}), 1.1e-8) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Deflation, Variant, testing::Values("adef2", "def1"),
                         [](const auto &info) { return std::string(info.param); });

// A level set that moves: new values of phi, the same matrix.
TEST(Deflation, FollowsALevelSet) {
  const int n = 16;
  const Problem problem = reference::two_phase(n);
  const Matrix A = matrix_of(problem);
  reference::Vector values(n * n);
  for (int i = 0; i < n * n; ++i) values[i] = i / n < n / 2 ? -1 : 1;
  const petsctest::Vector phi = vector_of(values);
  Solver ksp("-ksp_type cg -pc_type jacobi -ksp_deflation levelset");
  ok(KSPCreate(PETSC_COMM_SELF, ksp.put()));
  ok(KSPSetOptionsPrefix(ksp, ksp.prefix()));
  ok(KSPSetOperators(ksp, A, A));
  ok(KSPDeflationSetLevelSet(ksp, phi));
  ok(KSPSetFromOptions(ksp));
  (void)solve(ksp, problem.b);
  EXPECT_NE(view(ksp).find("dimension: 2"), std::string::npos) << view(ksp);
  PetscScalar *x;
  ok(VecGetArray(phi, &x));
  for (int i = 0; i < n * n; ++i) x[i] = (i / n) % 8 < 4 ? -1 : 1;
  ok(VecRestoreArray(phi, &x));
  (void)solve(ksp, problem.b);
  EXPECT_NE(view(ksp).find("dimension: 4"), std::string::npos) << view(ksp);
}

} // namespace
