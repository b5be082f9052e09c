// KSPFUSEDCG: the iterations of KSPCG with any preconditioner, whatever the matrix is multiplied by; and where PETSc's own operations take
// its place. On one rank.
#include "on_device.hpp"
#include "ranks_support.hpp"
#include "rrbsolver_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::couple;

namespace {

const char *const norms[] = {"natural", "preconditioned", "unpreconditioned", "none"};

// Points of a box, each coupled at random with those beside it, with corners or without; wrap_x: also around x.
reference::Matrix box(int nx, int ny, int nz, bool corners, int wrap_x = 0) {
  reference::Random random(7);
  reference::Matrix A(nx * ny * nz);
  for (int p = 0; p < A.size(); ++p) {
    const int i = p % nx, j = p / nx % ny, k = p / nx / ny;
    for (int z = 0; z <= 1; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) {
          const int to = p + (z * ny + y) * nx + x;
          if (i + x < 0 || i + x >= nx || j + y < 0 || j + y >= ny || k + z >= nz || to <= p) continue;
          if (!corners && std::abs(x) + std::abs(y) + z > 1) continue;
          couple(A, p, to, 0.1 + random());
        }
    if (wrap_x && i == 0) couple(A, p, p + nx - 1, 1);
    A.add(p, p, 0.05);
  }
  return A;
}

// Triangles of n x n points: no two rows in the middle have couplings at the same distances.
reference::Matrix shuffled(int n) {
  const reference::Matrix A = box(n, n, 1, true);
  reference::Matrix out(A.size());
  const auto number = [&](int p) { return int((long(p) * 7919 + 13) % A.size()); };
  for (int p = 0; p < A.size(); ++p)
    for (const auto &[q, a] : A.row[p]) out.add(number(p), number(q), a);
  return out;
}

// Rows that know their value, whose columns other rows keep: not symmetric.
reference::Matrix with_known_rows(reference::Matrix A) {
  for (int p = 3; p < A.size(); p += 17) {
    A.row[p].clear();
    A.row[p][p] = 4;
  }
  return A;
}

struct Case {
  const char *name;
  reference::Matrix A;
  int diagonals; // by which it is multiplied; 0: by rows
};
std::vector<Case> cases() {
  return {{"one row", box(1, 1, 1, false), 0},
          {"a line", box(50, 1, 1, false), 3},
          {"two rows", box(2, 1, 1, false), 3},
          {"5 points", box(31, 27, 1, false), 5},
          {"9 points", box(23, 30, 1, true), 9},
          {"7 points", box(13, 11, 9, false), 7},
          {"7 points, odd", box(40, 3, 2, false), 7},
          {"27 points", box(9, 8, 10, true), 27},
          {"a ring", box(20, 20, 1, false, 1), 0},
          {"no grid", shuffled(25), 0},
          {"known rows", with_known_rows(box(12, 12, 5, false)), 0},
          {"large", box(150, 101, 1, false), 5}};
}

std::string fused(int diagonals) {
  return diagonals ? "product: by " + std::to_string(diagonals) + " diagonals" : "on all nodes, fused";
}

void expect_like_cg(const Case &c, const std::string &options, const reference::Vector &x0, double relative = 1e-6) {
  const Matrix A = matrix_of(c.A);
  const reference::Vector b = c.A.multiply(reference::random_vector(c.A.size(), 1));
  const Solver cg = ksp_of(A, options + " -ksp_type cg"), ksp = ksp_of(A, options + " -ksp_type fusedcg");
  for (int times = 0; times < 2; ++times) {
    const Recorded expected = recorded(cg, b, x0), result = recorded(ksp, b, x0);
    EXPECT_EQ(result.reason, expected.reason);
    EXPECT_EQ(result.iterations, expected.iterations);
    expect_near(result.history, expected.history, relative);
    EXPECT_LT(largest_difference(result.x, expected.x), relative);
  }
  EXPECT_NE(view(ksp).find(fused(c.diagonals)), std::string::npos) << view(ksp);
}

TEST(FusedCG, HasTheHistoryOfKSPCG) {
  for (const Case &c : cases())
    for (const char *norm : norms)
      for (const bool guess : {false, true}) {
        SCOPED_TRACE(std::string(c.name) + ' ' + norm);
        const bool fixed = norm == norms[3];
        if (fixed && c.A.size() == 1) continue; // whose residual is 0 before the last step
        expect_like_cg(
            c, std::string("-pc_type jacobi -ksp_rtol 1e-7 -ksp_norm_type ") + norm + (fixed ? " -ksp_max_it 9" : ""),
            guess ? reference::random_vector(c.A.size(), 5) : reference::Vector());
      }
}

// Those that a graph of a device has in it, and those that it has not.
TEST(FusedCG, TakesAnyPreconditioner) {
  for (const char *pc :
       {"-pc_type mic", "-pc_type mic -pc_mic_precision single", "-pc_type neumann",
        "-pc_type neumann -pc_neumann_terms 3", "-pc_type blockrelax", "-pc_type none", "-pc_type icc", "-pc_type gamg",
        "-pc_type ksp -ksp_ksp_type preonly -ksp_pc_type jacobi",
        "-pc_type mic -ksp_deflation block -ksp_deflation_blocks 3,3,3",
        "-pc_type neumann -ksp_deflation block -ksp_deflation_blocks 2,3,2", "-pc_type jacobi -ksp_deflation stripe"}) {
    SCOPED_TRACE(pc);
    expect_like_cg({"7 points", box(13, 11, 9, false), 7}, std::string(pc) + " -ksp_rtol 1e-7", {}, 1e-5);
  }
}

TEST(FusedCG, IsAGraphWhereTheApplicationIsEnqueued) {
  SKIP_ON_HOST();
  const reference::Matrix A = box(13, 11, 9, false);
  const reference::Vector b = reference::random_vector(A.size(), 1);
  const Matrix mat = matrix_of(A);
  const struct {
    const char *options;
    bool graph;
  } all[] = {{"-pc_type mic", true},
             {"-pc_type neumann", true},
             {"-pc_type neumann -ksp_deflation block -ksp_deflation_blocks 2,2,2", true},
             {"-pc_type jacobi", false},
             {"-pc_type mic -ksp_deflation block -ksp_deflation_blocks 2,2,2 -ksp_deflation_variant def1", false}};
  for (const auto &each : all) {
    const Solver ksp = ksp_of(mat, std::string("-ksp_type fusedcg ") + each.options);
    for (int times = 0; times < 2; ++times) EXPECT_GT(solve(ksp, b).reason, 0);
    EXPECT_EQ(view(ksp).find("iterations: as a graph on the device") != std::string::npos, each.graph)
        << each.options << view(ksp);
  }
}

// A device has taken more steps at once than there are this time: those after the end change nothing.
TEST(FusedCG, MayEndEarlierThanBefore) {
  const reference::Matrix A = box(25, 22, 19, false);
  const reference::Vector b = reference::random_vector(A.size(), 1);
  const Matrix mat = matrix_of(A);
  for (const char *solver :
       {"-ksp_type fusedcg -pc_type mic",
        "-ksp_type fusedcg -pc_type neumann -ksp_deflation block -ksp_deflation_blocks 3,2,2",
        "-ksp_type rrb -pc_type gridmg", "-ksp_type fusedcg -pc_type gridmg -pc_gridmg_precision single",
        "-ksp_type rrb -pc_type rrb -pc_rrb_red_nodes auto"})
    for (const char *norm : {"natural", "preconditioned", "unpreconditioned"}) {
      const std::string options = std::string(solver) + " -ksp_norm_type " + norm;
      const Solver ksp = ksp_of(mat, options), fresh = ksp_of(mat, options);
      const auto solved = [&](const Solver &by, double rtol, int most) {
        ok(KSPSetTolerances(by, rtol, PETSC_DEFAULT, PETSC_DEFAULT, most));
        return recorded(by, b);
      };
      const Recorded before = solved(ksp, 1e-10, 1000), early = solved(fresh, 1e-2, 1000);
      EXPECT_EQ(before.reason, KSP_CONVERGED_RTOL);
      EXPECT_LE(early.iterations + 3, before.iterations) << options;
      const auto expect_same = [&](const Recorded &result, const Recorded &expected) {
        EXPECT_EQ(result.reason, expected.reason) << options;
        EXPECT_EQ(result.history, expected.history) << options;
        EXPECT_EQ(result.x, expected.x) << options;
      };
      expect_same(solved(ksp, 1e-10, 1000), before);
      expect_same(solved(ksp, 1e-2, 1000), early);
      expect_same(solved(ksp, 1e-10, 1000), before);
      expect_same(solved(ksp, 1e-10, 1000), before);
      const Solver stopped = ksp_of(mat, options);
      expect_same(solved(ksp, 1e-10, 2), solved(stopped, 1e-10, 2));
      expect_same(solved(ksp, 1e-10, 1000), before);
    }
}

TEST(FusedCG, IsKSPRRBWithItsPreconditioners) {
  const reference::Problem problem = reference::random_faces({190, 201}, 10);
  for (const char *norm : {"natural", "unpreconditioned"}) {
    const std::string options = std::string("-pc_type rrb -ksp_norm_type ") + norm;
    const Recorded expected = recorded(problem, "-ksp_type rrb " + options),
                   result = recorded(problem, "-ksp_type fusedcg " + options);
    EXPECT_EQ(result.history, expected.history);
    EXPECT_EQ(result.x, expected.x);
  }
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, "-ksp_type fusedcg -pc_type rrb");
  (void)solve(ksp, problem.b);
  EXPECT_NE(view(ksp).find("on the first Schur complement"), std::string::npos) << view(ksp);
}

// New values, other constants, other nonzeros, another matrix, another preconditioner: each is seen.
TEST(FusedCG, FollowsWhatChanges) {
  for (const char *pc : {"jacobi", "mic", "neumann"}) {
    SCOPED_TRACE(pc);
    const reference::Matrix first = box(13, 11, 9, false), flat = box(39, 33, 1, false);
    reference::Matrix constant(first.size());
    for (int p = 0; p < first.size(); ++p)
      for (const auto &[q, a] : first.row[p]) constant.add(p, q, p == q ? 7 : -1), (void)a;
    const reference::Vector b = reference::random_vector(first.size(), 1);
    Matrix A = matrix_of(first);
    const std::string options = std::string("-ksp_rtol 1e-7 -pc_type ") + pc;
    const Solver ksp = ksp_of(A, options + " -ksp_type fusedcg");
    const auto expect_solved = [&](const reference::Matrix &now, int diagonals) {
      const Recorded result = recorded(ksp, b);
      const Matrix fresh = matrix_of(now);
      const Solver cg = ksp_of(fresh, options + " -ksp_type cg");
      expect_near(result.history, recorded(cg, b).history, 1e-6);
      EXPECT_NE(view(ksp).find(fused(diagonals)), std::string::npos) << view(ksp);
    };
    expect_solved(first, 7);
    set_values(A, constant);
    expect_solved(constant, 7);
    reference::Matrix twice = constant;
    for (auto &row : twice.row)
      for (auto &entry : row) entry.second *= 2;
    set_values(A, twice);
    expect_solved(twice, 7);
    set_values(A, first);
    expect_solved(first, 7);
    Matrix other = matrix_of(flat);
    ok(KSPSetOperators(ksp, other, other));
    expect_solved(flat, 5);
    ok(KSPSetOperators(ksp, A, A));
    expect_solved(first, 7);
    ok(PCSetType(pc_of(ksp), PCMIC));
    EXPECT_EQ(solve(ksp, b).reason, KSP_CONVERGED_RTOL);
    ok(PCSetType(pc_of(ksp), PCNONE));
    EXPECT_EQ(solve(ksp, b).reason, KSP_CONVERGED_RTOL);
  }
}

TEST(FusedCG, ReadsFewKindsOfRows) {
  SKIP_ON_HOST();
  const std::string options = "-pc_type mic -ksp_norm_type natural -ksp_rtol 1e-9 ";
  expect_few_kinds_read(constant_grid(83, 81, 82), "-ksp_type fusedcg " + options, "-ksp_type cg " + options, true);
}

// Values that are not symmetric any more, and are again: the product is with the matrix as it is.
TEST(FusedCG, MultipliesByRowsWhatIsNotSymmetric) {
  reference::Matrix A = box(13, 11, 9, false);
  const reference::Matrix symmetric = A;
  A.row[100][101] *= 1 + 1e-9;
  const Matrix mat = matrix_of(A);
  const Solver ksp = ksp_of(mat, "-ksp_type fusedcg -pc_type jacobi -ksp_rtol 1e-12 -ksp_norm_type unpreconditioned");
  const reference::Vector b = reference::random_vector(A.size(), 1);
  const reference::Vector x = solve(ksp, b).x;
  EXPECT_EQ(view(ksp).find("diagonals"), std::string::npos) << view(ksp);
  reference::Vector r = A.multiply(x);
  for (std::size_t p = 0; p < r.size(); ++p) r[p] -= b[p];
  EXPECT_LT(std::sqrt(reference::dot(r, r) / reference::dot(b, b)), 1.1e-12);
  const Matrix other = matrix_of(symmetric);
  ok(KSPSetOperators(ksp, other, other));
  EXPECT_EQ(solve(ksp, b).reason, KSP_CONVERGED_RTOL);
  EXPECT_NE(view(ksp).find("7 diagonals"), std::string::npos) << view(ksp);
}

// The values of known rows come from the guess, as with KSPCG.
TEST(FusedCG, TakesKnownRows) {
  for (const char *pc : {"mic", "neumann"}) {
    const reference::Matrix A = with_known_rows(box(12, 12, 5, false));
    const reference::Vector x = reference::random_vector(A.size(), 1), b = A.multiply(x);
    const Matrix mat = matrix_of(A);
    const Solver ksp = ksp_of(mat, std::string("-ksp_type fusedcg -ksp_rtol 1e-12 -pc_type ") + pc);
    EXPECT_LT(largest_difference(solve(ksp, b).x, x), 1e-8) << pc;
  }
}

TEST(FusedCG, TakesASingularMatrix) {
  reference::Matrix A = box(13, 11, 9, false);
  for (int p = 0; p < A.size(); ++p) A.row[p][p] -= 0.05;
  const Matrix mat = matrix_of(A);
  set_constant_null_space(mat);
  const reference::Vector b = A.multiply(reference::random_vector(A.size(), 1));
  for (const char *pc : {"jacobi", "mic -pc_mic_omega 0.9"})
    for (const char *norm : {"natural", "unpreconditioned"}) {
      const std::string options = std::string("-ksp_rtol 1e-7 -ksp_norm_type ") + norm + " -pc_type " + pc;
      const Solver cg = ksp_of(mat, options + " -ksp_type cg"), ksp = ksp_of(mat, options + " -ksp_type fusedcg");
      const Recorded expected = recorded(cg, b), result = recorded(ksp, b);
      EXPECT_EQ(result.iterations, expected.iterations) << pc;
      expect_near(result.history, expected.history, 1e-5);
      reference::Vector r = A.multiply(result.x);
      for (std::size_t p = 0; p < r.size(); ++p) r[p] -= b[p];
      EXPECT_LT(std::sqrt(reference::dot(r, r) / reference::dot(b, b)), 1e-5) << pc;
    }
}

// PETSc's own operations in its place, with the reason.
TEST(FusedCG, SaysWhyItIsNotFused) {
  const reference::Matrix A = box(13, 11, 9, false);
  const reference::Vector b = reference::random_vector(A.size(), 1);
  const Matrix mat = matrix_of(A);
  const reference::Vector expected = solve(ksp_of(mat, "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-9"), b).x;
  const std::string options = "-ksp_type fusedcg -pc_type jacobi -ksp_rtol 1e-9 ";
  {
    Matrix shell;
    ok(MatCreateShell(PETSC_COMM_SELF, A.size(), A.size(), A.size(), A.size(), Mat(mat), shell.put()));
    ok(MatShellSetOperation(
        shell, MATOP_MULT, (void (*)(void))(PetscErrorCode(*)(Mat, Vec, Vec))[](Mat of, Vec x, Vec y) {
          Mat inside;
          PetscErrorCode code = MatShellGetContext(of, &inside);
          return code ? code : MatMult(inside, x, y);
        }));
    ok(MatShellSetVecType(shell, backend.vec));
    const Solver ksp = ksp_of(shell, options, mat);
    EXPECT_LT(largest_difference(solve(ksp, b).x, expected), 1e-6);
    EXPECT_NE(view(ksp).find("by PETSc's products and vector operations"), std::string::npos) << view(ksp);
    EXPECT_NE(view(ksp).find("because the matrix is not of type aij"), std::string::npos) << view(ksp);
  }
  const Solver ksp = ksp_of(mat, options);
  const Vector right = vector_of(b), x = like(right);
  ok(KSPSolveTranspose(ksp, right, x));
  EXPECT_LT(largest_difference(values_of(x), expected), 1e-6);
  EXPECT_NE(view(ksp).find("because the system is transposed"), std::string::npos) << view(ksp);
}

// The preconditioner may be made from another matrix, of which the product knows nothing.
TEST(FusedCG, TakesAnotherMatrixForThePreconditioner) {
  const reference::Matrix A = box(13, 11, 9, false), P = box(13, 11, 9, true);
  const reference::Vector b = reference::random_vector(A.size(), 1);
  const Matrix mat = matrix_of(A), other = matrix_of(P);
  for (const char *pc : {"jacobi", "rrb -pc_rrb_red_nodes auto"}) {
    const std::string options = std::string("-ksp_rtol 1e-7 -pc_type ") + pc;
    const Solver cg = ksp_of(mat, options + " -ksp_type cg", other),
                 ksp = ksp_of(mat, options + " -ksp_type fusedcg", other);
    expect_near(recorded(ksp, b).history, recorded(cg, b).history, 1e-6);
    EXPECT_NE(view(ksp).find("7 diagonals"), std::string::npos) << view(ksp);
  }
}

TEST(FusedCG, HasMonitorsAndEigenvalues) {
  const Case c{"7 points", box(13, 11, 9, false), 7};
  const Matrix A = matrix_of(c.A);
  const reference::Vector b = reference::random_vector(c.A.size(), 1);
  PetscReal largest[2], smallest[2];
  int seen[2] = {}, iterations[2];
  for (const bool fused : {false, true}) {
    const Solver ksp = ksp_of(A, std::string("-pc_type mic -ksp_rtol 1e-9 -ksp_type ") + (fused ? "fusedcg" : "cg"));
    ok(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
    ok(KSPMonitorSet(
        ksp,
        [](KSP of, PetscInt, PetscReal norm, void *context) -> PetscErrorCode { // the solution is there at each step
          Vec x;
          PetscErrorCode code = KSPBuildSolution(of, nullptr, &x);
          ++*static_cast<int *>(context);
          return code || norm < 0 ? PETSC_ERR_PLIB : PETSC_SUCCESS;
        },
        &seen[fused], nullptr));
    iterations[fused] = solve(ksp, b).iterations;
    ok(KSPComputeExtremeSingularValues(ksp, &largest[fused], &smallest[fused]));
  }
  EXPECT_EQ(iterations[1], iterations[0]);
  EXPECT_EQ(seen[1], iterations[1] + 1);
  EXPECT_NEAR(largest[1], largest[0], 1e-8);
  EXPECT_NEAR(smallest[1], smallest[0], 1e-8);
}

// What cannot be preconditioned is told as by KSPCG.
TEST(FusedCG, TellsOfFailures) {
  reference::Matrix A = box(13, 11, 9, false);
  A.row[50][50] = -1;
  const Matrix mat = matrix_of(A);
  const reference::Vector b = reference::random_vector(A.size(), 1);
  for (const char *pc : {"mic", "neumann", "jacobi"}) {
    const std::string options = std::string("-pc_type ") + pc;
    const Solver cg = ksp_of(mat, options + " -ksp_type cg"), ksp = ksp_of(mat, options + " -ksp_type fusedcg");
    EXPECT_EQ(solve(ksp, b).reason, solve(cg, b).reason) << pc;
  }
}

TEST(FusedCGRanks, AreThoseOfKSPCG) {
  using namespace petsctest::distributed;
  const reference::Matrix A = box(13, 11, 9, false);
  const reference::Vector b = reference::random_vector(A.size(), 1);
  std::vector<int> rows; // whole planes: mic has a box on each rank
  for (int r = 0; r < ranks(); ++r) rows.push_back(13 * 11 * (9 * (r + 1) / ranks() - 9 * r / ranks()));
  const Distributed d = by_rows(A, rows);
  for (const char *pc : {"jacobi", "mic", "neumann", "rrb -pc_rrb_red_nodes auto"}) {
    SCOPED_TRACE(pc);
    const std::string options = std::string("-ksp_rtol 1e-7 -pc_type ") + pc;
    const Solver cg = ksp_of(d.A, options + " -ksp_type cg"), ksp = ksp_of(d.A, options + " -ksp_type fusedcg");
    const Solve expected = solve_on(cg, d, b), result = solve_on(ksp, d, b);
    EXPECT_EQ(result.iterations, expected.iterations);
    EXPECT_LT(largest_difference(result.x, expected.x), 1e-6);
    if (ranks() > 1 && rank() == 0)
      EXPECT_NE(view_on_first(ksp).find("by PETSc's products and vector operations"), std::string::npos);
    else if (ranks() > 1)
      (void)view_on_first(ksp);
  }
}

} // namespace
