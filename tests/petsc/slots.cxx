// Every place where PETSc puts a preconditioner: multigrid's smoothers and coarse solver, splits, blocks, sums.
#include "known_iterations.hpp"
#include "support.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

// Nodes with the sides' Dirichlet rows kept, on which a coarser grid's nodes lie.
Problem with_sides(int nx, int ny) {
  const auto side = [=](int i, int j) { return i == 0 || i == nx - 1 || j == 0 || j == ny - 1; };
  return reference::identity_rows(reference::five_points({nx, ny}, reference::one, reference::one), side, false);
}

Array array_of(int nx, int ny, DMDAStencilType stencil = DMDA_STENCIL_STAR, int dof = 1) {
  Array da;
  ok(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, stencil, nx, ny, 1, 1, dof, 1, nullptr, nullptr,
                  da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetVecType(da, backend.vec));
  ok(DMSetUp(da));
  return da;
}

PetscErrorCode fill_operator(KSP ksp, Mat, Mat P, void *) {
  DM da;
  PetscInt nx, ny;
  PetscFunctionBegin;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetInfo(da, nullptr, &nx, &ny, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr, nullptr));
  set_values(P, with_sides(int(nx), int(ny)).A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Slot {
  const char *name, *options;
  int iterations;
};

std::ostream &operator<<(std::ostream &o, const Slot &s) { return o << s.name; }

void expect_solved(KSP ksp, const Problem &problem, int iterations) {
  const Solve result = solve(ksp, problem.b);
  EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
  expect_iterations(result.iterations, iterations);
  EXPECT_LT(relative_residual(problem, result.x), 1e-6);
}

class Multigrid : public testing::TestWithParam<Slot> {};

TEST_P(Multigrid, Converges) {
  const Problem problem = with_sides(65, 49);
  const Array da = array_of(65, 49);
  Solver ksp(std::string("-ksp_type cg -ksp_rtol 1e-8 -pc_type mg -pc_mg_levels 3 ") + GetParam().options);
  ok(KSPCreate(PETSC_COMM_SELF, ksp.put()));
  ok(KSPSetOptionsPrefix(ksp, ksp.prefix()));
  ok(KSPSetDM(ksp, da));
  ok(KSPSetComputeOperators(ksp, fill_operator, nullptr));
  ok(KSPSetFromOptions(ksp));
  expect_solved(ksp, problem, GetParam().iterations);
  EXPECT_NE(view(pc_of(ksp)).find("type: rrb"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Slots, Multigrid,
    testing::Values(Slot{"smoother", "-mg_levels_pc_type rrb -mg_levels_pc_rrb_levels 4", 12},
                    Slot{"richardson",
                         "-mg_levels_pc_type rrb -mg_levels_ksp_type richardson "
                         "-mg_levels_ksp_richardson_scale 0.6 -mg_levels_pc_rrb_levels 4",
                         5},
                    Slot{"coarse", "-mg_coarse_ksp_type preonly -mg_coarse_pc_type rrb", 6},
                    Slot{"both", "-mg_levels_pc_type rrb -mg_coarse_ksp_type preonly -mg_coarse_pc_type rrb", 10},
                    Slot{"galerkin",
                         "-mg_levels_pc_type rrb -mg_coarse_pc_type rrb -mg_coarse_ksp_type preonly "
                         "-pc_mg_galerkin both",
                         8},
                    Slot{"w_cycle", "-mg_levels_pc_type rrb -pc_mg_cycle_type w -mg_levels_pc_rrb_storage naive", 10}),
    [](const auto &info) { return info.param.name; });

// Two fields one after the other, weakly coupled point by point.
Problem two_fields(const Problem &first, const Problem &second) {
  const int n = first.A.size();
  Problem both{{}, reference::Matrix(2 * n), {}, {}, {}};
  for (int p = 0; p < n; ++p) {
    for (const auto &[q, a] : first.A.row[p]) both.A.add(p, q, a);
    for (const auto &[q, a] : second.A.row[p]) both.A.add(n + p, n + q, a);
    for (const auto &[i, j] : {std::pair{p, n + p}, {n + p, p}}) {
      both.A.add(i, i, 0.1);
      both.A.add(i, j, -0.1);
    }
  }
  set_random_rhs(both);
  return both;
}

TEST(FieldSplit, OfTwoIndexSets) {
  const Problem problem =
      two_fields(reference::random_faces({40, 37}, 10), reference::random_nine_points({40, 37}, 0.1));
  const PetscInt n = problem.A.size() / 2;
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, "-ksp_type cg -ksp_rtol 1e-8 -pc_type fieldsplit -pc_fieldsplit_type additive "
                               "-fieldsplit_a_ksp_type preonly -fieldsplit_b_ksp_type preonly "
                               "-fieldsplit_a_pc_type rrb -fieldsplit_b_pc_type rrb -fieldsplit_b_pc_rrb_levels 5 "
                               "-fieldsplit_a_pc_rrb_red_nodes plain -fieldsplit_b_pc_rrb_red_nodes plain");
  for (const auto &[name, first] : {std::pair{"a", PetscInt(0)}, {"b", n}}) {
    Handle<IS, ISDestroy> rows;
    ok(ISCreateStride(PETSC_COMM_SELF, n, first, 1, rows.put()));
    ok(PCFieldSplitSetIS(pc_of(ksp), name, rows));
  }
  expect_solved(ksp, problem, 32);
  EXPECT_NE(view(pc_of(ksp)).find("grid: 40 x 37, 9-point, from the matrix pattern"), std::string::npos);
}

// What the message about a DMDA with two unknowns a point says to do.
TEST(FieldSplit, OfADMDAWithTwoUnknownsAPoint) {
  const Problem plain = two_fields(reference::random_faces({33, 20}, 10), reference::random_faces({33, 20}, 10, 2));
  const int n = plain.A.size() / 2;
  const auto mixed = [=](int p) { return 2 * (p % n) + p / n; };
  Problem problem{{}, reference::Matrix(2 * n), reference::Vector(2 * n), {}, {}};
  for (int p = 0; p < 2 * n; ++p) {
    for (const auto &[q, a] : plain.A.row[p]) problem.A.add(mixed(p), mixed(q), a);
    problem.b[mixed(p)] = plain.b[p];
  }
  const Array da = array_of(33, 20, DMDA_STENCIL_STAR, 2);
  Matrix A;
  ok(DMCreateMatrix(da, A.put()));
  set_values(A, problem.A);
  const Solver ksp = ksp_of(A, "-ksp_type cg -ksp_rtol 1e-8 -pc_type fieldsplit -pc_fieldsplit_type additive "
                               "-fieldsplit_pc_type rrb -fieldsplit_ksp_type preonly");
  ok(PCSetDM(pc_of(ksp), da));
  expect_solved(ksp, problem, 12);
}

class Places : public testing::TestWithParam<Slot> {};

TEST_P(Places, Converge) {
  const Problem problem = reference::random_faces({48, 40}, 10);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, std::string("-ksp_type cg -ksp_rtol 1e-8 ") + GetParam().options);
  expect_solved(ksp, problem, GetParam().iterations);
  EXPECT_NE(view(pc_of(ksp)).find("type: rrb"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Slots, Places,
    testing::Values(Slot{"bjacobi", "-pc_type bjacobi -sub_pc_type rrb", 1},
                    Slot{"two_blocks", "-pc_type bjacobi -pc_bjacobi_blocks 2 -sub_pc_type rrb", 30},
                    Slot{"four_blocks", "-pc_type bjacobi -pc_bjacobi_blocks 4 -sub_pc_type rrb", 44},
                    Slot{"asm", "-pc_type asm -sub_pc_type rrb", 1},
                    Slot{"sum", "-pc_type composite -pc_composite_pcs rrb,jacobi", 14},
                    Slot{"inner_solver", "-pc_type ksp -ksp_ksp_type preonly -ksp_pc_type rrb", 1},
                    Slot{"redundant", "-pc_type redundant -redundant_ksp_type preonly -redundant_pc_type rrb", 1}),
    [](const auto &info) { return info.param.name; });

} // namespace
