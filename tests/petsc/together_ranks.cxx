// What goes wrong on one rank is the same error on all, and the next attempt works; and what a rank without rows does.
// mpiexec -n 3 build/tests/petsc --gtest_filter='TogetherRanks*'; on one rank, too.
#include "blockrelax_support.hpp"
#include "neumann_support.hpp"
#include "no_memory.hpp"
#include "ranks_support.hpp"

#include <petsc/private/petscimpl.h>

using namespace petsctest;
using namespace petsctest::distributed;
using neumann_support::uneven;

namespace {

using Make = Preconditioner (*)(Mat, const std::string &);

struct Kind {
  Make make;
  std::string options;
};
// each with a part of the matrix of its own
const std::vector<Kind> of_a_rank{{mic_of, ""},
                                  {mic_of, "-pc_mic_type ssor"},
                                  {relax_of, ""},
                                  {relax_of, "-pc_blockrelax_sweeps 2"},
                                  {relax_of, "-pc_blockrelax_type coloured -pc_blockrelax_symmetric"},
                                  {relax_of, "-pc_blockrelax_type chaotic"}};
const int width = 12, lines = 6; // of a rank

reference::Matrix all_rows(unsigned seed = 1) { return reference_of(uneven({width, lines * ranks()}, seed)); }

bool last_rank() { return rank() == ranks() - 1; }

// Whole lines on each rank, but for the last one if it is `empty`.
Distributed on_ranks(bool empty = false, unsigned seed = 1) {
  std::vector<int> rows(std::size_t(ranks()), width * lines);
  if (empty && ranks() > 1) {
    rows.front() += rows.back();
    rows.back() = 0;
  }
  return by_rows(all_rows(seed), rows);
}

bool on_any_rank(bool here) { return largest_over_ranks(here) > 0; }
bool on_all_ranks(bool here) { return largest_over_ranks(!here) == 0; }

// All ranks raised the same error.
void expect_raised(PetscErrorCode code, const std::string &words) {
  std::string said = raised.message;
  EXPECT_EQ(raised.code, code) << said;
  EXPECT_NE(said.find(words), std::string::npos) << said;
  said.resize(512);
  std::string first = said;
  (void)MPI_Bcast(&first[0], int(first.size()), MPI_CHAR, 0, PETSC_COMM_WORLD);
  EXPECT_EQ(said, first);
  raised = {};
}

PetscObjectState state_of(PetscObject o) {
  PetscObjectState state;
  ok(PetscObjectStateGet(o, &state));
  return state;
}

// Otherwise a norm that is known stays known there, and that rank does not take part in the next one.
void expect_written(Vec y, const std::function<void()> &work) {
  PetscReal norm;
  PetscBool known;
  ok(VecNorm(y, NORM_2, &norm));
  const PetscObjectState before = state_of(PetscObject(y));
  work();
  EXPECT_GT(state_of(PetscObject(y)), before);
  ok(VecNormAvailable(y, NORM_2, &known, &norm));
  EXPECT_FALSE(known);
}

TEST(TogetherRanks, WriteTheirPartThoughItIsEmpty) {
  const Distributed d = on_ranks(true);
  const Vector x = vector_on(d, random_values(std::size_t(width * lines * ranks()))), y = like(x, 1);
  for (const Kind &k : of_a_rank) {
    SCOPED_TRACE(k.options);
    const Preconditioner pc = k.make(d.A, k.options);
    ok(PCSetUp(pc));
    std::vector<PetscErrorCode (*)(PC, Vec, Vec)> all{PCApply};
    if (k.make == mic_of) all.insert(all.end(), {PCApplyTranspose, PCApplySymmetricLeft, PCApplySymmetricRight});
    for (const auto apply : all) expect_written(y, [&] { ok(apply(pc, x, y)); });
  }
}

TEST(TogetherRanks, WriteTheirPartOfColumns) {
  const Distributed d = on_ranks(true);
  const PetscInt n = PetscInt(d.natural.size());
  Matrix X, Y;
  for (Matrix *M : {&X, &Y}) {
    ok(MatCreate(PETSC_COMM_WORLD, M->put()));
    ok(MatSetSizes(*M, n, PETSC_DECIDE, PETSC_DETERMINE, 3));
    ok(MatSetType(*M, backend.dense));
    ok(MatSetUp(*M));
    ok(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
    ok(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  }
  for (const Kind &k : of_a_rank) {
    const Preconditioner pc = k.make(d.A, k.options);
    ok(PCSetUp(pc));
    const PetscObjectState before = state_of(Y);
    ok(PCMatApply(pc, X, Y));
    const bool written = state_of(Y) > before; // PETSc does not count what is written column by column
    EXPECT_EQ(on_any_rank(written), on_all_ranks(written)) << k.options;
  }
}

TEST(TogetherRanks, SolveThoughOneHasNoRows) {
  const Distributed d = on_ranks(true);
  const reference::Vector b = random_values(std::size_t(width * lines * ranks()));
  for (const char *options :
       {"-ksp_type gmres -pc_type mic", "-ksp_type cg -pc_type mic",
        "-ksp_type cg -pc_type blockrelax -pc_blockrelax_sweeps 2",
        "-ksp_type richardson -pc_type blockrelax -ksp_max_it 10000", "-ksp_type cg -pc_type neumann"}) {
    const Solver ksp = ksp_of(d.A, std::string("-ksp_rtol 1e-8 ") + options);
    for (int times = 0; times < 2; ++times) {
      const Solve s = solve_on(ksp, d, b);
      EXPECT_GT(s.reason, 0) << options;
      EXPECT_GT(s.iterations, 0) << options;
      ok(MatScale(d.A, 2));
    }
  }
}

TEST(TogetherRanks, RefuseTheSizesOfOne) {
  const Distributed d = on_ranks();
  const reference::Vector r = random_values(std::size_t(width * lines * ranks()));
  const PetscInt nx = last_rank() ? -3 : width;
  const Preconditioner mic = mic_of(d.A), relax = relax_of(d.A);
  const reference::Vector z = applied_on(mic, d, r), u = applied_on(relax, d, r);
  EXPECT_TRUE(refused(PCMICSetGrid(mic, nx, lines, 1)));
  expect_raised(PETSC_ERR_ARG_OUTOFRANGE, "-3 x 6 x 1");
  EXPECT_TRUE(refused(PCBlockRelaxSetGrid(relax, nx, lines, 1)));
  expect_raised(PETSC_ERR_ARG_OUTOFRANGE, "-3 x 6 x 1");
  const PetscInt sizes[] = {width, 2, 1, width, lines - 2, last_rank() ? 0 : 1};
  EXPECT_TRUE(refused(PCBlockRelaxSetPatches(relax, 2, sizes)));
  expect_raised(PETSC_ERR_ARG_OUTOFRANGE, "Patch 1 of 12 x 4 x 0");
  EXPECT_TRUE(refused(PCBlockRelaxSetPatches(relax, last_rank() ? -1 : 0, nullptr)));
  expect_raised(PETSC_ERR_ARG_OUTOFRANGE, "patches -1");
  EXPECT_EQ(applied_on(mic, d, r), z);
  EXPECT_EQ(applied_on(relax, d, r), u);
  // what does not fit is found in PCSetUp()
  ok(PCMICSetGrid(mic, width, last_rank() ? lines + 1 : lines, 1));
  EXPECT_TRUE(refused(PCSetUp(mic)));
  expect_raised(PETSC_ERR_ARG_INCOMP, "12 x 7");
  ok(PCMICSetGrid(mic, width, lines, 1));
  EXPECT_EQ(applied_on(mic, d, r), z);
}

// The k-th allocation of the last rank fails, for each k up to 8 and some of the others; `work` then works.
template <class Work> int fail_each_allocation(const Work &work) {
  for (long k = 1; k < 1000; k += 1 + k / 8) {
    to_fail = last_rank() ? k : 0;
    const bool failed = refused(work());
    const bool hit = last_rank() && to_fail == 0;
    to_fail = 0;
    EXPECT_EQ(on_any_rank(failed), on_all_ranks(failed)) << k;
    EXPECT_EQ(on_any_rank(failed), on_any_rank(hit)) << k;
    if (!on_any_rank(hit)) return int(k) - 1;
    expect_raised(PETSC_ERR_MEM, "No memory for ");
    if (testing::Test::HasFailure()) return -1;
    ok(work());
    raised = {};
  }
  return 1000;
}

TEST(TogetherRanks, HaveNoMemoryTogether) {
  SKIP_ON_DEVICE("what is allocated there is not counted");
  const Distributed d = on_ranks();
  const reference::Vector r = random_values(std::size_t(width * lines * ranks()));
  std::vector<Kind> all = of_a_rank;
  for (const char *options : {"", "-pc_neumann_type poisson -pc_neumann_drop pattern"})
    all.push_back({neumann_of, options});
  for (const Kind &k : all) {
    SCOPED_TRACE(k.options);
    const Preconditioner pc = k.make(d.A, k.options), expected = k.make(d.A, k.options);
    EXPECT_GT(fail_each_allocation([&] {
                ok(PCReset(pc));
                ok(PCSetOperators(pc, d.A, d.A));
                return PCSetUp(pc);
              }),
              5);
    EXPECT_EQ(applied_on(pc, d, r), applied_on(expected, d, r));
    EXPECT_GE(fail_each_allocation([&] {
                ok(MatScale(d.A, 2));
                return PCSetUp(pc);
              }),
              0);
    EXPECT_EQ(applied_on(pc, d, r), applied_on(expected, d, r));
  }
}

// What a KSP with these options says of a matrix that one rank has set values of since, or all of them never assembled.
TEST(TogetherRanks, RefuseWhatIsNotAssembled) {
  const std::vector<std::string> all{"-ksp_type cg -pc_type mic",
                                     "-ksp_type cg -pc_type blockrelax",
                                     "-ksp_type cg -pc_type neumann",
                                     "-ksp_type cg -pc_type rrb",
                                     "-ksp_type rrb",
                                     "-ksp_type cg -pc_type none -ksp_deflation block"};
  for (const std::string &options : all) {
    SCOPED_TRACE(options);
    const PetscInt n = width * lines;
    Matrix A;
    PetscInt first, last;
    ok(MatCreate(PETSC_COMM_WORLD, A.put()));
    ok(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
    ok(MatSetType(A, ranks() > 1 ? backend.mpi_mat : backend.mat));
    ok(MatSetUp(A));
    ok(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt p = first; p < last; ++p) ok(MatSetValue(A, p, p, 4, INSERT_VALUES));
    const Solver ksp = ksp_of(A, options + " -ksp_error_if_not_converged");
    Vector b;
    ok(MatCreateVecs(A, b.put(), nullptr));
    ok(VecSet(b, 1));
    const Vector x = like(b);
    EXPECT_TRUE(refused(KSPSolve(ksp, b, x)));
    expect_raised(PETSC_ERR_ARG_WRONGSTATE, "not assembled");
  }
}

TEST(TogetherRanks, RefuseValuesThatAreNotAssembled) {
  const Distributed d = on_dmda(all_rows(), {width, lines * ranks()}, {1, ranks(), 1});
  const Solver ksp = ksp_of(d.A, "-ksp_type rrb");
  PetscInt first, last;
  ok(MatGetOwnershipRange(d.A, &first, &last));
  const Vector b = vector_on(d, random_values(std::size_t(width * lines * ranks()))), x = like(b);
  ok(KSPSolve(ksp, b, x));
  if (last_rank()) ok(MatSetValue(d.A, first, first, 1000, INSERT_VALUES));
  EXPECT_TRUE(refused(KSPSolve(ksp, b, x)));
  expect_raised(PETSC_ERR_ARG_WRONGSTATE, "not assembled");
  ok(MatAssemblyBegin(d.A, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(d.A, MAT_FINAL_ASSEMBLY));
  ok(KSPSolve(ksp, b, x));
}

TEST(TogetherRanks, TakeOneRowAndNone) {
  for (const Make make : {mic_of, relax_of, neumann_of})
    for (int n : {0, 1}) {
      reference::Matrix A(n);
      if (n) A.add(0, 0, 4);
      std::vector<int> rows(std::size_t(ranks()), 0);
      rows.back() = n;
      const Distributed d = by_rows(A, rows);
      const Preconditioner pc = make(d.A, "");
      const reference::Vector z = applied_on(pc, d, reference::Vector(std::size_t(n), 2));
      const double expected = make == relax_of ? 0.8 * 0.5 : 0.5;
      for (double a : z) EXPECT_NEAR(a, expected, 1e-15) << n;
    }
}

// PETSc 3.18 does not count those of MATMPIBAIJ.
TEST(TogetherRanks, FollowNewNonzeros) {
  SKIP_ON_DEVICE("the types of matrices are the host's");
  const reference::Matrix whole = all_rows();
  reference::Matrix cut = whole; // in the middle of each rank's rows
  for (int i = 0; i < cut.size(); ++i)
    for (const auto &[j, a] : whole.row[std::size_t(i)])
      if ((i / width + lines / 2) / lines != (j / width + lines / 2) / lines) cut.row[std::size_t(i)].erase(j);
  const reference::Vector b = reference::random_vector(whole.size(), 2);
  const std::vector<int> rows(std::size_t(ranks()), width * lines);
  const std::string grid = std::to_string(width) + "," + std::to_string(lines * ranks());
  for (MatType type : {MATMPIAIJ, MATMPIBAIJ, MATMPISBAIJ})
    for (const std::string &kind :
         std::vector<std::string>{"-ksp_type rrb", "-ksp_type cg -pc_type rrb", "-ksp_type cg -pc_type neumann",
                                  "-ksp_type cg -pc_type mic", "-ksp_type cg -pc_type blockrelax",
                                  "-ksp_type cg -pc_type jacobi -ksp_deflation block -ksp_deflation_grid " + grid}) {
      const std::string options = kind + " -ksp_rtol 1e-8";
      const Distributed d = by_rows(cut, rows, type), fresh = by_rows(whole, rows, type);
      const Solver ksp = ksp_of(d.A, options);
      EXPECT_GT(solve_on(ksp, d, b).reason, 0) << type << options;
      set_new_values(d, whole);
      const Solve followed = solve_on(ksp, d, b), wanted = solve_on(ksp_of(fresh.A, options), fresh, b);
      EXPECT_EQ(followed.reason, wanted.reason) << type << options;
      EXPECT_EQ(followed.iterations, wanted.iterations) << type << options;
      EXPECT_EQ(followed.x, wanted.x) << type << options;
    }
}

// The first rank has a pivot that is not positive, which its KSP learns, and the last one what is an error: both begin again.
// A program that goes on with its next values need not call KSPSetOperators() again.
TEST(TogetherRanks, GoOnAfterABadPivot) {
  const Distributed d = on_ranks();
  const reference::Matrix good = all_rows();
  reference::Matrix bad = good;
  bad.row[0][0] = -1;
  const reference::Vector b = reference::random_vector(good.size(), 3);
  const std::string deflated =
      "mic -ksp_deflation block -ksp_deflation_grid " + std::to_string(width) + "," + std::to_string(lines * ranks());
  for (const std::string &type : {std::string("mic"), deflated, std::string("blockrelax"), std::string("neumann"),
                                  std::string("rrb"), std::string("rrb -ksp_type gmres")}) {
    set_new_values(d, good);
    const Solver ksp = ksp_of(d.A, "-ksp_type cg -pc_type " + type);
    const reference::Vector wanted = solve_on(ksp, d, b).x;
    set_new_values(d, bad);
    EXPECT_EQ(solve_on(ksp, d, b).reason, KSP_DIVERGED_PC_FAILED) << type;
    set_new_values(d, good);
    EXPECT_EQ(solve_on(ksp, d, b).x, wanted) << type;
  }
}

TEST(TogetherRanks, FailInTwoWaysAtOnce) {
  const Distributed d = on_ranks();
  reference::Matrix good = all_rows(), bad = good;
  const int far = good.size() - 1 - width - 3;
  good.row[std::size_t(far)][far + 5] = good.row[std::size_t(far + 5)][far] = 0;
  bad.row[0][0] = -1;
  bad.row[std::size_t(far)][far + 5] = bad.row[std::size_t(far + 5)][far] = -1e-3;
  const reference::Vector b = reference::random_vector(good.size(), 3);
  for (const char *type : {"mic", "blockrelax"}) {
    set_new_values(d, good);
    const Solver ksp = ksp_of(d.A, std::string("-ksp_type cg -pc_type ") + type);
    const reference::Vector wanted = solve_on(ksp, d, b).x;
    set_new_values(d, bad);
    const petsctest::Vector rhs = vector_on(d, b), x = like(rhs);
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    const bool error = refused(KSPSolve(ksp, rhs, x));
    ok(KSPGetConvergedReason(ksp, &reason));
    EXPECT_TRUE(on_all_ranks(error) || on_all_ranks(!error && reason < 0)) << type;
    set_new_values(d, good);
    EXPECT_EQ(solve_on(ksp, d, b).x, wanted) << type; // none waits for another's set-up
  }
}

} // namespace
