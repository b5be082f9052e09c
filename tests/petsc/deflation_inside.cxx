// Deflation around PETSc's preconditioners, inside of its solvers, on singular matrices, and with a user's own vectors.
#include "deflation_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

const char block[] = "-ksp_rtol 1e-8 -ksp_deflation block -ksp_deflation_blocks 8,8 ";

int count_of(const Problem &problem, const std::string &options) {
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, options);
  const Solve result = solve(ksp, problem.b);
  EXPECT_GT(result.reason, 0) << options;
  EXPECT_LT(relative_residual(problem, result.x), 1e-5) << options;
  return result.iterations;
}

// --- preconditioners ---

class Inner : public testing::TestWithParam<const char *> {};

TEST_P(Inner, TakesNoMoreIterationsDeflated) {
  const Problem problem = reference::two_phase(48);
  const std::string pc = std::string("-ksp_type cg -ksp_norm_type unpreconditioned -pc_type ") + GetParam() + " ";
  const int plain = count_of(problem, pc + "-ksp_rtol 1e-8");
  for (const char *variant : {"adef2", "def1"}) {
    const int deflated = count_of(problem, pc + block + "-ksp_deflation_variant " + variant);
    EXPECT_LE(deflated, plain + 1) << variant; // one that hardly leaves small eigenvalues may not gain
  }
}

INSTANTIATE_TEST_SUITE_P(Deflation, Inner,
                         testing::Values("none", "jacobi", "icc", "gamg", "rrb", "bjacobi -sub_pc_type icc"),
                         [](const auto &info) { return std::string(info.param).substr(0, 4); });

// --- solvers ---

struct Krylov {
  const char *name, *options;
};

std::ostream &operator<<(std::ostream &o, const Krylov &k) { return o << k.name; }

class InsideOf : public testing::TestWithParam<Krylov> {};

TEST_P(InsideOf, TakesFewerIterationsDeflated) {
  const Problem problem = reference::two_phase(32);
  const std::string ksp = std::string("-pc_type jacobi ") + GetParam().options + " ";
  const int plain = count_of(problem, ksp + "-ksp_rtol 1e-8");
  for (const char *variant : {"adef2", "def1"}) {
    const int deflated = count_of(problem, ksp + block + "-ksp_deflation_variant " + variant);
    EXPECT_LT(deflated, 0.7 * plain) << variant;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Deflation, InsideOf,
    testing::Values(Krylov{"cg", "-ksp_type cg"}, Krylov{"cg_natural", "-ksp_type cg -ksp_norm_type natural"},
                    Krylov{"fcg", "-ksp_type fcg"}, Krylov{"pipecg", "-ksp_type pipecg"},
                    Krylov{"gmres", "-ksp_type gmres -ksp_gmres_restart 200"},
                    Krylov{"gmres_right", "-ksp_type gmres -ksp_gmres_restart 200 -ksp_pc_side right"},
                    Krylov{"fgmres", "-ksp_type fgmres -ksp_gmres_restart 200"}, Krylov{"bcgs", "-ksp_type bcgs"},
                    Krylov{"minres", "-ksp_type minres"}, Krylov{"symmlq", "-ksp_type symmlq"},
                    Krylov{"cr", "-ksp_type cr"}),
    [](const auto &info) { return info.param.name; });

// BNN is symmetric, and its CG takes the iterations of adef2's.
TEST(Deflation, IsSymmetricWhereItMustBe) {
  const Problem problem = reference::two_phase(32);
  const int cg =
      count_of(problem, std::string("-ksp_type cg -ksp_norm_type unpreconditioned -pc_type jacobi ") + block);
  const int minres = count_of(problem, std::string("-ksp_type minres -pc_type jacobi ") + block);
  EXPECT_NEAR(minres, cg, 0.2 * cg);
}

// The eigenvalue estimates of Chebyshev are a solver of their own with the same preconditioner.
TEST(Deflation, IsInsideOfChebyshev) {
  const Problem problem = reference::two_phase(24);
  const char options[] = "-ksp_type chebyshev -ksp_max_it 1000 -pc_type jacobi -ksp_norm_type unpreconditioned "
                         "-ksp_chebyshev_esteig 0,0.02,0,1.1 ";
  EXPECT_LT(count_of(problem, options + std::string(block)), 300);
}

TEST(Deflation, IsTheExactSolverAroundAnExactSolver) {
  const Problem problem = reference::two_phase(16);
  EXPECT_EQ(count_of(problem, "-ksp_type preonly -pc_type cholesky -ksp_deflation block"), 1);
}

// --- A^T x = b ---

Solve solve_transpose(KSP ksp, const reference::Vector &b) {
  Solve out;
  PetscInt iterations;
  const petsctest::Vector rhs = vector_of(b), x = like(rhs);
  ok(KSPSolveTranspose(ksp, rhs, x));
  ok(KSPGetIterationNumber(ksp, &iterations));
  ok(KSPGetConvergedReason(ksp, &out.reason));
  out.iterations = int(iterations);
  out.x = values_of(x);
  return out;
}

class Transposed : public testing::TestWithParam<const char *> {};

TEST_P(Transposed, IsTheSameWhereTheMatrixIsSymmetric) {
  const Problem problem = reference::two_phase(24);
  const Matrix A = matrix_of(problem);
  for (const std::string variant : {"adef2", "def1"})
    for (const std::string space : {"block", "stripe", "levelset"}) {
      const Solver ksp = ksp_of(A, std::string("-ksp_type ") + GetParam() + " -pc_type jacobi -ksp_rtol 1e-8 " +
                                       "-ksp_deflation_variant " + variant + " -ksp_deflation " + space);
      const Solve plain = solve(ksp, problem.b), transposed = solve_transpose(ksp, problem.b);
      EXPECT_GT(plain.reason, 0) << variant << space;
      EXPECT_EQ(transposed.reason, plain.reason) << variant << space;
      EXPECT_EQ(transposed.iterations, plain.iterations) << variant << space;
      EXPECT_LT(largest_difference(transposed.x, plain.x), 1e-6) << variant << space;
    }
}

// Of identity rows whose columns are kept the transpose has the columns, and their values in these rows.
TEST_P(Transposed, TakesIdentityRowsWhoseColumnsAreKept) {
  const auto side = [](int i, int j) { return i == 0 || j == 0 || i == 23 || j == 19; };
  const Problem problem = reference::identity_rows(reference::random_faces({24, 20}, 100), side, true);
  const Matrix A = matrix_of(problem);
  const petsctest::Vector x = vector_of(reference::random_vector(problem.A.size(), 3)), b = like(x), r = like(x);
  PetscReal norm, rest;
  ok(MatMultTranspose(A, x, b));
  ok(VecNorm(b, NORM_2, &norm));
  for (const std::string variant : {"adef2", "def1"}) {
    const Solver ksp = ksp_of(A, std::string("-ksp_type ") + GetParam() + " -pc_type jacobi -ksp_rtol 1e-9 " +
                                     "-ksp_deflation block -ksp_deflation_variant " + variant);
    const Solve found = solve_transpose(ksp, values_of(b));
    ok(MatMultTranspose(A, vector_of(found.x), r));
    ok(VecAXPY(r, -1.0, b));
    ok(VecNorm(r, NORM_2, &rest));
    EXPECT_GT(found.reason, 0) << variant;
    EXPECT_LT(rest, 1e-7 * norm) << variant;
    EXPECT_LE(found.iterations, 100) << variant;
  }
}

INSTANTIATE_TEST_SUITE_P(Deflation, Transposed, testing::Values("cg", "gmres", "minres", "bcgs"),
                         [](const auto &info) { return std::string(info.param); });

// --- singular matrices ---

class SingularMatrix : public testing::TestWithParam<const char *> {};

TEST_P(SingularMatrix, Converges) {
  std::vector<std::pair<const char *, Problem>> problems = {{"neumann", reference::neumann(20, 17)},
                                                            {"ponds", reference::two_ponds(24, 12)}};
  for (const auto &[name, problem] : problems)
    for (const bool attached : {true, false}) {
      const Matrix A = attached ? matrix_of(problem) : matrix_of(problem.A);
      const Solver ksp =
          ksp_of(A, std::string("-ksp_type cg -pc_type jacobi -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned "
                                "-ksp_deflation_grid ") +
                        std::to_string(problem.grid.nx) + "," + std::to_string(problem.grid.ny) + " " + GetParam());
      const Solve result = solve(ksp, problem.b);
      EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL) << name << attached;
      EXPECT_LT(relative_residual(problem, result.x), 1.1e-8) << name << attached;
      EXPECT_NE(view(ksp).find("null directions: 1"), std::string::npos) << name << view(ksp); // 1 on both ponds
    }
}

INSTANTIATE_TEST_SUITE_P(Deflation, SingularMatrix,
                         testing::Values("-ksp_deflation block -ksp_deflation_blocks 4,4",
                                         "-ksp_deflation block -ksp_deflation_blocks 4,4 -ksp_deflation_variant def1",
                                         "-ksp_deflation stripe -ksp_deflation_inverse explicit",
                                         "-ksp_deflation stripe -ksp_deflation_inverse cholesky"));

// --- Dirichlet rows that are kept in the matrix, with their columns and values that are not zero ---

class KeptRows : public testing::TestWithParam<const char *> {};

TEST_P(KeptRows, TakeTheirValuesAtTheStart) {
  const auto side = [](int i, int j) { return i == 0 || j == 0 || i == 23 || j == 19; };
  for (const bool with_columns : {false, true}) {
    Problem problem = reference::identity_rows(reference::random_faces({24, 20}, 100), side, with_columns);
    problem.b = problem.A.multiply(reference::random_vector(problem.A.size(), 3));
    for (const char *guess : {"", "-ksp_initial_guess_nonzero"}) {
      const Matrix A = matrix_of(problem);
      const Solver ksp = ksp_of(A, std::string("-ksp_rtol 1e-9 -ksp_deflation block ") + guess + " " + GetParam());
      const Solve result = solve(ksp, problem.b, *guess ? reference::random_vector(480, 9) : reference::Vector());
      EXPECT_GT(result.reason, 0) << with_columns << guess;
      EXPECT_LT(relative_residual(problem, result.x), 1e-7) << with_columns << guess;
      EXPECT_LE(result.iterations, 100) << with_columns << guess;
      EXPECT_NE(view(ksp).find("identity rows: 84"), std::string::npos) << view(ksp);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Deflation, KeptRows,
                         testing::Values("-ksp_type cg -pc_type jacobi",
                                         "-ksp_type cg -pc_type jacobi -ksp_deflation_variant def1",
                                         "-ksp_type cg -pc_type gamg", "-ksp_type minres -pc_type jacobi",
                                         "-ksp_type gmres -ksp_gmres_restart 100 -pc_type jacobi"));

// Rows of zeros without a solution: no solver may call that converged.
TEST(Deflation, DoesNotHideRowsOfZeros) {
  Problem problem = reference::poisson(20);
  for (int i = 0; i < problem.A.size(); ++i)
    for (auto &[j, value] : problem.A.row[i])
      if (i == 45 || j == 45 || i == 100 || j == 100) value = 0;
  problem.b = reference::random_vector(problem.A.size(), 4);
  const Matrix A = matrix_of(problem.A);
  const std::string cg = "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-8 ";
  EXPECT_LT(solve(ksp_of(A, cg), problem.b).reason, 0);
  for (const std::string space : {"block -ksp_deflation_grid 20,20", "levelset"})
    for (const std::string more : {"", "-ksp_norm_type unpreconditioned", "-ksp_deflation_variant def1"})
      EXPECT_LT(solve(ksp_of(A, cg + "-ksp_deflation " + space + " " + more), problem.b).reason, 0) << space << more;
  problem.b[45] = problem.b[100] = 0;
  for (const std::string variant : {"adef2", "def1"}) {
    const Solve found = solve(
        ksp_of(A, cg + "-ksp_deflation block -ksp_deflation_grid 20,20 -ksp_deflation_variant " + variant), problem.b);
    EXPECT_GT(found.reason, 0);
    EXPECT_LT(relative_residual(problem, found.x), 1e-6);
  }
}

TEST(Deflation, HasNothingToDoWithoutRows) {
  const Matrix A = matrix_of(reference::Matrix(0));
  for (const std::string space : {"block", "stripe -ksp_deflation_variant def1", "levelset"}) {
    const Solver ksp = ksp_of(A, "-ksp_type cg -pc_type jacobi -ksp_deflation " + space);
    EXPECT_GT(solve(ksp, {}).reason, 0) << space;
    EXPECT_NE(view(ksp).find("nothing to deflate"), std::string::npos) << view(ksp);
  }
}

TEST(Deflation, SolvesKeptRowsExactlyAroundAnExactSolver) { // nothing is put right before preonly
  const auto side = [](int i, int) { return i == 0; };
  Problem problem = reference::identity_rows(reference::random_faces({24, 20}, 100), side, true);
  problem.b = problem.A.multiply(reference::random_vector(problem.A.size(), 3));
  const Matrix A = matrix_of(problem);
  EXPECT_LT(
      relative_residual(problem, solve(ksp_of(A, "-ksp_type preonly -pc_type lu -ksp_deflation block"), problem.b).x),
      1e-10);
}

// --- a user's own vectors ---

reference::Dense waves(int n, int count) {
  reference::Dense Z = reference::zeros(n, count);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < count; ++k) Z[i][k] = std::cos(3.14159265358979 * k * (i + 0.5) / n) + 0.1 * ((i * 7 + k) % 5);
  return Z;
}

Matrix matrix_of_columns(const reference::Dense &Z, bool dense) {
  const PetscInt n = PetscInt(Z.size()), m = PetscInt(Z[0].size());
  reference::Vector columns;
  for (PetscInt k = 0; k < m; ++k)
    for (PetscInt i = 0; i < n; ++i) columns.push_back(Z[i][k]);
  if (dense) return dense_of(n, m, columns);
  Matrix out;
  ok(MatCreate(PETSC_COMM_SELF, out.put()));
  ok(MatSetSizes(out, n, m, n, m));
  ok(MatSetType(out, backend.mat));
  ok(MatSeqAIJSetPreallocation(out, m, nullptr));
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt k = 0; k < m; ++k)
      if (Z[i][k] != 0) ok(MatSetValue(out, i, k, Z[i][k], INSERT_VALUES));
  ok(MatAssemblyBegin(out, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(out, MAT_FINAL_ASSEMBLY));
  return out;
}

Solver user_solver(Mat A, Mat Z, const std::string &more) {
  Solver ksp("-ksp_type cg -pc_type jacobi -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned -ksp_deflation user " + more);
  ok(KSPCreate(PETSC_COMM_SELF, ksp.put()));
  ok(KSPSetOptionsPrefix(ksp, ksp.prefix()));
  ok(KSPSetOperators(ksp, A, A));
  if (Z) ok(KSPDeflationSetSpace(ksp, Z));
  ok(KSPSetFromOptions(ksp));
  return ksp;
}

// PETSc's operations on a device take vectors of the host for their own, whose memory they so spoil and lose.
TEST(Deflation, TakesSpacesAndColumnsOfTheHost) {
  SKIP_ON_HOST();
  const Problem problem = reference::random_faces({9, 8}, 100);
  const int n = problem.A.size();
  const Matrix A = matrix_of(problem);
  const Matrix Z = matrix_of_columns(waves(n, 6), true);
  const reference::Vector u = reference::random_vector(n, 3);
  for (const char *type : {"-pc_type jacobi", "-pc_type icc", "-pc_type rrb -pc_rrb_levels 3"}) {
    const PetscLogDouble lost = lost_at_each([&] {
      const Solver ksp = user_solver(A, Z, type);
      EXPECT_EQ(solve(ksp, problem.b).reason, KSP_CONVERGED_RTOL) << type;
      const Matrix X = dense_of(n, 1, u), Y = dense_of(n, 1, reference::Vector(n, 0.0));
      const PetscScalar *y;
      ok(PCMatApply(pc_of(ksp), X, Y));
      ok(MatDenseGetArrayRead(Y, &y));
      EXPECT_LT(largest_difference(reference::Vector(y, y + n), applied(pc_of(ksp), u)), 1e-12) << type;
      ok(MatDenseRestoreArrayRead(Y, &y));
    });
    EXPECT_LE(lost, 0) << type;
  }
}

TEST(Deflation, TakesSpacesFromTheOtherSideOfTheBus) {
  SKIP_ON_HOST();
  const Problem problem = reference::random_faces({9, 8}, 100);
  const Matrix there = matrix_of(problem);
  Matrix here;
  ok(MatConvert(there, MATAIJ, MAT_INITIAL_MATRIX, here.put()));
  for (const bool dense : {false, true}) {
    const Matrix Z_there = matrix_of_columns(waves(problem.A.size(), 6), dense);
    Matrix Z_here;
    ok(MatConvert(Z_there, dense ? MATDENSE : MATAIJ, MAT_INITIAL_MATRIX, Z_here.put()));
    for (const std::string more :
         {"-ksp_deflation_inverse explicit", "-ksp_deflation_inverse cholesky", "-ksp_deflation_variant def1"}) {
      const Solve expected = solve(user_solver(here, Z_here, more), problem.b);
      for (const bool matrix_there : {false, true}) {
        const std::string what = more + (dense ? ", dense" : ", sparse") + (matrix_there ? ", Z here" : ", Z there");
        const PetscLogDouble lost = lost_at_each([&] {
          const Solver ksp = user_solver(matrix_there ? there : here, matrix_there ? Z_here : Z_there, more);
          for (int times = 0; times < 2; ++times) {
            const Solve result = solve(ksp, problem.b);
            EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL) << what;
            EXPECT_NEAR(result.iterations, expected.iterations, 1) << what;
            EXPECT_LT(relative_residual(problem, result.x), 1.1e-8) << what;
          }
        });
        EXPECT_LE(lost, 0) << what;
      }
    }
  }
}

TEST(Deflation, FollowsTheMatrixToTheDeviceAndBack) {
  SKIP_ON_HOST();
  const Problem problem = reference::identity_rows(
      reference::random_faces({9, 8}, 100), [](int x, int y) { return x == 4 && y > 2; }, true);
  const Matrix there = matrix_of(problem);
  Matrix here;
  ok(MatConvert(there, MATAIJ, MAT_INITIAL_MATRIX, here.put()));
  for (const std::string variant : {"adef2", "def1"}) {
    const Solver ksp =
        ksp_of(here, "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned -ksp_deflation block "
                     "-ksp_deflation_blocks 3,2 -ksp_deflation_variant " +
                         variant);
    for (const Mat A : {Mat(here), Mat(there), Mat(here), Mat(there)}) {
      ok(KSPSetOperators(ksp, A, A));
      const Solve result = solve(ksp, problem.b);
      EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL) << variant;
      EXPECT_LT(relative_residual(problem, result.x), 1.1e-8) << variant << (A == here ? " here" : " there");
    }
  }
}

class UserSpace : public testing::TestWithParam<const char *> {};

TEST_P(UserSpace, IsThatOfTheReference) {
  const Problem problem = reference::random_faces({9, 8}, 100);
  const Matrix A = matrix_of(problem);
  const reference::Vector r = reference::random_vector(problem.A.size(), 7), y = jacobi(problem.A, r);
  const auto hats = reference::columns_of(reference::block_labels(problem.A, {9, 8, 1}, {3, 3, 1}));
  for (const auto &[dense, columns] : {std::pair{true, waves(72, 6)}, {false, hats}}) {
    const Matrix Z = matrix_of_columns(columns, dense);
    const reference::Deflation d = reference::deflation_of(problem.A, columns);
    const Solver ksp = user_solver(A, Z, GetParam());
    const Solve result = solve(ksp, problem.b);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
    EXPECT_LT(relative_residual(problem, result.x), 1.1e-8);
    if (std::string(GetParam()).find("def1") != std::string::npos) continue;
    EXPECT_LT(largest_difference(applied(pc_of(ksp), r), d.adef2(r, y)), 1e-9) << dense;
  }
}

TEST_P(UserSpace, MayHaveDependentVectorsAndASingularMatrix) {
  const Problem problem = reference::neumann(9, 8);
  const Matrix A = matrix_of(problem);
  reference::Dense columns = waves(72, 6);
  for (auto &row : columns) {
    row[0] = 1;               // in the null space
    row[5] = row[4] + row[3]; // nothing new
  }
  const Matrix Z = matrix_of_columns(columns, true);
  const Solver ksp = user_solver(A, Z, GetParam());
  const Solve result = solve(ksp, problem.b);
  EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
  EXPECT_LT(relative_residual(problem, result.x), 1.1e-8);
  EXPECT_NE(view(ksp).find("null directions: 2"), std::string::npos) << view(ksp);
}

TEST_P(UserSpace, FollowsNewValues) {
  const Problem one = reference::random_faces({9, 8}, 100), other = reference::random_faces({9, 8}, 100, 5);
  const Matrix A = matrix_of(one), Z = matrix_of_columns(waves(72, 6), true);
  const Solver ksp = user_solver(A, Z, GetParam());
  (void)solve(ksp, one.b);
  set_values(A, other.A);
  const Solve result = solve(ksp, other.b);
  EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
  EXPECT_LT(relative_residual(other, result.x), 1.1e-8);
}

INSTANTIATE_TEST_SUITE_P(Deflation, UserSpace,
                         testing::Values("-ksp_deflation_inverse explicit", "-ksp_deflation_inverse cholesky",
                                         "-ksp_deflation_variant def1"));

} // namespace
