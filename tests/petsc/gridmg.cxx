// PCGRIDMG through PETSc: what it applies, iterations, what a user can set, the view, what is refused, new values.
#include "neumann_support.hpp"
#include "reference/gridmg_reference.hpp"
#include "reference/problems3d.hpp"

#include <cmath>

using namespace petsctest;
using namespace neumann_support;

namespace {

Preconditioner gridmg_of(Mat P, const std::string &options = "") { // not set up
  Preconditioner pc(options);
  ok(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(P)), pc.put()));
  ok(PCSetOptionsPrefix(pc, pc.prefix()));
  ok(PCSetOperators(pc, P, P));
  ok(PCSetType(pc, PCGRIDMG));
  ok(PCSetFromOptions(pc));
  return pc;
}

const reference::Grid3D box{{9, 8, 7}, {false, true, false}};

TEST(GridMG, IsTheReference) {
  reference::GridMGOptions small;
  small.coarse_size = 20, small.smooths = 2;
  for (const reference::Problem3D &problem :
       {reference::random_couplings(box, 100, 0.1), reference::random_couplings(box, 100, 0, 0.4)}) {
    const Matrix P = matrix_of(problem.A);
    const reference::Vector r = random_values(std::size_t(problem.A.size()));
    const reference::Vector expected = reference::GridMG(problem.A, box, small).apply(r);
    const std::string options =
        "-pc_gridmg_coarse_size 20 -pc_gridmg_smooths 2 -pc_gridmg_grid 9,8,7 -pc_gridmg_precision ";
    EXPECT_LT(largest_difference(applied(gridmg_of(P, options + "double"), r), expected), 1e-11);
    EXPECT_LT(largest_difference(applied(gridmg_of(P, options + "single"), r), expected), 1e-3);
  }
}

// On a device several threads have parts of one, and a long one is taken in several pieces.
TEST(GridMG, RelaxesLongLines) {
  reference::GridMGOptions lines;
  lines.coarse_size = 20, lines.smoother = reference::Smoother::lines;
  for (const auto &grid :
       {reference::Grid3D{{5, 600, 2}, {}}, reference::Grid3D{{3, 2, 1100}, {}}, reference::Grid3D{{600, 3, 3}, {}},
        reference::Grid3D{{67, 33, 40}, {}}, reference::Grid3D{{4, 130, 3}, {false, true, false}}})
    for (const double missing : {0.0, 0.4}) {
      const auto &n = grid.n;
      const std::string sides = std::to_string(n[0]) + "," + std::to_string(n[1]) + "," + std::to_string(n[2]);
      SCOPED_TRACE(sides + ", missing " + std::to_string(missing));
      const reference::Problem3D problem = reference::random_couplings(grid, 100, missing > 0 ? 0.0 : 0.1, missing);
      const Matrix P = matrix_of(problem.A);
      const reference::Vector r = random_values(std::size_t(problem.A.size())),
                              expected = reference::GridMG(problem.A, grid, lines).apply(r);
      const std::string options = "-pc_gridmg_coarse_size 20 -pc_gridmg_smoother lines -pc_gridmg_grid " + sides;
      EXPECT_LT(largest_difference(applied(gridmg_of(P, options + " -pc_gridmg_precision double"), r), expected),
                1e-10);
      EXPECT_LT(largest_difference(applied(gridmg_of(P, options + " -pc_gridmg_precision single"), r), expected), 1e-2);
    }
}

TEST(GridMG, TakesFivePointsInTwoDimensions) {
  const reference::Problem flat = reference::poisson(63);
  const Matrix P = matrix_of(flat.A);
  const Solve done = solve(ksp_of(P, "-ksp_type cg -ksp_rtol 1e-6 -pc_type gridmg -pc_gridmg_coarse_size 100"), flat.b);
  EXPECT_GT(done.reason, 0);
  EXPECT_LE(done.iterations, 12);
}

// The table of docs/pcgridmg.md at 32 x 32 x 32, and 2 more.
TEST(GridMG, TakesTheKnownIterations) {
  const std::pair<const char *, int> known[] = {{"poisson", 9},
                                                {"neumann", 8},
                                                {"periodic", 8},
                                                {"smooth", 12},
                                                {"lognormal1", 11},
                                                {"tanh3", 9},
                                                {"anisotropic 1,1,100", 4},
                                                {"channel", 7},
                                                {"bubbles 1e3", 15},
                                                {"identity rows", 10}};
  for (const auto &[name, iterations] : known) {
    const reference::Problem3D problem = reference::problem3d(name, 32);
    const Matrix P = matrix_of(problem.A);
    const Solver ksp =
        ksp_of(P, "-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-6 -ksp_max_it 60 -pc_type gridmg");
    const Solve done = solve(ksp, problem.b);
    EXPECT_GT(done.reason, 0) << name;
    EXPECT_LE(done.iterations, iterations + 2) << name;
    const reference::Vector Ax = problem.A.multiply(done.x);
    double r = 0, b = 0;
    for (std::size_t i = 0; i < Ax.size(); ++i)
      r += std::pow(problem.b[i] - Ax[i], 2), b += problem.b[i] * problem.b[i];
    EXPECT_LT(std::sqrt(r / b), 1.1e-6) << name;
  }
}

// The grids are the same, so that new values are a refresh.
TEST(GridMG, TakesDoubleWhereCoefficientsJumpFar) {
  const int n = 16;
  const reference::Problem3D even = reference::bubbles(n, 2, reference::all_dirichlet),
                             far = reference::bubbles(n, 1e6, reference::all_dirichlet);
  const Matrix P = matrix_of(even.A), Q = matrix_of(far.A);
  const reference::Vector r = random_values(std::size_t(n * n * n));
  const auto is_as = [&](const Matrix &A, PC pc, const char *precision) {
    EXPECT_NE(view(pc).find(std::string("precision in use: ") + precision), std::string::npos) << view(pc);
    EXPECT_EQ(applied(pc, r), applied(gridmg_of(A, std::string("-pc_gridmg_precision ") + precision), r)) << precision;
  };
  const Preconditioner pc = gridmg_of(P);
  ok(PCSetUp(pc));
  is_as(P, pc, "single");
  ok(MatCopy(Q, P, SAME_NONZERO_PATTERN));
  ok(PCSetUp(pc));
  is_as(Q, pc, "double");
  const Preconditioner given = gridmg_of(Q, "-pc_gridmg_precision single");
  ok(PCSetUp(given));
  EXPECT_NE(view(given).find("precision in use: single"), std::string::npos) << view(given);
  EXPECT_NE(applied(given, r), applied(pc, r));
}

TEST(GridMG, TakesDoubleWhereTheExponentsOfSingleWouldNotDo) {
  const char *single = "-pc_gridmg_precision single";
  const reference::Problem3D far = reference::bubbles(20, 1e40, reference::all_dirichlet);
  const Matrix A = matrix_of(far.A);
  const reference::Vector r = random_values(std::size_t(far.A.size()));
  const Preconditioner pc = gridmg_of(A, single);
  ok(PCSetUp(pc));
  EXPECT_NE(view(pc).find("precision in use: double"), std::string::npos) << view(pc);
  EXPECT_EQ(applied(pc, r), applied(gridmg_of(A, "-pc_gridmg_precision double"), r));

  reference::Matrix ring(4); // one grid alone, which is solved directly
  const double faces[] = {1e150, 1e-150, 1, 1e70};
  for (int i = 0; i < 4; ++i)
    for (const auto &[from, to] : {std::pair(i, (i + 1) % 4), std::pair((i + 1) % 4, i)})
      ring.add(from, from, faces[i]), ring.add(from, to, -faces[i]);
  const Matrix R = matrix_of(ring);
  const Preconditioner direct = gridmg_of(R, "-pc_gridmg_precision single -pc_gridmg_grid 4,1");
  for (const double z : applied(direct, {1, -1, 0, 0})) EXPECT_TRUE(std::isfinite(z)) << z;

  for (const double others : {1e-200, 1e200}) { // identity rows alone are far away
    const auto fixed = [](int p) { return p % 5 == 0; };
    reference::Matrix apart = reference::identity_rows(reference::random_couplings(box, 10, 0.1), fixed, true).A;
    for (int p = 0; p < apart.size(); ++p)
      for (auto &[q, a] : apart.row[std::size_t(p)]) a = fixed(p) && q == p ? 300 : others * a;
    const std::string grid = "-pc_gridmg_coarse_size 20 -pc_gridmg_grid 9,8,7 -pc_gridmg_precision ";
    const Matrix P = matrix_of(apart);
    const reference::Vector ones(std::size_t(apart.size()), 1), z = applied(gridmg_of(P, grid + "single"), ones);
    EXPECT_EQ(z, applied(gridmg_of(P, grid + "double"), ones)) << others;
    for (std::size_t p = 0; p < z.size(); p += 5) EXPECT_DOUBLE_EQ(z[p], 1.0 / 300) << others;
  }
}

TEST(GridMG, RefreshIsARebuild) {
  const reference::Problem3D first = reference::random_couplings(box, 2, 0.1),
                             other = reference::random_couplings(box, 1e5, 0.1);
  const Matrix P = matrix_of(first.A), fresh = matrix_of(other.A);
  const reference::Vector r = random_values(std::size_t(first.A.size()));
  const char options[] = "-pc_gridmg_coarse_size 20";
  const Preconditioner pc = gridmg_of(P, options);
  (void)applied(pc, r);
  set_values(P, other.A);
  EXPECT_EQ(applied(pc, r), applied(gridmg_of(fresh, options), r));
}

// On devices a refresh begins as the last one went: each of these wants other grids than the one before, or the same ones again.
TEST(GridMG, RefreshFollowsTheCouplings) {
  const auto couplings = [](const std::array<double, 3> &a) {
    return reference::plain({12, 16, 24}, reference::all_dirichlet, a).A;
  };
  const reference::Matrix plain = couplings({1, 1, 1});
  const Matrix P = matrix_of(plain);
  const reference::Vector r = random_values(std::size_t(plain.size()));
  const char options[] = "-pc_gridmg_coarse_size 20";
  const Preconditioner pc = gridmg_of(P, options);
  for (const std::array<double, 3> &a : {std::array<double, 3>{1, 1, 1},
                                         {1, 1, 1},
                                         {2, 2, 2},
                                         {1, 1, 0.01},
                                         {1, 1, 0.01},
                                         {0.01, 1, 1},
                                         {100, 1, 0.01},
                                         {1, 1, 1},
                                         {1, 1, 1e-3},
                                         {1, 1, 0.5}}) {
    const reference::Matrix A = couplings(a);
    const Matrix fresh = matrix_of(A);
    set_values(P, A);
    EXPECT_EQ(applied(pc, r), applied(gridmg_of(fresh, options), r)) << a[0] << ", " << a[1] << ", " << a[2];
  }
}

bool is_identity(const reference::Matrix &A, int p) {
  for (const auto &[q, a] : A.row[std::size_t(p)])
    if (q != p && a != 0) return false;
  return true;
}

// V of values between 1/2 and 2 that are negative at every third row, but 1 at identity rows.
reference::Vector near_null_of(const reference::Matrix &A) {
  reference::Vector v = random_values(std::size_t(A.size()));
  for (int p = 0; p < A.size(); ++p) {
    v[std::size_t(p)] = (p % 3 ? 1 : -1) * std::pow(2, v[std::size_t(p)]);
    if (is_identity(A, p)) v[std::size_t(p)] = 0; // nobody looks there
  }
  return v;
}

TEST(GridMG, KeepsTheNearNullVector) {
  reference::GridMGOptions small;
  small.coarse_size = 20;
  for (const double missing : {0.0, 0.4}) {
    const reference::Problem3D kept = reference::random_couplings(box, 100, 0, missing);
    reference::Matrix A = kept.A; // of which v is the null vector
    const reference::Vector v = near_null_of(A);
    const auto scale = [&](int p) { return v[std::size_t(p)] == 0 ? 1.0 : v[std::size_t(p)]; };
    for (int p = 0; p < A.size(); ++p)
      for (auto &[q, a] : A.row[std::size_t(p)]) a /= scale(p) * scale(q);
    reference::Vector r = random_values(std::size_t(A.size())), scaled = r;
    for (int p = 0; p < A.size(); ++p) scaled[std::size_t(p)] *= scale(p);
    small.v_times = 0; // null spaces are of vectors of length 1
    for (const double value : v) small.v_times += value * value;
    small.v_times = 1 / std::sqrt(small.v_times);
    reference::Vector expected = reference::GridMG(kept.A, box, small).apply(scaled);
    for (int p = 0; p < A.size(); ++p) expected[std::size_t(p)] *= scale(p);
    double most = 0;
    for (const double z : expected) most = std::max(most, std::fabs(z));
    for (const bool near : {true, false}) {
      const Matrix P = matrix_of(A);
      reference::Problem spaces;
      (near ? spaces.v : spaces.null_space.emplace_back()) = v;
      if (!near && missing > 0) continue; // its null space has more vectors
      set_null_spaces(P, spaces);
      const Preconditioner pc =
          gridmg_of(P, "-pc_gridmg_coarse_size 20 -pc_gridmg_grid 9,8,7 -pc_gridmg_precision double");
      EXPECT_LT(largest_difference(applied(pc, r), expected), 1e-11 * most) << missing;
      EXPECT_NE(view(pc).find("the near null space of the matrix is kept"), std::string::npos);
      const Preconditioner single =
          gridmg_of(P, "-pc_gridmg_coarse_size 20 -pc_gridmg_grid 9,8,7 -pc_gridmg_precision single");
      EXPECT_LT(largest_difference(applied(single, r), expected), 1e-3 * most) << missing;
    }
  }
}

// A vector that says nothing about a row is not used.
TEST(GridMG, PassesOverAUselessVector) {
  const reference::Matrix A = reference::random_couplings(box, 10, 0.1).A;
  const reference::Vector r = random_values(std::size_t(A.size()));
  for (const double useless : {0.0, double(NAN)}) {
    const Matrix P = matrix_of(A);
    reference::Vector v = near_null_of(A);
    v[100] = useless;
    reference::Problem spaces;
    spaces.v = v;
    set_null_spaces(P, spaces);
    const Preconditioner pc = gridmg_of(P);
    EXPECT_EQ(applied(pc, r), applied(gridmg_of(matrix_of(A)), r)) << useless;
    EXPECT_EQ(view(pc).find("near null space of the matrix is kept"), std::string::npos);
  }
}

struct Everything {
  PCGridMGCoarsening coarsening = PC_GRIDMG_COARSENING_AUTO;
  PCGridMGSmoother smoother = PC_GRIDMG_SMOOTHER_AUTO;
  PCGridMGPrecision precision = PC_GRIDMG_PRECISION_AUTO;
  PCRRBTransport transport = PC_RRB_TRANSPORT_AUTO;
  PetscInt smooths = 1, grids = 100, coarse_size = 512, gather_size = PETSC_DECIDE, nx = 0, ny = 0, nz = 0;
};

Everything all_of(PC pc) {
  Everything e;
  ok(PCGridMGGetCoarsening(pc, &e.coarsening));
  ok(PCGridMGGetSmoother(pc, &e.smoother));
  ok(PCGridMGGetPrecision(pc, &e.precision));
  ok(PCGridMGGetSmooths(pc, &e.smooths));
  ok(PCGridMGGetGrids(pc, &e.grids));
  ok(PCGridMGGetCoarseSize(pc, &e.coarse_size));
  ok(PCGridMGGetGatherSize(pc, &e.gather_size));
  ok(PCGridMGGetTransport(pc, &e.transport));
  ok(PCGridMGGetGrid(pc, &e.nx, &e.ny, &e.nz));
  return e;
}

void expect_equal(const Everything &a, const Everything &b) {
  EXPECT_EQ(a.coarsening, b.coarsening);
  EXPECT_EQ(a.smoother, b.smoother);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.smooths, b.smooths);
  EXPECT_EQ(a.grids, b.grids);
  EXPECT_EQ(a.coarse_size, b.coarse_size);
  EXPECT_EQ(a.gather_size, b.gather_size);
  EXPECT_EQ(a.transport, b.transport);
  EXPECT_EQ(a.nx, b.nx);
  EXPECT_EQ(a.ny, b.ny);
  EXPECT_EQ(a.nz, b.nz);
}

const Everything others{PC_GRIDMG_COARSENING_SEMI,
                        PC_GRIDMG_SMOOTHER_LINES,
                        PC_GRIDMG_PRECISION_DOUBLE,
                        PC_RRB_TRANSPORT_SF,
                        3,
                        4,
                        50,
                        1000,
                        9,
                        8,
                        7};

class GridMGChoices : public testing::Test {
protected:
  const Matrix A = matrix_of(reference::random_couplings(box, 10, 0.1).A);
};

TEST_F(GridMGChoices, SettersAndGettersAgree) {
  const Preconditioner pc = gridmg_of(A);
  expect_equal(all_of(pc), Everything());
  ok(PCGridMGSetCoarsening(pc, others.coarsening));
  ok(PCGridMGSetSmoother(pc, others.smoother));
  ok(PCGridMGSetPrecision(pc, others.precision));
  ok(PCGridMGSetSmooths(pc, others.smooths));
  ok(PCGridMGSetGrids(pc, others.grids));
  ok(PCGridMGSetCoarseSize(pc, others.coarse_size));
  ok(PCGridMGSetGatherSize(pc, others.gather_size));
  ok(PCGridMGSetTransport(pc, others.transport));
  ok(PCGridMGSetGrid(pc, others.nx, others.ny, others.nz));
  expect_equal(all_of(pc), others);
  ok(PCReset(pc));
  expect_equal(all_of(pc), others);
}

TEST_F(GridMGChoices, OptionsSayTheSameAsSetters) {
  expect_equal(all_of(gridmg_of(
                   A, "-pc_gridmg_coarsening semi -pc_gridmg_smoother lines -pc_gridmg_precision double "
                      "-pc_gridmg_smooths 3 -pc_gridmg_grids 4 -pc_gridmg_coarse_size 50 -pc_gridmg_gather_size 1000 "
                      "-pc_gridmg_transport sf -pc_gridmg_grid 9,8,7")),
               others);
}

TEST_F(GridMGChoices, GettersTellTheGridInUse) {
  const Preconditioner pc = gridmg_of(A);
  ok(PCSetUp(pc));
  Everything found;
  found.gather_size = backend.device ? 32768 : 4096;
  found.nx = 9, found.ny = 8, found.nz = 7;
  expect_equal(all_of(pc), found);
}

TEST_F(GridMGChoices, OutOfRangeAreRefused) {
  const Preconditioner pc = gridmg_of(A);
  const auto expect_refused = [&](PetscErrorCode code, const char *word) {
    EXPECT_TRUE(refused(code)) << word;
    EXPECT_EQ(raised.code, PETSC_ERR_ARG_OUTOFRANGE) << word;
    EXPECT_NE(raised.message.find(word), std::string::npos) << raised.message;
    raised = {};
  };
  expect_refused(PCGridMGSetSmooths(pc, 0), "sweeps 0");
  expect_refused(PCGridMGSetGrids(pc, 0), "grids 0");
  expect_refused(PCGridMGSetCoarseSize(pc, -1), "grid -1");
  expect_refused(PCGridMGSetGatherSize(pc, -7), "Gather size -7");
  expect_refused(PCGridMGSetCoarsening(pc, (PCGridMGCoarsening)3), "PCGridMGCoarsening 3");
  expect_refused(PCGridMGSetSmoother(pc, (PCGridMGSmoother)-1), "PCGridMGSmoother -1");
  expect_refused(PCGridMGSetGrid(pc, 9, 0, 7), "9 x 0 x 7");
  expect_equal(all_of(pc), Everything());
}

TEST_F(GridMGChoices, AreInTheView) {
  const Matrix P = matrix_of(reference::problem3d("anisotropic 1,1,100", 16).A);
  const Preconditioner pc = gridmg_of(P);
  const auto expect_lines = [&](const std::vector<std::string> &lines) {
    const std::string text = view(pc);
    for (const std::string &line : lines) EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << "\n" << text;
  };
  expect_lines({"    V(1,1), coarsening: auto, smoother: auto", "    precision: auto", "    not set up yet"});
  ok(PCSetUp(pc));
  expect_lines({"    grid: 16 x 16 x 16, 7-point, from the matrix pattern",
                "      16 x 16 x 16: zebra lines in z, coarsened in z", "      16 x 16 x 2: solved",
                "    precision in use: single", backend.device ? "    backend: cuda" : "    backend: host"});
}

TEST(GridMG, RefusesWhatItIsNotFor) {
  const auto expect_refused = [](const reference::Matrix &A, PetscErrorCode code, const char *words,
                                 const char *options) {
    const Matrix P = matrix_of(A);
    EXPECT_TRUE(refused(PCSetUp(gridmg_of(P, options)))) << words;
    EXPECT_EQ(raised.code, code) << words;
    EXPECT_NE(raised.message.find(words), std::string::npos) << raised.message;
    raised = {};
  };
  expect_refused(reference::random_nine_points({9, 8}, 0).A, PETSC_ERR_SUP, "the matrix has 9", "-pc_gridmg_grid 9,8");
  reference::Matrix A = reference::random_couplings(box, 2, 0.1).A;
  expect_refused(A, PETSC_ERR_ARG_INCOMP, "grid", "-pc_gridmg_grid 8,9,7");
  expect_refused(reference::problem3d("poisson", 32).A, PETSC_ERR_ARG_OUTOFRANGE, "32768 points", "-pc_gridmg_grids 1");
  A.row[100][101] *= 2;
  expect_refused(A, PETSC_ERR_ARG_WRONG, "symmetric", "-pc_gridmg_grid 9,8,7");
  A = reference::random_couplings(box, 2, 0.1).A;
  A.row[100][100] = -1;
  const Matrix P = matrix_of(A);
  EXPECT_EQ(solve(ksp_of(P, "-ksp_type cg -pc_type gridmg"), random_values(std::size_t(A.size()))).reason,
            KSP_DIVERGED_PC_FAILED);
}

} // namespace
