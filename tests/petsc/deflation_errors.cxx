// A deflated KSP after an error in the middle of a solve, wherever it was raised: later solves are those of a new one.
#include "deflation_support.hpp"

#include <petsc/private/pcimpl.h>

#include <functional>

using namespace petsctest;
using reference::Problem;

namespace {

const Problem problem = reference::two_phase(24);

// What applications give to PETSc: each raises an error in the call that is counted down to.
struct Failing {
  int calls_left = -1; // negative: never

  PetscErrorCode call() {
    PetscFunctionBegin;
    PetscCheck(calls_left < 0 || calls_left-- > 0, PETSC_COMM_SELF, PETSC_ERR_USER, "stop here");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool raised_its_error() const { return calls_left < 0; }
};

PetscErrorCode monitor(KSP, PetscInt, PetscReal, void *context) { return static_cast<Failing *>(context)->call(); }

Failing &failing_of(PC pc) {
  void *context = nullptr;
  ok(PCShellGetContext(pc, &context));
  return *static_cast<Failing *>(context);
}
PetscErrorCode apply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(failing_of(pc).call());
  PetscCall(VecScale(y, 0.0));
  PetscCall(VecCopy(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode before(PC pc, KSP, Vec, Vec) { return failing_of(pc).call(); }

// Where PETSc locks the vectors that a preconditioner reads in optimized builds, too, those of a failed solver stay locked.
bool locks_vectors() {
  const petsctest::Vector v = vector_of({1});
  PetscInt state = 0;
  ok(VecLockReadPush(v));
  ok(VecLockGet(v, &state));
  ok(VecLockReadPop(v));
  return state != 0;
}

class AfterAnError : public testing::TestWithParam<const char *> {
protected:
  AfterAnError() : A(matrix_of(problem)), variant(std::string(" -ksp_deflation_variant ") + GetParam()) {}

  std::string options = "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-8 -ksp_deflation block -ksp_deflation_blocks 4,4";
  Matrix A;
  std::string variant;

  void fail(KSP ksp) const {
    const petsctest::Vector b = vector_of(problem.b), x = like(b);
    EXPECT_TRUE(refused(KSPSolve(ksp, b, x)));
    EXPECT_EQ(raised.code, PETSC_ERR_USER) << raised.message;
  }
  void fail_in_monitor(KSP ksp) const {
    Failing failing;
    failing.calls_left = 3;
    ok(KSPMonitorSet(ksp, monitor, &failing, nullptr));
    fail(ksp);
    ok(KSPMonitorCancel(ksp));
  }
  void expect_as_new(KSP ksp, const std::string &with, const std::string &what = "") const {
    const Solve wanted = solve(ksp_of(A, with), problem.b);
    for (int times = 0; times < 2; ++times) {
      const Solve found = solve(ksp, problem.b);
      Mat now;
      ok(KSPGetOperators(ksp, &now, nullptr));
      EXPECT_EQ(now, Mat(A)) << what;
      EXPECT_EQ(found.reason, wanted.reason) << what;
      EXPECT_EQ(found.iterations, wanted.iterations) << what;
      EXPECT_EQ(found.x, wanted.x) << what;
    }
  }
};

TEST_P(AfterAnError, SolvesAsBefore) {
  const std::vector<std::pair<const char *, std::function<void(KSP)>>> ways = {
      {"at once", [](KSP) {}},
      {"set up", [](KSP ksp) { ok(KSPSetUp(ksp)); }},
      {"reset",
       [this](KSP ksp) {
         ok(KSPReset(ksp));
         ok(KSPSetOperators(ksp, A, A));
       }},
      {"operators",
       [this](KSP ksp) {
         const Matrix other = matrix_of(reference::two_phase(20));
         ok(KSPReset(ksp));
         ok(KSPSetOperators(ksp, other, other));
         EXPECT_GT(solve(ksp, reference::two_phase(20).b).reason, 0);
         ok(KSPReset(ksp));
         ok(KSPSetOperators(ksp, A, A));
       }},
      {"values",
       [this](KSP ksp) {
         const Matrix other = matrix_of(problem);
         ok(MatScale(other, 3.0));
         ok(KSPSetOperators(ksp, other, other));
         EXPECT_GT(solve(ksp, problem.b).reason, 0);
         ok(KSPSetOperators(ksp, A, A));
       }},
      {"off and on",
       [](KSP ksp) {
         ok(KSPSetDeflation(ksp, KSP_DEFLATION_NONE));
         EXPECT_GT(solve(ksp, problem.b).reason, 0);
         ok(KSPSetDeflation(ksp, KSP_DEFLATION_BLOCK));
       }},
      {"twice", [this](KSP ksp) { fail_in_monitor(ksp); }},
  };
  for (const std::string guess : {"", " -ksp_initial_guess_nonzero", " -ksp_knoll"})
    for (const auto &[what, then] : ways) {
      const Solver ksp = ksp_of(A, options + variant + guess);
      fail_in_monitor(ksp);
      then(ksp);
      expect_as_new(ksp, options + variant + guess, what + guess);
    }
}

TEST_P(AfterAnError, TakesAnotherType) {
  const Solver ksp = ksp_of(A, options + variant);
  fail_in_monitor(ksp);
  ok(KSPSetType(ksp, KSPFGMRES));
  EXPECT_GT(solve(ksp, problem.b).reason, 0);
  ok(KSPSetType(ksp, KSPCG));
  EXPECT_EQ(solve(ksp, problem.b).iterations, solve(ksp_of(A, options + variant), problem.b).iterations);
}

// The guess that is set after the error is the one that counts.
TEST_P(AfterAnError, LeavesWhatIsSetSince) {
  const Solver ksp = ksp_of(A, options + variant + " -ksp_initial_guess_nonzero");
  fail_in_monitor(ksp);
  ok(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
  const petsctest::Vector b = vector_of(problem.b), x = like(b, std::nan(""));
  ok(KSPSolve(ksp, b, x));
  EXPECT_LT(relative_residual(problem, values_of(x)), 1e-5);
}

// In what is applied, in what goes before a solve, and in a solver inside of this one.
TEST_P(AfterAnError, OfThePreconditioner) {
  for (const std::string type : {"cg", "chebyshev -ksp_max_it 5000 -ksp_chebyshev_esteig 0,0.02,0,1.1"})
    for (int calls = 0; calls < 6; ++calls) {
      const std::string with = "-ksp_type " + type +
                               " -pc_type shell -ksp_norm_type unpreconditioned -ksp_rtol 1e-4 -ksp_deflation block "
                               "-ksp_deflation_blocks 4,4" +
                               variant;
      const Solver ksp = ksp_of(A, with), fresh = ksp_of(A, with);
      Failing failing, fine;
      for (const auto &[solver, context] : {std::pair(KSP(ksp), &failing), std::pair(KSP(fresh), &fine)}) {
        ok(PCShellSetContext(inner_of(solver), context));
        ok(PCShellSetApply(inner_of(solver), apply));
        ok(PCShellSetPreSolve(inner_of(solver), before));
      }
      for (int times = 0; times < 3; ++times) { // PETSc lets PCPreSolve() be embedded twice
        failing.calls_left = calls;
        fail(ksp);
        EXPECT_TRUE(failing.raised_its_error());
        if (!locks_vectors()) continue;
        ok(KSPReset(ksp));
        ok(KSPSetOperators(ksp, A, A));
      }
      const Solve found = solve(ksp, problem.b), wanted = solve(fresh, problem.b);
      EXPECT_EQ(found.reason, wanted.reason) << type << calls;
      EXPECT_EQ(found.iterations, wanted.iterations) << type << calls;
      EXPECT_EQ(found.x, wanted.x) << type << calls;
    }
}

TEST_P(AfterAnError, MayLoseItsSolver) {
  Solver ksp = ksp_of(A, options + variant);
  PC pc = pc_of(ksp);
  ok(PetscObjectReference((PetscObject)pc));
  fail_in_monitor(ksp);
  const Solver heir = ksp_of(A, "-ksp_type cg -ksp_rtol 1e-8");
  ok(KSPSetPC(heir, pc));
  ok(PCDestroy(&pc));
  ksp = Solver();
  expect_as_new(heir, options + variant);
  ok(KSPReset(heir));
  ok(KSPSetOperators(heir, A, A));
  expect_as_new(heir, options + variant);
}

// A KSP that has the PC of another one.
TEST_P(AfterAnError, IsNotInTheWayOfOthers) {
  const Solver ksp = ksp_of(A, options + variant), other = ksp_of(A, "-ksp_type cg -ksp_rtol 1e-8");
  ok(KSPSetPC(other, pc_of(ksp)));
  fail_in_monitor(ksp);
  const Solve wanted = solve(ksp_of(A, options + variant), problem.b), found = solve(other, problem.b);
  EXPECT_EQ(found.iterations, wanted.iterations);
  EXPECT_LT(relative_residual(problem, found.x), 1e-5);
  fail_in_monitor(other);
  expect_as_new(ksp, options + variant);
  ok(KSPSetDeflation(ksp, KSP_DEFLATION_NONE)); // the other one's PC is M^-1 alone then, too
  EXPECT_GT(solve(ksp, problem.b).iterations, wanted.iterations);
  EXPECT_GT(solve(other, problem.b).iterations, wanted.iterations);
  ok(KSPSetDeflation(other, KSP_DEFLATION_BLOCK));
  ok(KSPDeflationSetBlocks(other, 4, 4, 1));
  ok(KSPDeflationSetVariant(other, std::string(GetParam()) == "def1" ? KSP_DEFLATION_DEF1 : KSP_DEFLATION_ADEF2));
  expect_as_new(other, options + variant);
}

TEST_P(AfterAnError, OfWhatIsRefused) {
  for (const auto &types : {std::vector{KSPLSQR, KSPCGNE, KSPCGS, KSPCG}, std::vector{KSPCGNE, KSPCGS, KSPCG},
                            std::vector{KSPFGMRES, KSPQCG, KSPCGNE, KSPLSQR, KSPCG}}) {
    const Solver ksp = ksp_of(A, options + variant);
    for (const std::string type : types) {
      const petsctest::Vector b = vector_of(problem.b), x = like(b);
      ok(KSPSetType(ksp, type.c_str()));
      const bool not_for = type == KSPLSQR || type == KSPCGNE || type == KSPQCG;
      raised = {};
      EXPECT_EQ(refused(KSPSolve(ksp, b, x)), not_for) << type << raised.message;
      if (not_for)
        EXPECT_NE(raised.message.find("-ksp_deflation does not work with -ksp_type " + type), std::string::npos)
            << raised.message;
      else
        EXPECT_LT(relative_residual(problem, values_of(x)), 1e-5) << type;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Deflation, AfterAnError, testing::Values("adef2", "def1"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
