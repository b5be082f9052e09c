// The RRB-solver on the first Schur complement of a graph: of matrices whose unknowns are red or black, and which are on no 2D grid.
#include "rrbsolver_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::couple;

namespace {

const std::string by_choice = "-pc_type rrb -pc_rrb_red_nodes auto -pc_rrb_cycle amli ";
const char on_black[] = "on the first Schur complement, of a graph", on_all[] = "on all nodes, fused";

struct Box {
  int nx, ny, nz;

  int size() const { return nx * ny * nz; }
  bool red(int p) const { return (p % nx + p / nx % ny + p / (nx * ny)) % 2 == 1; }
};

// 7 points with couplings of 1 to 10^orders at random; u = 0 at x = 0, or nowhere.
reference::Matrix seven_points(const Box &box, double orders, bool singular = false, std::uint32_t seed = 3) {
  reference::Random random(seed);
  reference::Matrix A(box.size());
  const auto w = [&] { return std::pow(10.0, orders * random()); };
  for (int p = 0; p < A.size(); p++) {
    const int i = p % box.nx, j = p / box.nx % box.ny, k = p / (box.nx * box.ny);
    if (i + 1 < box.nx) couple(A, p, p + 1, w());
    if (j + 1 < box.ny) couple(A, p, p + box.nx, w());
    if (k + 1 < box.nz) couple(A, p, p + box.nx * box.ny, w());
    if (i == 0 && !singular) A.add(p, p, 2 * w());
  }
  return A;
}

reference::Vector residual(const reference::Matrix &A, const reference::Vector &b, const reference::Vector &x) {
  reference::Vector r = A.multiply(x);
  for (std::size_t p = 0; p < r.size(); p++) r[p] = b[p] - r[p];
  return r;
}

// A guess with which the red rows hold.
reference::Vector solved_red(const reference::Matrix &A, const Box &box, const reference::Vector &b) {
  reference::Vector x = reference::random_vector(A.size(), 9);
  for (int p = 0; p < A.size(); p++) {
    if (!box.red(p)) continue;
    double sum = b[p];
    for (const auto &[q, a] : A.row[p])
      if (q != p) sum -= a * x[q];
    x[p] = sum / A.at(p, p);
  }
  return x;
}

bool is(KSP ksp, const std::string &form) { return view(ksp).find(form) != std::string::npos; }

// As a grid's does: once the red rows hold, the iterations are those of CG on all unknowns.
TEST(RRBSolverOnGraph, HasTheHistoryOfKSPCGWhereRedRowsHold) {
  for (const Box &box : {Box{14, 14, 14}, Box{17, 9, 12}, Box{40, 7, 5}})
    for (const char *norm : {"natural", "unpreconditioned", "preconditioned", "none"}) {
      SCOPED_TRACE(norm + std::to_string(box.nx));
      const reference::Matrix A = seven_points(box, 3);
      const Matrix mat = matrix_of(A);
      const reference::Vector b = reference::random_vector(A.size(), 1), x0 = solved_red(A, box, b);
      const std::string options = by_choice + "-ksp_rtol 1e-8 -ksp_max_it 30 -ksp_norm_type " + norm + " ";
      const Solver cg = ksp_of(mat, options + "-ksp_type cg"), rrb = ksp_of(mat, options + "-ksp_type rrb");
      const Recorded expected = recorded(cg, b, x0), result = recorded(rrb, b, x0);
      EXPECT_TRUE(is(rrb, on_black)) << view(rrb);
      EXPECT_EQ(result.reason, expected.reason);
      expect_near(result.history, expected.history, 1e-6);
      EXPECT_LT(largest_difference(result.x, expected.x), 1e-6);
    }
}

// From any guess: the norm that is told is that of the solution there is.
TEST(RRBSolverOnGraph, NormIsThatOfTheSolution) {
  const Box box{13, 11, 10};
  const reference::Matrix A = seven_points(box, 2);
  const Matrix mat = matrix_of(A);
  const reference::Vector b = reference::random_vector(A.size(), 1);
  for (const reference::Vector &x0 : {reference::Vector(), reference::random_vector(A.size(), 3)})
    for (const char *norm : {"natural", "unpreconditioned", "preconditioned"})
      for (int steps : {0, 1, 2, 5}) {
        SCOPED_TRACE(norm + std::to_string(steps));
        const Solver ksp = ksp_of(mat, by_choice + "-ksp_type rrb -ksp_rtol 1e-30 -ksp_norm_type " + norm +
                                           " -ksp_max_it " + std::to_string(steps));
        const Recorded result = recorded(ksp, b, x0);
        const reference::Vector r = residual(A, b, result.x), z = applied(pc_of(ksp), r);
        const double expected = std::sqrt(norm[0] == 'n'   ? reference::dot(r, z)
                                          : norm[0] == 'u' ? reference::dot(r, r)
                                                           : reference::dot(z, z));
        ASSERT_EQ(result.history.size(), std::size_t(steps + 1));
        EXPECT_NEAR(result.history.back(), expected, 1e-9 * expected + 1e-14 * result.history.front());
      }
}

// Down to one point: red ones alone, or few levels.
TEST(RRBSolverOnGraph, OfAnySize) {
  for (int nx = 1; nx <= 4; nx++)
    for (int ny = 1; ny <= 3; ny++)
      for (int nz = 2; nz <= 5; nz++) {
        const Box box{nx, ny, nz};
        SCOPED_TRACE(std::to_string(nx) + " x " + std::to_string(ny) + " x " + std::to_string(nz));
        const reference::Matrix A = seven_points(box, 2);
        const Matrix mat = matrix_of(A);
        const reference::Vector b = reference::random_vector(A.size(), 1);
        for (const char *more : {"", "-pc_rrb_levels 1", "-pc_rrb_levels 2"}) {
          const Solver ksp =
              ksp_of(mat, by_choice + "-ksp_type rrb -ksp_norm_type unpreconditioned -ksp_rtol 1e-10 " + more);
          const Solve found = solve(ksp, b);
          EXPECT_GT(found.reason, 0);
          EXPECT_LT(relative_residual(A, b, found.x), 2e-10);
        }
      }
}

// Where black points have no residual once the red ones are eliminated, their correction is 0. All numbers are exact: the diagonal is 8.
TEST(RRBSolverOnGraph, SettlesWhatRedPointsKnow) {
  const Box box{11, 10, 11};
  reference::Matrix A = seven_points(box, 0, true);
  for (int p = 0; p < A.size(); p++) A.row[p][p] = 8;
  const Matrix mat = matrix_of(A);
  for (const std::string &type : {by_choice, std::string("-pc_type gridmg ")})
    for (const char *norm : {"natural", "unpreconditioned"}) {
      reference::Vector x(A.size(), 0.0);
      for (int p = 0; p < A.size(); p++)
        if (box.red(p) == (type == by_choice)) x[p] = p % 16; // with gridmg even points are red
      const Solver ksp = ksp_of(mat, type + "-ksp_type rrb -ksp_rtol 1e-12 -ksp_norm_type " + norm);
      const Recorded found = recorded(ksp, A.multiply(x));
      EXPECT_TRUE(is(ksp, "on the first Schur complement")) << view(ksp);
      EXPECT_EQ(found.iterations, 1);
      EXPECT_EQ(found.history.back(), 0);
      EXPECT_EQ(found.x, x);
    }
}

// A row and its column become zeros.
void clear(reference::Matrix &A, int p) {
  for (auto &row : A.row) row.erase(p);
  A.row[p] = {{p, 0.0}};
}

// What is eliminated must be of the matrix, exactly.
TEST(RRBSolverOnGraph, IsOnAllNodesWhereRedOnesAreNotExact) {
  const Box box{12, 11, 10};
  const std::string options = by_choice + "-ksp_type rrb -ksp_norm_type unpreconditioned -ksp_rtol 1e-8 ";
  struct {
    const char *name, *more, *form;
    void (*change)(reference::Matrix &);
  } const cases[] = {
      {"7 points", "", on_black, [](reference::Matrix &) {}},
      {"single precision", "-pc_rrb_precision single", on_all, [](reference::Matrix &) {}},
      {"a positive coupling", "", on_all, [](reference::Matrix &A) { couple(A, 500, 501, 1.5 * A.at(500, 501)); }},
      {"a coupling of two red points", "", on_all, [](reference::Matrix &A) { couple(A, 500, 513, 1); }},
      {"a row of zeros", "", on_all, [](reference::Matrix &A) { clear(A, 600); }}};
  for (const auto &c : cases) {
    SCOPED_TRACE(c.name);
    reference::Matrix A = seven_points(box, 1);
    c.change(A);
    const Matrix mat = matrix_of(A);
    reference::Vector b = reference::random_vector(A.size(), 1);
    if (A.at(600, 600) == 0) b[600] = 0;
    const Solver ksp = ksp_of(mat, options + c.more);
    EXPECT_LT(relative_residual(A, b, solve(ksp, b).x), 1.1e-8);
    EXPECT_TRUE(is(ksp, c.form)) << view(ksp);
  }
}

// The preconditioner of other values does not know the matrix's Schur complement; once it is refreshed it does.
TEST(RRBSolverOnGraph, IsOnAllNodesWithAnOldPreconditioner) {
  const Box box{12, 13, 9};
  const Matrix mat = matrix_of(seven_points(box, 2));
  const Solver ksp = ksp_of(mat, by_choice + "-ksp_type rrb -ksp_norm_type unpreconditioned -ksp_rtol 1e-8");
  const reference::Vector b = reference::random_vector(box.size(), 1);
  for (std::uint32_t seed : {3, 4, 5}) {
    const reference::Matrix A = seven_points(box, 2, false, seed);
    set_values(mat, A);
    for (bool old : {seed > 3, false}) {
      ok(KSPSetReusePreconditioner(ksp, old ? PETSC_TRUE : PETSC_FALSE));
      const Solve found = solve(ksp, b);
      EXPECT_GT(found.reason, 0);
      EXPECT_LT(relative_residual(A, b, found.x), 1.1e-8);
      EXPECT_TRUE(is(ksp, old ? on_all : on_black)) << view(ksp);
    }
  }
}

// The preconditioner takes small row sums for 0 then, which the matrix has in the last case.
TEST(RRBSolverOnGraph, OfASingularMatrix) {
  const Box box{11, 12, 13};
  for (double sum : {0.0, 1e-12}) {
    reference::Matrix A = seven_points(box, 3, true);
    A.row[700][700] *= 1 + sum;
    const Matrix mat = matrix_of(A);
    set_constant_null_space(mat);
    const Solver ksp = ksp_of(mat, by_choice + "-ksp_type rrb -ksp_norm_type unpreconditioned -ksp_rtol 1e-8");
    const reference::Vector b = A.multiply(reference::random_vector(A.size(), 2));
    const Solve found = solve(ksp, b, reference::random_vector(A.size(), 5));
    EXPECT_EQ(found.reason, KSP_CONVERGED_RTOL);
    EXPECT_TRUE(is(ksp, sum == 0 ? on_black : on_all)) << view(ksp);
    EXPECT_LT(relative_residual(A, b, found.x), 1e-7); // of the norm at the guess
  }
}

// Identity rows, among them points that couple with none.
TEST(RRBSolverOnGraph, WithIdentityRows) {
  const Box box{10, 11, 12};
  reference::Matrix A = seven_points(box, 2);
  for (int p = 0; p < A.size(); p += 7) {
    for (const auto &entry : std::map<int, double>(A.row[p]))
      if (entry.first != p) A.row[entry.first].erase(p);
    A.row[p] = {{p, 4.0}};
  }
  const Matrix mat = matrix_of(A);
  const reference::Vector b = reference::random_vector(A.size(), 1);
  const Solver ksp = ksp_of(mat, by_choice + "-ksp_type rrb -ksp_norm_type unpreconditioned -ksp_rtol 1e-8");
  EXPECT_LT(relative_residual(A, b, solve(ksp, b).x), 1.1e-8);
  EXPECT_TRUE(is(ksp, on_black)) << view(ksp);
}

PetscErrorCode apply_in_between(KSP ksp, PetscInt, PetscReal, void *) {
  PC pc;
  Vec b;
  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetRhs(ksp, &b));
  const Vector z = like(b);
  PetscCall(PCApply(pc, b, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Monitors that use the preconditioner overwrite its vectors, where the iteration's z is.
TEST(RRBSolverOnGraph, MayBeDisturbed) {
  const Box box{12, 9, 14};
  const reference::Matrix A = seven_points(box, 2);
  const Matrix mat = matrix_of(A);
  const reference::Vector b = reference::random_vector(A.size(), 1), x0 = reference::random_vector(A.size(), 2);
  for (const char *norm : {"natural", "unpreconditioned", "preconditioned"}) {
    const std::string options = by_choice + "-ksp_type rrb -ksp_rtol 1e-8 -ksp_norm_type " + norm;
    const Recorded alone = recorded(ksp_of(mat, options), b, x0);
    const Solver ksp = ksp_of(mat, options);
    ok(KSPMonitorSet(ksp, apply_in_between, nullptr, nullptr));
    const Recorded disturbed = recorded(ksp, b, x0);
    EXPECT_EQ(disturbed.history, alone.history) << norm;
    EXPECT_EQ(disturbed.x, alone.x) << norm;
  }
}

// Four in five nodes, and nine in ten, are red, the middles of edges and ends of others: AMLI's first step is at level 1 in the last case.
TEST(RRBSolverOnGraph, OfFewBlackNodes) {
  const int n = 72, hubs = n * n;
  for (int ends : {2, 6}) {
    SCOPED_TRACE(ends);
    reference::Matrix A((3 + ends) * hubs);
    int next = hubs;
    for (int p = 0; p < hubs; p++) {
      const auto between = [&](int q) { couple(A, p, next, 1), couple(A, next++, q, 1); };
      if (p % n + 1 < n) between(p + 1);
      if (p + n < hubs) between(p + n);
      for (int end = 0; end < ends; end++) couple(A, p, next++, 1);
    }
    for (int p = 0; p < A.size(); p++) A.add(p, p, p < hubs ? 1e-3 : p < next ? 1e-2 : 1);
    const Matrix mat = matrix_of(A);
    const reference::Vector b = reference::random_vector(A.size(), 1);
    const std::string options = by_choice + "-ksp_norm_type unpreconditioned -ksp_rtol 1e-8 ";
    const Solver rrb = ksp_of(mat, options + "-ksp_type rrb"), cg = ksp_of(mat, options + "-ksp_type cg");
    const Solve found = solve(rrb, b), expected = solve(cg, b);
    EXPECT_EQ(found.reason, KSP_CONVERGED_RTOL);
    EXPECT_NEAR(found.iterations, expected.iterations, 1);
    EXPECT_LT(relative_residual(A, b, found.x), 1.1e-8);
    EXPECT_TRUE(is(rrb, on_black)) << view(rrb);
    EXPECT_EQ(view(pc_of(rrb)).find("amli at 5184") != std::string::npos, ends == 6) << view(pc_of(rrb));
  }
}

// Plain red nodes below a choice, on a 2D grid, too.
TEST(RRBSolverOnGraph, OfAGridWithRedNodesBySupport) {
  reference::Problem problem = reference::random_faces({40, 37}, 1.5);
  const Matrix mat = matrix_of(problem);
  const std::string options = "-pc_type rrb -pc_rrb_red_nodes support -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned ";
  const Solver rrb = ksp_of(mat, options + "-ksp_type rrb"), cg = ksp_of(mat, options + "-ksp_type cg");
  const Solve found = solve(rrb, problem.b), expected = solve(cg, problem.b);
  EXPECT_TRUE(is(rrb, on_black)) << view(rrb);
  EXPECT_NEAR(found.iterations, expected.iterations, 1);
  EXPECT_LT(relative_residual(problem.A, problem.b, found.x), 1.1e-8);
}

} // namespace
