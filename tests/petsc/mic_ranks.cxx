// PCMIC on several ranks: mpiexec -n 3 build/tests/petsc --gtest_filter='MicRanks*'. On one rank the same must hold.
#include "mic_support.hpp"

using namespace petsctest;

namespace {

// Of PETSC_COMM_WORLD
int rank() {
  PetscMPIInt r;
  (void)MPI_Comm_rank(PETSC_COMM_WORLD, &r);
  return r;
}
int ranks() {
  PetscMPIInt n;
  (void)MPI_Comm_size(PETSC_COMM_WORLD, &n);
  return n;
}

// Poisson on planes of 5 x 4 points, planes[r] of them on rank r. `scaled`: the diagonal of the last row, as a part of it.
Matrix planes_of(const std::vector<int> &planes, double scaled = 1, MatType type = backend.mpi_mat) {
  const int plane = 20, mine = planes[std::size_t(rank())] * plane;
  int n = 0;
  for (int p : planes) n += p * plane;
  Matrix A;
  ok(MatCreate(PETSC_COMM_WORLD, A.put()));
  ok(MatSetSizes(A, mine, mine, n, n));
  ok(MatSetType(A, type));
  ok(MatSetUp(A));
  ok(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (std::string(type).find("sbaij") != std::string::npos)
    ok(MatSetOption(A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscInt first, last;
  ok(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt p = first; p < last; ++p) {
    const auto set = [&](PetscInt q, double a) { ok(MatSetValue(A, p, q, a, INSERT_VALUES)); };
    set(p, p == n - 1 ? 6 * scaled : 6);
    if (p % 5 > 0) set(p - 1, -1);
    if (p % 5 < 4) set(p + 1, -1);
    if (p / 5 % 4 > 0) set(p - 5, -1);
    if (p / 5 % 4 < 3) set(p + 5, -1);
    if (p >= plane) set(p - plane, -1);
    if (p < n - plane) set(p + plane, -1);
  }
  ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  return A;
}

std::vector<int> some_each() {
  std::vector<int> planes;
  for (int r = 0; r < ranks(); ++r) planes.push_back(3 + r % 2);
  return planes;
}

reference::Vector random_here(Mat A) {
  PetscInt mine;
  ok(MatGetLocalSize(A, &mine, nullptr));
  return reference::random_vector(int(mine), unsigned(rank() + 1));
}

reference::Vector applied_here(PC pc, Mat A, PetscErrorCode (*apply)(PC, Vec, Vec) = PCApply) {
  Vector x, y;
  ok(MatCreateVecs(A, y.put(), x.put()));
  const reference::Vector r = random_here(A);
  PetscScalar *a;
  ok(VecGetArrayWrite(x, &a));
  std::copy(r.begin(), r.end(), a);
  ok(VecRestoreArrayWrite(x, &a));
  ok(apply(pc, x, y));
  return values_of(y);
}

// The same by a PC of a rank's own block.
reference::Vector expected_here(Mat A, const std::string &options) {
  Mat block;
  PetscInt mine;
  ok(MatGetLocalSize(A, &mine, nullptr));
  if (mine == 0) return {};
  ok(MatGetDiagonalBlock(A, &block));
  return applied(mic_of(block, options), random_here(A));
}

TEST(MicRanks, AreBlockJacobi) {
  for (const char *options : {"", "-pc_mic_omega 0", "-pc_mic_type ssor -pc_mic_omega 1.5", "-pc_mic_block_lines 2"}) {
    const Matrix A = planes_of(some_each());
    const Preconditioner pc = mic_of(A, options);
    EXPECT_EQ(applied_here(pc, A), expected_here(A, options)) << options;
    ok(MatScale(A, 2));
    EXPECT_EQ(applied_here(pc, A), expected_here(A, options)) << options;
    EXPECT_EQ(applied_here(pc, A, PCApplyTranspose), expected_here(A, options)) << options;
  }
}

TEST(MicRanks, TakeOtherTypesOfMatrices) {
  for (MatType type : {MATMPIBAIJ, MATMPISBAIJ}) {
    const Matrix A = planes_of(some_each(), 1, type), B = planes_of(some_each());
    EXPECT_LT(largest_difference(applied_here(mic_of(A), A), expected_here(B, "")), 1e-12) << type;
  }
}

TEST(MicRanks, MayHaveNoRows) {
  std::vector<int> planes(std::size_t(ranks()), 4);
  if (ranks() > 1) planes.back() = 0;
  const Matrix A = planes_of(planes);
  const Preconditioner pc = mic_of(A);
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(applied_here(pc, A), expected_here(A, ""));
    ok(MatScale(A, 2));
  }
}

TEST(MicRanks, HaveGridsOfTheirOwn) {
  const std::vector<int> planes = some_each();
  const PetscInt mine = planes[std::size_t(rank())];
  const Matrix A = planes_of(planes);
  const Preconditioner pc = mic_of(A), told = mic_of(A);
  PetscInt n[3];
  ok(PCSetUp(pc));
  ok(PCMICGetGrid(pc, &n[0], &n[1], &n[2]));
  EXPECT_EQ(n[0], 5);
  EXPECT_EQ(n[1], 4);
  EXPECT_EQ(n[2], mine);
  ok(PCMICSetGrid(told, 5, 4, mine));
  ok(PCSetUp(told));
  EXPECT_EQ(applied_here(told, A), applied_here(pc, A));
  // another one on one rank only
  EXPECT_FALSE(refused(PCMICSetGrid(told, 5, rank() == 0 ? 3 : 4, mine)));
  EXPECT_TRUE(refused(PCSetUp(told)));
  EXPECT_EQ(raised.code, PETSC_ERR_ARG_INCOMP);
  EXPECT_NE(raised.message.find(ranks() > 1 ? "on rank 0: " : "5 x 3"), std::string::npos) << raised.message;
  ok(PCMICSetGrid(told, 5, 4, mine));
  EXPECT_EQ(applied_here(told, A), applied_here(pc, A));
}

TEST(MicRanks, ApplyToSeveralColumns) {
  const Matrix A = planes_of(some_each());
  const Preconditioner pc = mic_of(A);
  const reference::Vector r = random_here(A);
  const PetscInt n = PetscInt(r.size());
  Matrix X, Y;
  for (Matrix *M : {&X, &Y}) {
    ok(MatCreate(PETSC_COMM_WORLD, M->put()));
    ok(MatSetSizes(*M, n, PETSC_DECIDE, PETSC_DETERMINE, 3));
    ok(MatSetType(*M, backend.dense));
    ok(MatSetUp(*M));
  }
  PetscScalar *x;
  ok(MatDenseGetArrayWrite(X, &x));
  for (int j = 0; j < 3; ++j)
    for (PetscInt i = 0; i < n; ++i) x[j * n + i] = j * r[std::size_t(i)];
  ok(MatDenseRestoreArrayWrite(X, &x));
  for (Matrix *M : {&X, &Y}) {
    ok(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
    ok(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  }
  ok(PCMatApply(pc, X, Y));
  const reference::Vector z = applied_here(pc, A);
  const PetscScalar *y;
  ok(MatDenseGetArrayRead(Y, &y));
  for (int j = 0; j < 3; ++j)
    for (PetscInt i = 0; i < n; ++i) ASSERT_NEAR(y[j * n + i], j * z[std::size_t(i)], 1e-14);
  ok(MatDenseRestoreArrayRead(Y, &y));
}

// One rank's matrix is bad, and all hear of it.
TEST(MicRanks, FailTogether) {
  const Matrix A = planes_of(some_each(), 0.01);
  const Preconditioner pc = mic_of(A), strict = mic_of(A);
  PCFailedReason reason;
  ok(PCSetUp(pc));
  ok(PCGetFailedReason(pc, &reason));
  EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT);
  for (double z : applied_here(pc, A)) EXPECT_EQ(z, std::numeric_limits<double>::infinity());
  ok(PCSetErrorIfFailure(strict, PETSC_TRUE));
  EXPECT_TRUE(refused(PCSetUp(strict)));
  EXPECT_EQ(raised.code, PETSC_ERR_MAT_LU_ZRPVT);
  PetscInt rows;
  ok(MatGetSize(A, &rows, nullptr));
  EXPECT_NE(raised.message.find("row " + std::to_string(rows - 1) + " at (4, 3, "), std::string::npos)
      << raised.message;
  const std::string who = ranks() > 1 ? "on rank " + std::to_string(ranks() - 1) + ": " : "the pivot";
  EXPECT_EQ(raised.message.find(who), 0U) << raised.message;
}

TEST(MicRanks, AreInTheView) {
  const Matrix A = planes_of(some_each());
  const Preconditioner pc = mic_of(A);
  ok(PCSetUp(pc));
  Handle<PetscViewer, PetscViewerDestroy> viewer;
  const std::string name = testing::TempDir() + "petscrrb_mic_view";
  ok(PetscViewerASCIIOpen(PETSC_COMM_WORLD, name.c_str(), viewer.put()));
  ok(PCView(pc, viewer));
  viewer = {};
  if (rank() > 0) return;
  std::string text(4096, ' ');
  std::FILE *file = std::fopen(name.c_str(), "r");
  text.resize(std::fread(&text[0], 1, text.size(), file));
  std::fclose(file);
  std::remove(name.c_str());
  const std::string said =
      "block Jacobi between " + std::to_string(ranks()) + " ranks: couplings between them are left out\n";
  EXPECT_EQ(text.find(said) != std::string::npos, ranks() > 1) << text;
  EXPECT_NE(text.find(ranks() > 1 ? "grid of the first rank: 5 x 4 x 3" : "grid: 5 x 4 x 3"), std::string::npos)
      << text;
}

} // namespace
