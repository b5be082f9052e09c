// Matrices with 27 points: who finds their grid, and who says that it does not take them.
#include "blockrelax_support.hpp"

using namespace petsctest;
using mic_support::uneven;

namespace {

const Shape open{4, 5, 6, false, false, false, 27}, around{4, 6, 5, true, false, true, 27};

Array array_of(const Shape &s) {
  const auto side = [](bool periodic) { return periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE; };
  Array da;
  ok(DMDACreate3d(PETSC_COMM_SELF, side(s.px), side(s.py), side(s.pz), DMDA_STENCIL_BOX, s.nx, s.ny, s.nz, 1, 1, 1, 1,
                  1, nullptr, nullptr, nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetUp(da));
  return da;
}

std::string line_of(const Shape &s, const std::string &source) {
  return "grid: " + std::to_string(s.nx) + " x " + std::to_string(s.ny) + " x " + std::to_string(s.nz) +
         ", 27-point, from the " + source + "\n";
}

// Blocks of planes are those of PETSc's block Jacobi.
void expect_planes(PC pc, const reference::Matrix &A, const Shape &s) {
  const OnTheHost host;
  const Matrix P = matrix_of(A);
  const Solver ksp = ksp_of(P, "-ksp_type preonly -pc_type bjacobi -sub_pc_type lu");
  const std::vector<PetscInt> planes(std::size_t(s.nz), s.nx * s.ny);
  const reference::Vector r = random_values(std::size_t(s.size()));
  ok(PCBJacobiSetTotalBlocks(pc_of(ksp), PetscInt(planes.size()), planes.data()));
  ok(KSPSetUp(ksp));
  const reference::Vector z = applied(pc_of(ksp), r);
  const Vector x = vector_of(r, PETSC_COMM_SELF, VECSTANDARD), y = like(x);
  ok(PCApply(pc, x, y));
  EXPECT_LT(largest_difference(values_of(y), z), 1e-11) << words(s);
}

const std::string planes = "-pc_blockrelax_omega 1 -pc_blockrelax_block_size 9,9,1 ";

TEST(BlockRelaxBox, IsThatOfADMDA) {
  for (const Shape &s : {open, around}) {
    const reference::Matrix values = reference_of(uneven(s));
    const Array da = array_of(s);
    Matrix A;
    ok(DMCreateMatrix(da, A.put()));
    set_values(A, values);
    const Preconditioner pc = relax_of(A, planes);
    expect_planes(pc, values, s);
    EXPECT_NE(view(pc).find(line_of(s, "Mat's DMDA")), std::string::npos) << view(pc);
  }
}

TEST(BlockRelaxBox, IsFoundAndGiven) {
  for (const Shape &s : {open, around}) {
    const reference::Matrix values = reference_of(uneven(s));
    const Matrix A = matrix_of(values);
    const std::string sizes = std::to_string(s.nx) + "," + std::to_string(s.ny) + "," + std::to_string(s.nz);
    const Preconditioner found = relax_of(A, planes), given = relax_of(A, planes + "-pc_blockrelax_grid " + sizes);
    expect_planes(found, values, s);
    expect_planes(given, values, s);
    EXPECT_NE(view(found).find(line_of(s, "matrix pattern")), std::string::npos) << view(found);
    EXPECT_NE(view(given).find(line_of(s, "option")), std::string::npos) << view(given);
  }
}

TEST(BlockRelaxBox, IsNotForTheOthers) {
  const auto expect = [](PC pc, const char *word) {
    EXPECT_TRUE(refused(PCSetUp(pc))) << word;
    EXPECT_NE(raised.message.find(word), std::string::npos) << word << "\n is not in: " << raised.message;
  };
  const Matrix A = matrix_of(reference_of(uneven(open)));
  const char stars[] = "Its stencils have 27 points, but this preconditioner takes only 7-point";
  expect(pc_of(A, "-pc_type mic"), stars);
  expect(pc_of(A, "-pc_type mic -pc_mic_grid 4,5,6"), stars);
  expect(pc_of(A, "-pc_type neumann -pc_neumann_grid 4,5,6"), stars);
  expect(pc_of(A), "It is a 3D matrix on 4 x 5 x 6 points, but this preconditioner is for 2D");
  const Preconditioner any = pc_of(A, "-pc_type neumann"); // which does without a grid
  ok(PCSetUp(any));
}

// Coarse matrices that are Galerkin's have 27 points.
TEST(BlockRelaxBox, SmoothsOnGalerkinsLevels) {
  reference::Problem problem = cube(17, 3, 0);
  Array da;
  ok(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 17, 17, 17,
                  1, 1, 1, 1, 1, nullptr, nullptr, nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetVecType(da, backend.vec)); // PETSc's multigrid with vectors elsewhere does not converge as it should
  ok(DMSetUp(da));
  for (const char *type : {"jacobi", "coloured"}) {
    Matrix A;
    ok(DMCreateMatrix(da, A.put()));
    set_values(A, problem.A);
    const Solver ksp =
        ksp_of(A, std::string("-ksp_type fgmres -ksp_rtol 1e-8 -pc_type mg -pc_mg_levels 3 -pc_mg_galerkin pmat "
                              "-mg_coarse_pc_type lu -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 "
                              "-mg_levels_pc_type blockrelax -mg_levels_pc_blockrelax_block_size 4,4,4 "
                              "-mg_levels_pc_blockrelax_type ") +
                      type);
    ok(PCSetDM(pc_of(ksp), da));
    const Solve done = solve(ksp, problem.b);
    EXPECT_GT(done.reason, 0) << type;
    EXPECT_LE(done.iterations, 9) << type;
    EXPECT_NE(view(ksp).find("grid: 9 x 9 x 9, 27-point, from the "), std::string::npos) << view(ksp);
  }
}

} // namespace
