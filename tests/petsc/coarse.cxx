// The last block's solvers, -pc_rrb_coarse: sparse Cholesky, dense inverse, and any KSP inside.
#include "known_iterations.hpp"
#include "support.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

Problem spd() { return reference::random_nine_points({66, 57}, 0.1); }

TEST(Inverse, IsRefusedWhereItWouldBeLarge) {
  const Problem problem = reference::random_faces({100, 90}, 2);
  const Matrix A = matrix_of(problem);
  const Preconditioner pc = pc_of(A, "-pc_rrb_levels 1 -pc_rrb_coarse inverse");
  EXPECT_TRUE(refused(PCSetUp(pc)));
  EXPECT_EQ(raised.code, PETSC_ERR_ARG_OUTOFRANGE);
  for (const char *word : {"4500 unknowns", "4096", "-pc_rrb_levels", "-pc_rrb_coarse cholesky"})
    EXPECT_NE(raised.message.find(word), std::string::npos) << word << ": " << raised.message;
  ok(PCRRBSetLevels(pc, 2));
  EXPECT_EQ(applied(pc, problem.b).size(), problem.b.size());
}

TEST(Inverse, HasNoHalves) {
  const Problem problem = reference::poisson(20);
  const Matrix A = matrix_of(problem);
  for (const char *coarse : {"inverse", "ksp"}) {
    const Preconditioner pc = pc_of(A, std::string("-pc_rrb_coarse ") + coarse);
    const Vector x = vector_of(problem.b), y = like(x);
    ok(PCSetUp(pc));
    EXPECT_TRUE(refused(PCApplySymmetricLeft(pc, x, y)));
    EXPECT_EQ(raised.code, PETSC_ERR_SUP);
    EXPECT_NE(raised.message.find("-pc_rrb_coarse cholesky"), std::string::npos) << raised.message;
    EXPECT_TRUE(refused(PCApplySymmetricRight(pc, x, y)));
  }
}

struct Inner {
  const char *name, *outer, *options;
  std::vector<int> iterations; // for each of the problems
};

std::ostream &operator<<(std::ostream &o, const Inner &i) { return o << i.name; }

class InnerKSP : public testing::TestWithParam<Inner> {};

TEST_P(InnerKSP, SolvesRegularAndSingularBlocks) {
  const Problem problems[] = {spd(), reference::poisson(63), reference::neumann(60, 61),
                              reference::periodic({64, 48, true, true}, 0)};
  auto known = GetParam().iterations.begin();
  for (const Problem &problem : problems) {
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, std::string("-pc_type rrb -ksp_rtol 1e-8 -pc_rrb_levels 3 -pc_rrb_coarse ksp ") +
                                     GetParam().outer + ' ' + GetParam().options);
    const Solve result = solve(ksp, problem.b);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
    EXPECT_LT(relative_residual(problem, result.x), 1e-5);
    expect_iterations(result.iterations, *known++);
  }
}

// What PETSc takes for a zero pivot is absolute, so that a large singular block would look regular to it.
TEST(CoarseKSP, TakesBlocksOfAnySize) {
  for (const double size : {1.0, 1e200, 1e-200}) {
    Problem problem = reference::neumann(12, 11);
    for (auto &row : problem.A.row)
      for (auto &[column, value] : row) value *= size;
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, "-ksp_type cg -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned -ksp_atol 0 -pc_type rrb "
                                 "-pc_rrb_levels 1 -pc_rrb_coarse ksp");
    const Solve result = solve(ksp, problem.b);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL) << size;
    EXPECT_LT(relative_residual(problem, result.x), 1e-7) << size;
  }
}

std::vector<Inner> inner_solvers() {
  const char *const steps = "-rrb_coarse_ksp_type chebyshev -rrb_coarse_ksp_max_it 30 -rrb_coarse_ksp_norm_type none "
                            "-rrb_coarse_ksp_convergence_test skip -rrb_coarse_pc_type jacobi";
  return {
    {"by_default", "-ksp_type cg", "", {39, 8, 11, 10}},
        {"gamg", "-ksp_type cg", "-rrb_coarse_pc_type gamg", {39, 12, 14, 14}},
        {"chebyshev", "-ksp_type cg", steps, {39, 10, 15, 10}},
        {"cg_and_gamg", "-ksp_type fgmres", "-rrb_coarse_ksp_type cg -rrb_coarse_pc_type gamg", {40, 12, 12, 11}},
        {"cg_and_jacobi", "-ksp_type fcg", "-rrb_coarse_ksp_type cg -rrb_coarse_pc_type jacobi", {38, 8, 11, 10}},
        {"rrb_again",
         "-ksp_type cg",
         "-pc_rrb_levels 2 -rrb_coarse_pc_type rrb -rrb_coarse_pc_rrb_levels 2",
         {39, 10, 13, 10}},
#if defined(PETSC_HAVE_HYPRE) && !defined(PETSC_HAVE_HYPRE_DEVICE) // which wants a GPU
        {"hypre", "-ksp_type fgmres", "-rrb_coarse_ksp_type cg -rrb_coarse_pc_type hypre", {40, 12, 12, 11}},
#endif
  };
}

INSTANTIATE_TEST_SUITE_P(Coarse, InnerKSP, testing::ValuesIn(inner_solvers()),
                         [](const auto &info) { return info.param.name; });

TEST(CoarseKSP, IsThereBeforeTheSetUpAndStaysAsSet) {
  const Problem problem = spd();
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, "-ksp_type fgmres -pc_type rrb -pc_rrb_levels 3 -pc_rrb_coarse ksp");
  KSP inner, again;
  Mat S;
  PetscInt rows;
  KSPType type;
  const char *prefix;
  ok(PCRRBGetCoarseKSP(pc_of(ksp), &inner));
  ok(KSPSetType(inner, KSPMINRES));
  ok(KSPSetTolerances(inner, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  EXPECT_GT(solve(ksp, problem.b).reason, 0);
  ok(PCRRBGetCoarseKSP(pc_of(ksp), &again));
  EXPECT_EQ(again, inner);
  ok(KSPGetType(inner, &type));
  EXPECT_STREQ(type, KSPMINRES);
  ok(KSPGetOptionsPrefix(inner, &prefix));
  EXPECT_EQ(std::string(prefix), std::string(ksp.prefix()) + "rrb_coarse_");
  ok(KSPGetOperators(inner, &S, nullptr));
  ok(MatGetSize(S, &rows, nullptr));
  EXPECT_EQ(rows, 33 * 29 / 2 + 1); // two levels leave 33 x 29 points, the third half of them
  EXPECT_NE(view(pc_of(ksp)).find("type: minres"), std::string::npos);
}

TEST(CoarseKSP, FollowsANewNumberOfLevels) {
  const Problem problem = spd();
  const Matrix A = matrix_of(problem);
  const Preconditioner inner = pc_of(A, "-pc_rrb_coarse ksp"), outer = pc_of(A);
  for (const PetscInt levels : {2, 5, 3}) {
    ok(PCRRBSetLevels(inner, levels));
    ok(PCRRBSetLevels(outer, levels));
    EXPECT_LT(largest_difference(applied(inner, problem.b), applied(outer, problem.b)), 1e-11) << levels;
  }
}

// An inner solver that runs away is a failure of the outer PC, and can be helped.
TEST(CoarseKSP, ThatDivergesStopsTheOuterOne) {
  const Problem problem = spd();
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, "-ksp_type fgmres -pc_type rrb -pc_rrb_coarse ksp -rrb_coarse_ksp_type richardson "
                               "-rrb_coarse_ksp_richardson_scale 50 -rrb_coarse_pc_type none");
  PCFailedReason reason;
  KSP inner;
  EXPECT_EQ(solve(ksp, problem.b).reason, KSP_DIVERGED_PC_FAILED);
  ok(PCGetFailedReason(pc_of(ksp), &reason));
  EXPECT_EQ(reason, PC_SUBPC_ERROR);
  ok(PCRRBGetCoarseKSP(pc_of(ksp), &inner));
  ok(KSPSetType(inner, KSPCG));
  set_values(A, problem.A);
  ok(KSPSetOperators(ksp, A, A));
  EXPECT_EQ(solve(ksp, problem.b).reason, KSP_CONVERGED_RTOL);
}

} // namespace
