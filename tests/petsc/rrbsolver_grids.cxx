// The RRB-solver in 3D: around PCGRIDMG it is conjugate gradients, on the black points or on all.
#include "rrbsolver_support.hpp"

#include "reference/gridmg_reference.hpp"
#include "reference/problems3d.hpp"

#include <cmath>

using namespace petsctest;
using reference::Grid3D;
using reference::Problem3D;

namespace {

struct Case {
  std::string name;
  Problem3D problem;
  const char *form; // with red-black points
};
std::ostream &operator<<(std::ostream &o, const Case &c) { return o << c.name; }

const char schur[] = "on the first Schur complement, of the black points", all[] = "on all nodes, fused",
           unfused[] = "on all nodes, by PETSc's products";

reference::Problem of(const Problem3D &p) { return {{}, p.A, p.b, p.v, p.null_space}; }

std::string grid_of(const Problem3D &p) {
  return " -pc_gridmg_grid " + std::to_string(p.grid.n[0]) + "," + std::to_string(p.grid.n[1]) + "," +
         std::to_string(p.grid.n[2]) + " ";
}

// Random, but where a row knows its value by itself; and with the equations of all red points, if asked for.
reference::Vector guess(const Problem3D &p, bool red_rows) {
  const int nx = p.grid.n[0], ny = p.grid.n[1];
  reference::Vector x = reference::random_vector(p.A.size(), 3);
  const auto solve_row = [&](int row) {
    x[row] = p.b[row];
    for (const auto &[q, a] : p.A.row[row])
      if (q != row) x[row] -= a * x[q];
    x[row] /= p.A.at(row, row);
  };
  for (int row = 0; row < p.A.size(); ++row)
    if (p.A.row[row].size() == 1 && p.A.at(row, row) > 0) solve_row(row);
  for (int row = 0; row < p.A.size(); ++row)
    if (red_rows && (row % nx + row / nx % ny + row / nx / ny) % 2 == 0 && p.A.at(row, row) > 0) solve_row(row);
  return x;
}

std::vector<Case> cases() {
  using namespace reference;
  const auto random = [](int x, int y, int z, bool rx, bool ry, bool rz, double excess = 0.1, double missing = 0) {
    return random_couplings(Grid3D{{x, y, z}, {rx, ry, rz}}, 20, excess, missing);
  };
  return {{"poisson", problem3d("poisson", 12), schur},
          {"neumann", problem3d("neumann", 12), schur},
          {"identity_rows", problem3d("identity rows", 12), schur},
          {"bubbles", problem3d("bubbles 1e3", 13), schur},
          {"random", random(9, 8, 7, false, false, false), schur},
          {"odd_sizes", random(11, 9, 5, false, false, false), schur},
          {"rings", random(10, 8, 6, true, true, true), schur},
          {"singular_ring", random(9, 8, 7, false, true, false, 0), schur},
          {"odd_rings", random(9, 7, 6, true, true, true), all},
          {"components", random(9, 8, 7, false, false, false, 1, 0.4), unfused}, // and rows of zeros
          {"flat", random(21, 18, 1, false, false, false), schur},
          {"tiny", random(3, 2, 2, false, false, false), all},
          {"one_line", random(17, 1, 1, false, false, false), all}};
}

class Grids : public testing::TestWithParam<Shared<Case>> {
protected:
  const Problem3D &problem = GetParam()->problem;
  const Matrix A = matrix_of(of(problem));
  const std::string common = grid_of(problem) + "-pc_type gridmg -pc_gridmg_coarse_size 20 -ksp_rtol 1e-8 ";

  Solver rrb_of(const std::string &options) { return ksp_of(A, "-ksp_type rrb " + common + options); }
  Solver cg_of(const std::string &options) { return ksp_of(A, "-ksp_type cg " + common + options); }
  std::string form(const std::string &options) {
    const bool points = options.find("lines") == std::string::npos;
    return std::string("conjugate gradients: ") + (points || GetParam()->form == unfused ? GetParam()->form : all);
  }
};

constexpr const char *choices[] = {
    "-pc_gridmg_smoother points -pc_gridmg_precision double ",
    "-pc_gridmg_smoother points -pc_gridmg_precision single ",
    "-pc_gridmg_smoother points -pc_gridmg_smooths 2 -pc_gridmg_precision double ",
    "-pc_gridmg_smoother points -pc_gridmg_coarsening semi -pc_gridmg_precision double ",
    "-pc_gridmg_smoother lines -pc_gridmg_precision double ",
};

// From a guess with which the red rows hold; from others they are mostly within one.
TEST_P(Grids, AreThoseOfKSPCG) {
  const reference::Vector x0 = guess(problem, true);
  for (const std::string options : choices)
    for (const std::string norm : {"natural", "unpreconditioned", "preconditioned"}) {
      SCOPED_TRACE(options + norm);
      const bool single = options.find("single") != std::string::npos;
      if (norm == "preconditioned" && !problem.null_space.empty()) continue; // KSPCG's is without the null space
      const Solver ksp = rrb_of(options + "-ksp_norm_type " + norm);
      const Recorded own = recorded(ksp, problem.b, x0);
      const Recorded cg = recorded(cg_of(options + "-ksp_norm_type " + norm), problem.b, x0);
      EXPECT_NE(view(ksp).find(form(options)), std::string::npos) << view(ksp);
      EXPECT_EQ(own.reason, cg.reason);
      EXPECT_NEAR(own.iterations, cg.iterations, single ? 1 : 0);
      for (std::size_t k = 0; k < std::min({own.history.size(), cg.history.size(), std::size_t(8)}); ++k)
        EXPECT_NEAR(own.history[k], cg.history[k],
                    (single ? 1e-2 : 1e-7) * cg.history[k] + (single ? 1e-7 : 1e-13) * cg.history[0])
            << k;
      EXPECT_LT(largest_difference(own.x, cg.x), 1e-5);
    }
}

// From any guess the residual is the true one.
TEST_P(Grids, StartAnywhere) {
  const reference::Vector x0 = guess(problem, false);
  for (const std::string options : choices) {
    SCOPED_TRACE(options);
    const Solver ksp = rrb_of(options + "-ksp_norm_type unpreconditioned");
    const Recorded result = recorded(ksp, problem.b, x0);
    EXPECT_GT(result.reason, 0);
    for (const auto &[x, norm] : {std::pair{x0, result.history.front()}, {result.x, result.history.back()}}) {
      reference::Vector r = problem.A.multiply(x);
      for (std::size_t p = 0; p < r.size(); ++p) r[p] = problem.b[p] - r[p];
      EXPECT_NEAR(reference::norm(r), norm, 1e-4 * norm + 1e-11 * result.history.front());
    }
    const Recorded again = recorded(ksp, problem.b, x0);
    EXPECT_EQ(again.history, result.history);
    EXPECT_EQ(again.x, result.x);
  }
}

// A monitor that builds solutions and uses the preconditioner itself.
struct Seen {
  std::vector<reference::Vector> solutions;
  reference::Vector norms;
};
PetscErrorCode watch(KSP ksp, PetscInt, PetscReal norm, void *context) {
  Seen &seen = *static_cast<Seen *>(context);
  Vec b;
  PC pc;
  PetscFunctionBegin;
  PetscCall(KSPGetRhs(ksp, &b));
  const Vector x = like(b), z = like(b);
  PetscCall(KSPBuildSolution(ksp, x, nullptr));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCApply(pc, b, z));
  seen.solutions.push_back(values_of(x));
  seen.norms.push_back(norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_P(Grids, MayBeWatched) {
  for (const std::string options : choices) {
    SCOPED_TRACE(options);
    const Recorded alone = recorded(rrb_of(options + "-ksp_norm_type unpreconditioned"), problem.b);
    const Solver ksp = rrb_of(options + "-ksp_norm_type unpreconditioned");
    Seen seen;
    ok(KSPMonitorSet(ksp, watch, &seen, nullptr));
    const Recorded watched = recorded(ksp, problem.b);
    EXPECT_EQ(watched.history, alone.history);
    EXPECT_EQ(watched.x, alone.x);
    for (std::size_t k = 0; k < seen.norms.size(); ++k) {
      reference::Vector r = problem.A.multiply(seen.solutions[k]);
      for (std::size_t p = 0; p < r.size(); ++p) r[p] = problem.b[p] - r[p];
      EXPECT_NEAR(reference::norm(r), seen.norms[k], 1e-4 * seen.norms[k] + 1e-11 * seen.norms[0]) << k;
    }
  }
}

TEST_P(Grids, FollowNewValues) {
  reference::Matrix doubled = problem.A;
  for (int p = 0; p < doubled.size(); ++p)
    for (auto &[q, a] : doubled.row[p]) a *= 2 + (doubled.row[p].size() > 1) * 1e-3 * (p == q);
  for (const std::string options : choices) {
    SCOPED_TRACE(options);
    const Matrix B = matrix_of(of(problem)), fresh = matrix_of(doubled);
    const Solver ksp = ksp_of(B, "-ksp_type rrb " + common + options);
    (void)solve(ksp, problem.b);
    set_values(B, doubled);
    ok(MatSetNullSpace(B, nullptr));
    const Recorded result = recorded(ksp, problem.b),
                   expected = recorded(ksp_of(fresh, "-ksp_type rrb " + common + options), problem.b);
    EXPECT_EQ(result.history, expected.history);
    EXPECT_EQ(result.x, expected.x);
    // a preconditioner that is kept
    ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    set_values(B, problem.A);
    set_null_spaces(B, of(problem));
    const Recorded kept = recorded(ksp, problem.b);
    EXPECT_GT(kept.reason, 0);
    const reference::Vector Ax = problem.A.multiply(kept.x);
    EXPECT_LT(largest_difference(Ax, problem.b), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(RRBSolver, Grids, testing::ValuesIn(shared(cases())),
                         [](const auto &info) { return info.param->name; });

const Grid3D box{{10, 9, 8}, {false, false, false}};

// With the slow method.
TEST(RRBSolverIn3D, IsTheReference) {
  const Problem3D problem = reference::random_couplings(box, 3, 0.1);
  const Matrix A = matrix_of(problem.A);
  const reference::Vector x0 = guess(problem, true);
  reference::Vector r = problem.A.multiply(x0);
  for (std::size_t p = 0; p < r.size(); ++p) r[p] = problem.b[p] - r[p];
  reference::GridMGOptions o;
  o.coarse_size = 20;
  const reference::GridMG M(problem.A, box, o);
  reference::CGResult expected = reference::cg(
      problem.A, r, [&](const reference::Vector &v) { return M.apply(v); }, reference::Norm::natural, 0, 9);
  for (std::size_t p = 0; p < r.size(); ++p) expected.x[p] += x0[p];
  const Recorded result = recorded(ksp_of(A, "-ksp_type rrb -pc_type gridmg -ksp_rtol 1e-30 -ksp_max_it 9 "
                                             "-pc_gridmg_coarse_size 20 -pc_gridmg_precision double"),
                                   problem.b, x0);
  expect_near(result.history, expected.history, 1e-8);
  EXPECT_LT(largest_difference(result.x, expected.x), 1e-10);
}

PCType type_of(KSP ksp) {
  PCType type;
  ok(PCGetType(pc_of(ksp), &type));
  return type;
}

TEST(RRBSolverIn3D, ChoosesItsPreconditioner) {
  const Problem3D solid = reference::random_couplings(box, 3, 0.1);
  const reference::Problem flat = reference::poisson(20);
  const Matrix A = matrix_of(solid.A), B = matrix_of(flat.A);
  const Solver in_3d = ksp_of(A, "-ksp_type rrb -pc_gridmg_coarse_size 30"), in_2d = ksp_of(B, "-ksp_type rrb"),
               named = ksp_of(B, "-ksp_type rrb -pc_type gridmg");
  EXPECT_GT(solve(in_3d, solid.b).reason, 0);
  EXPECT_STREQ(type_of(in_3d), PCGRIDMG);
  EXPECT_GT(solve(in_2d, flat.b).reason, 0);
  EXPECT_STREQ(type_of(in_2d), PCRRB);
  EXPECT_GT(solve(named, flat.b).reason, 0);
  EXPECT_STREQ(type_of(named), PCGRIDMG);
}

// What was made for the old one must not be taken for the new one's. Their numbers would meet where this runs alone.
TEST(RRBSolverIn3D, MayGetAPreconditionerOfTheOtherType) {
  const reference::Problem flat = reference::poisson(100);
  const Matrix A = matrix_of(flat);
  const Solver ksp = ksp_of(A, "-ksp_type rrb");
  for (const char *type : {PCRRB, PCGRIDMG, PCRRB, PCGRIDMG}) {
    ok(PCSetType(pc_of(ksp), type));
    ok(PCRRBSetPrecision(pc_of(ksp), PC_RRB_PRECISION_DOUBLE)); // as the options of `fresh` have it
    const Solve changed = solve(ksp, flat.b);
    const Solver fresh = ksp_of(A, std::string("-ksp_type rrb -pc_type ") + type);
    EXPECT_EQ(changed.reason, KSP_CONVERGED_RTOL) << type;
    EXPECT_LT(relative_residual(flat, changed.x), 1e-4) << type;
    EXPECT_EQ(changed.x, solve(fresh, flat.b).x) << type;
  }
}

TEST(RRBSolverIn3D, RefusesAMatrixWithoutEntries) {
  Matrix shell;
  ok(MatCreateShell(PETSC_COMM_SELF, 720, 720, 720, 720, nullptr, shell.put()));
  const Solver ksp = ksp_of(shell, "-ksp_type rrb");
  EXPECT_TRUE(refused(KSPSetUp(ksp)));
  EXPECT_EQ(raised.code, PETSC_ERR_SUP);
  EXPECT_NE(raised.message.find("shell"), std::string::npos) << raised.message;
  raised = {};
}

TEST(RRBSolverIn3D, AsksADMDA) {
  Array da;
  Matrix A;
  ok(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 10, 9, 8, 1,
                  1, 1, 1, 1, nullptr, nullptr, nullptr, da.put()));
  ok(DMSetFromOptions(da));
  ok(DMSetUp(da));
  ok(DMSetMatType(da, backend.mat));
  ok(DMCreateMatrix(da, A.put()));
  const Problem3D solid = reference::random_couplings(box, 3, 0.1);
  set_values(A, solid.A);
  const Solver ksp = ksp_of(A, "-ksp_type rrb");
  EXPECT_GT(solve(ksp, solid.b).reason, 0);
  EXPECT_STREQ(type_of(ksp), PCGRIDMG);
  EXPECT_NE(view(ksp).find("from the Mat's DMDA"), std::string::npos) << view(ksp);
}

// Positive couplings are in the matrix that is solved, and not in that of the preconditioner.
TEST(RRBSolverIn3D, SolvesWithPositiveCouplings) {
  Problem3D problem = reference::random_couplings(box, 3, 1);
  for (const int p : {100, 333, 470}) {
    const double w = problem.A.at(p, p + 1);
    ASSERT_LT(w, 0);
    problem.A.row[p][p + 1] = problem.A.row[p + 1][p] = -0.5 * w;
    problem.A.row[p][p] -= w, problem.A.row[p + 1][p + 1] -= w;
  }
  const Matrix A = matrix_of(problem.A);
  for (const std::string norm : {"natural", "unpreconditioned"}) {
    const std::string options = "-pc_type gridmg -pc_gridmg_coarse_size 30 -ksp_rtol 1e-8 -pc_gridmg_precision double "
                                "-ksp_norm_type " +
                                norm;
    const Solver ksp = ksp_of(A, "-ksp_type rrb " + options);
    const Recorded own = recorded(ksp, problem.b), cg = recorded(ksp_of(A, "-ksp_type cg " + options), problem.b);
    EXPECT_NE(view(ksp).find(schur), std::string::npos);
    EXPECT_GT(own.reason, 0);
    EXPECT_NEAR(own.iterations, cg.iterations, 1);
    EXPECT_NEAR(own.history[0], cg.history[0], 1e-8 * cg.history[0]);
    EXPECT_LT(largest_difference(own.x, cg.x), 1e-6);
  }
}

TEST(RRBSolverIn3D, SaysWhyItIsNotFused) {
  Problem3D problem = reference::random_couplings(box, 3, 0.1);
  const auto expect_reason = [&](Mat A, Mat P, const char *why) {
    const Solver ksp = ksp_of(A, "-ksp_type rrb -pc_type gridmg -pc_gridmg_coarse_size 30 -pc_gridmg_grid 10,9,8", P);
    EXPECT_GT(solve(ksp, problem.b).reason, 0) << why;
    EXPECT_NE(view(ksp).find(std::string("because ") + why), std::string::npos) << view(ksp);
  };
  const Matrix A = matrix_of(problem.A), P = matrix_of(problem.A);
  expect_reason(A, P, "the preconditioner is built from another matrix");
  for (const auto &entry : std::map<int, double>(problem.A.row[50].begin(), problem.A.row[50].end())) {
    problem.A.row[50][entry.first] = 0;
    if (entry.first != 50) problem.A.row[entry.first][50] = 0;
  }
  problem.b[50] = 0;
  const Matrix Z = matrix_of(problem.A);
  expect_reason(Z, Z, "the matrix has zero rows");
}

TEST(RRBSolverIn3D, NoticesAnIndefiniteMatrix) {
  Problem3D problem = reference::random_couplings(box, 3, 0.1);
  for (int p = 0; p < problem.A.size(); ++p) problem.A.row[p][p] *= 0.7;
  const Matrix A = matrix_of(problem.A);
  const Solver own = ksp_of(A, "-ksp_type rrb -pc_type gridmg -pc_gridmg_coarse_size 30 -ksp_max_it 60"),
               cg = ksp_of(A, "-ksp_type cg -pc_type gridmg -pc_gridmg_coarse_size 30 -ksp_max_it 60");
  EXPECT_EQ(solve(own, problem.b).reason, solve(cg, problem.b).reason);
}

TEST(RRBSolverIn3D, HasTheEigenvaluesOfKSPCG) {
  const Problem3D problem = reference::random_couplings(box, 3, 0.1);
  const Matrix A = matrix_of(problem.A);
  reference::Vector values[2];
  for (const int i : {0, 1}) {
    const Solver ksp = ksp_of(A, std::string("-ksp_type ") + (i ? "cg" : "rrb") +
                                     " -pc_type gridmg -pc_gridmg_coarse_size 30 -pc_gridmg_precision double "
                                     "-ksp_norm_type natural -ksp_rtol 1e-6");
    ok(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
    const Solve done = solve(ksp, problem.b, guess(problem, true));
    reference::Vector real(done.iterations), imaginary(done.iterations);
    PetscInt n;
    ok(KSPComputeEigenvalues(ksp, done.iterations, real.data(), imaginary.data(), &n));
    values[i].assign(real.begin(), real.begin() + n);
  }
  ASSERT_EQ(values[0].size(), values[1].size());
  EXPECT_NEAR(values[0].front(), values[1].front(), 1e-6);
  EXPECT_NEAR(values[0].back(), values[1].back(), 1e-6);
}

} // namespace
