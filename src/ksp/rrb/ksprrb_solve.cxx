/* KSPSolve() of KSPRRB: the iteration and its tests, whose order is KSPCG's. */
#include "ksp/rrb/ksprrb_data.h"

using namespace petscrrb;
using Norm = KSPRRBSolver::Norm;
using Numbers = KSPRRBSolver::Numbers;

static Norm NormOf(KSP ksp) {
  switch (ksp->normtype) {
  case KSP_NORM_NATURAL: return Norm::natural;
  case KSP_NORM_PRECONDITIONED: return Norm::preconditioned;
  case KSP_NORM_UNPRECONDITIONED: return Norm::unpreconditioned;
  default: return Norm::none;
  }
}

/* r = b - A x */
static PetscErrorCode Residual(KSP ksp, Vec x, Vec r) {
  PetscFunctionBegin;
  PetscCall(KSP_MatMult(ksp, ksp->pc->mat, x, r));
  PetscCall(VecAYPX(r, -1.0, KSPRRBStateOf(ksp)->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm of a residual that takes an application, where the iteration does not know it. */
static PetscErrorCode NormByApplication(KSP ksp, Vec r, PetscReal *norm) {
  Vec z = ksp->work[1];
  PetscScalar rz;

  PetscFunctionBegin;
  PetscCall(KSP_PCApply(ksp, r, z));
  if (ksp->normtype == KSP_NORM_PRECONDITIONED) {
    PetscCall(VecNorm(z, NORM_2, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDot(z, r, &rz));
  *norm = PetscSqrtReal(PetscAbsScalar(rz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers by which KSPCheckNorm() notices that the preconditioner has failed. */
constexpr double infinite = std::numeric_limits<double>::infinity(); /* PETSC_INFINITY is not */
static const Numbers not_finite{infinite, infinite, infinite};

/* As PCApply() does: whether the user's solver in the preconditioner has failed, on any rank. */
static PetscErrorCode CheckInner(KSP ksp, PetscBool *failed) {
  const KSPRRBState *s = KSPRRBStateOf(ksp);
  const KSP inner = s->inside->inner(ksp->pc);
  PetscMPIInt bad;

  PetscFunctionBegin;
  *failed = PETSC_FALSE;
  if (s->form == KSP_RRB_UNFUSED || !inner) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPCheckSolve(inner, ksp->pc, ksp->work[1]));
  bad = ksp->pc->failedreason != PC_NOERROR || ksp->pc->failedreasonrank != PC_NOERROR;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)ksp)));
  *failed = (PetscBool)(bad != 0);
  if (*failed) PetscCall(PCSetFailedReason(ksp->pc, PC_SUBPC_ERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts the iteration from x0, with the residual's norm there. Known values are right in it (pc/known_values.h). */
static PetscErrorCode Start(KSP ksp, PetscReal *norm, Numbers *numbers) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  PetscRRBStateOfAll *pc = KSPRRBStateOfPC(ksp);
  const Norm type = NormOf(ksp);
  Vec x = ksp->vec_sol, r0 = s->b, work = ksp->work[0];
  MatNullSpace null;
  PetscBool failed;

  PetscFunctionBegin;
  s->add = PETSC_FALSE;
  if (!ksp->guess_zero) {
    PetscCall(Residual(ksp, x, work));
    r0 = work;
    s->add = PETSC_TRUE;
  }
  PetscCall(MatGetNullSpace(ksp->pc->mat, &null));
  if (null) {
    if (r0 != work) PetscCall(VecCopy(r0, work));
    PetscCall(MatNullSpaceRemove(null, work)); /* the pseudo-inverse of the last block expects it */
    r0 = work;
  }
  /* The iteration knows the norm where it starts from x0 itself and its red nodes are the preconditioner's, too. */
  const bool same = pc->factored == s->values && !s->inside->moved(ksp->pc);
  const bool apart = s->form == KSP_RRB_SCHUR && (type == Norm::preconditioned || (type == Norm::natural && !same));
  if (apart) PetscCall(NormByApplication(ksp, r0, norm));
  s->r0 = r0;
  s->uses = ++pc->uses;
  PetscCall(s->solver->Start(r0, apart ? Norm::none : type, numbers));
  PetscCall(CheckInner(ksp, &failed));
  if (failed) *numbers = ::not_finite;
  if (!apart || failed) *norm = numbers->norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += the correction so far, without its part in the null space; or x = it. */
PetscErrorCode KSPRRBCorrect(KSP ksp, Vec x) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  MatNullSpace null;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(ksp->pc->mat, &null));
  if (!null) {
    PetscCall(s->solver->Solution(s->r0, x, s->add));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Vec delta = s->add ? ksp->work[1] : x;
  PetscCall(s->solver->Solution(s->r0, delta, PETSC_FALSE));
  PetscCall(MatNullSpaceRemove(null, delta));
  if (s->add) PetscCall(VecAXPY(x, 1.0, delta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How far to go before the host must look, with this test. */
static KSPRRBSolver::Limits LimitsOf(KSP ksp, PetscRRBTest test) {
  KSPRRBSolver::Limits limits;
  const auto to_int = [](PetscInt n) { return (int)PetscMin(n, (PetscInt)std::numeric_limits<int>::max()); };
  const auto tests_by = [&](auto one) { return test == (PetscRRBTest)one; };
  const bool none = ksp->normtype == KSP_NORM_NONE; /* then neither of PETSc's tests stops before the last iteration */

  if (KSPRRBStateOf(ksp)->inside->inner(ksp->pc)) return limits; /* which may fail in any step */
  if (ksp->numbermonitors || !(tests_by(KSPConvergedDefault) || (none && tests_by(KSPConvergedSkip)))) return limits;
  limits.most = to_int(ksp->max_it - ksp->its + 1);
  if (none) return limits;
  limits.untested = to_int(PetscMax(0, PetscMax(ksp->chknorm + 1, PetscRRBLeastIterations(ksp, 0)) - ksp->its));
  limits.below = ksp->ttol;
  limits.above = ksp->divtol * ksp->rnorm0;
  return limits;
}

static PetscErrorCode NextStep(KSP ksp, Numbers *numbers) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  PetscRRBStateOfAll *pc = KSPRRBStateOfPC(ksp);
  PetscRRBTest test;
  PetscBool failed;

  PetscFunctionBegin;
  if (s->seen == s->ahead.size()) {
    s->ahead.clear();
    s->seen = 0;
    if (pc->uses != s->uses) PetscCall(s->solver->Resume());
    s->uses = ++pc->uses;
    PetscCall(PetscRRBGetTest(ksp, &test));
    PetscCall(s->solver->Steps(NormOf(ksp), LimitsOf(ksp, test), &s->ahead));
    s->started = PETSC_TRUE;
    PetscCall(CheckInner(ksp, &failed));
    if (failed) s->ahead.front() = ::not_finite;
  }
  *numbers = s->ahead[s->seen++];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As KSPCG keeps them: the Lanczos matrix's diagonal and the entries beside it. */
static void KeepCoefficients(KSP ksp, PetscInt i, PetscReal alpha_before, PetscReal alpha, PetscReal beta) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  const PetscReal root = PetscSqrtReal(PetscAbsReal(beta));

  s->e[(std::size_t)i] = i ? root / alpha_before : 0.0;
  s->d[(std::size_t)i] = root * s->e[(std::size_t)i] + 1.0 / alpha;
  s->kept = i + 1;
}

static PetscErrorCode Report(KSP ksp, PetscReal norm) {
  PetscFunctionBegin;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BreakDown(KSP ksp, KSPConvergedReason reason, const char what[]) {
  PetscFunctionBegin;
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED,
             "Diverged due to %s", what);
  PetscCall(PetscInfo(ksp, "diverging due to %s\n", what));
  ksp->reason = reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what is left of a vector of length 1 where nothing should be */
constexpr PetscReal rounding = 1e3 * PETSC_MACHINE_EPSILON;

/* Of a residual r with (r, M^-1 r) = 0: 0, or what M^-1 does not see, of a system that has no solution. */
static PetscErrorCode NormOfUnseen(KSP ksp, PetscReal *norm) {
  MatNullSpace null;
  PetscReal b;
  Vec r;

  PetscFunctionBegin;
  *norm = 0;
  if (NormOf(ksp) != Norm::unpreconditioned) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPBuildResidual(ksp, nullptr, nullptr, &r));
  PetscCall(MatGetNullSpace(ksp->pc->mat, &null));
  if (null) PetscCall(MatNullSpaceRemove(null, r));
  PetscCall(VecNorm(r, NORM_2, norm));
  PetscCall(VecDestroy(&r));
  PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &b));
  if (*norm <= rounding * PetscMax(b, ksp->rnorm0)) *norm = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One iteration: from the numbers of the one before it to its own. It may end the solve without a residual to test. */
static PetscErrorCode Iterate(KSP ksp, PetscInt i, const Numbers &before, PetscReal rho_before, Numbers *n) {
  KSPRRBState *s = KSPRRBStateOf(ksp);

  PetscFunctionBegin;
  if (before.rho == 0.0 && i == 0) { /* the red nodes have all of the residual */
    PetscCall(s->solver->Settle());
    s->started = PETSC_TRUE;
    if (ksp->calc_sings) KeepCoefficients(ksp, 0, 1.0, 1.0, 0.0); /* M is exact there: one step of length 1 */
    *n = Numbers();
    PetscCall(NormOfUnseen(ksp, &n->norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (before.rho == 0.0) {
    PetscCall(NormOfUnseen(ksp, &n->norm));
    if (n->norm > 0) {
      PetscCall(BreakDown(ksp, KSP_DIVERGED_BREAKDOWN, "a nonzero residual r with (r, M^-1 r) = 0"));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(PetscInfo(ksp, "converged due to (r, M^-1 r) = 0\n"));
    ksp->reason = KSP_CONVERGED_ATOL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (i > 0 && before.rho * rho_before < 0.0) {
    PetscCall(BreakDown(ksp, KSP_DIVERGED_INDEFINITE_PC, "indefinite preconditioner"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(NextStep(ksp, n));
  const bool finite = !PetscIsInfOrNanReal(n->curvature);
  if (!finite || n->curvature == 0.0 || (i > 0 && n->curvature * before.curvature < 0.0)) {
    s->solver->DropStep();
    KSPCheckNorm(ksp, n->curvature);
    PetscCall(BreakDown(ksp, KSP_DIVERGED_INDEFINITE_MAT, "indefinite matrix"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ksp->calc_sings)
    KeepCoefficients(ksp, i, i ? rho_before / before.curvature : 1.0, before.rho / n->curvature,
                     i ? before.rho / rho_before : 0.0);
  KSPCheckNorm(ksp, n->norm);
  KSPCheckNorm(ksp, n->rho);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StartAndIterate(KSP ksp) {
  const PetscInt most = ksp->max_it;
  Numbers n, before;
  PetscReal norm, rho_before = 0.0;

  PetscFunctionBegin;
  PetscCall(Start(ksp, &norm, &n));
  KSPCheckNorm(ksp, norm);
  KSPCheckNorm(ksp, n.rho);
  PetscCall(Report(ksp, norm));
  for (PetscInt i = 0; !ksp->reason; ++i) {
    if (i >= ksp->max_it) {
      ksp->reason = KSP_DIVERGED_ITS;
      break;
    }
    PetscCheck(!ksp->calc_sings || most == ksp->max_it, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
               "Can not change maxit AND calculate eigenvalues");
    ksp->its = i + 1;
    before = n;
    PetscCall(Iterate(ksp, i, before, rho_before, &n));
    if (ksp->reason) break;
    rho_before = before.rho;
    PetscCall(Report(ksp, n.norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve that failed for a right-hand side of null part alone, of which removing has left rounding: x0 is its solution. */
static PetscErrorCode KeepGuessForRounding(KSP ksp) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  MatNullSpace null;
  PetscReal r0, b;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(ksp->pc->mat, &null));
  if (!null || !s->started || ksp->reason >= 0 || ksp->reason == KSP_DIVERGED_PC_FAILED)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNorm(s->r0, NORM_2, &r0));
  PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &b));
  if (!(r0 <= rounding * b)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(ksp, "the right-hand side is in the null space but for rounding: the initial guess is kept\n"));
  ksp->reason = KSP_CONVERGED_ATOL;
  ksp->rnorm = r0;
  s->started = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Into vec_sol, which is where products write. */
static PetscErrorCode Solve(KSP ksp) {
  KSPRRBState *s = KSPRRBStateOf(ksp);

  PetscFunctionBegin;
  PetscCall(KSPRRBPrepare(ksp));
  PetscCall(StartAndIterate(ksp));
  PetscCall(KeepGuessForRounding(ksp));
  if (s->started) PetscCall(KSPRRBCorrect(ksp, ksp->vec_sol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a matrix on the device and a solution on the host. */
static PetscErrorCode SolveOnDevice(KSP ksp) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  const Vec x = ksp->vec_sol;

  PetscFunctionBegin;
  PetscCall(PetscRRBWorkVecOf(ksp->pc->mat, &s->solution));
  if (!ksp->guess_zero) PetscCall(VecCopy(x, s->solution));
  ksp->vec_sol = s->solution;
  const PetscErrorCode solved = Solve(ksp);
  ksp->vec_sol = x;
  PetscCall(solved);
  PetscCall(VecCopy(s->solution, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_RRB(KSP ksp) {
  PetscBool matrix, solution;

  PetscFunctionBegin;
  KSPRRBState *s = KSPRRBStateOf(ksp);
  PetscCall(KSPRRBTakePC(ksp));
  PetscCall(PCSetUp(ksp->pc)); /* KSPSetUp() does not see that a preconditioner has been exchanged */
  ksp->its = 0;
  s->started = PETSC_FALSE;
  s->ahead.clear();
  s->seen = 0;
  if (KSPRRBStateOfPC(ksp)->failed) {
    KSPCheckNorm(ksp, (PetscReal)infinite);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscRRBMatOnDevice(ksp->pc->mat, &matrix));
  PetscCall(PetscRRBVecOnDevice(ksp->vec_sol, &solution));
  PetscCall(matrix && !solution ? SolveOnDevice(ksp) : Solve(ksp));
  s->started = PETSC_FALSE;
  s->r0 = s->b = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
