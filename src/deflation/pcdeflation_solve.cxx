/* What deflation does before and after a solve: the initial guess, the norm that residuals are compared with and, for def1,
   the operator and the right-hand side. Everything that a KSP had is there again after it. */
#include "deflation/kspdeflation_impl.h"
#include "glue/known_values.h"
#include "glue/ksp_manner.h"

using petscrrb::deflation::Result;

static PC_SubdomainDeflation *Data(PC pc) { return (PC_SubdomainDeflation *)pc->data; }

static PetscErrorCode CheckType(KSP ksp) {
  MPI_Comm comm = PetscObjectComm((PetscObject)ksp);
  PetscBool normal, halves;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &normal, KSPLSQR, KSPCGLS, KSPCGNE, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPQCG, &halves));
  PetscCheck(!normal && !halves, comm, PETSC_ERR_SUP,
             "-ksp_deflation is not for -ksp_type %s, which %s: use -ksp_type cg, or -ksp_deflation none",
             ((PetscObject)ksp)->type_name,
             normal ? "solves normal equations, whose small eigenvalues are not those of A"
                    : "splits the preconditioner in two halves, which deflation has not");
  PetscCheck(ksp->pc_side != PC_SYMMETRIC, comm, PETSC_ERR_SUP,
             "-ksp_deflation is not for -ksp_pc_side symmetric: deflation has no two halves. Use left or right");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A PC that changes the system for itself would change it below our feet. */
static PetscErrorCode CheckInner(PC pc) {
  PC inner = Data(pc)->inner;
  PetscBool changes;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)inner, &changes, PCEISENSTAT, PCBDDC, PCDEFLATION, PCHPDDM, ""));
  PetscCheck(!changes, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-ksp_deflation cannot be put around -pc_type %s, which changes the system before a solve itself: use "
             "another one, for example sor or icc in the place of eisenstat",
             ((PetscObject)inner)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- the convergence test --- */

/* PETSc's own one compares with the norm of M^-1 b where the initial guess is not zero, and makes that in its first call.
   It is to be that of the user's M and b, whatever guess and right-hand side the iteration is given. */
static PetscErrorCode Converged(KSP ksp, PetscInt n, PetscReal rnorm, KSPConvergedReason *reason, void *ctx) {
  PC_SubdomainDeflation *d = Data(ksp->pc);
  const PCDeflationSolve s = d->solves.back();
  const PetscBool guess_zero = ksp->guess_zero;
  const Vec rhs = ksp->vec_rhs;
  Vec b;

  PetscFunctionBegin;
  if (n) {
    PetscCall((*s.converged)(ksp, n, rnorm, reason, ctx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  d->reference = PETSC_TRUE;
  ksp->guess_zero = PETSC_FALSE;
  if (s.def1) {
    MatNullSpace null;
    PetscCall(PCDeflationGetWork(ksp->pc, 1, &b));
    PetscCall(VecCopy(s.b, b));
    PetscCall(MatGetTransposeNullSpace(s.A, &null));
    if (null) PetscCall(MatNullSpaceRemove(null, b));
    ksp->vec_rhs = b;
  }
  const PetscErrorCode code = (*s.converged)(ksp, n, rnorm, reason, ctx);
  ksp->vec_rhs = rhs;
  ksp->guess_zero = guess_zero;
  d->reference = PETSC_FALSE;
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- x + Q (b - A x) --- */

static PetscErrorCode Correct(PC pc, Mat A, Vec b, Vec x) {
  PCDeflationBackend &backend = *Data(pc)->backend;
  Vec r;

  PetscFunctionBegin;
  PetscCall(PCDeflationGetWork(pc, 0, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(backend.Restrict(r, nullptr));
  PetscCall(backend.Solve());
  PetscCall(backend.Prolong(x, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The guess, with what identity rows say. */
static PetscErrorCode Guess(PC pc, KSP ksp, Vec b, Vec x) {
  PC_SubdomainDeflation *d = Data(pc);

  PetscFunctionBegin;
  PetscCall(PetscRRBKnollGuess(ksp, d->inner, b, x)); /* the user's M, not ours */
  if (!d->free) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->guess_zero) PetscCall(VecSet(x, 0.0));
  PetscCall(PCDeflationFix(pc, b, x));
  ksp->guess_zero = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Start(PC pc, KSP ksp, Vec b, Vec x) {
  PC_SubdomainDeflation *d = Data(pc);

  PetscFunctionBegin;
  PetscCall(Guess(pc, ksp, b, x));
  if (ksp->guess_zero) {
    PetscCall(d->backend->Restrict(b, nullptr));
    PetscCall(d->backend->Solve());
    PetscCall(d->backend->Prolong(nullptr, x));
  } else
    PetscCall(Correct(pc, pc->mat, b, x));
  ksp->guess_zero = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- def1: P A in the place of A, P b in that of b --- */

static PetscErrorCode Project(PC pc, Vec w) {
  PCDeflationBackend &backend = *Data(pc)->backend;

  PetscFunctionBegin;
  PetscCall(backend.Restrict(w, nullptr));
  PetscCall(backend.Solve());
  PetscCall(backend.Subtract(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_PA(Mat PA, Vec x, Vec y) {
  PC pc;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(PA, &pc));
  PetscCall(MatMult(Data(pc)->solves.front().A, x, y));
  PetscCall(Project(pc, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateShell(PC pc, Mat A, Mat *PA) {
  PetscInt m, n, M, N;
  VecType type;
  MatNullSpace null;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)A), m, n, M, N, pc, PA));
  PetscCall(MatShellSetOperation(*PA, MATOP_MULT, (void (*)(void))MatMult_PA));
  PetscCall(MatShellSetOperation(*PA, MATOP_MULT_TRANSPOSE, (void (*)(void))MatMult_PA)); /* P A is symmetric */
  PetscCall(MatGetVecType(A, &type));
  PetscCall(MatShellSetVecType(*PA, type));
  PetscCall(MatSetOption(*PA, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatGetNullSpace(A, &null));
  PetscCall(MatSetNullSpace(*PA, null));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Replace(PC pc, KSP ksp, Vec b, Vec x, PetscBool from_zero, PCDeflationSolve *s) {
  PC_SubdomainDeflation *d = Data(pc);
  Vec Pb;

  PetscFunctionBegin;
  if (!from_zero) PetscCall(Guess(pc, ksp, b, x));
  s->def1 = PETSC_TRUE;
  s->A = pc->mat; /* their references are ours now */
  s->b = b;
  PetscCall(PCDeflationGetWork(pc, 2, &Pb));
  PetscCall(VecCopy(b, Pb));
  PetscCall(Project(pc, Pb));
  PetscCall(MatDestroy(&d->PA));
  PetscCall(CreateShell(pc, pc->mat, &d->PA));
  PetscCall(PetscObjectReference((PetscObject)d->PA));
  PetscCall(PetscObjectReference((PetscObject)Pb));
  pc->mat = d->PA;
  ksp->vec_rhs = Pb;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- before and after --- */

/* The eigenvalue estimates of Chebyshev run a KSP of their own on the same PC while that is in a solve. With def1 their
   operator is P A already, and their right-hand side is noise. */
PetscErrorCode PCPreSolve_SubdomainDeflation(PC pc, KSP ksp, Vec b, Vec x) {
  PC_SubdomainDeflation *d = Data(pc);
  PCDeflationSolve s;
  PetscRRBKSPManner manner;

  PetscFunctionBegin;
  PetscCall(CheckType(ksp));
  PetscCall(PetscRRBGetKSPManner(ksp, &manner));
  PetscCall(CheckInner(pc));
  const bool inside = !d->solves.empty() && d->solves.back().def1;
  if (!inside) { /* KSPSetUp() of PETSc 3.18 does not look for new values, PCApply() in the middle of a solve does */
    PetscCall(PCSetUp(pc));
    PetscCall(PCDeflationUpdate(pc, pc->mat)); /* also where the preconditioner is reused */
  }
  PetscCall(PCPreSolve(d->inner, ksp));
  s.ksp = ksp;
  s.guess_zero = ksp->guess_zero;
  s.guess_knoll = ksp->guess_knoll;
  s.symmetric = (PetscBool)(manner.needs == PETSCRRB_PC_SYMMETRIC);
  s.converged = ksp->converged;
  if (inside) {
    s.def1 = PETSC_TRUE;
    s.A = d->solves.back().A;
    s.converged = nullptr;
  } else if (d->result != Result::ok)
    s.converged = nullptr;
  else if (d->deflation->variant == KSP_DEFLATION_DEF1)
    PetscCall(Replace(pc, ksp, b, x, manner.from_zero, &s));
  else if (!manner.from_zero) {
    PetscCall(Start(pc, ksp, b, x));
    s.fixed = PETSC_TRUE;
  } else
    s.converged = nullptr;
  if (s.converged) ksp->converged = Converged;
  d->solves.push_back(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Restore(PC pc) {
  PC_SubdomainDeflation *d = Data(pc);
  const PCDeflationSolve s = d->solves.back();

  PetscFunctionBegin;
  d->solves.pop_back();
  s.ksp->guess_zero = s.guess_zero;
  s.ksp->guess_knoll = s.guess_knoll;
  if (s.ksp->converged == Converged) s.ksp->converged = s.converged;
  if (s.b) {
    PetscCall(MatDestroy(&pc->mat));
    PetscCall(VecDestroy(&s.ksp->vec_rhs));
    pc->mat = s.A;
    s.ksp->vec_rhs = s.b;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPostSolve_SubdomainDeflation(PC pc, KSP ksp, Vec, Vec x) {
  PC_SubdomainDeflation *d = Data(pc);

  PetscFunctionBegin;
  const PCDeflationSolve s = d->solves.back();
  PetscCall(Restore(pc));
  if (s.b) PetscCall(Correct(pc, s.A, s.b, x)); /* x = Q b + P^T x */
  PetscCall(PCPostSolve(d->inner, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an error in a solve. */
PetscErrorCode PCDeflationForgetSolves(PC pc) {
  PC_SubdomainDeflation *d = Data(pc);

  PetscFunctionBegin;
  for (; d->deflation && d->deflation->ksp && !d->solves.empty();) PetscCall(Restore(pc));
  d->solves.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}
