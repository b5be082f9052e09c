// PCRRB of matrices that are on no 2D grid, through PETSc: which are taken, how, and which are refused. On one rank.
#include "on_device.hpp"
#include "rrbsolver_support.hpp"
#include "support.hpp"

#include <petscdmda.h>

#include <cmath>
#include <cstring>

using namespace petsctest;
using reference::couple;

namespace {

const std::string by_choice = "-pc_type rrb -pc_rrb_red_nodes auto -pc_rrb_cycle amli -ksp_norm_type unpreconditioned ";

// The nodes of a triangulation of n x n points, numbered without an order.
reference::Matrix triangles(int n, double orders = 0) {
  reference::Random random(3);
  std::vector<int> number(n * n);
  for (int p = 0; p < n * n; p++) number[p] = p;
  for (int p = n * n - 1; p > 0; p--) std::swap(number[p], number[int(random() * (p + 1))]);
  reference::Matrix A(n * n);
  const auto w = [&] { return std::pow(10.0, orders * (random() - 0.5)); };
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      const int p = j * n + i;
      if (i + 1 < n) couple(A, number[p], number[p + 1], w());
      if (j + 1 < n) couple(A, number[p], number[p + n], w());
      if (i + 1 < n && j + 1 < n && random() < 0.5) couple(A, number[p], number[p + n + 1], w());
      if (i == 0) A.add(number[p], number[p], 2);
    }
  return A;
}

TEST(Graphs, OfTriangles) {
  for (double orders : {0.0, 6.0})
    for (const char *type : {"-ksp_type cg ", "-ksp_type rrb "})
      for (const char *precision : {"double", "single"}) {
        const reference::Matrix A = triangles(60, orders);
        const Matrix mat = matrix_of(A);
        const Solver ksp = ksp_of(mat, by_choice + type + "-ksp_rtol 1e-8 -pc_rrb_precision " + precision);
        const reference::Vector b = reference::random_vector(A.size(), 1);
        const Solve found = solve(ksp, b);
        EXPECT_GT(found.reason, 0);
        EXPECT_LE(found.iterations, 20);
        EXPECT_LT(relative_residual(A, b, found.x), 1.1e-8);
        EXPECT_NE(view(pc_of(ksp)).find("graph: 3600 unknowns"), std::string::npos) << view(pc_of(ksp));
      }
}

// n x n x n cells with coefficients k: harmonic means at their faces, u = 0 at x = 0, or nowhere.
reference::Matrix cells(int n, const std::vector<double> &k, bool singular = false) {
  reference::Matrix A(n * n * n);
  const auto face = [&](int p, int q) { couple(A, p, q, 2 / (1 / k[p] + 1 / k[q])); };
  for (int p = 0; p < A.size(); p++) {
    if (p % n + 1 < n) face(p, p + 1);
    if (p / n % n + 1 < n) face(p, p + n);
    if (p / n / n + 1 < n) face(p, p + n * n);
    if (p % n == 0 && !singular) A.add(p, p, 2 * k[p]);
  }
  return A;
}
// a tenth of them with another coefficient
reference::Matrix cells(int n, double coefficient, bool singular = false) {
  reference::Random random(5);
  std::vector<double> k(n * n * n);
  for (double &of_cell : k) of_cell = random() < 0.1 ? coefficient : 1;
  return cells(n, k, singular);
}

// KSPRRB's own choice in 3D is gridmg, as long as that converges.
TEST(Graphs, TakeOverWhereMultigridFails) {
  const std::string options = "-ksp_norm_type unpreconditioned -ksp_type rrb ";
  struct {
    double coefficient;
    const char *more, *type;
  } const cases[] = {{1, "", PCGRIDMG},
                     {100, "", PCGRIDMG},
                     {1e4, "-pc_rrb_red_nodes auto", PCRRB},
                     {1e4, "-pc_rrb_red_nodes plain", PCGRIDMG},
                     {1e4, "-pc_type gridmg", PCGRIDMG},
                     {1, "-pc_type rrb -pc_rrb_red_nodes auto", PCRRB}};
  for (const auto &c : cases) {
    SCOPED_TRACE(std::to_string(c.coefficient) + " " + c.more);
    const reference::Matrix A = cells(22, c.coefficient);
    const Matrix mat = matrix_of(A);
    const Solver ksp = ksp_of(mat, options + c.more);
    const reference::Vector b = reference::random_vector(A.size(), 1);
    const Solve found = solve(ksp, b);
    PCType type;
    ok(PCGetType(pc_of(ksp), &type));
    EXPECT_STREQ(type, c.type);
    if (c.coefficient > 1000 && !std::strcmp(type, PCGRIDMG)) continue; // it fails
    EXPECT_EQ(found.reason, KSP_CONVERGED_RTOL);
    EXPECT_LE(found.iterations, 40);
    EXPECT_LT(relative_residual(A, b, found.x), 1.1e-5);
  }
}

// With log-normal coefficients the first iterations gain much, the others little.
TEST(Graphs, TakeOverWhereMultigridIsSlowInTheEnd) {
  for (double sigma : {2.0, 6.0}) {
    reference::Random random(7);
    std::vector<double> k(30 * 30 * 30);
    for (double &of_cell : k)
      of_cell = std::exp(sigma * std::sqrt(-2 * std::log(1 - random())) * std::cos(2 * M_PI * random()));
    const reference::Matrix A = cells(30, k);
    const Matrix mat = matrix_of(A);
    const bool slow = sigma > 3;
    const Solver ksp = ksp_of(mat, std::string("-ksp_norm_type unpreconditioned -ksp_type rrb") +
                                       (slow ? " -pc_rrb_red_nodes auto" : ""));
    const reference::Vector b = reference::random_vector(A.size(), 1);
    const Solve found = solve(ksp, b);
    PCType type;
    ok(PCGetType(pc_of(ksp), &type));
    EXPECT_STREQ(type, slow ? PCRRB : PCGRIDMG);
    EXPECT_LE(found.iterations, 16);
    EXPECT_LT(relative_residual(A, b, found.x), 1.1e-5);
  }
}

// With a null space the test is one of a system that has a solution.
TEST(Graphs, TakeOverASingularMatrix) {
  for (double coefficient : {50.0, 1e4}) {
    const reference::Matrix A = cells(20, coefficient, true);
    const Matrix mat = matrix_of(A);
    set_constant_null_space(mat);
    const bool rough = coefficient > 1000;
    const Solver ksp = ksp_of(mat, std::string("-ksp_type rrb") + (rough ? " -pc_rrb_red_nodes auto" : ""));
    const Solve found = solve(ksp, A.multiply(reference::random_vector(A.size(), 2)));
    PCType type;
    ok(PCGetType(pc_of(ksp), &type));
    EXPECT_STREQ(type, rough ? PCRRB : PCGRIDMG);
    EXPECT_EQ(found.reason, KSP_CONVERGED_RTOL);
    EXPECT_LE(found.iterations, 40);
  }
}

// AMLI has steps at a factor of 8 each, by whatever names the grid.
TEST(Graphs, InThreeDimensions) {
  for (bool by_dmda : {false, true}) {
    const int n = 20;
    reference::Matrix A(n * n * n);
    for (int p = 0; p < A.size(); p++) {
      if (p % n + 1 < n) couple(A, p, p + 1, 1);
      if (p / n % n + 1 < n) couple(A, p, p + n, 1);
      if (p / n / n + 1 < n) couple(A, p, p + n * n, 1);
      if (p % n == 0) A.add(p, p, 2);
    }
    const Matrix mat = matrix_of(A);
    Array da;
    if (by_dmda) {
      ok(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n,
                      1, 1, 1, 1, 1, nullptr, nullptr, nullptr, da.put()));
      ok(DMSetUp(da));
      ok(MatSetDM(mat, da));
    }
    const Solver ksp = ksp_of(mat, by_choice + "-ksp_type cg -ksp_rtol 1e-8");
    const reference::Vector b = reference::random_vector(A.size(), 1);
    const Solve found = solve(ksp, b);
    EXPECT_LE(found.iterations, 18);
    EXPECT_LT(relative_residual(A, b, found.x), 1.1e-8);
    const std::string seen = view(pc_of(ksp));
    EXPECT_NE(seen.find("grid: 20 x 20 x 20, 7-point"), std::string::npos) << seen;
    EXPECT_NE(seen.find("red nodes: by support, on the graph of the matrix"), std::string::npos) << seen;
  }
}

// Each cell couples with all 26 around it.
TEST(Graphs, OfTwentySevenPoints) {
  const int n = 14;
  for (double orders : {0.0, 3.0}) {
    reference::Random random(4);
    reference::Matrix A(n * n * n);
    for (int p = 0; p < A.size(); p++) {
      for (int q = p + 1; q < A.size(); q++) {
        const int x = q % n - p % n, y = q / n % n - p / n % n, z = q / n / n - p / n / n;
        if (std::abs(x) <= 1 && std::abs(y) <= 1 && z <= 1) couple(A, p, q, std::pow(10.0, orders * (random() - 0.5)));
      }
      if (p % n == 0) A.add(p, p, 2);
    }
    const Matrix mat = matrix_of(A);
    const reference::Vector b = reference::random_vector(A.size(), 1);
    for (const char *type : {"-ksp_type cg ", "-ksp_type rrb "}) {
      const Solver ksp = ksp_of(mat, by_choice + type + "-ksp_rtol 1e-8 -pc_rrb_levels 8");
      const Solve found = solve(ksp, b);
      EXPECT_LE(found.iterations, 20) << orders << type;
      EXPECT_LT(relative_residual(A, b, found.x), 1.1e-8);
      EXPECT_NE(view(pc_of(ksp)).find("graph: 2744 unknowns"), std::string::npos) << view(pc_of(ksp));
    }
  }
}

TEST(Graphs, AreRefreshed) {
  reference::Matrix A = triangles(40, 2);
  const Matrix mat = matrix_of(A);
  const Solver cg = ksp_of(mat, by_choice + "-ksp_type cg -ksp_rtol 1e-8"),
               rrb = ksp_of(mat, by_choice + "-ksp_type rrb -ksp_rtol 1e-8");
  const reference::Vector b = reference::random_vector(A.size(), 1);
  for (double factor : {1.0, 3.0, 1e-3, 1.01, 1.01, 1.01}) { // on a device the last ones are one graph each
    ok(MatScale(mat, factor));
    for (auto &row : A.row)
      for (auto &entry : row) entry.second *= factor;
    for (KSP ksp : {KSP(cg), KSP(rrb)}) {
      const Solve found = solve(ksp, b);
      EXPECT_LE(found.iterations, 20);
      EXPECT_LT(relative_residual(A, b, found.x), 1.1e-8);
    }
  }
}

// KSPRRB's product is with the rows where PETSc has them.
TEST(Graphs, HaveTheHistoryOfKSPCG) {
  const reference::Matrix A = triangles(50, 3);
  const Matrix mat = matrix_of(A);
  const reference::Vector b = reference::random_vector(A.size(), 1);
  for (const reference::Vector &x0 : {reference::Vector(), reference::random_vector(A.size(), 11)})
    for (const char *norm : {"natural", "unpreconditioned", "preconditioned", "none"}) {
      const std::string options = by_choice + "-ksp_rtol 1e-8 -ksp_max_it 40 -ksp_norm_type " + norm + " ";
      const Solver cg = ksp_of(mat, options + "-ksp_type cg"), rrb = ksp_of(mat, options + "-ksp_type rrb");
      const Recorded expected = recorded(cg, b, x0), result = recorded(rrb, b, x0);
      EXPECT_NE(view(rrb).find("on all nodes, fused"), std::string::npos) << view(rrb);
      EXPECT_EQ(result.reason, expected.reason);
      expect_near(result.history, expected.history, 1e-6);
      EXPECT_LT(largest_difference(result.x, expected.x), 1e-6);
    }
}

TEST(Graphs, MayMove) {
  const reference::Matrix A = triangles(40, 2);
  const reference::Vector b = reference::random_vector(A.size(), 1);
  Matrix mat = matrix_of(A);
  const Solver ksp = ksp_of(mat, by_choice + "-ksp_type rrb -ksp_rtol 1e-8");
  ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  for (int times = 0; times < 3; times++) {
    EXPECT_LT(relative_residual(A, b, solve(ksp, b).x), 1.1e-8);
    Matrix other = matrix_of(A);
    ok(KSPSetOperators(ksp, other, other));
    mat = std::move(other);
  }
}

// Of other nonzeros: rows that become identity rows, whose columns stay.
TEST(Graphs, MayHaveKnownValues) {
  reference::Matrix A = triangles(30, 2);
  for (int p = 0; p < A.size(); p += 11) {
    A.row[p].clear();
    A.row[p][p] = 4;
  }
  const Matrix mat = matrix_of(A);
  const Solver ksp = ksp_of(mat, by_choice + "-ksp_type cg -ksp_rtol 1e-8");
  const reference::Vector b = reference::random_vector(A.size(), 1);
  EXPECT_LT(relative_residual(A, b, solve(ksp, b).x), 1.1e-8);
  EXPECT_NE(view(pc_of(ksp)).find("identity rows, decoupled: 82"), std::string::npos) << view(pc_of(ksp));
}

void expect_refused(const reference::Matrix &A, PetscErrorCode code, const std::string &words) {
  raised = {};
  const Matrix mat = matrix_of(A);
  EXPECT_TRUE(refused(PCSetUp(pc_of(mat, "-pc_rrb_red_nodes auto"))));
  EXPECT_EQ(raised.code, code);
  EXPECT_NE(raised.message.find(words), std::string::npos) << raised.message;
  raised = {};
}

TEST(Graphs, AreRefused) {
  reference::Matrix A = triangles(20);
  A.row[7][A.row[7].begin()->first == 7 ? std::next(A.row[7].begin())->first : A.row[7].begin()->first] *= 2;
  expect_refused(A, PETSC_ERR_ARG_WRONG, "not symmetric: row ");
  A = triangles(20);
  A.row[5][5] = std::nan("");
  expect_refused(A, PETSC_ERR_ARG_WRONG, "not finite");
  A = triangles(20);
  for (int p = 0; p < A.size(); p++)
    for (auto &[q, a] : A.row[p])
      if (q != p && (p + q) % 2) a = -a;
  expect_refused(A, PETSC_ERR_ARG_WRONG, "off-diagonal pairs of entries are positive");
}

} // namespace
