// The RRB-solver inside of PETSc's other solvers: Newton's method, time steps, smoothers, splits, blocks.
#include "rrbsolver_support.hpp"

#include <petscsnes.h>
#include <petscts.h>

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

using Newton = WithOptions<SNES, SNESDestroy>;
using TimeSteps = WithOptions<TS, TSDestroy>;

// -Laplace u = lambda e^u on n x n points, zero on the sides.
struct Bratu {
  Matrix laplace;
  double strength;
};

Bratu bratu(int n) {
  const double h = 1.0 / (n + 1);
  return {matrix_of(reference::five_points({n, n}, reference::one, reference::one)), 5 * h * h};
}

PetscErrorCode bratu_function(SNES, Vec u, Vec f, void *context) {
  const Bratu &b = *static_cast<Bratu *>(context);
  PetscFunctionBegin;
  const Vector e = like(u);
  PetscCall(VecCopy(u, e));
  PetscCall(VecExp(e));
  PetscCall(MatMult(b.laplace, u, f));
  PetscCall(VecAXPY(f, -b.strength, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bratu_jacobian(SNES, Vec u, Mat J, Mat P, void *context) {
  const Bratu &b = *static_cast<Bratu *>(context);
  PetscFunctionBegin;
  const Vector e = like(u);
  PetscCall(VecCopy(u, e));
  PetscCall(VecExp(e));
  PetscCall(VecScale(e, -b.strength));
  PetscCall(MatCopy(b.laplace, P, SAME_NONZERO_PATTERN));
  PetscCall(MatDiagonalSet(P, e, ADD_VALUES));
  if (J != P) {
    PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Outcome {
  PetscInt newton, linear;
  SNESConvergedReason reason;
  reference::Vector u;
};

Outcome solve_bratu(const std::string &options) {
  Bratu b = bratu(65);
  Newton snes(options);
  Outcome out;
  Matrix J;
  Vector u, f;
  ok(MatDuplicate(b.laplace, MAT_COPY_VALUES, J.put()));
  ok(MatCreateVecs(J, u.put(), f.put()));
  ok(VecSet(u, 0.1));
  ok(SNESCreate(PETSC_COMM_SELF, snes.put()));
  ok(SNESSetOptionsPrefix(snes, snes.prefix()));
  ok(SNESSetFunction(snes, f, bratu_function, &b));
  ok(SNESSetJacobian(snes, J, J, bratu_jacobian, &b));
  ok(SNESSetFromOptions(snes));
  ok(SNESSolve(snes, nullptr, u));
  ok(SNESGetIterationNumber(snes, &out.newton));
  ok(SNESGetLinearSolveIterations(snes, &out.linear));
  ok(SNESGetConvergedReason(snes, &out.reason));
  out.u = values_of(u);
  return out;
}

const std::string newton_options = "-snes_rtol 1e-10 -pc_rrb_levels 8 -ksp_norm_type natural ";

TEST(RRBSolverInSNES, IsThatOfKSPCG) {
  for (const char *options :
       {"", "-snes_lag_preconditioner 3", "-snes_lag_jacobian 2", "-snes_mf_operator", "-snes_ksp_ew",
        "-snes_lag_preconditioner -2", "-snes_type ksponly", "-snes_linesearch_type l2"}) {
    SCOPED_TRACE(options);
    const Outcome result = solve_bratu(newton_options + "-ksp_type rrb " + options),
                  expected = solve_bratu(newton_options + "-ksp_type cg -pc_type rrb " + options);
    EXPECT_EQ(result.reason, expected.reason);
    EXPECT_GT(result.reason, 0);
    EXPECT_NEAR(result.newton, expected.newton, 1);
    EXPECT_NEAR(result.linear, expected.linear, expected.newton + 2);
    EXPECT_LT(largest_difference(result.u, expected.u), 1e-4);
  }
}

// u' + A u = 0, in steps that change their size: each one has new values, one to three solves.
struct Heat {
  Matrix A;
};

PetscErrorCode heat_function(TS, PetscReal, Vec u, Vec u_t, Vec f, void *context) {
  PetscFunctionBegin;
  PetscCall(MatMult(static_cast<Heat *>(context)->A, u, f));
  PetscCall(VecAXPY(f, 1.0, u_t));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode heat_jacobian(TS, PetscReal, Vec, Vec, PetscReal shift, Mat, Mat P, void *context) {
  PetscFunctionBegin;
  PetscCall(MatCopy(static_cast<Heat *>(context)->A, P, SAME_NONZERO_PATTERN));
  PetscCall(MatShift(P, shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

reference::Vector solve_heat(const std::string &options, bool nine_points, PetscInt *steps) {
  const Problem problem =
      nine_points ? reference::random_nine_points({41, 38}, 0, 0.1) : reference::random_faces({45, 38}, 10);
  Heat heat{matrix_of(problem)};
  TimeSteps ts(options + " -snes_type ksponly -ksp_rtol 1e-10 -pc_rrb_levels 6");
  Matrix J;
  ok(MatDuplicate(heat.A, MAT_COPY_VALUES, J.put()));
  const Vector u = vector_of(problem.b);
  ok(TSCreate(PETSC_COMM_SELF, ts.put()));
  ok(TSSetOptionsPrefix(ts, ts.prefix()));
  ok(TSSetIFunction(ts, nullptr, heat_function, &heat));
  ok(TSSetIJacobian(ts, J, J, heat_jacobian, &heat));
  ok(TSSetTimeStep(ts, 0.02));
  ok(TSSetMaxTime(ts, 2));
  ok(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  ok(TSSetFromOptions(ts));
  ok(TSSolve(ts, u));
  ok(TSGetStepNumber(ts, steps));
  return values_of(u);
}

TEST(RRBSolverInTS, IsThatOfKSPCG) {
  for (const bool nine : {false, true})
    for (const char *type : {"-ts_type beuler", "-ts_type cn", "-ts_type bdf -ts_bdf_order 2", "-ts_type arkimex"}) {
      PetscInt steps, expected_steps;
      SCOPED_TRACE(type);
      const reference::Vector result = solve_heat(std::string("-ksp_type rrb ") + type, nine, &steps),
                              expected =
                                  solve_heat(std::string("-ksp_type cg -pc_type rrb ") + type, nine, &expected_steps);
      EXPECT_EQ(steps, expected_steps);
      EXPECT_GT(steps, 3);
      EXPECT_LT(largest_difference(result, expected), 1e-6);
    }
}

struct Slot {
  const char *name, *options;
  int most;
};
std::ostream &operator<<(std::ostream &o, const Slot &s) { return o << s.name; }

class RRBSolverIn : public testing::TestWithParam<Slot> {};

// In each place where a KSP can be, with its own preconditioner.
TEST_P(RRBSolverIn, Slot) {
  for (const Problem &problem :
       {reference::random_faces({48, 40}, 10), reference::random_nine_points({40, 36}, 0, 0.1)}) {
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, std::string("-ksp_rtol 1e-8 ") + GetParam().options);
    for (int times = 0; times < 2; ++times) {
      const Solve result = solve(ksp, problem.b);
      EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
      EXPECT_LE(result.iterations, GetParam().most);
      EXPECT_LT(relative_residual(problem, result.x), 1e-6);
    }
    EXPECT_NE(view(ksp).find("type: rrb"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    RRBSolver, RRBSolverIn,
    testing::Values(
        Slot{"inner_solver", "-ksp_type fgmres -pc_type ksp -ksp_ksp_type rrb -ksp_pc_rrb_levels 4 -ksp_ksp_rtol 1e-3",
             6},
        Slot{"inner_steps",
             "-ksp_type fcg -pc_type ksp -ksp_ksp_type rrb -ksp_pc_rrb_levels 6 -ksp_ksp_max_it 3 "
             "-ksp_ksp_norm_type none -ksp_ksp_convergence_test skip",
             15},
        Slot{"blocks", "-ksp_type fgmres -pc_type bjacobi -pc_bjacobi_blocks 2 -sub_ksp_type rrb -sub_pc_type rrb", 45},
        Slot{"overlapping_blocks", "-ksp_type fgmres -pc_type asm -sub_ksp_type rrb -sub_pc_type rrb", 6},
        Slot{"redundant", "-ksp_type fgmres -pc_type redundant -redundant_ksp_type rrb -redundant_pc_type rrb", 6},
        Slot{"composite",
             "-ksp_type fgmres -pc_type composite -pc_composite_type multiplicative -pc_composite_pcs ksp,jacobi "
             "-sub_0_ksp_ksp_type rrb -sub_0_ksp_ksp_rtol 1e-2 -sub_0_ksp_pc_rrb_levels 6",
             15}),
    [](const auto &info) { return info.param.name; });

Problem with_sides(int nx, int ny) {
  const auto side = [=](int i, int j) { return i == 0 || i == nx - 1 || j == 0 || j == ny - 1; };
  return reference::identity_rows(reference::five_points({nx, ny}, reference::one, reference::one), side, false);
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

class RRBSolverInMultigrid : public testing::TestWithParam<Slot> {};

// A smoother takes fixed steps without a norm; it is no linear operator, hence the flexible method outside.
TEST_P(RRBSolverInMultigrid, Converges) {
  Problem problem = with_sides(65, 49);
  problem.b = reference::random_vector(problem.A.size(), 3);
  Array da;
  ok(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 65, 49, 1, 1, 1, 1, nullptr,
                  nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetVecType(da, backend.vec));
  ok(DMSetUp(da));
  Solver ksp(std::string("-ksp_type fgmres -ksp_rtol 1e-8 -pc_type mg -pc_mg_levels 3 ") + GetParam().options);
  ok(KSPCreate(PETSC_COMM_SELF, ksp.put()));
  ok(KSPSetOptionsPrefix(ksp, ksp.prefix()));
  ok(KSPSetDM(ksp, da));
  ok(KSPSetComputeOperators(ksp, fill_operator, nullptr));
  ok(KSPSetFromOptions(ksp));
  const Solve result = solve(ksp, problem.b);
  EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
  EXPECT_LE(result.iterations, GetParam().most);
  EXPECT_LT(relative_residual(problem, result.x), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(RRBSolver, RRBSolverInMultigrid,
                         testing::Values(Slot{"smoother",
                                              "-mg_levels_ksp_type rrb -mg_levels_pc_type rrb -mg_levels_ksp_max_it 2 "
                                              "-mg_levels_ksp_norm_type none -mg_levels_pc_rrb_levels 4",
                                              10},
                                         Slot{"smoother_that_stops",
                                              "-mg_levels_ksp_type rrb -mg_levels_pc_type rrb -mg_levels_ksp_max_it 4 "
                                              "-mg_levels_ksp_norm_type natural -mg_levels_ksp_rtol 0.1 "
                                              "-mg_levels_ksp_convergence_test default -mg_levels_pc_rrb_levels 4",
                                              10},
                                         Slot{"coarse",
                                              "-mg_coarse_ksp_type rrb -mg_coarse_pc_type rrb -mg_coarse_ksp_rtol 1e-4 "
                                              "-mg_levels_ksp_type richardson -mg_levels_pc_type sor",
                                              15}),
                         [](const auto &info) { return info.param.name; });

TEST(RRBSolverInFieldSplit, OfTwoFields) {
  const Problem first = reference::random_faces({40, 37}, 10), second = reference::random_nine_points({40, 37}, 0, 0.1);
  const int n = first.A.size();
  Problem both{{}, reference::Matrix(2 * n), {}, {}, {}};
  for (int p = 0; p < n; ++p) {
    for (const auto &[q, a] : first.A.row[p]) both.A.add(p, q, a);
    for (const auto &[q, a] : second.A.row[p]) both.A.add(n + p, n + q, a);
    for (const auto &[i, j] : {std::pair{p, n + p}, {n + p, p}}) both.A.add(i, i, 0.1), both.A.add(i, j, -0.1);
  }
  set_random_rhs(both);
  const Matrix A = matrix_of(both);
  for (const char *type : {"additive", "multiplicative", "symmetric_multiplicative"}) {
    const Solver ksp =
        ksp_of(A, std::string("-ksp_type fgmres -ksp_rtol 1e-8 -pc_type fieldsplit -pc_fieldsplit_type ") + type +
                      " -fieldsplit_a_ksp_type rrb -fieldsplit_b_ksp_type rrb "
                      "-fieldsplit_a_ksp_rtol 1e-4 -fieldsplit_b_ksp_rtol 1e-4");
    for (const auto &[name, start] : {std::pair{"a", 0}, {"b", n}}) {
      Handle<IS, ISDestroy> rows;
      ok(ISCreateStride(PETSC_COMM_SELF, n, start, 1, rows.put()));
      ok(PCFieldSplitSetIS(pc_of(ksp), name, rows));
    }
    const Solve result = solve(ksp, both.b);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL) << type;
    EXPECT_LT(relative_residual(both, result.x), 1e-6) << type;
    EXPECT_LE(result.iterations, 40) << type;
  }
}

} // namespace
