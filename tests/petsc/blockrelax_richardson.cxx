// PCBLOCKRELAX as a solver by itself and in PETSc's slots: tolerances, reasons, counts.
#include "known_iterations.hpp"
#include "blockrelax_support.hpp"
#include "cuda_calls.hpp"

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
void expect_the_same_as_theirs(Mat A, const std::string &options, const reference::Vector &b,
                               const reference::Vector &x0) {
  const Solver ours = ksp_of(A, options + " -ksp_norm_type unpreconditioned"),
               theirs = ksp_of(A, options + " -ksp_norm_type unpreconditioned");
  const auto silent = [](KSP, PetscInt, PetscReal, void *) -> PetscErrorCode { return PETSC_SUCCESS; };
  ok(KSPMonitorSet(theirs, silent, nullptr, nullptr));
  const Solve here = solve(ours, b, x0), there = solve(theirs, b, x0);
  EXPECT_EQ(here.iterations, there.iterations) << options;
  EXPECT_EQ(here.reason, there.reason) << options;
  EXPECT_LT(largest_difference(here.x, there.x), 1e-12) << options;
  if (options.find("skip") != std::string::npos) return; // then we know no norm
  PetscReal norm, expected;
  ok(KSPGetResidualNorm(ours, &norm));
  ok(KSPGetResidualNorm(theirs, &expected));
  EXPECT_NEAR(norm, expected, 1e-9 * expected) << options;
}

TEST(BlockRelaxRichardson, IsTheOneOfTheKSP) {
  const Problem problem = cube(12, 3, 1);
  const Matrix A = matrix_of(problem.A);
  const reference::Vector guess = random_values(problem.b.size());
  for (const char *type : {"jacobi", "coloured", "coloured -pc_blockrelax_symmetric", "jacobi -pc_blockrelax_sweeps 3"})
    for (const reference::Vector &x0 : {reference::Vector(), guess})
      expect_the_same_as_theirs(A, richardson(type) + " -ksp_rtol 1e-6", problem.b, x0);
}

TEST(BlockRelaxRichardson, StopsWhereTheKSPWantsIt) {
  const Problem problem = cube(12, 3, 1);
  const Matrix A = matrix_of(problem.A);
  const reference::Vector zero(problem.b.size()), guess(problem.b.size(), 30.0);
  for (const char *test :
       {"", "-ksp_converged_use_initial_residual_norm", "-ksp_converged_use_min_initial_residual_norm",
        "-ksp_converged_maxits -ksp_max_it 4", "-ksp_max_it 4", "-ksp_check_norm_iteration 9",
        "-ksp_check_norm_iteration 9 -ksp_max_it 4", "-ksp_convergence_test skip -ksp_max_it 9"})
    for (const reference::Vector &b : {problem.b, zero})
      expect_the_same_as_theirs(A, richardson("jacobi -ksp_rtol 1e-3 ") + test, b, guess);
}

// Blocks that are kept while the matrix changes do not know its residual.
TEST(BlockRelaxRichardson, SolvesWithBlocksThatAreKept) {
  const Problem before = cube(8, 3, 1), after = cube(8, 3, 0.9);
  for (const char *type : types) {
    const Matrix A = matrix_of(before.A);
    const Solver ksp = ksp_of(A, richardson(type) + " -ksp_rtol 1e-9");
    EXPECT_EQ(solve(ksp, before.b).reason, KSP_CONVERGED_RTOL) << type;
    ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    set_values(A, after.A);
    const Solve done = solve(ksp, after.b);
    EXPECT_EQ(done.reason, KSP_CONVERGED_RTOL) << type;
    EXPECT_LT(residual(after, done.x), 1.001e-9) << type;
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

TEST(BlockRelaxRichardson, TakesVectorsOfTheHost) {
  const Problem problem = cube(8, 3, 1);
  const Matrix A = matrix_of(problem.A), P = matrix_of(cube(8, 3, 0.9).A);
  const Vector b = vector_of(problem.b, PETSC_COMM_SELF, VECSEQ), x = like(b);
  for (const char *type : types)
    for (const Mat other : {Mat(A), Mat(P)}) {
      const Solver ksp = ksp_of(A, richardson(type) + " -ksp_rtol 1e-9", other);
      ok(KSPSolve(ksp, b, x));
      EXPECT_LT(residual(problem, values_of(x)), 1.001e-9) << type << (other == A);
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

void expect_solved(const Problem &problem, const std::string &options, int iterations) {
  const Matrix A = matrix_of(problem.A);
  const Solve done = solve(ksp_of(A, options), problem.b);
  EXPECT_GT(done.reason, 0) << options;
  expect_iterations(done.iterations, iterations, options);
  EXPECT_LT(residual(problem, done.x), 1e-6) << options;
}

TEST(BlockRelaxSlots, PreconditionsKrylovMethods) {
  const Problem problem = cube(16, 3, 0);
  const std::string block = " -ksp_rtol 1e-8 -pc_type blockrelax -pc_blockrelax_block_size 4,4,4 -pc_blockrelax_type ";
  expect_solved(problem, "-ksp_type cg" + block + "jacobi", 33);
  expect_solved(problem, "-ksp_type cg" + block + "coloured -pc_blockrelax_symmetric", 17);
  expect_solved(problem, "-ksp_type gmres" + block + "coloured", 17);
  const Matrix A = matrix_of(problem.A);
  const Solve chaotic = solve(ksp_of(A, "-ksp_type fgmres" + block + "chaotic"), problem.b);
  EXPECT_GT(chaotic.reason, 0);
  EXPECT_LE(chaotic.iterations, 33); // what jacobi takes; how many fewer depends on the threads
  EXPECT_LT(residual(problem, chaotic.x), 1e-6);
  expect_solved(problem, "-ksp_type cg -ksp_deflation block -ksp_deflation_blocks 2,2,2" + block + "jacobi", 30);
}

TEST(BlockRelaxSlots, SmoothsInMultigrid) {
  Array da;
  ok(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 17, 17, 17,
                  1, 1, 1, 1, 1, nullptr, nullptr, nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetVecType(da, backend.vec)); // PETSc's multigrid with vectors elsewhere does not converge as it should
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
    ok(PCSetDM(pc_of(ksp), da));
    const Solve done = solve(ksp, problem.b);
    EXPECT_GT(done.reason, 0) << type;
    const bool overlap = multiprocessors && std::string(type) == "chaotic"; // of colours: the order is not known then
    EXPECT_TRUE(overlap || done.iterations <= 9) << type << ": " << done.iterations;
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
