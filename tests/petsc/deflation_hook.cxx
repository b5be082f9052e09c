// How deflation gets into a KSP: options in any order and twice, a user's PC, late prefixes, setters, the view.
#include "deflation_support.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

const char block[] = "-ksp_type cg -ksp_rtol 1e-8 -ksp_deflation block -ksp_deflation_blocks 4,4 ";

std::string type_of(PC pc) {
  PCType type;
  ok(PCGetType(pc, &type));
  return type ? type : "";
}

bool deflated(KSP ksp) { return type_of(pc_of(ksp)) == "subdomaindeflation"; }

TEST(DeflationHook, PutsItselfAroundTheTypeThatIsAskedFor) {
  const Matrix A = matrix_of(reference::two_phase(16));
  const Solver ksp = ksp_of(A, std::string(block) + "-pc_type sor");
  EXPECT_TRUE(deflated(ksp));
  EXPECT_EQ(type_of(inner_of(ksp)), "sor");
  ok(KSPSetFromOptions(ksp)); // once more
  EXPECT_TRUE(deflated(ksp));
  EXPECT_EQ(type_of(inner_of(ksp)), "sor");
}

TEST(DeflationHook, IsNotThereWithoutItsOption) {
  const Matrix A = matrix_of(reference::two_phase(16));
  EXPECT_FALSE(deflated(ksp_of(A, "-pc_type jacobi")));
  EXPECT_FALSE(deflated(ksp_of(A, "-pc_type jacobi -ksp_deflation none")));
}

TEST(DeflationHook, KeepsTheDefaultType) {
  const Matrix A = matrix_of(reference::two_phase(16));
  const Solver plain = ksp_of(A, "-ksp_type cg"), ksp = ksp_of(A, block);
  EXPECT_EQ(type_of(inner_of(ksp)), type_of(pc_of(plain)));
}

TEST(DeflationHook, KeepsThePCThatAnApplicationSetUp) {
  const Matrix A = matrix_of(reference::two_phase(16));
  Solver ksp(block);
  PC pc;
  ok(KSPCreate(PETSC_COMM_SELF, ksp.put()));
  ok(KSPSetOptionsPrefix(ksp, ksp.prefix()));
  ok(KSPGetPC(ksp, &pc));
  ok(PCSetType(pc, PCJACOBI));
  ok(KSPSetOperators(ksp, A, A));
  ok(KSPSetFromOptions(ksp));
  EXPECT_EQ(inner_of(ksp), pc);
  EXPECT_EQ(type_of(pc), "jacobi");
}

// An application that sets the type of what KSPGetPC() gives, after the options.
TEST(DeflationHook, LetsAnApplicationSetTheTypeOfItsPC) {
  const Problem problem = reference::two_phase(16);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, block), plain = ksp_of(A, std::string(block) + "-pc_type jacobi");
  const PC pc = pc_of(ksp);
  ok(PCSetType(pc, PCJACOBI));
  EXPECT_TRUE(deflated(ksp));
  EXPECT_EQ(inner_of(ksp), pc);
  EXPECT_EQ(type_of(pc), "jacobi");
  EXPECT_EQ(solve(ksp, problem.b).iterations, solve(plain, problem.b).iterations);
}

// KSPSetOptionsPrefix() gives it to the wrapper, whose -pc_type would then be meant.
TEST(DeflationHook, BearsAPrefixThatComesLate) {
  const Matrix A = matrix_of(reference::two_phase(16));
  Solver ksp("-pc_type sor -ksp_rtol 1e-8");
  ok(KSPCreate(PETSC_COMM_SELF, ksp.put()));
  ok(KSPSetType(ksp, KSPCG));
  ok(KSPSetDeflation(ksp, KSP_DEFLATION_BLOCK));
  ok(KSPSetOptionsPrefix(ksp, ksp.prefix()));
  ok(KSPSetOperators(ksp, A, A));
  ok(KSPSetFromOptions(ksp));
  EXPECT_TRUE(deflated(ksp));
  EXPECT_EQ(type_of(inner_of(ksp)), "sor");
}

TEST(DeflationHook, GoesAway) {
  const Problem problem = reference::two_phase(16);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, std::string(block) + "-pc_type jacobi"),
               plain = ksp_of(A, "-ksp_type cg -ksp_rtol 1e-8 -pc_type jacobi");
  const int with = solve(ksp, problem.b).iterations;
  const PC inner = inner_of(ksp);
  ok(KSPSetDeflation(ksp, KSP_DEFLATION_NONE));
  EXPECT_EQ(pc_of(ksp), inner);
  const int without = solve(ksp, problem.b).iterations;
  EXPECT_EQ(without, solve(plain, problem.b).iterations);
  EXPECT_LT(with, without);
  ok(KSPSetDeflation(ksp, KSP_DEFLATION_BLOCK));
  EXPECT_EQ(solve(ksp, problem.b).iterations, with);
}

TEST(DeflationHook, SettersAndOptionsAreTheSame) {
  const Matrix A = matrix_of(reference::two_phase(16));
  const Solver ksp = ksp_of(A, "-ksp_deflation levelset -ksp_deflation_variant def1 -ksp_deflation_inverse cholesky "
                               "-ksp_deflation_stripe_lines 3 -ksp_deflation_stripe_cuts 4 -ksp_deflation_blocks 5,6 "
                               "-ksp_deflation_jump 20 -ksp_deflation_grid 16,16,1");
  KSPDeflationType type;
  KSPDeflationVariant variant;
  KSPDeflationInverse inverse;
  PetscInt lines, cuts, blocks[3], grid[3];
  PetscReal jump;
  ok(KSPGetDeflation(ksp, &type));
  ok(KSPDeflationGetVariant(ksp, &variant));
  ok(KSPDeflationGetInverse(ksp, &inverse));
  ok(KSPDeflationGetStripes(ksp, &lines, &cuts));
  ok(KSPDeflationGetBlocks(ksp, &blocks[0], &blocks[1], &blocks[2]));
  ok(KSPDeflationGetJump(ksp, &jump));
  ok(KSPDeflationGetGrid(ksp, &grid[0], &grid[1], &grid[2]));
  EXPECT_EQ(type, KSP_DEFLATION_LEVELSET);
  EXPECT_EQ(variant, KSP_DEFLATION_DEF1);
  EXPECT_EQ(inverse, KSP_DEFLATION_CHOLESKY);
  EXPECT_EQ(lines, 3);
  EXPECT_EQ(cuts, 4);
  EXPECT_EQ(std::vector<PetscInt>(blocks, blocks + 3), (std::vector<PetscInt>{5, 6, 1}));
  EXPECT_EQ(jump, 20);
  EXPECT_EQ(std::vector<PetscInt>(grid, grid + 3), (std::vector<PetscInt>{16, 16, 1}));
}

// Before it is set up the inverse is the one that will be used.
TEST(DeflationHook, KnowsItsDefaultInverse) {
  const Problem problem = reference::two_phase(16);
  const Matrix A = matrix_of(problem);
  for (const char *more : {"", " -ksp_deflation_inverse explicit", " -ksp_deflation_inverse cholesky"}) {
    const Solver ksp = ksp_of(A, std::string(block) + more);
    KSPDeflationInverse before, after;
    ok(KSPDeflationGetInverse(ksp, &before));
    (void)solve(ksp, problem.b);
    ok(KSPDeflationGetInverse(ksp, &after));
    EXPECT_EQ(before, after) << more;
  }
}

TEST(DeflationHook, TellsItselfInTheView) {
  const Problem problem = reference::two_phase(32);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, std::string(block) + "-pc_type jacobi");
  EXPECT_NE(view(ksp).find("not set up yet"), std::string::npos);
  (void)solve(ksp, problem.b);
  const std::string text = view(ksp);
  for (const char *part :
       {"deflation: block, variant adef2", "4 x 4 blocks of the grid of 32 x 32, from the matrix pattern",
        "dimension: 16", "E^-1: ", "memory: ", "setup: ", "1 from scratch, 0 with new values", "type: jacobi"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(DeflationHook, TakesTheGridOfADMDA) {
  Array da;
  Matrix A;
  ok(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 6, 5, 4, 1,
                  1, 1, 1, 1, nullptr, nullptr, nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetVecType(da, backend.vec));
  ok(DMSetUp(da));
  ok(DMCreateMatrix(da, A.put()));
  const reference::Matrix values = reference::random_seven_points(6, 5, 4, 10, 0.1);
  set_values(A, values);
  const Solver ksp = ksp_of(A, "-ksp_type cg -pc_type jacobi -ksp_deflation block -ksp_deflation_blocks 2,2,2");
  (void)solve(ksp, reference::random_vector(120));
  EXPECT_NE(view(ksp).find("2 x 2 x 2 blocks of the grid of 6 x 5 x 4, from the Mat's DMDA"), std::string::npos)
      << view(ksp);
}

// The DM does no more than that.
void tell_grid(KSP ksp, DM dm) {
  ok(KSPSetDM(ksp, dm));
#if PETSC_VERSION_GE(3, 25, 0)
  ok(KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
#else
  ok(KSPSetDMActive(ksp, PETSC_FALSE));
#endif
}

// A multigrid takes the sizes of its vectors from it.
TEST(DeflationHook, TakesADMDAAway) {
  const Problem large = reference::poisson(24), small = reference::two_phase(9);
  const Matrix A = matrix_of(large.A), B = matrix_of(small.A);
  Array da;
  ok(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 24, 24, 1, 1, 1, 1, nullptr,
                  nullptr, da.put()));
  ok(DMSetVecType(da, backend.vec));
  ok(DMSetUp(da));
  const Solver ksp = ksp_of(A, std::string(block) + "-pc_type gamg");
  tell_grid(ksp, da);
  EXPECT_GT(solve(ksp, large.b).reason, 0);
  ok(KSPReset(ksp));
  tell_grid(ksp, nullptr);
  ok(KSPSetOperators(ksp, B, B));
  EXPECT_GT(solve(ksp, small.b).reason, 0);
}

} // namespace
