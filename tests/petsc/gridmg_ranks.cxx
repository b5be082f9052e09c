// PCGRIDMG on several ranks is what it is on one: mpiexec -n 3 build/tests/petsc --gtest_filter='GridMGRanks*'
#include "neumann_support.hpp"
#include "ranks_support.hpp"
#include "rrb_ranks_support.hpp"
#include "reference/problems3d.hpp"

#include <cmath>
#include <limits>

using namespace petsctest;
using namespace petsctest::distributed;
using namespace neumann_support;

namespace {

Preconditioner gridmg_of(Mat P, const std::string &options) { // not set up
  Preconditioner pc(options);
  ok(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(P)), pc.put()));
  ok(PCSetOptionsPrefix(pc, pc.prefix()));
  ok(PCSetOperators(pc, P, P));
  ok(PCSetType(pc, PCGRIDMG));
  ok(PCSetFromOptions(pc));
  return pc;
}

std::string text(int n) { return std::to_string(n); }

reference::Matrix random_of(const Shape &s, unsigned seed = 1) {
  const reference::Grid3D g{{s.nx, s.ny, s.nz}, {s.px, s.py, s.pz}};
  return reference::random_couplings(g, 10.0 * seed, 0.1).A;
}

// So small that many grids are on boxes.
const std::string dealt = "-pc_gridmg_coarse_size 1 -pc_gridmg_gather_size 0 ";
const std::vector<std::string> choices{
    dealt + "-pc_gridmg_precision double",
    dealt + "-pc_gridmg_precision double -pc_gridmg_smoother points",
    dealt + "-pc_gridmg_precision single -pc_gridmg_smoother points -pc_gridmg_smooths 2",
    dealt + "-pc_gridmg_precision double -pc_gridmg_smoother lines",
    dealt + "-pc_gridmg_precision double -pc_gridmg_coarsening semi",
    "-pc_gridmg_coarse_size 8 -pc_gridmg_gather_size 50 -pc_gridmg_precision double",
    ""};

const std::vector<Shape> some{{5, 3},
                              {16, 13},
                              {16, 12, 1, true, true},
                              {7, 6, 1, true, false},
                              {12, 8, 9, false, false, false, 7},
                              {8, 9, 12, false, true, true, 7},
                              {12, 12, 8, true, true, true, 7},
                              {4, 3, 5, false, false, false, 7}};

// The grid is told: few points may be another one, too.
std::string grid_of(const Shape &s, bool on_dmda) {
  return on_dmda ? "" : " -pc_gridmg_grid " + text(s.nx) + "," + text(s.ny) + "," + text(s.nz);
}

void expect_same(PC pc, const Distributed &d, const reference::Matrix &A, const Shape &s, const std::string &options,
                 const std::string &what, const reference::Problem &spaces = reference::Problem()) {
  const reference::Vector r = random_values(std::size_t(A.size()));
  const Matrix alone = matrix_of(A);
  set_null_spaces(alone, spaces);
  const reference::Vector one = applied(gridmg_of(alone, options + grid_of(s, false)), r), here = applied_on(pc, d, r);
  const bool single = options.find("double") == std::string::npos;
  double most = 0;
  for (const double z : one) most = std::max(most, std::fabs(z));
  EXPECT_LT(largest_difference(here, own_part(d, one)), (single ? 1e-4 : 1e-12) * most) << what << ", " << options;
}

void expect_same_on_all(const reference::Matrix &A, const Shape &s, std::size_t &turn) {
  each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
    const std::string &options = choices[turn++ % choices.size()];
    expect_same(gridmg_of(d.A, options + grid_of(s, DM(d.da) != nullptr)), d, A, s, options, what);
  });
}

TEST(GridMGRanks, AreTheSameAsOne) {
  std::size_t turn = 0;
  for (const Shape &s : some) expect_same_on_all(random_of(s), s, turn);
}

TEST(GridMGRanks, DecoupleIdentityRowsAndMasks) {
  std::size_t turn = 0;
  bool column_too = true; // for every other shape
  for (const Shape &s : some) {
    reference::Matrix A = random_of(s);
    for (int p = 0; p < s.size(); p += 4) {
      if (column_too)
        for (const auto &[q, a] : A.row[std::size_t(p)])
          if (q != p) A.row[std::size_t(q)][p] = 0;
      for (auto &[q, a] : A.row[std::size_t(p)]) a = q != p ? 0 : p % 3 ? 0.5 : 2;
    }
    column_too = !column_too;
    expect_same_on_all(A, s, turn);
  }
}

TEST(GridMGRanks, KeepTheNearNullVector) {
  std::size_t turn = 0;
  for (const Shape &s : some) {
    reference::Matrix A = random_of(s);
    reference::Problem spaces;
    spaces.v = random_values(std::size_t(A.size()));
    for (double &v : spaces.v) v = std::pow(2, v);
    for (int p = 0; p < A.size(); ++p)
      for (auto &[q, a] : A.row[std::size_t(p)]) a /= spaces.v[std::size_t(p)] * spaces.v[std::size_t(q)];
    each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
      const std::string &options = choices[turn++ % choices.size()];
      set_null_spaces_on(d, spaces);
      expect_same(gridmg_of(d.A, options + grid_of(s, DM(d.da) != nullptr)), d, A, s, options, what, spaces);
    });
    spaces.v[0] = 0; // on one rank
    const reference::Matrix other = random_of(s);
    const Distributed d = by_rows(other, uneven_rows(other.size()));
    set_null_spaces_on(d, spaces);
    expect_same(gridmg_of(d.A, choices[0] + grid_of(s, false)), d, other, s, choices[0], "useless", spaces);
  }
}

TEST(GridMGRanks, FollowNewValues) {
  const Shape s{12, 8, 9, false, true, false, 7};
  const reference::Matrix A = random_of(s), B = random_of(s, 2);
  const Distributed d = by_rows(A, uneven_rows(A.size()));
  for (const std::string &options : choices) {
    set_new_values(d, A);
    const Preconditioner pc = gridmg_of(d.A, options + grid_of(s, false));
    expect_same(pc, d, A, s, options, "before");
    set_new_values(d, B);
    expect_same(pc, d, B, s, options, "after");
    const reference::Vector r = random_values(std::size_t(A.size()));
    EXPECT_EQ(applied_on(pc, d, r), applied_on(gridmg_of(d.A, options + grid_of(s, false)), d, r)) << options;
  }
}

TEST(GridMGRanks, TakeOtherTypesOfMatrices) {
  const Shape s{9, 7};
  const reference::Matrix A = random_of(s), B = random_of(s, 2);
  for (MatType type : {MATMPIBAIJ, MATMPISBAIJ}) {
    const Distributed d = by_rows(A, uneven_rows(A.size()), type);
    const Preconditioner pc = gridmg_of(d.A, choices[0] + grid_of(s, false));
    expect_same(pc, d, A, s, choices[0], type);
    set_new_values(d, B);
    expect_same(pc, d, B, s, choices[0], type);
  }
}

// As known on one rank, where PETSc's own numbering of rows has cuts in the middle of a line.
TEST(GridMGRanks, TakeTheIterationsOfOne) {
  for (const char *name :
       {"poisson", "neumann", "periodic", "smooth", "bubbles 1e3", "anisotropic 1,1,100", "identity rows"}) {
    const reference::Problem3D problem = reference::problem3d(name, ranks() > 1 ? 24 : 12);
    const std::string options = "-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-6 -ksp_max_it 60 -pc_type "
                                "gridmg -pc_gridmg_gather_size 0";
    const Solve alone = solve(ksp_of(matrix_of(problem.A), options), problem.b);
    std::vector<int> rows(std::size_t(ranks()), problem.A.size() / ranks());
    rows.back() += problem.A.size() % ranks();
    const Distributed d = by_rows(problem.A, rows);
    const Solver ksp = ksp_of(d.A, options);
    const Solve done = solve_on(ksp, d, problem.b);
    EXPECT_EQ(done.reason, alone.reason) << name;
    EXPECT_EQ(done.iterations, alone.iterations) << name;
    EXPECT_LT(largest_difference(done.x, own_part(d, alone.x)), 1e-5) << name;
  }
}

TEST(GridMGRanks, ChooseDoubleTogether) {
  const int n = 16;
  const reference::Problem3D even = reference::bubbles(n, 2, reference::all_dirichlet),
                             far = reference::bubbles(n, 1e6, reference::all_dirichlet);
  const Shape s{n, n, n, false, false, false, 7};
  const Distributed d = by_rows(even.A, uneven_rows(n * n * n));
  for (const std::string &options : {std::string(), dealt}) {
    set_new_values(d, even.A);
    const Preconditioner pc = gridmg_of(d.A, options + grid_of(s, false));
    ok(PCSetUp(pc));
    const std::string before = view_on_first(pc);
    EXPECT_EQ(before.find("precision in use: single") != std::string::npos, rank() == 0) << before;
    set_new_values(d, far.A);
    expect_same(pc, d, far.A, s, options + "-pc_gridmg_precision double", "far");
    const std::string after = view_on_first(pc);
    EXPECT_EQ(after.find("precision in use: double") != std::string::npos, rank() == 0) << after;
  }
}

TEST(GridMGRanks, MayHaveNoRows) {
  Matrix A;
  Vector x, y;
  ok(MatCreateAIJ(PETSC_COMM_WORLD, 0, 0, 0, 0, 0, nullptr, 0, nullptr, A.put()));
  ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  ok(MatCreateVecs(A, x.put(), y.put()));
  const Preconditioner pc = gridmg_of(A, "");
  for (int times = 0; times < 2; ++times) ok(PCApply(pc, x, y));
}

TEST(GridMGRanks, ShowWhatIsWhere) {
  const Shape s{16, 16, 16, false, false, false, 7};
  const reference::Matrix A = random_of(s);
  const Distributed d = on_dmda(A, s, {1, 1, ranks()});
  const Preconditioner pc = gridmg_of(d.A, dealt + "-pc_gridmg_smoother points -pc_gridmg_coarsening full");
  ok(PCSetUp(pc));
  const std::string view = view_on_first(pc);
  if (rank()) return;
  EXPECT_NE(view.find("grid: 16 x 16 x 16, 7-point, from the"), std::string::npos) << view;
  EXPECT_EQ(view.find("block Jacobi"), std::string::npos) << view;
  if (ranks() == 1) return;
  EXPECT_NE(view.find("the same operator as on one rank, on " + text(ranks()) + " ranks: 1 x 1 x " + text(ranks()) +
                      " boxes"),
            std::string::npos)
      << view;
  EXPECT_NE(view.find("16 x 16 x 16: red-black points, coarsened in x, y and z"), std::string::npos) << view;
  EXPECT_NE(view.find("the next one is on every rank"), std::string::npos) << view;
}

// All ranks hear of it, though one alone has the entry.
void expect_refused(const Distributed &d, const std::string &options, const std::string &words,
                    PetscErrorCode code = PETSC_ERR_ARG_WRONG) {
  raised = {};
  const Preconditioner pc = gridmg_of(d.A, options);
  EXPECT_TRUE(refused(PCSetUp(pc))) << words;
  EXPECT_EQ(raised.code, code) << words;
  EXPECT_NE(raised.message.find(words), std::string::npos) << raised.message;
  raised = {};
}

TEST(GridMGRanks, RefuseTogether) {
  if (ranks() == 1) GTEST_SKIP() << "on one rank other words name the row";
  const Shape s{7, 6, 8, false, false, false, 7};
  const std::string grid = grid_of(s, false);
  reference::Matrix A = random_of(s);
  const auto distributed = [&] { return by_rows(A, uneven_rows(A.size())); };
  A.row[40][41] *= 2;
  expect_refused(distributed(), grid, "not symmetric: row 40 at (5, 5, 0), column of row 41 at (6, 5, 0)");
  A = random_of(s);
  const int cut = uneven_rows(A.size())[0]; // across two ranks
  A.row[std::size_t(cut - 1)][cut - 1 + 42] *= 2;
  expect_refused(distributed(), grid, "not symmetric: row " + text(cut - 1));
  A = random_of(s);
  A.row[40][41] = NAN;
  expect_refused(distributed(), grid, "not finite: row 40", PETSC_ERR_ARG_INCOMP);
  A = random_of(s);
  expect_refused(distributed(), "-pc_gridmg_grid 6,7,8", "grid", PETSC_ERR_ARG_INCOMP);
  // a DMDA that the matrix does not fit
  const Distributed like = on_dmda(A, s, {1, 1, ranks()});
  const PetscInt mine = PetscInt(like.natural.size());
  std::vector<PetscInt> all(std::size_t(ranks()), 0);
  ok(MPI_Allgather(&mine, 1, MPIU_INT, all.data(), 1, MPIU_INT, PETSC_COMM_WORLD) == MPI_SUCCESS ? PETSC_SUCCESS
                                                                                                 : PETSC_ERR_MPI);
  A.row[40][200] = A.row[200][40] = -1;
  const Distributed other = by_rows(A, {all.begin(), all.end()});
  ok(MatSetDM(other.A, like.da));
  expect_refused(other, "", "row 40 at (5, 5, 0) is coupled with row 200 at (4, 4, 4), which is not its neighbour");
  expect_refused(other, "-pc_gridmg_grid 6,7,8", "omit the option", PETSC_ERR_ARG_INCOMP);
  const Shape nine{9, 8, 1, false, false, false, 9};
  A = reference_of(uneven(nine));
  expect_refused(by_rows(A, uneven_rows(A.size())), grid_of(nine, false), "the matrix has 9", PETSC_ERR_SUP);
}

TEST(GridMGRanks, FailTogether) {
  const Shape s{7, 6, 5, false, false, false, 7};
  const reference::Matrix good = random_of(s);
  reference::Matrix A = good;
  A.row[101][101] = -1;
  const Distributed d = by_rows(A, uneven_rows(A.size()));
  const std::string options = dealt + grid_of(s, false);
  const Preconditioner pc = gridmg_of(d.A, options), strict = gridmg_of(d.A, options);
  PCFailedReason reason;
  ok(PCSetUp(pc));
  ok(PCGetFailedReason(pc, &reason));
  EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT);
  const std::string view = view_on_first(pc); // of grids that were never made
  if (!rank()) {
    EXPECT_NE(view.find("grid: 7 x 6 x 5"), std::string::npos) << view;
  }
  for (double z : applied_on(pc, d, random_values(std::size_t(A.size()))))
    EXPECT_EQ(z, std::numeric_limits<double>::infinity());
  ok(PCSetErrorIfFailure(strict, PETSC_TRUE));
  EXPECT_TRUE(refused(PCSetUp(strict)));
  EXPECT_EQ(raised.code, PETSC_ERR_MAT_LU_ZRPVT);
  EXPECT_NE(raised.message.find("row 101 "), std::string::npos) << raised.message;
  raised = {};
  set_new_values(d, good);
  expect_same(pc, d, good, s, dealt, "then");
}

} // namespace
