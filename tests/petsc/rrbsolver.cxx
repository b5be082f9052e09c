// The RRB-solver as a type: which preconditioner it has, who may choose it, and what it shows.
#include "rrbsolver_support.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

PCType type_of(PC pc) {
  PCType type;
  ok(PCGetType(pc, &type));
  return type ? type : "none yet";
}

Solver created(Mat A, const std::string &options = "") {
  Solver ksp(options);
  ok(KSPCreate(PETSC_COMM_SELF, ksp.put()));
  ok(KSPSetOptionsPrefix(ksp, ksp.prefix()));
  ok(KSPSetOperators(ksp, A, A));
  return ksp;
}

void expect_refused(PetscErrorCode code, PetscErrorCode expected, std::vector<std::string> words) {
  ASSERT_TRUE(refused(code));
  EXPECT_EQ(raised.code, expected) << raised.message;
  for (const std::string &word : words)
    EXPECT_NE(raised.message.find(word), std::string::npos) << word << ": " << raised.message;
}

class RRBSolver : public testing::Test {
protected:
  Problem problem = reference::random_faces({50, 43}, 10);
  Matrix A = matrix_of(problem);

  void expect_solves(KSP ksp) {
    const Solve result = solve(ksp, problem.b);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
    EXPECT_LT(relative_residual(problem, result.x), 1e-4);
    EXPECT_STREQ(type_of(pc_of(ksp)), PCRRB);
  }
};

TEST_F(RRBSolver, AloneIsEnough) { expect_solves(ksp_of(A, "-ksp_type rrb")); }

TEST_F(RRBSolver, IsEnoughInTheProgramToo) {
  const Solver ksp = created(A);
  ok(KSPSetType(ksp, "rrb"));
  expect_solves(ksp); // without KSPSetFromOptions()
}

TEST_F(RRBSolver, MayBeSetBeforeAndAfterTheOptions) {
  const Solver before = created(A, "-pc_rrb_levels 3"), after = created(A, "-pc_rrb_levels 3");
  ok(KSPSetType(before, "rrb"));
  ok(KSPSetFromOptions(before));
  ok(KSPSetFromOptions(after));
  ok(KSPSetType(after, "rrb"));
  for (KSP ksp : {KSP(before), KSP(after)}) {
    PetscInt levels;
    expect_solves(ksp);
    ok(PCRRBGetLevels(pc_of(ksp), &levels));
    EXPECT_EQ(levels, 3);
  }
}

TEST_F(RRBSolver, HasTheNaturalNormUnlessOneIsChosen) {
  for (const auto &[options, expected] : {std::pair{"", KSP_NORM_NATURAL},
                                          {"-ksp_norm_type preconditioned", KSP_NORM_PRECONDITIONED},
                                          {"-ksp_norm_type unpreconditioned", KSP_NORM_UNPRECONDITIONED},
                                          {"-ksp_norm_type natural", KSP_NORM_NATURAL}}) {
    KSPNormType norm;
    const Solver ksp = ksp_of(A, std::string("-ksp_type rrb ") + options);
    expect_solves(ksp);
    ok(KSPGetNormType(ksp, &norm));
    EXPECT_EQ(norm, expected) << options;
  }
}

TEST_F(RRBSolver, GivesOptionsToItsPreconditioner) {
  const Solver ksp = ksp_of(A, "-ksp_type rrb -pc_rrb_levels 5 -pc_rrb_storage naive -pc_rrb_lumping 0.5 "
                               "-pc_rrb_lump_nodes both -pc_rrb_coarse inverse -pc_rrb_precision single "
                               "-pc_rrb_compute_block 16 -pc_rrb_grid 50,43");
  PetscInt levels;
  PetscReal lumping;
  PCRRBStorage storage;
  PCRRBPrecision precision;
  expect_solves(ksp);
  ok(PCRRBGetLevels(pc_of(ksp), &levels));
  ok(PCRRBGetLumping(pc_of(ksp), &lumping));
  ok(PCRRBGetStorage(pc_of(ksp), &storage));
  ok(PCRRBGetPrecision(pc_of(ksp), &precision));
  EXPECT_EQ(levels, 5);
  EXPECT_EQ(lumping, 0.5);
  EXPECT_EQ(storage, PC_RRB_STORAGE_NAIVE);
  EXPECT_EQ(precision, PC_RRB_PRECISION_SINGLE);
}

TEST_F(RRBSolver, TakesThePreconditionerThatItWouldChoose) {
  const Solver named = ksp_of(A, "-ksp_type rrb -pc_type rrb -pc_rrb_levels 4");
  expect_solves(named);
  const Solver set = ksp_of(A, "-ksp_type rrb");
  PetscInt levels;
  ok(PCSetType(pc_of(set), PCRRB));
  ok(PCRRBSetLevels(pc_of(set), 4));
  expect_solves(set);
  ok(PCRRBGetLevels(pc_of(set), &levels));
  EXPECT_EQ(levels, 4);
  const Solver given = ksp_of(A, "-ksp_type rrb");
  const Preconditioner pc = pc_of(A, "-pc_rrb_levels 4");
  ok(KSPSetPC(given, pc));
  expect_solves(given);
  EXPECT_EQ(pc_of(given), PC(pc));
  EXPECT_EQ(solve(given, problem.b).x, solve(named, problem.b).x);
}

TEST_F(RRBSolver, RefusesAnotherPreconditioner) {
  const Vector b = vector_of(problem.b), x = like(b);
  for (const char *other : {PCJACOBI, PCNONE, PCGAMG, PCICC}) {
    const Solver by_option = ksp_of(A, std::string("-ksp_type rrb -pc_type ") + other);
    expect_refused(KSPSolve(by_option, b, x), PETSC_ERR_SUP, {"KSPRRB", other, "-pc_type rrb"});
    const Solver before = created(A), after = created(A);
    ok(PCSetType(pc_of(before), other));
    ok(KSPSetType(before, "rrb"));
    ok(KSPSetType(after, "rrb"));
    ok(PCSetType(pc_of(after), other));
    for (KSP ksp : {KSP(before), KSP(after)})
      expect_refused(KSPSetUp(ksp), PETSC_ERR_SUP, {"KSPRRB", other, "-pc_type rrb"});
  }
}

TEST_F(RRBSolver, RefusesAPreconditionerThatIsExchangedLater) {
  const Solver ksp = ksp_of(A, "-ksp_type rrb");
  expect_solves(ksp);
  ok(PCSetType(pc_of(ksp), PCJACOBI));
  const Vector b = vector_of(problem.b), x = like(b);
  expect_refused(KSPSolve(ksp, b, x), PETSC_ERR_SUP, {"jacobi", "rrb"});
  ok(PCSetType(pc_of(ksp), PCRRB));
  expect_solves(ksp);
}

TEST_F(RRBSolver, HasAWholePreconditioner) {
  for (const char *options : {"-pc_rrb_levels 6", "-pc_rrb_levels 5 -pc_rrb_storage naive",
                              "-pc_rrb_levels 8 -pc_rrb_cycle amli", "-pc_rrb_precision single"}) {
    const Solver ksp = ksp_of(A, std::string("-ksp_type rrb ") + options);
    const reference::Vector expected = applied(pc_of(A, options), problem.b);
    ok(KSPSetUp(ksp));
    EXPECT_EQ(applied(pc_of(ksp), problem.b), expected) << options;
    expect_solves(ksp);
    EXPECT_EQ(applied(pc_of(ksp), problem.b), expected) << options;
  }
}

TEST_F(RRBSolver, StandsOnTheLeft) {
  for (const char *side : {"right", "symmetric"}) {
    const Solver ksp = ksp_of(A, std::string("-ksp_type rrb -ksp_pc_side ") + side);
    EXPECT_TRUE(refused(KSPSetUp(ksp))) << side;
  }
}

TEST_F(RRBSolver, ComesAndGoes) {
  const Solver ksp = ksp_of(A, "-ksp_type rrb");
  const reference::Vector first = solve(ksp, problem.b).x;
  for (const char *other : {KSPCG, KSPGMRES, KSPPREONLY}) {
    ok(KSPSetType(ksp, other));
    EXPECT_GT(solve(ksp, problem.b).reason, 0) << other;
    ok(KSPSetType(ksp, "rrb"));
    EXPECT_EQ(solve(ksp, problem.b).x, first) << other;
  }
  const Solver never_set_up = ksp_of(A, "-ksp_type rrb"), without_a_matrix = Solver();
  ok(KSPReset(ksp));
  ok(KSPSetOperators(ksp, A, A));
  EXPECT_EQ(solve(ksp, problem.b).x, first);
}

TEST_F(RRBSolver, RefusesAMatrixAsItsPreconditionerDoes) {
  Problem skew = problem;
  skew.A.row[44][45] = -77;
  const Matrix B = matrix_of(skew);
  const Solver ksp = ksp_of(B, "-ksp_type rrb");
  expect_refused(KSPSetUp(ksp), PETSC_ERR_ARG_WRONG, {"not symmetric", "row 44"});
  ok(KSPSetOperators(ksp, A, A));
  expect_solves(ksp);
}

// Two solvers of one preconditioner, in turns.
TEST_F(RRBSolver, SharesItsPreconditioner) {
  const Solver first = ksp_of(A, "-ksp_type rrb -ksp_rtol 1e-8"), second = ksp_of(A, "-ksp_type rrb -ksp_rtol 1e-8"),
               third = ksp_of(A, "-ksp_type cg -ksp_rtol 1e-8");
  const reference::Vector alone = solve(first, problem.b).x;
  ok(KSPSetPC(second, pc_of(first)));
  ok(KSPSetPC(third, pc_of(first)));
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(solve(second, problem.b).x, alone);
    expect_solves(third);
    EXPECT_EQ(solve(first, problem.b).x, alone);
  }
}

struct Form {
  Problem problem;
  const char *options, *words;
};

TEST(RRBSolverView, NamesTheFormAndWhy) {
  const Problem five = reference::random_faces({90, 71}, 10);
  for (const Form &form :
       {Form{five, "-pc_rrb_levels 6", "on the first Schur complement, in r1/r2/b1/b2 storage"},
        {five, "-pc_rrb_levels 1", "on all nodes"},
        {reference::random_faces({90, 72, false, true}, 10), "-pc_rrb_levels 6", "on the first Schur complement"},
        {reference::random_nine_points({90, 71}, 0), "-pc_rrb_levels 6", "because the matrix is not a 5-point matrix"},
        {reference::random_faces({90, 71, false, true}, 10), "-pc_rrb_levels 6", "because red nodes couple around a "},
        {reference::isolated_cells(60, 61), "-pc_rrb_levels 6", "because the matrix has zero rows"}}) {
    const Matrix A = matrix_of(form.problem);
    const Solver ksp = ksp_of(A, std::string("-ksp_type rrb ") + form.options);
    EXPECT_NE(view(ksp).find("type: rrb"), std::string::npos); // not set up
    (void)solve(ksp, form.problem.b);
    EXPECT_NE(view(ksp).find(form.words), std::string::npos) << view(ksp);
    EXPECT_NE(view(ksp).find("memory: "), std::string::npos) << view(ksp);
  }
}

TEST(RRBSolverView, SaysThatThereAreTwoMatrices) {
  const Problem problem = reference::random_faces({60, 41}, 10);
  const Matrix A = matrix_of(problem), P = matrix_of(problem);
  const Solver ksp = ksp_of(A, "-ksp_type rrb", P);
  (void)solve(ksp, problem.b);
  EXPECT_NE(view(ksp).find("by PETSc's products"), std::string::npos) << view(ksp);
  EXPECT_NE(view(ksp).find("because the preconditioner is built from another matrix"), std::string::npos) << view(ksp);
}

TEST(RRBSolverView, InAString) {
  const Matrix A = matrix_of(reference::poisson(20));
  const Solver ksp = ksp_of(A, "-ksp_type rrb");
  char text[256] = "";
  Handle<PetscViewer, PetscViewerDestroy> viewer;
  (void)solve(ksp, reference::random_vector(400));
  ok(PetscViewerStringOpen(PETSC_COMM_SELF, text, sizeof(text), viewer.put()));
  ok(KSPView(ksp, viewer));
  EXPECT_NE(std::string(text).find("rrb"), std::string::npos) << text;
}

} // namespace
