/* What deflation does before and after a solve: the initial guess, the norm that residuals are compared with and, for def1,
   the operator and the right-hand side. Everything that a KSP had is there again after it. */
#include "ksp/deflation/kspdeflation_data.h"
#include "pc/known_values.h"
#include "petsc/ksp_manner.h"

using petscrrb::deflation::Result;

static PetscErrorCode CheckType(KSP ksp) {
  MPI_Comm comm = PetscObjectComm((PetscObject)ksp);
  PetscBool normal, halves;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &normal, KSPLSQR, KSPCGLS, KSPCGNE, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPQCG, &halves));
  PetscCheck(!normal && !halves, comm, PETSC_ERR_SUP,
             "-ksp_deflation does not work with -ksp_type %s, which %s: use -ksp_type cg, or -ksp_deflation none",
             ((PetscObject)ksp)->type_name,
             normal ? "solves normal equations, whose small eigenvalues are not those of A"
                    : "splits the preconditioner into two halves, which deflation does not have");
  PetscCheck(
      ksp->pc_side != PC_SYMMETRIC, comm, PETSC_ERR_SUP,
      "-ksp_deflation does not work with -ksp_pc_side symmetric: it does not split into two halves. Use left or right");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A PC that changes the system for itself would change it below our feet. */
static PetscErrorCode CheckInner(PC pc) {
  PC inner = Data(pc)->inner;
  PetscBool changes;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)inner, &changes, PCEISENSTAT, PCBDDC, PCDEFLATION, PCHPDDM, ""));
  PetscCheck(!changes, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-ksp_deflation cannot wrap -pc_type %s, which itself changes the system before a solve: use another one, "
             "for example sor or icc instead of eisenstat",
             ((PetscObject)inner)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- x + Q (b - A x) --- */

static PetscErrorCode Correct(PC pc, PetscBool transposed, Vec b, Vec x) {
  const Mat A = PCDeflationOperator(pc);
  Vec r;

  PetscFunctionBegin;
  PetscCall(PCDeflationGetWork(pc, 0, &r));
  PetscCall(transposed ? MatMultTranspose(A, x, r) : MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(Data(pc)->backend->Correct(r, x, x));
  if (transposed) PetscCall(PCDeflationFix(pc, transposed, b, x)); /* these follow from the others */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The guess, with what identity rows say. */
static PetscErrorCode Guess(PC pc, KSP ksp, PCDeflationSolve *solve, Vec b, Vec x) {
  PC_SubdomainDeflation *d = Data(pc);

  PetscFunctionBegin;
  PetscCall(PetscRRBKnollGuess(ksp, d->inner, b, x)); /* the user's M, not ours */
  if (!d->free) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->guess_zero) PetscCall(VecSet(x, 0.0));
  PetscCall(PCDeflationFix(pc, ksp->transpose_solve, b, x));
  ksp->guess_zero = PETSC_FALSE;
  solve->limit.Raise(ksp, d->residual_by_b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Start(PC pc, KSP ksp, PCDeflationSolve *solve, Vec b, Vec x) {
  PC_SubdomainDeflation *d = Data(pc);

  PetscFunctionBegin;
  PetscCall(Guess(pc, ksp, solve, b, x));
  if (ksp->guess_zero)
    PetscCall(d->backend->Correct(b, nullptr, x));
  else
    PetscCall(Correct(pc, ksp->transpose_solve, b, x));
  ksp->guess_zero = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- before and after --- */

/* The eigenvalue estimates of Chebyshev run a KSP of their own on the same PC while that is in a solve. It is deflated like
   any other one. */
PetscErrorCode PCPreSolve_SubdomainDeflation(PC pc, KSP ksp, Vec b, Vec x) {
  PC_SubdomainDeflation *d = Data(pc);
  PCDeflationSolve *solve;
  PetscRRBKSPManner manner;

  PetscFunctionBegin;
  pc->presolvedone = 0; /* PETSc's limit is for PCs that change a system twice, and errors leave it at that */
  PetscCall(PCDeflationBegin(pc, ksp, &solve));
  PetscCall(CheckType(ksp));
  PetscCall(PetscRRBGetKSPManner(ksp, &manner));
  PetscCall(CheckInner(pc));
  PetscCall(PetscRRBSetUpForSolve(ksp, pc));
  PetscCall(PCDeflationUpdate(pc)); /* also where the preconditioner is reused */
  PetscCall(PCPreSolve(d->inner, ksp));
  solve->symmetric = (PetscBool)(manner.needs == PETSCRRB_PC_SYMMETRIC);
  solve->transposed = ksp->transpose_solve;
  if (!d->backend || d->result != Result::ok) PetscFunctionReturn(PETSC_SUCCESS);
  if (d->deflation->variant == KSP_DEFLATION_DEF1) {
    if (!manner.from_zero) PetscCall(Guess(pc, ksp, solve, b, x));
    PetscCall(PCDeflationReplace(pc, ksp, solve));
  } else if (!manner.from_zero) {
    PetscCall(Start(pc, ksp, solve, b, x));
    solve->fixed = PETSC_TRUE;
  } else
    PetscFunctionReturn(PETSC_SUCCESS);
  PCDeflationCompareWithUsers(ksp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPostSolve_SubdomainDeflation(PC pc, KSP ksp, Vec, Vec x) {
  PetscBool def1, transposed;

  PetscFunctionBegin;
  pc->presolvedone = 0;
  PetscCall(PCDeflationEnd(pc, ksp, &def1, &transposed));
  if (def1) PetscCall(Correct(pc, transposed, ksp->vec_rhs, x)); /* x = Q b + P^T x */
  PetscCall(PCPostSolve(Data(pc)->inner, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
