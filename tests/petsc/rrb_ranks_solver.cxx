// KSPRRB on several ranks in its own form, on the first Schur complement: it is what it is on one.
#include "rrb_ranks_support.hpp"
#include "rrbsolver_support.hpp"

using namespace petsctest;
using namespace petsctest::distributed;

namespace {

const char fused[] = "on the first Schur complement, in r1/r2/b1/b2 storage";
const std::string all_distributed = "-pc_rrb_levels 6 -pc_rrb_gather_size 0 -pc_rrb_storage_grids 1 ";

std::vector<Case> five_point_cases() {
  std::vector<Case> five;
  for (Case &c : cases())
    if (c.points == 5) five.push_back(std::move(c));
  five.push_back({"a ring in y", reference::random_faces({27, 30, false, true}, 10), 5});
  five.push_back({"two by nine", reference::random_faces({2, 9}, 10), 5});
  return five;
}

void expect_fused(KSP ksp, const std::string &what) {
  const std::string text = view_on_first(ksp);
  EXPECT_TRUE(rank() > 0 || text.find(fused) != std::string::npos) << what << "\n" << text;
}

// ---- which form runs ----

TEST(RrbRanksSolver, SaysWhyItIsNotFused) {
  if (ranks() == 1) GTEST_SKIP() << "of several ranks";
  const auto all = cases();
  const auto expect = [&](const Case &c, const std::string &options, const std::string &why) {
    some_distributions(c, [&](const Distributed &d, const std::string &what) {
      const Solver ksp = ksp_of(d.A, rrb + c.grid() + options);
      EXPECT_GT(solve_on(ksp, d, c.problem.b).reason, 0) << what;
      const std::string text = view_on_first(ksp);
      EXPECT_TRUE(rank() > 0 || text.find(why) != std::string::npos) << what << "\n" << text;
    });
  };
  const Case odd{"odd rings", reference::periodic({9, 12, true, false}, 0.1), 5};
  expect(all[1], all_distributed, fused);
  expect(all[1], "-pc_rrb_storage naive -pc_rrb_levels 3 -pc_rrb_gather_size 0", fused);
  expect(all[1], "", "because the finest grid is on every rank");
  expect(all[2], all_distributed, "because the matrix is not a 5-point matrix");
  expect(odd, all_distributed, "because red nodes couple around a periodic side");
  const Case alone{"isolated cells", reference::isolated_cells(20, 21), 5};
  expect(alone, all_distributed, "because the matrix has zero rows");
}

// ---- the iteration of one rank ----

void expect_the_same(const Case &c, const std::string &options, const reference::Vector &x0) {
  some_distributions(c, [&](const Distributed &d, const std::string &what) {
    SCOPED_TRACE(what + ", " + options);
    const std::string all = rrb + all_distributed + c.grid() + options;
    const Matrix A = matrix_of(c.problem);
    const Solver one = ksp_of(A, all), many = ksp_of(d.A, all);
    const Recorded alone = recorded(one, c.problem.b, x0), together = recorded_on(many, d, c.problem.b, x0);
    expect_fused(many, what);
    EXPECT_EQ(together.reason, alone.reason);
    EXPECT_NEAR(together.iterations, alone.iterations, 1);
    expect_near(together.history, alone.history, 1e-6);
    for (KSP ksp : {static_cast<KSP>(one), static_cast<KSP>(many)}) // where rounding decides about iterations
      ok(KSPSetTolerances(ksp, 1e-13, 1e-300, PETSC_DEFAULT, PETSC_DEFAULT));
    const reference::Vector x = solve(one, c.problem.b, x0).x;
    EXPECT_LT(largest_difference(solve_on(many, d, c.problem.b, x0).x, own_part(d, x)), 1e-10);
  });
}

const std::vector<std::string> own_choices{"",
                                           "-ksp_norm_type unpreconditioned",
                                           "-ksp_norm_type preconditioned -pc_rrb_lumping 0.9",
                                           "-pc_rrb_precision single -pc_rrb_gather_size 12",
                                           "-pc_rrb_levels 8 -pc_rrb_cycle amli",
                                           "-pc_rrb_levels 8 -pc_rrb_cycle amli -pc_rrb_gather_size 12",
                                           "-pc_rrb_levels 2"};

TEST(RrbRanksSolver, IsThatOfOneRank) {
  std::size_t turn = std::size_t(ranks());
  for (const Case &c : five_point_cases())
    for (int i = 0; i < 2; ++i) {
      const std::string &options = own_choices[turn++ % own_choices.size()];
      expect_the_same(c, options, i ? guess_with_known_rows(c.problem) : reference::Vector());
    }
}

TEST(RrbRanksSolver, EndsAfterSoManySteps) {
  const Case c = cases()[1];
  some_distributions(c, [&](const Distributed &d, const std::string &what) {
    const std::string options = rrb + all_distributed + c.grid() + "-ksp_norm_type none -ksp_max_it 5";
    const Matrix A = matrix_of(c.problem);
    const Solve alone = solve(ksp_of(A, options), c.problem.b),
                together = solve_on(ksp_of(d.A, options), d, c.problem.b);
    EXPECT_EQ(together.iterations, 5) << what;
    EXPECT_LT(largest_difference(together.x, own_part(d, alone.x)), 1e-10) << what;
  });
}

// Values that make identity rows, with the preconditioner and the V of before.
TEST(RrbRanksSolver, TakesNewIdentityRowsWithAKeptPreconditioner) {
  reference::Vector D = reference::random_vector(24 * 31, 7);
  for (double &value : D) value = std::pow(10.0, value);
  const Case c{"scaled", reference::scaled(reference::random_faces({24, 31}, 10), D), 5};
  for (const bool with_columns : {false, true}) {
    reference::Problem after = c.problem;
    for (const int row : {5, 6, 7, 300, 301, 400, 403, 742})
      for (auto &entry : after.A.row[row]) {
        if (entry.first == row) continue;
        if (with_columns) after.A.row[entry.first][row] = 0;
        entry.second = 0;
      }
    some_distributions(c, [&](const Distributed &d, const std::string &what) {
      const Solver ksp = ksp_of(d.A, "-ksp_type rrb -ksp_rtol 1e-10 " + all_distributed + c.grid());
      (void)solve_on(ksp, d, c.problem.b);
      ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
      set_new_values(d, after.A);
      const Vector b = vector_on(d, after.b), x = like(b), r = like(b);
      PetscReal residual, size;
      ok(KSPSolve(ksp, b, x));
      ok(MatMult(d.A, x, r));
      ok(VecAYPX(r, -1, b));
      ok(VecNorm(r, NORM_2, &residual));
      ok(VecNorm(b, NORM_2, &size));
      EXPECT_LT(residual, 1e-7 * size) << what << with_columns;
      set_new_values(d, c.problem.A);
    });
  }
}

// ---- who looks at it meanwhile ----

TEST(RrbRanksSolver, MayBeWatched) {
  const Case c = cases()[1];
  const reference::Vector x0 = reference::random_vector(c.problem.A.size(), 4);
  PetscReal size = reference::norm(c.problem.b) + reference::norm(c.problem.A.multiply(x0));
  for (const char *more : {"", "-pc_rrb_gather_size 400 ", "-pc_rrb_levels 8 -pc_rrb_cycle amli "})
    some_distributions(c, [&](const Distributed &d, const std::string &what) {
      const std::string options = rrb + all_distributed + c.grid() + more + "-ksp_norm_type unpreconditioned";
      const Solver alone = ksp_of(d.A, options), watched = ksp_of(d.A, options);
      ok(KSPMonitorSet(watched, disturb, &size, nullptr));
      const Recorded a = recorded_on(alone, d, c.problem.b, x0), b = recorded_on(watched, d, c.problem.b, x0);
      expect_fused(watched, what);
      EXPECT_GT(a.iterations, 3) << what;
      EXPECT_EQ(a.history, b.history) << what << ", " << options;
      EXPECT_EQ(a.x, b.x) << what << ", " << options;
    });
}

// What kernels of another rank wait for does not come: an error of all, after a while that is set, and the next use works.
TEST(RrbRanksSolver, WaitsForALateRankWithALimit) {
  SKIP_ON_HOST();
  if (ranks() == 1) GTEST_SKIP() << "of several ranks";
  const Case c = cases()[1];
  constexpr PetscReal limit = 0.5;
  PetscReal before;
  ok(PetscRRBGetTimeout(&before));
  const Distributed d = on_dmda(c.problem.A, c.shape(), partitions(c.shape()).front());
  const std::string options = rrb + all_distributed + c.grid();
  const Recorded expected = recorded_on(ksp_of(d.A, options), d, c.problem.b);
  const Solver ksp = ksp_of(d.A, options);
  (void)recorded_on(ksp, d, c.problem.b); // all is there
  const int by_sf = view_on_first(ksp).find("travel by PetscSF") != std::string::npos;
  if (largest_over_ranks(by_sf) > 0) GTEST_SKIP() << "PetscSF waits in MPI, which has no limit";
  ok(KSPMonitorSet(
      ksp,
      [](KSP, PetscInt step, PetscReal, void *) -> PetscErrorCode {
        return step == 2 && rank() == 0 ? PetscSleep(10 * limit) : PETSC_SUCCESS;
      },
      nullptr, nullptr));
  ok(PetscRRBSetTimeout(limit));
  const Vector b = vector_on(d, c.problem.b), x = like(b);
  EXPECT_TRUE(refused(KSPSolve(ksp, b, x)));
  EXPECT_EQ(raised.code, PETSC_ERR_GPU) << raised.message;
  ok(PetscRRBSetTimeout(before));
  ok(KSPMonitorCancel(ksp));
  ok(KSPReset(ksp));
  ok(KSPSetOperators(ksp, d.A, d.A));
  EXPECT_EQ(recorded_on(ksp, d, c.problem.b).history, expected.history);
}

// ---- again ----

TEST(RrbRanksSolver, FollowsNewValuesAndRightHandSides) {
  const Case before{"", reference::random_faces({24, 31}, 100, 1), 5},
      after{"", reference::random_faces({24, 31}, 100, 2), 5};
  const std::string options = rrb + all_distributed;
  some_distributions(before, [&](const Distributed &d, const std::string &what) {
    const Solver ksp = ksp_of(d.A, options);
    for (const Case *c : {&before, &after, &before}) {
      set_new_values(d, c->problem.A);
      const Solver fresh = ksp_of(d.A, options);
      for (unsigned seed = 1; seed < 3; ++seed) {
        const reference::Vector b = reference::random_vector(c->problem.A.size(), seed);
        const Recorded again = recorded_on(ksp, d, b), expected = recorded_on(fresh, d, b);
        EXPECT_EQ(again.history, expected.history) << what;
        EXPECT_EQ(again.x, expected.x) << what;
      }
    }
    expect_fused(ksp, what);
  });
}

// The preconditioner is that of other values, the solution that of the matrix.
TEST(RrbRanksSolver, MayBeNewerThanThePreconditioner) {
  const Case before{"", reference::random_faces({24, 31}, 10, 1), 5},
      after{"", reference::random_faces({24, 31}, 10, 2), 5};
  const std::string options = rrb + all_distributed + "-ksp_rtol 1e-12";
  some_distributions(before, [&](const Distributed &d, const std::string &what) {
    const Matrix A = matrix_of(before.problem);
    const Solver one = ksp_of(A, options), many = ksp_of(d.A, options);
    (void)solve(one, before.problem.b);
    (void)solve_on(many, d, before.problem.b);
    for (KSP ksp : {static_cast<KSP>(one), static_cast<KSP>(many)}) ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    set_values(A, after.problem.A);
    set_new_values(d, after.problem.A);
    const Solve alone = solve(one, after.problem.b), together = solve_on(many, d, after.problem.b);
    expect_fused(many, what);
    EXPECT_EQ(together.reason, alone.reason) << what;
    EXPECT_NEAR(together.iterations, alone.iterations, 1) << what;
    EXPECT_LT(largest_difference(together.x, own_part(d, alone.x)), 1e-9) << what;
  });
}

// A matrix with fewer couplings, while the preconditioner is kept.
TEST(RrbRanksSolver, TakesOtherPatternsOfTheGrid) {
  if (ranks() == 1) GTEST_SKIP() << "of several ranks";
  reference::Problem problem = reference::random_faces({12, 20}, 10);
  const auto clear = [&](int p, int q) { problem.A.row[std::size_t(p)].erase(q); };
  reference::Problem cut = problem;
  for (const auto &[p, q] : {std::pair{30, 31}, {100, 112}}) {
    const double a = problem.A.at(p, q);
    clear(p, q), clear(q, p);
    problem.A.add(p, p, a), problem.A.add(q, q, a);
  }
  const std::string options = rrb + all_distributed + "-pc_rrb_grid 12,20 -ksp_rtol 1e-12";
  const Distributed d = by_rows(problem.A, uneven_rows(problem.A.size()));
  const Solver ksp = ksp_of(d.A, options);
  EXPECT_GT(solve_on(ksp, d, problem.b).reason, 0);
  ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  set_new_values(d, cut.A);
  const Matrix A = matrix_of(cut);
  const reference::Vector x = solve(ksp_of(A, options), cut.b).x;
  EXPECT_LT(largest_difference(solve_on(ksp, d, cut.b).x, own_part(d, x)), 1e-9);
  expect_fused(ksp, "fewer couplings");
}

} // namespace
