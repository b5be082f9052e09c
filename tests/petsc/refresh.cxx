// New values, new kinds of values, failures and new options after the first setup: as if all were set up anew.
#include "no_memory.hpp"
#include "support.hpp"
#include "unit/reference_support.hpp"

#include <malloc.h>

#include <cmath>
#include <cstdlib>
#include <new>

using namespace petsctest;
using reference::Problem;

long petsctest::allocated, petsctest::to_fail;

static bool there_is_memory() {
  ++allocated;
  return to_fail == 0 || --to_fail > 0;
}
// The library's vectors are made by this one, and its aligned arrays by the other.
void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
  return there_is_memory() ? std::malloc(size ? size : 1) : nullptr;
}
extern "C" void *aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  void *p = nullptr;
  return there_is_memory() && posix_memalign(&p, alignment, size) == 0 ? p : nullptr;
}
void *operator new(std::size_t size) {
  if (void *p = operator new(size, std::nothrow)) return p;
  throw std::bad_alloc();
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }

namespace {

struct Change {
  std::string name;
  Problem before, after;
};

// Zeros stored where the other one has entries.
void share_pattern(Problem &a, Problem &b) {
  for (int p = 0; p < a.A.size(); ++p) {
    for (const auto &entry : a.A.row[p]) b.A.add(p, entry.first, 0);
    for (const auto &entry : b.A.row[p]) a.A.add(p, entry.first, 0);
  }
}

Problem times(Problem problem, double factor) {
  for (auto &row : problem.A.row)
    for (auto &entry : row) entry.second *= factor;
  return problem;
}

std::vector<Change> same_kind() {
  using namespace reference;
  return {{"five points", random_faces({37, 41}, 100, 1), random_faces({37, 41}, 100, 2)},
          {"nine points", random_nine_points({40, 37}, 0, 0.01, 1), random_nine_points({40, 37}, 0, 0.1, 2)},
          {"other signs", random_nine_points({40, 37}, 0.3, 0.01, 1), random_nine_points({40, 37}, 0.2, 0.1, 2)},
          {"rings", random_nine_points({33, 38, true, true}, 0, 0.1, 1),
           random_nine_points({33, 38, true, true}, 0, 0.1, 3)},
          {"neumann", neumann(41, 37), times(neumann(41, 37), 3)},
          {"ponds", two_ponds(40, 41), times(two_ponds(40, 41), 0.1)}};
}

std::vector<Change> other_kind() {
  using namespace reference;
  const auto dry = [](int i, int j) { return i > 12 && j > 4 && i < 20; };
  const auto drier = [](int i, int j) { return i > 5 && j > 4 && j < 9; };
  const Problem plain = random_faces({37, 29}, 10);
  Problem with_vector = plain;
  for (int p = 0; p < plain.A.size(); ++p) with_vector.v.push_back(1 + 0.1 * (p % 5));
  return {{"five to nine points", plain, random_nine_points({37, 29}, 0.1)},
          {"nine to five points", random_nine_points({37, 29}, 0.1), plain},
          {"rows become identity rows", plain, identity_rows(plain, dry, false)},
          {"identity rows move", identity_rows(plain, dry, true), identity_rows(plain, drier, true)},
          {"a side becomes periodic", plain, random_faces({37, 29, true, false}, 10)},
          {"a ring is cut", random_faces({37, 29, false, true}, 10), plain},
          {"it becomes singular", plain, neumann(37, 29)},
          {"it becomes regular", two_ponds(37, 29), plain},
          {"a near null space comes", plain, with_vector},
          {"a near null space goes", with_vector, plain}};
}

void change(Mat A, const Problem &to) {
  ok(MatSetNullSpace(A, nullptr));
  ok(MatSetNearNullSpace(A, nullptr));
  set_values(A, to.A);
  set_null_spaces(A, to);
}

// There and back again, each time against a PC that has never seen other values.
void expect_as_new(Change c, const std::string &options) {
  share_pattern(c.before, c.after);
  const Matrix A = matrix_of(c.before);
  const Preconditioner pc = pc_of(A, grid_option(c.before) + options);
  ok(PCSetUp(pc));
  for (const Problem *to : {&c.after, &c.before, &c.after}) {
    change(A, *to);
    ok(PCSetUp(pc));
    const Matrix same = matrix_of(*to);
    const Preconditioner fresh = pc_of(same, grid_option(c.before) + options);
    ASSERT_EQ(applied(pc, c.after.b), applied(fresh, c.after.b)) << c.name << ", " << options;
  }
}

const char *const several[] = {"-pc_rrb_levels 5 -pc_rrb_storage naive",
                               "-pc_rrb_levels 4 -pc_rrb_storage_grids 2",
                               "-pc_rrb_levels 3 -pc_rrb_coarse inverse",
                               "-pc_rrb_levels 7 -pc_rrb_lump_nodes both -pc_rrb_storage_grids 1",
                               "-pc_rrb_levels 6 -pc_rrb_cycle amli -pc_rrb_storage_grids 3",
                               "-pc_rrb_levels 8 -pc_rrb_cycle amli -pc_rrb_storage naive"};

TEST(Refresh, OfValuesIsBitwiseARebuild) {
  for (const Change &c : same_kind())
    for (const char *options : several) expect_as_new(c, options);
}

TEST(Refresh, OfAnotherKindIsBitwiseARebuild) {
  for (const Change &c : other_kind())
    for (const char *options : several) expect_as_new(c, options);
}

TEST(Refresh, OfAnInnerKSPIsARebuild) {
  for (const Change &c : {same_kind()[0], same_kind()[1], other_kind()[0], other_kind()[2]})
    expect_as_new(c, "-pc_rrb_levels 3 -pc_rrb_coarse ksp");
}

struct Held {
  PetscLogDouble petsc;
  std::size_t heap;
};

Held memory() {
  Held held;
  ok(PetscMallocGetCurrentUsage(&held.petsc));
  held.heap = mallinfo2().uordblks;
  return held;
}

TEST(Refresh, HoldsNoMoreMemoryAfterFifty) {
  for (const Change &c : same_kind())
    for (const std::string options :
         {several[0], several[1], several[2], several[4], several[5], "-pc_rrb_coarse ksp"}) {
      const Matrix A = matrix_of(c.before);
      const Preconditioner pc = pc_of(A, grid_option(c.before) + options);
      const auto refresh = [&](int times) {
        for (int i = 0; i < times; ++i) {
          ok(MatScale(A, i % 2 ? 2 : 0.5));
          ok(PCSetUp(pc));
        }
      };
      refresh(4);
      const Held before = memory();
      EXPECT_GT(before.petsc, 0);
      refresh(50);
      const Held after = memory();
      EXPECT_EQ(after.petsc, before.petsc) << c.name << ", " << options;
      EXPECT_LE(after.heap, before.heap + 1024) << c.name << ", " << options;
    }
}

TEST(Refresh, AndApplyMakeNoVectors) {
  SKIP_ON_DEVICE("PETSc's own device code makes C++ objects; Device.RefreshesWithoutTheHost counts there");
  for (const Change &c : same_kind())
    for (const char *options : {several[1], several[4], several[5]}) {
      const Matrix A = matrix_of(c.before);
      const Preconditioner pc = pc_of(A, grid_option(c.before) + options);
      const Vector r = vector_of(c.before.b), z = like(r);
      long before = allocated;
      ok(PCSetUp(pc));
      EXPECT_GT(allocated - before, 20) << "this does not count what the library allocates";
      ok(MatScale(A, 2));
      before = allocated;
      ok(PCSetUp(pc));
      ok(PCApply(pc, r, z));
      EXPECT_EQ(allocated - before, 0) << c.name << ", " << options;
    }
}

TEST(Refresh, OfDeflationAndApplyMakeNoVectors) {
  SKIP_ON_DEVICE("PETSc's own device code makes C++ objects");
  const Problem problem = reference::random_faces({30, 20}, 100);
  for (const char *options : {"-ksp_deflation block", "-ksp_deflation stripe -ksp_deflation_inverse explicit",
                              "-ksp_deflation levelset -ksp_deflation_blocks 3,3"}) {
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, std::string("-ksp_type cg -pc_type jacobi ") + options);
    const Vector r = vector_of(problem.b), z = like(r);
    long before = allocated;
    ok(KSPSetUp(ksp));
    EXPECT_GT(allocated - before, 20) << "this does not count what the library allocates";
    ok(PCApply(pc_of(ksp), r, z));
    ok(MatScale(A, 2));
    before = allocated;
    ok(PCSetUp(pc_of(ksp)));
    ok(PCApply(pc_of(ksp), r, z));
    EXPECT_EQ(allocated - before, 0) << options;
  }
}

// Another matrix in the same PC: of another pattern, of another shape with as many points, of another size.
TEST(Operators, MayBeOthers) {
  const Problem five = reference::random_faces({30, 20}, 10), nine = reference::random_nine_points({30, 20}, 0.1),
                turned = reference::random_nine_points({20, 30}, 0.1), larger = reference::random_faces({50, 41}, 10);
  const Matrix A = matrix_of(five);
  for (const char *options : {"-pc_rrb_levels 5 -pc_rrb_storage_grids 2", "-pc_rrb_storage naive -pc_rrb_coarse ksp"}) {
    const Solver ksp = ksp_of(A, std::string(papers) + options);
    ok(KSPSetUp(ksp));
    for (const Problem *problem : {&nine, &turned, &five, &larger, &five}) {
      const Matrix B = matrix_of(*problem);
      if (problem == &larger || problem == &five) ok(KSPReset(ksp)); // PETSc wants this for another size
      ok(KSPSetOperators(ksp, B, B));
      EXPECT_EQ(solve(ksp, problem->b).x, solve(*problem, options).x);
    }
  }
}

// v = 1 is far from the near null space of D A D: lumped pivots are negative, and it is factored without lumping.
TEST(Fallback, WithoutLumpingAndBackAgain) {
  reference::Vector D = reference::random_vector(400, 5);
  for (double &value : D) value = std::pow(10.0, 2 * value);
  const Problem good = reference::poisson(20);
  Problem bad = reference::scaled(good, D);
  bad.v.clear();
  const Matrix A = matrix_of(bad);
  const Preconditioner pc = pc_of(A, "-pc_rrb_levels 20");
  const auto says = [&] { return view(pc).find("factored with lumping 0") != std::string::npos; };
  const reference::RRB slow = factor(bad, reference::with_levels(20));
  ASSERT_TRUE(slow.redone());
  EXPECT_LT(largest_difference(applied(pc, bad.b), slow.apply(bad.b)), 1e-10);
  EXPECT_TRUE(says());
  set_values(A, good.A);
  const Matrix same = matrix_of(good);
  EXPECT_EQ(applied(pc, good.b), applied(pc_of(same, "-pc_rrb_levels 20"), good.b));
  EXPECT_FALSE(says());
}

struct Indefinite {
  const char *name;
  int row;
  double diagonal;
  const char *options, *where;
};

std::ostream &operator<<(std::ostream &o, const Indefinite &i) { return o << i.name; }

class Failure : public testing::TestWithParam<Indefinite> {};

TEST_P(Failure, IsReportedAndForgottenWhenGoodValuesCome) {
  const Problem good = reference::poisson(8);
  Problem bad = good;
  bad.A.row[GetParam().row][GetParam().row] = GetParam().diagonal;
  const Matrix A = matrix_of(bad);
  const Solver ksp = ksp_of(A, std::string(papers) + GetParam().options);
  for (int times = 0; times < 2; ++times) {
    PCFailedReason reason;
    set_values(A, bad.A);
    EXPECT_EQ(solve(ksp, bad.b).reason, KSP_DIVERGED_PC_FAILED);
    ok(PCGetFailedReason(pc_of(ksp), &reason));
    EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT);
    set_values(A, good.A);
    ok(KSPSetOperators(ksp, A, A)); // without this PETSc 3.18 takes the failure into the next solve, whatever the PC
    const Solve result = solve(ksp, good.b);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
    EXPECT_LT(relative_residual(good, result.x), 1e-5);
    ok(PCGetFailedReason(pc_of(ksp), &reason));
    EXPECT_EQ(reason, PC_NOERROR);
  }
}

TEST_P(Failure, IsAnErrorWhereTheUserWantsOne) {
  Problem bad = reference::poisson(8);
  bad.A.row[GetParam().row][GetParam().row] = GetParam().diagonal;
  const Matrix A = matrix_of(bad);
  const Solver ksp = ksp_of(A, std::string(papers) + GetParam().options + " -ksp_error_if_not_converged");
  EXPECT_TRUE(refused(KSPSetUp(ksp)));
  EXPECT_EQ(raised.code, PETSC_ERR_MAT_CH_ZRPVT);
  EXPECT_NE(raised.message.find(GetParam().where), std::string::npos) << raised.message;
  EXPECT_NE(raised.message.find("not positive definite"), std::string::npos) << raised.message;
}

INSTANTIATE_TEST_SUITE_P(
    Pivots, Failure,
    testing::Values(
        Indefinite{"entry", 9 + 1, -4, "-pc_rrb_levels 20", "the diagonal entry of row 10 at (2, 1) is not positive"},
        Indefinite{"red", 9 + 1, 1e-20, "-pc_rrb_levels 20", "at grid point (2, 1), level 1"},
        Indefinite{"naive", 1, 1e-20, "-pc_rrb_levels 20 -pc_rrb_storage naive", "at grid point (1, 0), level 1"},
        Indefinite{"black", 9, 0.5, "-pc_rrb_levels 20", "at grid point (1, 1), level 2"},
        Indefinite{"dense", 9, 0.5, "-pc_rrb_levels 4 -pc_rrb_storage_grids 2", "at grid point (1, 1), level 2"},
        Indefinite{"last", 0, 0.5, "-pc_rrb_levels 20", "in the last block"},
        Indefinite{"inverse", 18, 0.5, "-pc_rrb_levels 2 -pc_rrb_coarse inverse", "in the last block"}),
    [](const auto &info) { return info.param.name; });

TEST(Setters, TakeEffectAtTheNextSetUp) {
  const Problem problem = reference::random_nine_points({61, 50}, 0.1);
  const Matrix A = matrix_of(problem);
  const Preconditioner pc = pc_of(A);
  const std::vector<std::pair<std::string, std::function<PetscErrorCode()>>> changes{
      {"-pc_rrb_levels 7 ", [&] { return PCRRBSetLevels(pc, 7); }},
      {"-pc_rrb_lumping 0.5 ", [&] { return PCRRBSetLumping(pc, 0.5); }},
      {"-pc_rrb_lump_nodes both ", [&] { return PCRRBSetLumpNodes(pc, PC_RRB_LUMP_BOTH); }},
      {"-pc_rrb_coarse inverse ", [&] { return PCRRBSetCoarse(pc, PC_RRB_COARSE_INVERSE); }},
      {"-pc_rrb_storage_grids 2 ", [&] { return PCRRBSetStorageGrids(pc, 2); }},
      {"-pc_rrb_compute_block 8 ", [&] { return PCRRBSetComputeBlock(pc, 8); }},
      {"-pc_rrb_storage naive ", [&] { return PCRRBSetStorage(pc, PC_RRB_STORAGE_NAIVE); }},
      {"-pc_rrb_grid 61,50 ", [&] { return PCRRBSetGrid(pc, 61, 50); }}};
  std::string so_far;
  for (const auto &[option, set] : changes) {
    ok(PCSetUp(pc));
    ok(set());
    so_far += option;
    ok(PCSetUp(pc));
    EXPECT_EQ(applied(pc, problem.b), applied(pc_of(A, so_far), problem.b)) << option;
  }
  EXPECT_NE(view(pc).find("from the option"), std::string::npos);
}

TEST(Reuse, KeepsThePreconditioner) {
  const Change c = same_kind()[1];
  const Matrix A = matrix_of(c.before), old = matrix_of(c.before), changed = matrix_of(c.after);
  const Solver ksp = ksp_of(A, papers);
  ok(KSPSetUp(ksp));
  ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  set_values(A, c.after.A);
  const Solve result = solve(ksp, c.after.b);
  EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
  EXPECT_LT(relative_residual(c.after, result.x), 1e-3);
  EXPECT_EQ(applied(pc_of(ksp), c.after.b), applied(pc_of(old), c.after.b));
  ok(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
  EXPECT_LE(solve(ksp, c.after.b).iterations, result.iterations);
  EXPECT_EQ(applied(pc_of(ksp), c.after.b), applied(pc_of(changed), c.after.b));
}

TEST(NearNullVector, FollowsTheMatrixToTheDeviceAndBack) {
  SKIP_ON_HOST();
  Problem problem = reference::random_faces({19, 14}, 10);
  for (int p = 0; p < problem.A.size(); ++p) problem.v.push_back(1 + 0.1 * (p % 5));
  const Matrix there = matrix_of(problem);
  Matrix here;
  ok(MatConvert(there, MATAIJ, MAT_INITIAL_MATRIX, here.put()));
  set_null_spaces(here, problem);
  for (const char *type : {"-pc_type gridmg -pc_gridmg_grid 19,14", "-pc_type rrb -pc_rrb_grid 19,14"}) {
    const Preconditioner pc = pc_of(here, type);
    for (const Mat A : {Mat(here), Mat(there), Mat(here), Mat(there)}) {
      ok(PCSetOperators(pc, A, A));
      const Preconditioner fresh = pc_of(there, type);
      EXPECT_LT(largest_difference(applied(pc, problem.b), applied(fresh, problem.b)), 1e-6) << type;
    }
  }
}

} // namespace
