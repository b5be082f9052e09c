// Eisenstat's form of the RRB-solver's product: where it runs, and that nothing else than its time is different.
#include "rrbsolver_support.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

const std::string words = rrb + std::string("-ksp_rtol 1e-9 -ksp_max_it 200 -pc_rrb_levels 6 ");

bool in_form(KSP ksp) { return view(ksp).find("product: in Eisenstat's form") != std::string::npos; }

// Solves, with the true residual in the end.
void expect_solved(KSP ksp, const Problem &problem, bool form, const std::string &what) {
  const Recorded result = recorded(ksp, problem.b, guess_with_known_rows(problem));
  EXPECT_GT(result.reason, 0) << what;
  EXPECT_LT(relative_residual(problem, result.x), 1e-7) << what;
  EXPECT_EQ(in_form(ksp), form) << what;
}

bool has_ring(const Problem &p) { return p.grid.periodic_x || p.grid.periodic_y; }
bool has_levels(const Problem &p) { return p.A.size() > 2; }
// on small grids, too
std::string options_of(const Problem &p) { return words + (has_levels(p) ? "-pc_rrb_storage_grids 1 " : ""); }

TEST(Eisenstat, RunsWhereNothingGoesAroundARing) {
  for (const auto &[name, problem] : five_points())
    for (const char *precision : {"double", "single"})
      for (const char *cycle : {"v", "amli"}) {
        if (!has_levels(problem)) continue;
        const Matrix A = matrix_of(problem);
        const Solver ksp =
            ksp_of(A, options_of(problem) + "-pc_rrb_precision " + precision + " -pc_rrb_cycle " + cycle);
        const bool form = !has_ring(problem) && precision == std::string("double");
        expect_solved(ksp, problem, form, name + ", " + precision + ", " + cycle);
      }
}

// The norm that is reported is that of the true residual, as far down as rounding lets it.
TEST(Eisenstat, ReportsTheTrueResidual) {
  for (const auto &[name, problem] : five_points()) {
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, options_of(problem) + "-ksp_norm_type unpreconditioned -ksp_rtol 1e-11");
    const Recorded result = recorded(ksp, problem.b, guess_with_known_rows(problem));
    ASSERT_GT(result.reason, 0) << name;
    reference::Vector r = problem.A.multiply(result.x);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= problem.b[i];
    EXPECT_NEAR(reference::norm(r), result.history.back(), 0.1 * result.history.back() + 1e-12 * result.history[0])
        << name;
  }
}

// A thread's first rows need what it computes of those below, which are another's.
TEST(Eisenstat, HasTheSameBitsForAnyNumberOfThreads) {
  const Problem problem = reference::random_faces({230, 171}, 10);
  const Matrix A = matrix_of(problem);
  for (const char *norm : {"natural", "unpreconditioned"}) {
    const auto solved = [&](int threads) {
      const Threads use(threads);
      const Solver ksp = ksp_of(A, words + "-ksp_norm_type " + norm);
      const Recorded result = recorded(ksp, problem.b);
      EXPECT_TRUE(in_form(ksp)) << norm;
      return result;
    };
    const Recorded one = solved(1), four = solved(4);
    EXPECT_EQ(one.history, four.history) << norm;
    EXPECT_EQ(one.x, four.x) << norm;
  }
}

// On a large grid, in this refresh and in the next ones, also in that after one with many.
TEST(Eisenstat, ReadsFewKindsOfRows) {
  SKIP_ON_HOST();
  expect_few_kinds_read(constant_grid(1501, 1451, 1), rrb + std::string("-ksp_rtol 1e-9 "),
                        cg_and_rrb + std::string("-ksp_rtol 1e-9 "), false);
}

// It is not that of a preconditioner that couples other nodes than the matrix does.
TEST(Eisenstat, DoesNotRunWithAnotherMatrixsPreconditioner) {
  const Problem before = reference::random_faces({45, 38}, 100), after = reference::random_faces({45, 38}, 90, 5);
  const Matrix A = matrix_of(before);
  const Solver ksp = ksp_of(A, words);
  expect_solved(ksp, before, true, "new");
  ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  set_values(A, after.A);
  expect_solved(ksp, after, false, "kept");
  ok(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
  expect_solved(ksp, after, true, "of the new values");
  set_values(A, before.A);
  expect_solved(ksp, before, true, "of the old ones");
}

// Positive couplings move to the diagonals in M, so it couples less than the matrix.
TEST(Eisenstat, DoesNotRunWithPositiveCouplings) {
  Problem problem = reference::random_faces({33, 30}, 10);
  for (int p = 200; p < 210; ++p) {
    const double a = problem.A.at(p, p + 1);
    problem.A.add(p, p + 1, -1.1 * a), problem.A.add(p + 1, p, -1.1 * a);
    for (const int q : {p, p + 1}) problem.A.add(q, q, 0.2 * std::abs(a));
  }
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, words);
  expect_solved(ksp, problem, false, "positive couplings");
}

} // namespace
