// What is refused: the right error code, and a message that names the row, the reason and what to do.
#include "support.hpp"

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

void expect_raised(PetscErrorCode result, PetscErrorCode code, const std::vector<std::string> &words) {
  EXPECT_TRUE(refused(result));
  EXPECT_EQ(raised.code, code) << raised.message;
  for (const std::string &word : words)
    EXPECT_NE(raised.message.find(word), std::string::npos) << word << "\n is not in: " << raised.message;
  raised = {};
}

void expect_refused(Mat A, PetscErrorCode code, const std::vector<std::string> &words,
                    const std::string &options = "") {
  const Preconditioner pc = pc_of(A, options);
  expect_raised(PCSetUp(pc), code, words);
}

void expect_refused(const Problem &problem, PetscErrorCode code, const std::vector<std::string> &words,
                    const std::string &options = "") {
  const Matrix A = matrix_of(problem.A);
  expect_refused(A, code, words, options);
}

Problem ten_by_nine() { return reference::random_faces({10, 9}, 10); }

TEST(Refused, WhatIsNoStencil) {
  Problem problem = ten_by_nine();
  problem.A.add(23, 61, -0.5), problem.A.add(61, 23, -0.5);
  expect_refused(problem, PETSC_ERR_ARG_WRONG,
                 {"No 2D grid with 5 or 9 points fits", "row 23 couples with column 61", "(3, 2)", "(1, 6)",
                  "pc_rrb_grid", "-pc_type gamg"});
  Problem random{{}, reference::Matrix(50), {}, {}, {}};
  reference::Random number(3);
  for (int p = 0; p < 50; ++p) {
    random.A.add(p, p, 10);
    for (int k = 0; k < 3; ++k) {
      const int q = int(50 * number());
      random.A.add(p, q, -0.1), random.A.add(q, p, -0.1);
    }
  }
  expect_refused(random, PETSC_ERR_ARG_WRONG, {"not on a structured grid", "row ", "column ", "-pc_type gamg"});
}

TEST(Refused, ThirteenPoints) { // second neighbours: a wider stencil than is read
  Problem problem = ten_by_nine();
  for (int p = 0; p < 90; ++p)
    if (p % 10 < 8) problem.A.add(p, p + 2, -0.01), problem.A.add(p + 2, p, -0.01);
  expect_refused(problem, PETSC_ERR_ARG_WRONG, {"row 0 ", "-pc_type gamg"});
}

TEST(Refused, ThreeDimensions) {
  reference::Matrix A(4 * 5 * 6);
  for (int p = 0; p < 120; ++p) {
    A.add(p, p, 6);
    for (const auto &[there, step] : {std::pair{p % 4 < 3, 1}, {p / 4 % 5 < 4, 4}, {p / 20 < 5, 20}})
      if (there) A.add(p, p + step, -1), A.add(p + step, p, -1);
  }
  const Matrix plain = matrix_of(A);
  expect_refused(plain, PETSC_ERR_ARG_WRONG, {"It is a 3D matrix on 4 x 5 x 6 points", "2D", "-pc_type gridmg"});
  Array da;
  ok(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 4, 5, 6, 1,
                  1, 1, 1, 1, nullptr, nullptr, nullptr, da.put()));
  ok(DMSetUp(da));
  ok(MatSetDM(plain, da));
  expect_refused(plain, PETSC_ERR_SUP, {"the DMDA is 3D, 4 x 5 x 6", "-pc_type gridmg"});
}

TEST(Refused, Nonsymmetric) {
  Problem problem = ten_by_nine();
  problem.A.row[44][45] = -0.625;
  problem.A.row[45][44] = -0.25;
  expect_refused(problem, PETSC_ERR_ARG_WRONG,
                 {"not symmetric", "row 44 at (4, 4), column 45 at (5, 4) holds -0.625",
                  "the transposed entry is -0.25", "1e-10", "-ksp_type gmres"});
  problem = ten_by_nine();
  problem.A.row[44].erase(45);
  expect_refused(problem, PETSC_ERR_ARG_WRONG, {"not symmetric", "row 44", "column 45", "holds 0"});
}

TEST(Refused, NotFinite) {
  for (const auto &[row, column] : {std::pair{31, 31}, {31, 32}, {31, 41}})
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      Problem problem = ten_by_nine();
      problem.A.row[row][column] = bad;
      const std::vector<std::string> words{"not finite", "row 31", "column " + std::to_string(column)};
      expect_refused(problem, PETSC_ERR_ARG_WRONG, words);
      expect_refused(problem, PETSC_ERR_ARG_INCOMP, words, "-pc_rrb_grid 10,9");
    }
}

TEST(Refused, GridsThatDoNotFit) {
  const Problem problem = ten_by_nine();
  const Matrix A = matrix_of(problem);
  const auto expect_no = [&](const char *sizes, const std::vector<std::string> &words) {
    const Preconditioner pc = pc_of(A, std::string("-pc_rrb_grid ") + sizes);
    std::vector<std::string> all = words;
    all.push_back(std::string("-") + pc.prefix() + "pc_rrb_grid");
    expect_raised(PCSetUp(pc), PETSC_ERR_ARG_INCOMP, all);
    ok(PCRRBSetGrid(pc, 10, 9));
    ok(PCSetUp(pc));
  };
  expect_no("10,10", {"10 x 10", "90 rows"});
  expect_no("9,10", {"does not fit", "row ", "column ", "10 x 9"});
  expect_no("15,6", {"does not fit", "row ", "10 x 9"});
  expect_no("90,1", {"does not fit", "row ", "10 x 9"});
}

TEST(Refused, TwoUnknownsAPoint) {
  Array da;
  Matrix A;
  ok(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 8, 7, 1, 1, 2, 1, nullptr,
                  nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetUp(da));
  ok(DMCreateMatrix(da, A.put()));
  ok(MatShift(A, 1));
  expect_refused(A, PETSC_ERR_SUP, {"-pc_type rrb takes one unknown per grid point", "dof = 2", "-pc_type fieldsplit"});
}

TEST(Refused, TypesThatHoldNoRows) {
  const Problem problem = ten_by_nine();
  const Matrix A = matrix_of(problem);
  Matrix shell, dense, nest;
  Mat blocks[] = {A, nullptr, nullptr, A};
  ok(MatCreateShell(PETSC_COMM_SELF, 90, 90, 90, 90, nullptr, shell.put()));
  expect_refused(shell, PETSC_ERR_SUP, {"type shell", "aij", "-snes_mf_operator"});
  ok(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, dense.put()));
  expect_refused(dense, PETSC_ERR_SUP, {"dense", "aij"});
  ok(MatCreateNest(PETSC_COMM_SELF, 2, nullptr, 2, nullptr, blocks, nest.put()));
  expect_refused(nest, PETSC_ERR_SUP, {"type nest", "aij"});
}

TEST(Refused, Rectangles) {
  Matrix A;
  ok(MatCreateSeqAIJ(PETSC_COMM_SELF, 90, 80, 1, nullptr, A.put()));
  ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  expect_refused(A, PETSC_ERR_ARG_SIZ, {"square", "90 rows and 80 columns"});
}

TEST(Taken, NothingAtAll) {
  Matrix A;
  ok(MatCreateSeqAIJ(PETSC_COMM_SELF, 0, 0, 0, nullptr, A.put()));
  ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  for (const char *type : {"-ksp_type cg -pc_type rrb", "-ksp_type rrb", "-ksp_type rrb -ksp_norm_type none"}) {
    const Vector b = vector_of({}), x = like(b);
    const Solver ksp = ksp_of(A, type);
    for (int i = 0; i < 2; ++i) {
      KSPConvergedReason reason;
      ok(KSPSolve(ksp, b, x));
      ok(KSPGetConvergedReason(ksp, &reason));
      EXPECT_GT(reason, 0) << type;
    }
    EXPECT_FALSE(view(ksp).empty());
  }
}

// What two entries across the diagonal may differ by is of their own rows, whatever others hold.
TEST(Refused, NonsymmetricBesideLargeRows) {
  Problem problem = ten_by_nine();
  problem.A.row[12][12] = 1e300;
  problem.A.row[45][44] = 0.5 * problem.A.row[44][45];
  const Matrix A = matrix_of(problem.A);
  const std::string cg = "-ksp_type cg -pc_type ";
  const std::string all[] = {"-ksp_type rrb",
                             "-ksp_type rrb -pc_type gridmg",
                             cg + "rrb",
                             cg + "gridmg",
                             cg + "mic",
                             cg + "neumann",
                             cg + "neumann -pc_neumann_type poisson",
                             cg + "neumann -pc_neumann_type poisson -pc_neumann_drop threshold",
                             cg + "blockrelax -pc_blockrelax_block_size 5,3,1",
                             cg + "blockrelax -pc_blockrelax_block_size 90,1",
                             cg + "none -ksp_deflation block"};
  for (const std::string &options : all) {
    SCOPED_TRACE(options);
    expect_raised(KSPSetUp(ksp_of(A, options)), PETSC_ERR_ARG_WRONG, {"not symmetric", "44"});
  }
}

TEST(Refused, NullVectorsOfAnotherLength) {
  const Matrix A = matrix_of(ten_by_nine());
  const Vector v = vector_of(reference::Vector(80, 1));
  const Vec basis = v;
  Handle<MatNullSpace, MatNullSpaceDestroy> space;
  ok(VecNormalize(v, nullptr));
  ok(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, 1, &basis, space.put()));
  ok(MatSetNearNullSpace(A, space));
  expect_refused(A, PETSC_ERR_ARG_SIZ, {"length 80", "90 rows"});
}

// Values that go bad later are refused then, and good ones are taken again.
TEST(Refused, AtARefresh) {
  Problem good = ten_by_nine();
  good.A.add(23, 61, 0), good.A.add(61, 23, 0);
  const Matrix A = matrix_of(good);
  const Preconditioner pc = pc_of(A);
  const reference::Vector z = applied(pc, good.b);
  Problem skew = good, bad = good, far = good;
  skew.A.row[44][45] = -77;
  bad.A.row[44][44] = std::nan("");
  far.A.add(23, 61, -0.5), far.A.add(61, 23, -0.5);
  for (const auto &[problem, words] : {std::pair{skew, std::vector<std::string>{"not symmetric", "row 44"}},
                                       {bad, {"not finite", "row 44"}},
                                       {far, {"No 2D grid", "row 23 couples with column 61"}}}) {
    set_values(A, problem.A);
    expect_raised(PCSetUp(pc), PETSC_ERR_ARG_WRONG, words);
    set_values(A, good.A);
    EXPECT_EQ(applied(pc, good.b), z);
  }
}

// A refused matrix may be gone when the next one comes, and when the PC goes.
TEST(Refused, AndForgotten) {
  const Problem good = ten_by_nine();
  Problem skew = good;
  skew.A.row[44][45] = -77;
  Preconditioner pc;
  {
    const Matrix A = matrix_of(skew.A);
    pc = pc_of(A);
    expect_raised(PCSetUp(pc), PETSC_ERR_ARG_WRONG, {"not symmetric"});
  }
  {
    const Matrix A = matrix_of(good);
    ok(PCSetOperators(pc, A, A));
  }
  EXPECT_EQ(applied(pc, good.b), applied(pc_of(matrix_of(good)), good.b));
  {
    const Matrix A = matrix_of(skew.A);
    ok(PCSetOperators(pc, A, A));
  }
  expect_raised(PCSetUp(pc), PETSC_ERR_ARG_WRONG, {"not symmetric"});
  {
    const Matrix A = matrix_of(good.A, MATSEQSBAIJ); // of the host, also where the others are a device's
    ok(PCSetOperators(pc, A, A));
  }
  EXPECT_LT(largest_difference(applied(pc, good.b), applied(pc_of(matrix_of(good)), good.b)), 1e-13);
}

// Small differences between a_ij and a_ji are rounding, and the mean is used.
TEST(Taken, WithTinyAsymmetries) {
  Problem problem = ten_by_nine();
  const reference::Vector z = applied(pc_of(matrix_of(problem)), problem.b);
  for (int p = 0; p < 89; ++p)
    if (p % 10 < 9) problem.A.row[p][p + 1] *= 1 + 1e-13;
  EXPECT_LT(largest_difference(applied(pc_of(matrix_of(problem)), problem.b), z), 1e-11);
}

} // namespace
