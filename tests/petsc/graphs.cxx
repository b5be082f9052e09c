// PCRRB of matrices that are on no 2D grid, through PETSc: which are taken, how, and which are refused. On one rank.
#include "on_device.hpp"
#include "support.hpp"

#include <petscdmda.h>

#include <cmath>

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

double residual(const reference::Matrix &A, const reference::Vector &b, const reference::Vector &x) {
  reference::Vector r = A.multiply(x);
  for (std::size_t p = 0; p < r.size(); p++) r[p] = b[p] - r[p];
  return std::sqrt(reference::dot(r, r) / reference::dot(b, b));
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
        EXPECT_LT(residual(A, b, found.x), 1.1e-8);
        EXPECT_NE(view(pc_of(ksp)).find("graph: 3600 unknowns"), std::string::npos) << view(pc_of(ksp));
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
    EXPECT_LT(residual(A, b, found.x), 1.1e-8);
    const std::string seen = view(pc_of(ksp));
    EXPECT_NE(seen.find("grid: 20 x 20 x 20, 7-point"), std::string::npos) << seen;
    EXPECT_NE(seen.find("red nodes: by support, on the graph of the matrix"), std::string::npos) << seen;
  }
}

TEST(Graphs, AreRefreshed) {
  reference::Matrix A = triangles(40, 2);
  const Matrix mat = matrix_of(A);
  const Solver ksp = ksp_of(mat, by_choice + "-ksp_type cg -ksp_rtol 1e-8");
  const reference::Vector b = reference::random_vector(A.size(), 1);
  for (double factor : {1.0, 3.0, 1e-3}) {
    ok(MatScale(mat, factor));
    for (auto &row : A.row)
      for (auto &entry : row) entry.second *= factor;
    const Solve found = solve(ksp, b);
    EXPECT_LE(found.iterations, 20);
    EXPECT_LT(residual(A, b, found.x), 1.1e-8);
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
  EXPECT_LT(residual(A, b, solve(ksp, b).x), 1.1e-8);
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
