// The RRB-solver makes its matrix of what its preconditioner has read, where that is the same matrix; else of what it reads.
#include "rrbsolver_support.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

const std::string words = rrb + std::string("-ksp_rtol 1e-9 -ksp_max_it 200 -pc_rrb_levels 6 ");

// A matrix that is newer than the preconditioner, if only by the number of its changes, is read.
TEST(RRBSolverLent, HasTheBitsOfAMatrixThatIsRead) {
  for (const auto &[name, problem] : five_points())
    for (const char *more : {"-pc_rrb_storage_grids 1", "-pc_rrb_precision double", "-pc_rrb_storage naive"}) {
      if (problem.A.size() < 3) continue;
      const Matrix A = matrix_of(problem);
      const Solver ksp = ksp_of(A, words + more);
      const Recorded lent = recorded(ksp, problem.b, guess_with_known_rows(problem));
      ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
      set_values(A, problem.A);
      const Recorded read = recorded(ksp, problem.b, guess_with_known_rows(problem));
      EXPECT_GT(lent.reason, 0) << name << ' ' << more;
      if (backend.device) { // whose compiler contracts the same operations as it likes
        expect_near(lent.history, read.history, 1e-9);
        EXPECT_LT(reference::difference(lent.x, read.x), 1e-7 * reference::norm(read.x)) << name << ' ' << more;
        continue;
      }
      ASSERT_EQ(lent.history.size(), read.history.size()) << name << ' ' << more;
      for (std::size_t i = 1; i < lent.history.size(); ++i) // the first norm of a kept one is by an application
        EXPECT_EQ(lent.history[i], read.history[i]) << name << ' ' << more;
      EXPECT_EQ(lent.x, read.x) << name << ' ' << more;
    }
}

// What is lent may change by the other solver's set-up.
TEST(RRBSolverLent, TwoSolversShareAPreconditioner) {
  const Problem before = reference::random_faces({61, 47}, 100), after = reference::random_faces({61, 47}, 90, 5);
  const Matrix A = matrix_of(before);
  const Solver one = ksp_of(A, words), other = ksp_of(A, "-ksp_type rrb -ksp_rtol 1e-9 -ksp_max_it 200");
  PC pc;
  ok(KSPGetPC(one, &pc));
  ok(KSPSetPC(other, pc));
  const auto expect_solved = [&](KSP ksp, const Problem &problem, const char *what) {
    const Recorded result = recorded(ksp, problem.b);
    EXPECT_GT(result.reason, 0) << what;
    EXPECT_LT(relative_residual(problem, result.x), 1e-7) << what;
  };
  expect_solved(one, before, "one");
  expect_solved(other, before, "other");
  set_values(A, after.A);
  expect_solved(other, after, "other, new values");
  expect_solved(one, after, "one, new values");
  set_values(A, before.A);
  expect_solved(one, before, "one, old values");
  ok(KSPSetReusePreconditioner(other, PETSC_TRUE));
  set_values(A, after.A);
  expect_solved(other, after, "other, kept");
}

// What the first line about it says.
double bytes_of(const std::string &viewed) {
  const std::string word = "memory: ";
  const std::size_t at = viewed.find(word);
  EXPECT_NE(at, std::string::npos) << viewed;
  return at == std::string::npos ? 0.0 : std::stod(viewed.substr(at + word.size()));
}

// S1 and its red nodes' factor are 40 bytes an unknown.
TEST(RRBSolverLent, HasNoMatrixOfItsOwn) {
  const Problem problem = reference::random_faces({61, 47}, 100);
  const double unknowns = double(problem.A.size());
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, words);
  EXPECT_GT(recorded(ksp, problem.b).reason, 0);
  const double lent = bytes_of(view(ksp));
  ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  set_values(A, problem.A);
  EXPECT_GT(recorded(ksp, problem.b).reason, 0);
  EXPECT_GT(bytes_of(view(ksp)), lent + 35 * unknowns);
}

// With a null space the preconditioner takes small row sums for 0, the matrix has them: where there are any, it is read.
TEST(RRBSolverLent, WithANullSpaceUnlessARowHasASmallSum) {
  Problem problem = reference::random_faces({61, 47}, 100);
  reference::Matrix &A = problem.A;
  for (int p = 0; p < A.size(); ++p) {
    double couplings = 0;
    for (const auto &[q, a] : A.row[p])
      if (q != p) couplings += a;
    A.row[p][p] = -couplings;
  }
  const double unknowns = double(A.size());
  double bytes[2];
  for (const bool small : {false, true}) {
    if (small) A.row[1500][1500] *= 1 + 1e-12;
    const reference::Vector b = A.multiply(reference::random_vector(A.size(), 1));
    const Matrix mat = matrix_of(A);
    set_constant_null_space(mat);
    const Solver ksp = ksp_of(mat, words + "-pc_rrb_grid 61,47");
    const Recorded result = recorded(ksp, b);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
    EXPECT_LT(relative_residual(A, b, result.x), 1e-7);
    bytes[small] = bytes_of(view(ksp));
  }
  EXPECT_GT(bytes[1], bytes[0] + 35 * unknowns);
}

// The preconditioner makes S1, 20 bytes an unknown, as long as there is an RRB-solver around it.
TEST(RRBSolverLent, IsMadeForSolversAlone) {
  const Problem problem = reference::random_faces({61, 47}, 100);
  const double unknowns = double(problem.A.size());
  const Matrix A = matrix_of(problem);
  const Solver plain = ksp_of(A, "-ksp_type cg -pc_type rrb -ksp_rtol 1e-9 -pc_rrb_levels 6");
  PC pc;
  ok(KSPGetPC(plain, &pc));
  const auto bytes = [&](KSP ksp) {
    set_values(A, problem.A);
    EXPECT_GT(recorded(ksp, problem.b).reason, 0);
    return bytes_of(view(pc));
  };
  const double alone = bytes(plain);
  {
    const Solver ksp = ksp_of(A, "-ksp_type rrb -ksp_rtol 1e-9");
    ok(KSPSetPC(ksp, pc));
    EXPECT_GT(bytes(ksp), alone + 18 * unknowns);
    EXPECT_GT(bytes(plain), alone + 18 * unknowns);
  }
  EXPECT_EQ(bytes(plain), alone);
}

} // namespace
