// PCBLOCKRELAX as a solver by itself and in PETSc's slots: tolerances, reasons, counts.
#include "blockrelax_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

constexpr const char *types[] = {"jacobi", "chaotic", "coloured", "coloured -pc_blockrelax_symmetric"};

std::string richardson(const std::string &options) {
  return "-ksp_type richardson -pc_type blockrelax -pc_blockrelax_block_size 4,4,4 -pc_blockrelax_type " + options;
}

double residual(const Problem &problem, const reference::Vector &x) {
  const reference::Vector r = minus(problem.b, problem.A.multiply(x));
  return std::sqrt(reference::dot(r, r) / reference::dot(problem.b, problem.b));
}

TEST(BlockRelaxRichardson, StopsAtItsTolerance) {
  const Problem problem = cube(12, 3, 1);
  const Matrix A = matrix_of(problem.A);
  for (const char *type : types)
    for (const double rtol : {1e-3, 1e-8}) {
      const Solver ksp = ksp_of(A, richardson(type) + " -ksp_rtol " + std::to_string(rtol * 1e8) + "e-8");
      const Solve done = solve(ksp, problem.b);
      EXPECT_EQ(done.reason, KSP_CONVERGED_RTOL) << type;
      EXPECT_LT(residual(problem, done.x), rtol * (1 + 1e-6)) << type;
      EXPECT_GT(done.iterations, 1) << type;
    }
}

// With a monitor KSPRICHARDSON iterates by itself, and applies.
TEST(BlockRelaxRichardson, IsTheOneOfTheKSP) {
  const Problem problem = cube(12, 3, 1);
  const Matrix A = matrix_of(problem.A);
  const reference::Vector guess = random_values(problem.b.size());
  for (const char *type : {"jacobi", "coloured", "coloured -pc_blockrelax_symmetric", "jacobi -pc_blockrelax_sweeps 3"})
    for (const reference::Vector &x0 : {reference::Vector(), guess}) {
      const std::string options = richardson(type) + " -ksp_norm_type unpreconditioned -ksp_rtol 1e-6";
      const Solver ours = ksp_of(A, options), theirs = ksp_of(A, options);
      const auto silent = [](KSP, PetscInt, PetscReal, void *) -> PetscErrorCode { return PETSC_SUCCESS; };
      ok(KSPMonitorSet(theirs, silent, nullptr, nullptr));
      const Solve a = solve(ours, problem.b, x0), b = solve(theirs, problem.b, x0);
      EXPECT_EQ(a.iterations, b.iterations) << type;
      EXPECT_EQ(a.reason, b.reason) << type;
      EXPECT_LT(largest_difference(a.x, b.x), 1e-12) << type;
    }
}

TEST(BlockRelaxRichardson, CountsAndReasonsWithoutANorm) {
  const Problem problem = cube(8, 3, 1);
  const Matrix A = matrix_of(problem.A);
  for (const char *type : types) {
    const Solver ksp = ksp_of(A, richardson(type) + " -ksp_norm_type none -ksp_max_it 7");
    const Solve done = solve(ksp, problem.b);
    EXPECT_EQ(done.reason, KSP_CONVERGED_ITS) << type;
    EXPECT_EQ(done.iterations, 7) << type;
    const Solve again = solve(ksp, problem.b, done.x);
    EXPECT_LT(residual(problem, again.x), residual(problem, done.x)) << type;
  }
}

TEST(BlockRelaxRichardson, SaysWhyItStopped) {
  const Problem problem = cube(8, 3, 0);
  const Matrix A = matrix_of(problem.A);
  const auto reason = [&](const std::string &options, const reference::Vector &b, const reference::Vector &x0 = {}) {
    return solve(ksp_of(A, richardson(options)), b, x0).reason;
  };
  EXPECT_EQ(reason("jacobi -ksp_max_it 2", problem.b), KSP_DIVERGED_ITS);
  EXPECT_EQ(reason("jacobi -ksp_rtol 1e-30 -ksp_atol 1e-3", problem.b), KSP_CONVERGED_ATOL);
  EXPECT_EQ(reason("jacobi -ksp_divtol 1.5", problem.b, reference::Vector(512, 100.0)), KSP_DIVERGED_DTOL);
  EXPECT_EQ(reason("jacobi", reference::Vector(512, std::nan(""))), KSP_DIVERGED_NANORINF);
  const Solve nothing = solve(ksp_of(A, richardson("jacobi")), reference::Vector(512));
  EXPECT_GT(nothing.reason, 0);
  EXPECT_EQ(nothing.iterations, 0);
  EXPECT_EQ(nothing.x, reference::Vector(512));
}

// The residual is that of Amat, the blocks are Pmat's.
TEST(BlockRelaxRichardson, SolvesWithAmat) {
  const Problem problem = cube(8, 3, 1);
  const Matrix A = matrix_of(problem.A), P = matrix_of(cube(8, 3, 0.9).A);
  for (const char *type : types) {
    const Solve done = solve(ksp_of(A, richardson(type) + " -ksp_rtol 1e-9", P), problem.b);
    EXPECT_EQ(done.reason, KSP_CONVERGED_RTOL) << type;
    EXPECT_LT(residual(problem, done.x), 1.001e-9) << type;
  }
}

TEST(BlockRelaxRichardson, FailsWhereABlockIsNotDefinite) {
  reference::Matrix A = cube(8, 2, 0).A;
  A.row[19][19] = -1;
  const Matrix P = matrix_of(A);
  for (const char *type : types)
    EXPECT_EQ(solve(ksp_of(P, richardson(type)), random_values(64)).reason, KSP_DIVERGED_PC_FAILED) << type;
  EXPECT_EQ(solve(ksp_of(P, "-ksp_type cg -pc_type blockrelax"), random_values(64)).reason, KSP_DIVERGED_PC_FAILED);
}

// ---- in PETSc's slots ----

void expect_solved(const Problem &problem, const std::string &options, int most) {
  const Matrix A = matrix_of(problem.A);
  const Solve done = solve(ksp_of(A, options), problem.b);
  EXPECT_GT(done.reason, 0) << options;
  EXPECT_LE(done.iterations, most) << options;
  EXPECT_LT(residual(problem, done.x), 1e-6) << options;
}

TEST(BlockRelaxSlots, PreconditionsKrylovMethods) {
  const Problem problem = cube(16, 3, 0);
  const std::string block = " -ksp_rtol 1e-8 -pc_type blockrelax -pc_blockrelax_block_size 4,4,4 -pc_blockrelax_type ";
  expect_solved(problem, "-ksp_type cg" + block + "jacobi", 40);
  expect_solved(problem, "-ksp_type cg" + block + "coloured -pc_blockrelax_symmetric", 30);
  expect_solved(problem, "-ksp_type gmres" + block + "coloured", 35);
  expect_solved(problem, "-ksp_type fgmres" + block + "chaotic", 45);
  expect_solved(problem, "-ksp_type cg -ksp_deflation block -ksp_deflation_blocks 2,2,2" + block + "jacobi", 40);
}

TEST(BlockRelaxSlots, SmoothsInMultigrid) {
  Array da;
  ok(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 17, 17, 17,
                  1, 1, 1, 1, 1, nullptr, nullptr, nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetUp(da));
  const Problem problem = cube(17, 3, 0);
  for (const char *type : {"jacobi", "chaotic", "coloured", "coloured -mg_levels_pc_blockrelax_symmetric"}) {
    Matrix A;
    ok(DMCreateMatrix(da, A.put()));
    set_values(A, problem.A);
    const Solver ksp =
        ksp_of(A, std::string("-ksp_type fgmres -ksp_rtol 1e-8 -pc_type mg -pc_mg_levels 2 "
                              "-pc_mg_galerkin pmat -mg_coarse_pc_type lu -mg_levels_ksp_type richardson "
                              "-mg_levels_ksp_max_it 1 -mg_levels_pc_type blockrelax "
                              "-mg_levels_pc_blockrelax_block_size 4,4,4 -mg_levels_pc_blockrelax_type ") +
                      type);
    ok(KSPSetDM(ksp, da));
    ok(KSPSetDMActive(ksp, PETSC_FALSE));
    const Solve done = solve(ksp, problem.b);
    EXPECT_GT(done.reason, 0) << type;
    EXPECT_LE(done.iterations, 16) << type;
    EXPECT_LT(residual(problem, done.x), 1e-6) << type;
  }
}

TEST(BlockRelaxSlots, InfoSaysThatCGNeedsASymmetricOne) {
  const Problem problem = cube(8, 3, 0);
  const Matrix A = matrix_of(problem.A);
  const auto says = [&](const std::string &type) {
    const Solver ksp = ksp_of(A, "-ksp_type cg -pc_type blockrelax -pc_blockrelax_type " + type);
    return info_of([&] { (void)solve(ksp, problem.b); }).find("needs a symmetric preconditioner") != std::string::npos;
  };
  EXPECT_TRUE(says("coloured"));
  EXPECT_TRUE(says("chaotic"));
  EXPECT_FALSE(says("jacobi"));
  EXPECT_FALSE(says("coloured -pc_blockrelax_symmetric"));
}

} // namespace
