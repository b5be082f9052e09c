// What deflation refuses, and with which words.
#include "deflation_support.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

const char block[] = "-pc_type jacobi -ksp_deflation block -ksp_deflation_blocks 4,4 ";

void expect_refused(KSP ksp, const Problem &problem, const std::string &words) {
  const petsctest::Vector b = vector_of(problem.b), x = like(b);
  EXPECT_TRUE(refused(KSPSolve(ksp, b, x)));
  EXPECT_NE(raised.message.find(words), std::string::npos) << raised.message;
}

TEST(DeflationRefuses, SolversThatItIsNotFor) {
  const Problem problem = reference::two_phase(16);
  const Matrix A = matrix_of(problem);
  for (const std::string type : {"lsqr", "cgls", "cgne", "qcg"}) {
    const Solver ksp = ksp_of(A, block + ("-ksp_type " + type));
    expect_refused(ksp, problem, "-ksp_deflation does not work with -ksp_type " + type);
  }
  expect_refused(ksp_of(A, std::string(block) + "-ksp_type gmres -ksp_pc_side symmetric"), problem,
                 "-ksp_deflation does not work with -ksp_pc_side symmetric");
}

TEST(DeflationRefuses, TheRRBSolver) {
  const Matrix A = matrix_of(reference::two_phase(16));
  Solver ksp("-ksp_type rrb -ksp_deflation block");
  ok(KSPCreate(PETSC_COMM_SELF, ksp.put()));
  ok(KSPSetOptionsPrefix(ksp, ksp.prefix()));
  ok(KSPSetOperators(ksp, A, A));
  EXPECT_TRUE(refused(KSPSetFromOptions(ksp)));
  EXPECT_NE(raised.message.find("-ksp_deflation does not work with -ksp_type rrb"), std::string::npos)
      << raised.message;
}

TEST(DeflationRefuses, PreconditionersThatChangeTheSystem) {
  SKIP_ON_DEVICE("eisenstat is the host's");
  const Problem problem = reference::two_phase(16);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, "-ksp_type cg -pc_type eisenstat -ksp_deflation block");
  expect_refused(ksp, problem, "-ksp_deflation cannot wrap -pc_type eisenstat");
}

TEST(DeflationRefuses, MatricesThatAreNotSymmetric) {
  Problem problem = reference::two_phase(16);
  problem.A.row[20][21] *= 2;
  const Matrix A = matrix_of(problem);
  expect_refused(ksp_of(A, std::string("-ksp_type gmres ") + block), problem, "not symmetric at row 20");
}

TEST(DeflationRefuses, MatricesWithoutEntries) {
  const Problem problem = reference::two_phase(16);
  const Matrix P = matrix_of(problem);
  Matrix A;
  ok(MatCreateShell(PETSC_COMM_SELF, 256, 256, 256, 256, nullptr, A.put()));
  const Solver ksp = ksp_of(A, std::string("-ksp_type cg ") + block, P);
  expect_refused(ksp, problem, "-ksp_deflation reads the entries of the matrix, which is not possible for type shell");
}

TEST(DeflationRefuses, GridsThatDoNotFit) {
  const Problem problem = reference::two_phase(16);
  const Matrix A = matrix_of(problem);
  expect_refused(ksp_of(A, std::string("-ksp_type cg -ksp_deflation_grid 16,15 ") + block), problem,
                 "A grid of 16 x 15 has 240 points, but the matrix has 256 rows");
}

TEST(DeflationRefuses, AUsersSpaceThatIsNone) {
  const Problem problem = reference::two_phase(16);
  const Matrix A = matrix_of(problem);
  expect_refused(ksp_of(A, "-ksp_type cg -pc_type jacobi -ksp_deflation user"), problem, "call KSPDeflationSetSpace()");
  const Matrix Z = dense_of(200, 3);
  const Solver ksp = ksp_of(A, "-ksp_type cg -pc_type jacobi -ksp_deflation user");
  ok(KSPDeflationSetSpace(ksp, Z));
  expect_refused(ksp, problem, "The deflation space has vectors of length 200, but the matrix has 256 rows");
}

// Twice of E's entry overflows.
TEST(DeflationRefuses, NoHugeEntries) {
  Problem problem = reference::poisson(8);
  problem.A.row[3][3] = problem.A.row[4][4] = 1e308;
  problem.A.row[3][4] = problem.A.row[4][3] = -0.95e308;
  const Matrix A = matrix_of(problem);
  reference::Vector columns(128, 0.0);
  columns[3] = columns[64 + 4] = 1;
  const Matrix Z = dense_of(64, 2, columns);
  const Solver ksp = ksp_of(A, "-ksp_type cg -pc_type jacobi -ksp_deflation user");
  ok(KSPDeflationSetSpace(ksp, Z));
  ok(KSPSetUp(ksp));
  PC pc;
  ok(KSPGetPC(ksp, &pc));
  const petsctest::Vector r = vector_of(problem.b), z = like(r);
  ok(PCApply(pc, r, z));
  for (const double value : values_of(z)) EXPECT_TRUE(std::isfinite(value)) << value;
}

TEST(DeflationRefuses, ALevelSetOfAnotherSize) {
  const Problem problem = reference::two_phase(16);
  const Matrix A = matrix_of(problem);
  const petsctest::Vector phi = vector_of(reference::Vector(100, 1.0));
  const Solver ksp = ksp_of(A, "-ksp_type cg -pc_type jacobi -ksp_deflation levelset");
  ok(KSPDeflationSetLevelSet(ksp, phi));
  expect_refused(ksp, problem, "The level set has 100 values, but the matrix has 256 rows");
}

TEST(DeflationRefuses, ToBeATypeOfItsOwn) {
  const Problem problem = reference::two_phase(16);
  const Matrix A = matrix_of(problem);
  expect_refused(ksp_of(A, "-ksp_type cg -pc_type subdomaindeflation"), problem, "is not a preconditioner on its own");
}

TEST(DeflationRefuses, ValuesThatMakeNoSense) {
  const Matrix A = matrix_of(reference::two_phase(16));
  const Solver ksp = ksp_of(A, "-ksp_type cg");
  EXPECT_TRUE(refused(KSPDeflationSetBlocks(ksp, 0, 4, 1)));
  EXPECT_NE(raised.message.find("0 x 4 x 1 blocks"), std::string::npos) << raised.message;
  EXPECT_TRUE(refused(KSPDeflationSetStripes(ksp, 1, 0)));
  EXPECT_TRUE(refused(KSPDeflationSetJump(ksp, 1.0)));
  EXPECT_TRUE(refused(KSPDeflationSetGrid(ksp, 4, -1, 1)));
  EXPECT_TRUE(refused(KSPSetDeflation(ksp, (KSPDeflationType)9)));
}

// As other preconditioners: the solver says so, or it is an error where that is asked for.
TEST(DeflationFails, WhereEIsIndefinite) {
  Problem problem = reference::poisson(8);
  for (int i = 0; i < problem.A.size(); ++i) problem.A.row[i][i] -= 3.5;
  const Matrix A = matrix_of(problem);
  const std::string options = "-ksp_type cg -pc_type none -ksp_deflation block -ksp_deflation_blocks 2,2 ";
  for (const char *variant : {"adef2", "def1"}) {
    const Solver ksp = ksp_of(A, options + "-ksp_deflation_variant " + variant);
    EXPECT_EQ(solve(ksp, problem.b).reason, KSP_DIVERGED_PC_FAILED) << variant;
    EXPECT_NE(view(ksp).find("FAILED: E = Z^T A Z is not positive definite"), std::string::npos);
    for (int i = 0; i < problem.A.size(); ++i) ok(MatSetValue(A, i, i, 4.0, INSERT_VALUES));
    ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    ok(KSPSetOperators(ksp, A, A)); // PETSc 3.18 would not look at values that came without it before it gives up
    EXPECT_GT(solve(ksp, problem.b).reason, 0) << variant;
    set_values(A, problem.A);
  }
  const Solver strict = ksp_of(A, options + "-ksp_error_if_not_converged");
  expect_refused(strict, problem, "E = Z^T A Z is not positive definite: at subdomain");
}

} // namespace
