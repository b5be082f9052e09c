// Deflation on several ranks is what it is on one: mpiexec -n 3 build/tests/petsc --gtest_filter='DeflationRanks*'
#include "no_memory.hpp"
#include "ranks_support.hpp"

#include "reference/two_phase.hpp"

#include <cmath>

using namespace petsctest;
using namespace petsctest::distributed;
using namespace neumann_support;

namespace {

const std::vector<std::string> spaces{"block -ksp_deflation_blocks 3,2", "stripe -ksp_deflation_stripe_lines 2",
                                      "block -ksp_deflation_variant def1"};

std::string options_of(const Shape &s, const std::string &space, const std::string &pc) {
  return "-ksp_type cg -ksp_rtol 1e-12 -ksp_max_it 2000 -pc_type " + pc + " -ksp_deflation " + space +
         " -ksp_deflation_grid " + std::to_string(s.nx) + "," + std::to_string(s.ny) +
         (s.points == 7 ? "," + std::to_string(s.nz) : "");
}

void expect_same(const reference::Matrix &A, const Shape &s, const std::string &options) {
  const reference::Vector b = random_values(std::size_t(A.size()));
  const Solve alone = solve(ksp_of(matrix_of(A), options), b);
  each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
    const Solver ksp = ksp_of(d.A, options);
    for (int times = 0; times < 2; ++times) { // new values, the second time
      const Solve done = solve_on(ksp, d, b);
      EXPECT_EQ(done.reason, alone.reason) << what << ", " << options;
      EXPECT_EQ(done.iterations, alone.iterations) << what << ", " << options;
      EXPECT_LT(largest_difference(done.x, own_part(d, alone.x)), 1e-10) << what << ", " << options;
      set_new_values(d, A);
    }
  });
}

TEST(DeflationRanks, TakeTheSameIterations) {
  for (const Shape &s : {Shape{5, 3}, Shape{13, 11}, Shape{6, 5, 4, false, false, false, 7}})
    for (const std::string &space : spaces)
      expect_same(reference_of(uneven(s)), s, options_of(s, space, s.nx > 6 ? "neumann" : "jacobi"));
}

// Phases that wind through all ranks: a spiral, and single cells.
reference::Problem phases(int nx, int ny) {
  return reference::two_phase(nx, ny, [=](int i, int j) {
    const int ring = std::min(std::min(i, j), std::min(nx - 1 - i, ny - 1 - j));
    const bool gate = i == ring && j == ring + 1;
    return (ring % 2 == 0) != gate || (i * 5 + j * 3) % 17 == 0 ? 1.0 : 1e-4;
  });
}

TEST(DeflationRanks, FindPhasesAcrossRanks) {
  for (const Shape &s : {Shape{13, 11}, Shape{16, 9}})
    for (const char *space : {"levelset", "levelset -ksp_deflation_blocks 2,2"}) {
      std::string options = options_of(s, space, "jacobi");
      if (std::string(space) == "levelset") options.resize(options.find(" -ksp_deflation_grid"));
      expect_same(phases(s.nx, s.ny).A, s, options);
    }
}

// The same pattern, but other phases.
TEST(DeflationRanks, FollowNewValues) {
  const Shape s{13, 11};
  const auto halves = reference::two_phase(s.nx, s.ny, [](int i, int j) { return i + 2 * j < 17 ? 1.0 : 1e-4; });
  const reference::Matrix A = phases(s.nx, s.ny).A;
  const reference::Vector b = random_values(std::size_t(A.size()));
  for (const char *space :
       {"block", "block -ksp_deflation_inverse cholesky", "levelset", "levelset -ksp_deflation_blocks 3,2"}) {
    const std::string options = options_of(s, space, "jacobi");
    const Solve first = solve(ksp_of(matrix_of(A), options), b),
                second = solve(ksp_of(matrix_of(halves.A), options), b);
    each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
      const Solver ksp = ksp_of(d.A, options);
      for (const Solve *alone : {&first, &second, &first}) {
        if (alone == &second) set_new_values(d, halves.A);
        if (alone == &first) set_new_values(d, A);
        const Solve done = solve_on(ksp, d, b);
        EXPECT_NEAR(done.iterations, alone->iterations, 1) << what << ", " << options;
        EXPECT_LT(largest_difference(done.x, own_part(d, alone->x)), 1e-8) << what << ", " << options;
      }
    });
  }
}

TEST(DeflationRanks, TakeTheSignOfALevelSet) {
  const Shape s{12, 10};
  const reference::Matrix A = phases(s.nx, s.ny).A;
  const reference::Vector b = random_values(std::size_t(A.size()));
  reference::Vector phi;
  for (int p = 0; p < A.size(); ++p) phi.push_back(std::sin(0.9 * (p % s.nx)) * std::cos(0.7 * (p / s.nx)));
  const auto with = [&](Mat M, const Vector &values) {
    Solver ksp = ksp_of(M, "-ksp_type cg -ksp_rtol 1e-12 -ksp_max_it 2000 -pc_type jacobi -ksp_deflation levelset");
    ok(KSPDeflationSetLevelSet(ksp, values));
    return ksp;
  };
  const Solve alone = solve(with(matrix_of(A), vector_of(phi)), b);
  each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
    const Solve done = solve_on(with(d.A, vector_on(d, phi)), d, b);
    EXPECT_EQ(done.iterations, alone.iterations) << what;
    EXPECT_LT(largest_difference(done.x, own_part(d, alone.x)), 1e-10) << what;
  });
}

TEST(DeflationRanks, LeaveIdentityRows) {
  const Shape s{9, 8};
  SmallMatrix values = uneven(s);
  for (int p = 0; p < s.nx; ++p) values.make_identity(p, false, 2);
  expect_same(reference_of(values), s, options_of(s, "block -ksp_deflation_blocks 3,8", "jacobi"));
}

// Each rank deflates its own block; some have none.
TEST(DeflationRanks, HaveBlocksWithoutRows) {
  const Shape s{7, 6};
  const reference::Matrix A = reference_of(uneven(s));
  const reference::Vector b = random_values(std::size_t(A.size()));
  for (const std::string space : {"levelset", "levelset -sub_ksp_deflation_variant def1"}) {
    const Distributed d = by_rows(A, rows_without_first(A.size()));
    const Solver ksp = ksp_of(d.A, "-ksp_type fgmres -ksp_rtol 1e-8 -pc_type bjacobi -sub_ksp_type cg -sub_pc_type "
                                   "jacobi -sub_ksp_deflation " +
                                       space);
    EXPECT_GT(solve_on(ksp, d, b).reason, 0) << space;
  }
}

// What does not fit on one rank is an error on all of them, and the next solve is none.
TEST(DeflationRanks, LackMemoryTogether) {
  SKIP_ON_DEVICE("PETSc's own device code makes C++ objects");
  const Shape s{40, 36};
  const reference::Matrix A = reference_of(uneven(s));
  const reference::Vector b = random_values(std::size_t(A.size()));
  for (const char *space : {"block -ksp_deflation_blocks 20,18", "levelset -ksp_deflation_blocks 8,8",
                            "block -ksp_deflation_blocks 20,18 -ksp_deflation_inverse explicit"}) {
    const std::string options = "-ksp_type cg -pc_type jacobi -ksp_rtol 0.1 -ksp_deflation_grid 40,36 -ksp_deflation ";
    long failures = 0, k = 1;
    for (bool failed = true; failed; ++failures, k += 1 + k / 8) {
      const Distributed d = by_rows(A, uneven_rows(A.size()));
      const Vector rhs = vector_on(d, b), x = like(rhs);
      const Solver ksp = ksp_of(d.A, options + space);
      raised = {};
      to_fail = rank() + 1 == ranks() ? k : 0;
      failed = refused(KSPSolve(ksp, rhs, x));
      to_fail = 0;
      EXPECT_EQ(largest_over_ranks(failed), failed) << space << k;
      if (failed) {
        EXPECT_EQ(raised.code, PETSC_ERR_MEM) << space << k << raised.message;
      }
      EXPECT_GT(solve_on(ksp, d, b).reason, 0) << space << k;
    }
    EXPECT_GT(failures, 10) << space << ": this does not fail what the library allocates";
  }
}

TEST(DeflationRanks, RefuseTogether) {
  const Shape s{7, 6};
  reference::Matrix A = reference_of(uneven(s));
  const reference::Matrix good = A;
  const Distributed fine = by_rows(A, uneven_rows(A.size()));
  A.row[40][41] *= 2;
  const reference::Matrix not_symmetric = A;
  const Distributed d = by_rows(A, uneven_rows(A.size()));
  A.row[40][40] = std::nan("");
  const Distributed not_finite = by_rows(A, uneven_rows(A.size()));
  const reference::Vector b = random_values(std::size_t(A.size()));
  const auto expect = [&](const Distributed &on, const std::string &options, const std::string &words) {
    const Vector rhs = vector_on(on, b), x = like(rhs);
    const Solver ksp = ksp_of(on.A, "-ksp_type cg -pc_type jacobi " + options);
    raised = {};
    EXPECT_TRUE(refused(KSPSolve(ksp, rhs, x))) << options;
    EXPECT_NE(raised.message.find(words), std::string::npos) << raised.message;
  };
  expect(d, "-ksp_deflation block -ksp_deflation_grid 7,6", "not symmetric at row 40");
  for (const char *space : {"block -ksp_deflation_grid 7,6", "levelset"})
    expect(not_finite, std::string("-ksp_deflation ") + space, "row 40");
  for (const reference::Matrix &values : {not_symmetric, A}) { // after good ones
    const Distributed on = by_rows(good, uneven_rows(A.size()));
    const Solver ksp = ksp_of(on.A, "-ksp_type cg -pc_type none -ksp_deflation block -ksp_deflation_grid 7,6");
    EXPECT_GT(solve_on(ksp, on, b).reason, 0);
    set_new_values(on, values);
    const Vector rhs = vector_on(on, b), x = like(rhs);
    raised = {};
    EXPECT_TRUE(refused(KSPSolve(ksp, rhs, x)));
    EXPECT_NE(raised.message.find("row 40"), std::string::npos) << raised.message;
  }
  if (ranks() == 1) return;
  expect(fine, "-ksp_deflation block", "come from a DMDA, or from -ksp_deflation_grid");
  expect(fine, "-ksp_deflation block -ksp_deflation_grid 7,5", "does not match the matrix");
}

} // namespace
