// The steps of a random use: solves, and what may happen between them.
#include "use_impl.hpp"

#include <algorithm>
#include <cmath>

namespace longtest {

// Their squares are no numbers.
static bool is_huge(const reference::Vector &v) {
  return std::any_of(v.begin(), v.end(), [](double x) { return std::fabs(x) > 1e150; });
}

bool has_nan(const reference::Vector &v) {
  return std::any_of(v.begin(), v.end(), [](double x) { return !std::isfinite(x); });
}

namespace {

// A definite matrix and a definite preconditioner give none of these.
bool impossible(KSPConvergedReason reason) {
  return reason == KSP_DIVERGED_INDEFINITE_PC || reason == KSP_DIVERGED_INDEFINITE_MAT ||
         reason == KSP_DIVERGED_NANORINF || reason == KSP_DIVERGED_PC_FAILED || reason == KSP_DIVERGED_BREAKDOWN;
}

PetscErrorCode raise_in_monitor(KSP, PetscInt iteration, PetscReal, void *at) {
  PetscFunctionBegin;
  PetscCheck(iteration < *(PetscInt *)at, PETSC_COMM_WORLD, PETSC_ERR_USER, "the monitor's own error");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode raise_in_test(KSP, PetscInt iteration, PetscReal, KSPConvergedReason *reason, void *at) {
  PetscFunctionBegin;
  *reason = KSP_CONVERGED_ITERATING;
  PetscCheck(iteration < *(PetscInt *)at, PETSC_COMM_WORLD, PETSC_ERR_USER, "the test's own error");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode build_in_monitor(KSP ksp, PetscInt, PetscReal, void *) {
  Vec x, r;

  PetscFunctionBegin;
  PetscCall(KSPBuildSolution(ksp, nullptr, &x));
  PetscCall(KSPBuildResidual(ksp, nullptr, nullptr, &r));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

void Use::take_step(int which) {
  static const struct {
    void (Use::*take)();
    int weight;
  } steps[] = {{&Use::solve_again, 6}, {&Use::new_values, 6},   {&Use::solve_transposed, 2}, {&Use::solve_columns, 2},
               {&Use::zero_rows, 2},   {&Use::new_matrix, 2},   {&Use::new_size, 2},         {&Use::reset, 2},
               {&Use::setters, 4},     {&Use::other_tests, 3},  {&Use::other_type, 2},       {&Use::view, 2},
               {&Use::apply, 4},       {&Use::apply_halves, 1}, {&Use::error_inside, 2},     {&Use::second_solver, 2},
               {&Use::reuse, 2},       {&Use::build_inside, 1}, {&Use::newton, 2},           {&Use::time_steps, 1}};
  if (which == 0) {
    if (random.chance(0.1)) apply();
    solve(false);
    return;
  }
  int total = 0;
  for (const auto &step : steps) total += step.weight;
  int at = random.integer(0, total - 1);
  for (const auto &step : steps)
    if ((at -= step.weight) < 0) {
      (this->*step.take)();
      return;
    }
}

// PETSc's chebyshev leaves its work vector in the place of the solution, without a reference, where a norm is no number: the
// next solve and KSPReset() would free it.
static void mend_chebyshev(KSP ksp, Vec x) {
  PetscBool chebyshev;
  Vec kept;
  ok(PetscObjectTypeCompare((PetscObject)ksp, KSPCHEBYSHEV, &chebyshev));
  ok(KSPGetSolution(ksp, &kept));
  if (!chebyshev || kept == x) return;
  ok(PetscObjectReference((PetscObject)kept));
  ok(PetscObjectDereference((PetscObject)x));
}

// PETSc's Richardson that may not iterate takes a norm on the ranks alone whose own blocks have not failed, and these wait for ever.
static void let_iterate(KSP ksp) {
  PetscBool richardson;
  PetscInt most;
  ok(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  ok(KSPGetTolerances(ksp, nullptr, nullptr, nullptr, &most));
  if (richardson && most == 0 && ranks() > 1) ok(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 1));
}

void Use::solve(bool transposed) {
  std::string words;
  reference::Vector b = random_rhs(random, problem, words), guess = random_guess(random, problem, words);
  if (transposed && problem.columns != problem.size()) return;
  PetscBool bcgs;
  ok(PetscObjectTypeCompare(ksp, KSPBCGS, &bcgs));
  if (bcgs) guess.clear(); // with the preconditioner on the right it is added to later solutions, too
  say("; solve, " + words);
  const Vector rhs = numbering.vector(b, A, true), x = numbering.vector(guess, A, false);
  if (guess.empty()) ok(VecSet(x, NAN));
  let_iterate(ksp);
  ok(KSPSetInitialGuessNonzero(ksp, guess.empty() ? PETSC_FALSE : PETSC_TRUE));
  if (has_nan(b) || has_nan(guess) || is_huge(b)) has_to_work = false; // there may be -ksp_error_if_not_converged
  ok(transposed ? KSPSolveTranspose(ksp, rhs, x) : KSPSolve(ksp, rhs, x));
  mend_chebyshev(ksp, x);
  Claim claim{ksp, &problem, &numbering, &b, &guess, numbering.values(x), transposed, !differ && !stale};
  leaves = leaves || estimates_nothing(claim);
  KSPConvergedReason reason;
  ok(KSPGetConvergedReason(ksp, &reason));
  say(" (" + std::string(KSPConvergedReasons[reason]) + ")");
  ++(reason > 0 ? converged : diverged);
  PetscBool scaled;
  ok(get_diagonal_scale(ksp, &scaled)); // PETSc leaves it scaled
  if (numbering.values(rhs) != b && !has_nan(b) && !scaled)
    fault = "the right-hand side was changed";
  else if (!scaled) // norms are those of the scaled system
    fault = judge(claim);
  if (fault.empty() && has_to_converge && !transposed && !has_nan(b) && !has_nan(guess) && !is_huge(b) &&
      impossible(reason) && !wish.plain)
    fault = "diverged with " + std::string(KSPConvergedReasons[reason]) + " though all is definite";
}

void Use::solve_again() { solve(false); }

void Use::solve_transposed() {
  say("; transposed");
  solve(true);
}

void Use::solve_columns() {
  const PetscInt n = problem.size(), columns = random.integer(1, 4);
  if (problem.columns != problem.size()) return;
  Matrix B, X;
  say("; KSPMatSolve");
  ok(MatCreateDense(PETSC_COMM_WORLD, numbering.rows(), PETSC_DECIDE, n, columns, nullptr, B.put()));
  if (backend.device) ok(MatConvert(B, MATDENSECUDA, MAT_INPLACE_MATRIX, B.in_place()));
  std::string words;
  for (PetscInt j = 0; j < columns; ++j) {
    const reference::Vector b = random_rhs(random, problem, words);
    const Vector from = numbering.vector(b, A, true);
    Vec to;
    if (has_nan(b) || is_huge(b)) has_to_work = false;
    ok(MatDenseGetColumnVecWrite(B, j, &to));
    ok(VecCopy(from, to));
    ok(MatDenseRestoreColumnVecWrite(B, j, &to));
  }
  ok(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  ok(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, X.put()));
  ok(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
  ok(KSPMatSolve(ksp, B, X));
}

void Use::view() {
  PetscViewer viewer;
  char text[4000];
  say("; KSPView");
  if (random.chance(0.5))
    ok(PetscViewerStringOpen(PETSC_COMM_WORLD, text, sizeof text, &viewer));
  else
    ok(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &viewer));
  const PetscErrorCode code = KSPView(ksp, viewer);
  ok(PetscViewerDestroy(&viewer));
  ok(code);
}

void Use::error_inside() {
  PetscInt at = random.integer(0, 3);
  PetscBool chebyshev;
  ok(PetscObjectTypeCompare(ksp, KSPCHEBYSHEV, &chebyshev));
  if (chebyshev) return; // an error leaves a work vector in the place of its solution
  const bool monitor = random.chance(0.6);
  say(std::string("; an error in ") + (monitor ? "a monitor" : "the test") + " at iteration " + std::to_string(at));
  KSPNormType norm;
  ok(KSPGetNormType(ksp, &norm));
  if (problem.columns != problem.size()) return;
  if (monitor) ok(KSPMonitorSet(ksp, raise_in_monitor, &at, nullptr));
  PetscErrorCode (*test)(KSP, PetscInt, PetscReal, KSPConvergedReason *, void *);
  void *context;
  PetscErrorCode (*destroy)(void *);
  if (!monitor) {
    ok(KSPGetAndClearConvergenceTest(ksp, &test, &context, &destroy));
    ok(KSPSetConvergenceTest(ksp, raise_in_test, &at, nullptr));
  }
  std::string words;
  const reference::Vector b = random_rhs(random, problem, words);
  if (has_nan(b) || is_huge(b)) has_to_work = false;
  {
    const Vector rhs = numbering.vector(b, A, true), x = numbering.vector({}, A, false);
    ok(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
    const PetscErrorCode code = KSPSolve(ksp, rhs, x);
    if (code != PETSC_SUCCESS && raised.code != PETSC_ERR_USER) ok(code);
    leaves = leaves || code != PETSC_SUCCESS;
    raised = Raised();
  }
  if (monitor)
    ok(KSPMonitorCancel(ksp));
  else
    ok(KSPSetConvergenceTest(ksp, test, context, destroy));
  solve(false);
}

void Use::second_solver() {
  PC pc;
  Solver other;
  PetscBool scaled;
  ok(get_diagonal_scale(ksp, &scaled));
  if (scaled) return; // PETSc has left the matrix scaled, and this KSP would know nothing of that
  const char *type = krylov();
  const bool works = std::exchange(has_to_work, false);
  say(std::string("; a second KSP, ") + type);
  ok(KSPGetPC(ksp, &pc));
  ok(KSPCreate(PETSC_COMM_WORLD, other.put()));
  ok(KSPSetType(other, type));
  ok(KSPSetPC(other, pc));
  ok(KSPSetOperators(other, A, P));
  ok(KSPSetTolerances(other, 1e-5, 0, PETSC_DEFAULT, 100));
  std::swap(ksp, other);
  const bool converges = has_to_converge;
  has_to_converge = false;
  solve(false);
  std::swap(ksp, other);
  has_to_converge = converges, has_to_work = works;
  if (fault.empty()) solve(false);
}

void Use::build_inside() {
  if (problem.columns != problem.size()) return;
  say("; KSPBuildSolution in a monitor");
  ok(KSPMonitorSet(ksp, build_in_monitor, nullptr, nullptr));
  solve(false);
  ok(KSPMonitorCancel(ksp));
}

} // namespace longtest
