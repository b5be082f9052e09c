// What a user can set: every option has a setter and a getter, the getters tell what is in use, the view says it all.
#include "support.hpp"

#include <cmath>
#include <limits>

using namespace petsctest;
using reference::Problem;

namespace {

struct Everything {
  PetscInt levels, nx, ny, grids, block, gather;
  PetscReal lumping;
  PCRRBLumpNodes nodes;
  PCRRBStorage storage;
  PCRRBCoarse coarse;
  PCRRBCycle cycle;
  PCRRBRedNodes red_nodes;
  PCRRBPrecision precision;
  PCRRBTransport transport;
};

Everything all_of(PC pc) {
  Everything e;
  ok(PCRRBGetLevels(pc, &e.levels));
  ok(PCRRBGetGrid(pc, &e.nx, &e.ny));
  ok(PCRRBGetStorageGrids(pc, &e.grids));
  ok(PCRRBGetComputeBlock(pc, &e.block));
  ok(PCRRBGetGatherSize(pc, &e.gather));
  ok(PCRRBGetLumping(pc, &e.lumping));
  ok(PCRRBGetLumpNodes(pc, &e.nodes));
  ok(PCRRBGetStorage(pc, &e.storage));
  ok(PCRRBGetCoarse(pc, &e.coarse));
  ok(PCRRBGetCycle(pc, &e.cycle));
  ok(PCRRBGetRedNodes(pc, &e.red_nodes));
  ok(PCRRBGetPrecision(pc, &e.precision));
  ok(PCRRBGetTransport(pc, &e.transport));
  return e;
}

void expect_equal(const Everything &a, const Everything &b) {
  EXPECT_EQ(a.levels, b.levels);
  EXPECT_EQ(a.nx, b.nx);
  EXPECT_EQ(a.ny, b.ny);
  EXPECT_EQ(a.grids, b.grids);
  EXPECT_EQ(a.block, b.block);
  EXPECT_EQ(a.gather, b.gather);
  EXPECT_EQ(a.lumping, b.lumping);
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.storage, b.storage);
  EXPECT_EQ(a.coarse, b.coarse);
  EXPECT_EQ(a.cycle, b.cycle);
  EXPECT_EQ(a.red_nodes, b.red_nodes);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.transport, b.transport);
}

const Everything standard{PETSC_DECIDE,
                          0,
                          0,
                          PETSC_DECIDE,
                          32,
                          PETSC_DECIDE,
                          1,
                          PC_RRB_LUMP_RED,
                          PC_RRB_STORAGE_R1R2B1B2,
                          PC_RRB_COARSE_CHOLESKY,
                          PC_RRB_CYCLE_V,
                          PC_RRB_RED_NODES_PLAIN, // of the tests' own
                          PC_RRB_PRECISION_DOUBLE,
                          PC_RRB_TRANSPORT_AUTO};
const Everything other{6,
                       90,
                       70,
                       2,
                       16,
                       500,
                       0.75,
                       PC_RRB_LUMP_BOTH,
                       PC_RRB_STORAGE_NAIVE,
                       PC_RRB_COARSE_INVERSE,
                       PC_RRB_CYCLE_AMLI,
                       PC_RRB_RED_NODES_SUPPORT,
                       PC_RRB_PRECISION_SINGLE,
                       PC_RRB_TRANSPORT_NCCL};

// the standard with this grid in use; a device keeps all grids in r1/r2/b1/b2 storage, and inverts the last block
Everything in_use(PetscInt levels, PetscInt nx, PetscInt ny, PetscInt grids, PetscInt block) {
  Everything e = standard;
  if (backend.device) {
    grids = levels / 2;
    e.coarse = PC_RRB_COARSE_INVERSE;
  }
  e.levels = levels, e.nx = nx, e.ny = ny, e.grids = grids, e.block = block, e.gather = backend.device ? 65536 : 1024;
  return e;
}

class Choices : public testing::Test {
protected:
  Problem problem = reference::random_faces({90, 70}, 10);
  Matrix A = matrix_of(problem);
};

TEST_F(Choices, SettersAndGettersAgree) {
  const Preconditioner pc = pc_of(A);
  expect_equal(all_of(pc), standard);
  ok(PCRRBSetLevels(pc, other.levels));
  ok(PCRRBSetGrid(pc, other.nx, other.ny));
  ok(PCRRBSetStorageGrids(pc, other.grids));
  ok(PCRRBSetComputeBlock(pc, other.block));
  ok(PCRRBSetGatherSize(pc, other.gather));
  ok(PCRRBSetLumping(pc, other.lumping));
  ok(PCRRBSetLumpNodes(pc, other.nodes));
  ok(PCRRBSetStorage(pc, other.storage));
  ok(PCRRBSetCoarse(pc, other.coarse));
  ok(PCRRBSetCycle(pc, other.cycle));
  ok(PCRRBSetRedNodes(pc, other.red_nodes));
  ok(PCRRBSetPrecision(pc, other.precision));
  ok(PCRRBSetTransport(pc, other.transport));
  expect_equal(all_of(pc), other);
}

TEST_F(Choices, OptionsSayTheSameAsSetters) {
  const Preconditioner pc =
      pc_of(A, "-pc_rrb_levels 6 -pc_rrb_grid 90,70 -pc_rrb_storage_grids 2 -pc_rrb_compute_block 16 "
               "-pc_rrb_gather_size 500 -pc_rrb_lumping 0.75 -pc_rrb_lump_nodes both -pc_rrb_storage naive "
               "-pc_rrb_coarse inverse "
               "-pc_rrb_cycle amli -pc_rrb_red_nodes support -pc_rrb_precision single -pc_rrb_transport nccl");
  expect_equal(all_of(pc), other);
}

TEST_F(Choices, GettersTellWhatIsInUse) {
  const Preconditioner pc = pc_of(A);
  // 6300 unknowns: three levels leave 788, one leaves 3150; a block of 32 lets two grids into 90 points, half of 3 one
  const PetscInt l = backend.device ? 1 : 3;
  ok(PCSetUp(pc));
  expect_equal(all_of(pc), in_use(l, 90, 70, 1, 32));
  ok(PCRRBSetLevels(pc, 100)); // more than there are
  ok(PCSetUp(pc));
  expect_equal(all_of(pc), in_use(15, 90, 70, 2, 32));
  ok(PCRRBSetComputeBlock(pc, 8));
  ok(PCSetUp(pc));
  expect_equal(all_of(pc), in_use(15, 90, 70, 4, 8));
  ok(PCRRBSetStorage(pc, PC_RRB_STORAGE_NAIVE));
  ok(PCSetUp(pc));
  EXPECT_EQ(all_of(pc).grids, 0);
  ok(PCRRBSetLevels(pc, PETSC_DECIDE));
  ok(PCSetUp(pc));
  EXPECT_EQ(all_of(pc).levels, l);
}

TEST_F(Choices, ValuesOutOfRangeAreRefused) {
  const Preconditioner pc = pc_of(A);
  const auto expect_refused = [&](PetscErrorCode code, const char *word) {
    EXPECT_TRUE(refused(code)) << word;
    EXPECT_EQ(raised.code, PETSC_ERR_ARG_OUTOFRANGE) << word;
    EXPECT_NE(raised.message.find(word), std::string::npos) << raised.message;
    raised = {};
  };
  expect_refused(PCRRBSetLevels(pc, 0), "levels 0");
  expect_refused(PCRRBSetLevels(pc, -3), "levels -3");
  expect_refused(PCRRBSetLumping(pc, -0.1), "Lumping -0.1");
  expect_refused(PCRRBSetLumping(pc, 1.01), "Lumping 1.01");
  expect_refused(PCRRBSetLumping(pc, std::nan("")), "Lumping nan");
  expect_refused(PCRRBSetLumpNodes(pc, (PCRRBLumpNodes)2), "PCRRBLumpNodes 2");
  expect_refused(PCRRBSetStorage(pc, (PCRRBStorage)7), "PCRRBStorage 7");
  expect_refused(PCRRBSetStorageGrids(pc, -2), "grids -2");
  expect_refused(PCRRBSetComputeBlock(pc, 12), "block 12");
  expect_refused(PCRRBSetComputeBlock(pc, 4), "block 4");
  expect_refused(PCRRBSetGatherSize(pc, -2), "size -2");
  expect_refused(PCRRBSetGrid(pc, 0, 5), "0 x 5");
  expect_refused(PCRRBSetGrid(pc, 5, -1), "5 x -1");
  expect_refused(PCRRBSetCoarse(pc, (PCRRBCoarse)3), "PCRRBCoarse 3");
  expect_refused(PCRRBSetCycle(pc, (PCRRBCycle)2), "PCRRBCycle 2");
  expect_refused(PCRRBSetRedNodes(pc, (PCRRBRedNodes)3), "PCRRBRedNodes 3");
  expect_refused(PCRRBSetPrecision(pc, (PCRRBPrecision)3), "PCRRBPrecision 3");
  expect_refused(PCRRBSetTransport(pc, (PCRRBTransport)4), "PCRRBTransport 4");
  expect_equal(all_of(pc), standard);
  ok(PCRRBSetLevels(pc, 5));
  ok(PCRRBSetStorageGrids(pc, 3));
  expect_refused(PCSetUp(pc), "needs 6 levels");
  ok(PCRRBSetStorageGrids(pc, 2));
  ok(PCSetUp(pc));
}

TEST_F(Choices, OfAGridWantTwoSizes) {
  EXPECT_THROW(pc_of(A, "-pc_rrb_grid 90"), std::runtime_error);
  EXPECT_EQ(raised.code, PETSC_ERR_ARG_WRONG);
  EXPECT_NE(raised.message.find("nx,ny"), std::string::npos) << raised.message;
}

// As PETSc's own setters: of another type they do nothing, and there is nothing to get.
TEST_F(Choices, MeanNothingToOtherTypes) {
  const Preconditioner pc = pc_of(A);
  PetscInt levels;
  ok(PCSetType(pc, PCJACOBI));
  ok(PCRRBSetLevels(pc, 4));
  EXPECT_TRUE(refused(PCRRBGetLevels(pc, &levels)));
  EXPECT_EQ(raised.code, PETSC_ERR_SUP);
  ok(PCSetType(pc, PCRRB));
  ok(PCRRBGetLevels(pc, &levels));
  EXPECT_EQ(levels, PETSC_DECIDE);
}

TEST_F(Choices, SurviveAReset) {
  const Preconditioner pc = pc_of(A, "-pc_rrb_levels 6 -pc_rrb_lumping 0.5");
  const reference::Vector z = applied(pc, problem.b);
  ok(PCReset(pc));
  EXPECT_EQ(all_of(pc).levels, 6);
  ok(PCSetOperators(pc, A, A));
  EXPECT_EQ(applied(pc, problem.b), z);
}

TEST_F(Choices, ChangeTheNextSolve) {
  const Solver ksp = ksp_of(A, std::string(papers) + "-pc_rrb_levels 1");
  EXPECT_EQ(solve(ksp, problem.b).iterations, 1);
  ok(PCRRBSetLevels(pc_of(ksp), 10));
  const int ten = solve(ksp, problem.b).iterations;
  EXPECT_EQ(ten, solve(problem, "-pc_rrb_levels 10").iterations);
  EXPECT_GT(ten, 1);
}

void expect_lines(const std::string &text, const std::vector<std::string> &lines) {
  for (const std::string &line : lines) EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << "\n" << text;
}

TEST_F(Choices, AreInTheView) {
  const Preconditioner pc = pc_of(A, "-pc_rrb_levels 6");
  expect_lines(view(pc), {"  type: rrb", "    lumping: 1., of red nodes", "    not set up yet"});
  ok(PCSetUp(pc));
  expect_lines(view(pc),
               {"    grid: 90 x 70, 5-point, from the matrix pattern",
                "    levels: 6, unknowns left: 6300 3150 1575 788 414 207 108",

                backend.device ? "    storage: r1r2b1b2 on 3 grids, compute block 32"
                               : "    storage: r1r2b1b2 on 2 grids, compute block 32",
                backend.device ? "    last block: inverse, 108 unknowns" : "    last block: cholesky, 108 unknowns"});
  EXPECT_NE(view(pc).find("    memory: "), std::string::npos);
  EXPECT_EQ(view(pc).find("unlumped"), std::string::npos);
  ok(PCRRBSetGrid(pc, 90, 70));
  ok(PCRRBSetLumpNodes(pc, PC_RRB_LUMP_BOTH));
  ok(PCRRBSetLumping(pc, 0.5));
  ok(PCRRBSetStorage(pc, PC_RRB_STORAGE_NAIVE));
  ok(PCRRBSetCoarse(pc, PC_RRB_COARSE_INVERSE));
  ok(PCSetUp(pc));
  expect_lines(view(pc), {"    lumping: 0.5, of red and black nodes", "    grid: 90 x 70, 5-point, from the option",
                          "    storage: naive", "    last block: inverse, 108 unknowns"});
}

TEST(View, SaysWhatWasDoneToTheMatrix) {
  const auto view_of = [](const Problem &problem, const char *options) {
    const Matrix A = matrix_of(problem);
    const Preconditioner pc = pc_of(A, options);
    ok(PCSetUp(pc));
    return view(pc);
  };
  const std::string ring = view_of(reference::periodic({65, 64, true, true}, 0.1), "-pc_rrb_levels 4");
  expect_lines(ring,
               {"    periodic in x: not a multiple of 2^ceil(levels/2), some couplings across this side are lumped",
                "    periodic in y"});
  const std::string ponds = view_of(reference::two_ponds(30, 31), "-pc_rrb_levels 4");
  expect_lines(ponds, {"    identity rows, decoupled: 31", "    null directions: 2"});
  EXPECT_NE(ponds.find("near null space"), std::string::npos);
  EXPECT_NE(view_of(reference::bilinear_elements(20, 21, 5, 1), "").find("positive off-diagonal entries, moved"),
            std::string::npos);
  EXPECT_NE(view_of(reference::straight_canal(64, 64, 9), "-pc_rrb_levels 12").find("pivots left unlumped: "),
            std::string::npos);
}

TEST(View, HasAShortForm) {
  const Matrix A = matrix_of(reference::poisson(30));
  const Preconditioner pc = pc_of(A, "-pc_rrb_levels 5");
  Handle<PetscViewer, PetscViewerDestroy> viewer;
  char text[200] = "";
  ok(PCSetUp(pc));
  ok(PetscViewerStringOpen(PETSC_COMM_SELF, text, sizeof text, viewer.put()));
  ok(PCView(pc, viewer));
  EXPECT_NE(std::string(text).find("rrb"), std::string::npos) << text;
  EXPECT_NE(std::string(text).find("levels 5"), std::string::npos) << text;
}

// The one option of the library itself, read where it is registered.
TEST(Timeout, IsSetByAFunctionAndAnOption) {
  PetscReal before, now;
  ok(PetscRRBGetTimeout(&before));
  EXPECT_EQ(before, 60);
  for (const PetscReal seconds : {0.0, 0.5, 1e9}) {
    ok(PetscRRBSetTimeout(seconds));
    ok(PetscRRBGetTimeout(&now));
    EXPECT_EQ(now, seconds);
  }
  for (const PetscReal bad : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_TRUE(refused(PetscRRBSetTimeout(bad)));
    EXPECT_EQ(raised.code, PETSC_ERR_ARG_OUTOFRANGE);
    EXPECT_NE(raised.message.find("-petscrrb_timeout"), std::string::npos) << raised.message;
  }
  ok(PetscOptionsSetValue(nullptr, "-petscrrb_timeout", "7"));
  ok(PetscRRBFinalizePackage());
  ok(PetscRRBInitializePackage());
  ok(PetscOptionsClearValue(nullptr, "-petscrrb_timeout"));
  ok(PetscRRBGetTimeout(&now));
  EXPECT_EQ(now, 7);
  ok(PetscRRBSetTimeout(before));
}

} // namespace
