// Who names the grid, and the types of matrices that are read: option, DMDA, nonzeros; aij, baij, sbaij.
#include "support.hpp"

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

bool says(PC pc, const std::string &words) { return view(pc).find(words) != std::string::npos; }

class Types : public testing::TestWithParam<const char *> {};

TEST_P(Types, AreReadAsAIJIs) {
  const Problem problem = reference::random_nine_points({31, 23}, 0.1),
                changed = reference::random_nine_points({31, 23}, 0.1, 0.2, 5);
  const Matrix A = matrix_of(problem.A, GetParam()), plain = matrix_of(problem.A, MATSEQAIJ);
  const Solver ksp = ksp_of(A, std::string(papers) + "-pc_rrb_levels 5");
  const Preconditioner reference = pc_of(plain, "-pc_rrb_levels 5");
  for (const Problem *values : {&problem, &changed, &problem}) { // a converted copy has to follow
    set_values(A, values->A);
    set_values(plain, values->A);
    const Solve result = solve(ksp, values->b);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
    EXPECT_LT(relative_residual(*values, result.x), 1e-4);
    EXPECT_EQ(applied(pc_of(ksp), values->b), applied(reference, values->b));
  }
}

INSTANTIATE_TEST_SUITE_P(Mat, Types,
                         testing::Values(MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ,
                                         MATSEQAIJPERM, MATSEQAIJCRL),
                         [](const auto &info) { return std::string(info.param); });

// Rows of both triangles in any order, with zeros among them.
TEST(Pattern, WithZerosAllAround) {
  Problem problem = reference::random_faces({20, 30}, 10);
  const reference::Vector z = applied(pc_of(matrix_of(problem)), problem.b);
  for (int p = 0; p < 600; ++p)
    for (int away : {2, 21, 40, 300})
      if (p + away < 600) problem.A.add(p, p + away, 0), problem.A.add(p + away, p, 0);
  const Preconditioner pc = pc_of(matrix_of(problem));
  EXPECT_EQ(applied(pc, problem.b), z);
  EXPECT_TRUE(says(pc, "grid: 20 x 30, 5-point, from the matrix pattern"));
}

Array array_of(std::vector<PetscInt> n, DMDAStencilType stencil, DMBoundaryType side = DM_BOUNDARY_NONE) {
  Array da;
  if (n.size() == 1) ok(DMDACreate1d(PETSC_COMM_SELF, side, n[0], 1, 1, nullptr, da.put()));
  if (n.size() == 2)
    ok(DMDACreate2d(PETSC_COMM_SELF, side, side, stencil, n[0], n[1], 1, 1, 1, 1, nullptr, nullptr, da.put()));
  if (n.size() == 3)
    ok(DMDACreate3d(PETSC_COMM_SELF, side, side, side, stencil, n[0], n[1], n[2], 1, 1, 1, 1, 1, nullptr, nullptr,
                    nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetVecType(da, backend.vec));
  ok(DMSetUp(da));
  return da;
}

// The DMDA's own matrix holds zeros wherever its stencil reaches.
Matrix matrix_of(DM da, const reference::Matrix &values) {
  Matrix A;
  ok(DMCreateMatrix(da, A.put()));
  set_values(A, values);
  return A;
}

TEST(DMDAMatrix, WithZerosOfABox) {
  for (const auto &[problem, points] : {std::pair{reference::random_faces({30, 20}, 10), "5-point"},
                                        {reference::random_nine_points({30, 20}, 0.1), "9-point"}}) {
    const Array da = array_of({30, 20}, DMDA_STENCIL_BOX);
    const Matrix A = matrix_of(da, problem.A);
    const Preconditioner pc = pc_of(A, "-pc_rrb_levels 4");
    EXPECT_EQ(applied(pc, problem.b), applied(pc_of(petsctest::matrix_of(problem), "-pc_rrb_levels 4"), problem.b));
    EXPECT_TRUE(says(pc, std::string("grid: 30 x 20, ") + points + ", from the Mat's DMDA"));
    const Preconditioner own = pc_of(petsctest::matrix_of(problem));
    ok(PCSetDM(own, da));
    ok(PCSetUp(own));
    EXPECT_TRUE(says(own, std::string("grid: 30 x 20, ") + points + ", from the PC's DMDA"));
  }
}

TEST(DMDAMatrix, OnRings) {
  const Problem problem = reference::periodic({16, 21, true, true}, 0.1);
  const Array da = array_of({16, 21}, DMDA_STENCIL_STAR, DM_BOUNDARY_PERIODIC);
  const Matrix A = matrix_of(da, problem.A);
  const Preconditioner pc = pc_of(A, "-pc_rrb_levels 4");
  EXPECT_EQ(applied(pc, problem.b), applied(pc_of(petsctest::matrix_of(problem), "-pc_rrb_levels 4"), problem.b));
  EXPECT_TRUE(says(pc, "periodic in x"));
  EXPECT_TRUE(says(pc, "periodic in y"));
}

TEST(DMDAMatrix, OfOneDimensionOrOnePlane) {
  const Problem line = reference::random_faces({40, 1}, 10), plane = reference::random_faces({12, 15}, 10);
  const Array one = array_of({40}, DMDA_STENCIL_STAR), three = array_of({12, 1, 15}, DMDA_STENCIL_STAR);
  const Matrix A = matrix_of(one, line.A), B = matrix_of(three, plane.A);
  const Preconditioner first = pc_of(A), second = pc_of(B);
  EXPECT_EQ(applied(first, line.b).size(), 40u);
  EXPECT_TRUE(says(first, "grid: 40 x 1, 5-point, from the Mat's DMDA"));
  EXPECT_EQ(applied(second, plane.b).size(), 180u);
  EXPECT_TRUE(says(second, "grid: 12 x 15, 5-point, from the Mat's DMDA"));
}

// A canal from (1, 1) to (1, 3) on 3 x 4 points is a diagonal one on 4 x 3.
Problem canal() {
  Problem problem{{3, 4}, reference::Matrix(12), reference::random_vector(12), {}, {}};
  for (int p = 0; p < 12; ++p) problem.A.add(p, p, 4);
  for (const auto &[p, q] : {std::pair{4, 7}, {7, 10}}) problem.A.add(p, q, -1), problem.A.add(q, p, -1);
  return problem;
}

TEST(Ambiguous, IsDecidedByOptionSetterOrDMDA) {
  const Problem problem = canal();
  const Matrix A = petsctest::matrix_of(problem);
  const Preconditioner undecided = pc_of(A);
  EXPECT_TRUE(refused(PCSetUp(undecided)));
  EXPECT_EQ(raised.code, PETSC_ERR_ARG_WRONG);
  for (const char *word : {"Several grids fit", "3 x 4 (5 points)", "4 x 3 (9 points", "DMDA"})
    EXPECT_NE(raised.message.find(word), std::string::npos) << raised.message;
  EXPECT_NE(raised.message.find(std::string("-") + undecided.prefix() + "pc_rrb_grid"), std::string::npos)
      << raised.message;
  ok(PCRRBSetGrid(undecided, 4, 3));
  ok(PCSetUp(undecided));
  EXPECT_TRUE(says(undecided, "grid: 4 x 3, 9-point, from the option"));
  const Preconditioner option = pc_of(A, "-pc_rrb_grid 3,4");
  ok(PCSetUp(option));
  EXPECT_TRUE(says(option, "grid: 3 x 4, 5-point, from the option"));
  const Array da = array_of({3, 4}, DMDA_STENCIL_STAR);
  const Preconditioner dm = pc_of(A);
  ok(PCSetDM(dm, da));
  ok(PCSetUp(dm));
  EXPECT_TRUE(says(dm, "grid: 3 x 4, 5-point, from the PC's DMDA"));
  ok(MatSetDM(A, da));
  const Preconditioner mat = pc_of(A);
  ok(PCSetUp(mat));
  EXPECT_TRUE(says(mat, "grid: 3 x 4, 5-point, from the Mat's DMDA"));
}

// The option goes before the DM. A DM of another size, or no DMDA, is passed over.
TEST(Order, OfWhoIsAsked) {
  const Problem problem = reference::random_faces({18, 12}, 10);
  const Matrix A = petsctest::matrix_of(problem);
  const Array fitting = array_of({18, 12}, DMDA_STENCIL_STAR), coarser = array_of({9, 6}, DMDA_STENCIL_STAR),
              turned = array_of({12, 18}, DMDA_STENCIL_STAR);
  const auto source = [&](DM of_pc, const char *options) {
    const Preconditioner pc = pc_of(A, options);
    if (of_pc) ok(PCSetDM(pc, of_pc));
    ok(PCSetUp(pc));
    EXPECT_TRUE(says(pc, "grid: 18 x 12, 5-point, from the ")) << view(pc);
    const std::string text = view(pc);
    const auto from = text.find("from the ") + 9;
    return text.substr(from, text.find('\n', from) - from);
  };
  Array shell;
  ok(DMShellCreate(PETSC_COMM_SELF, shell.put()));
  EXPECT_EQ(source(fitting, "-pc_rrb_grid 18,12"), "option");
  EXPECT_EQ(source(fitting, ""), "PC's DMDA");
  EXPECT_EQ(source(coarser, ""), "matrix pattern");
  EXPECT_EQ(source(shell, ""), "matrix pattern");
  EXPECT_EQ(source(turned, ""), "matrix pattern"); // of the same size, but it does not fit
  ok(MatSetDM(A, fitting));
  EXPECT_EQ(source(coarser, ""), "Mat's DMDA");
  EXPECT_EQ(source(nullptr, ""), "Mat's DMDA");
}

// The grid of the preconditioner comes from Pmat, whatever Amat is.
TEST(Order, PmatAndNotAmat) {
  const Problem problem = reference::random_nine_points({20, 22}, 0.1);
  const Matrix P = petsctest::matrix_of(problem);
  Matrix A;
  ok(MatConvert(P, MATDENSE, MAT_INITIAL_MATRIX, A.put()));
  const Solver ksp = ksp_of(A, papers, P);
  const Solve result = solve(ksp, problem.b);
  EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
  EXPECT_LT(relative_residual(problem, result.x), 1e-4);
}

} // namespace
