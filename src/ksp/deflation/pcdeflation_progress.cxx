/* The solves that a deflated PC is in: what each has changed in its KSP and its PC, and how that is undone. An error ends a
   solve without PCPostSolve(); it is recognized as over once its KSP begins another one, or goes, or once the PC is reset. */
#include "ksp/deflation/kspdeflation_data.h"

#include <utility>

using Shared = std::shared_ptr<KSPDeflation>;

/* PETSc's own one compares with the norm of M^-1 b where the initial guess is not zero, and makes that in its first call.
   It is to be that of the user's M and b, whatever guess and right-hand side the iteration is given. */
static PetscErrorCode Converged(KSP ksp, PetscInt n, PetscReal rnorm, KSPConvergedReason *reason, void *ctx) {
  Shared k;
  Vec b;

  PetscFunctionBegin;
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &k));
  const PCDeflationSolve &s = k->solve;
  if (n || s.pc != ksp->pc) {
    PetscCall((*s.converged)(ksp, n, rnorm, reason, ctx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PC_SubdomainDeflation *d = Data(ksp->pc);
  const PetscBool guess_zero = ksp->guess_zero;
  const Vec rhs = ksp->vec_rhs;
  d->reference = PETSC_TRUE;
  ksp->guess_zero = PETSC_FALSE;
  if (s.PA) {
    MatNullSpace null;
    PetscCall(PCDeflationGetWork(ksp->pc, 1, &b));
    PetscCall(VecCopy(s.b, b));
    PetscCall(MatGetTransposeNullSpace(PCDeflationOperator(ksp->pc), &null));
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

void PCDeflationCompareWithUsers(KSP ksp) { ksp->converged = Converged; }

PetscErrorCode PCDeflationTestBehind(KSP ksp, PetscRRBTest *test) {
  Shared k;

  PetscFunctionBegin;
  if (ksp->converged != Converged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &k));
  *test = k->solve.converged;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What somebody has set since stays. */
static PetscErrorCode Restore(PC pc, KSPDeflation *k) {
  PCDeflationSolve s = std::exchange(k->solve, PCDeflationSolve());
  KSP ksp = k->ksp;

  PetscFunctionBegin;
  k->solve.converged = s.converged;
  if (ksp) {
    s.limit.Restore(ksp);
    if (!ksp->guess_zero) ksp->guess_zero = s.guess_zero;
    if (!ksp->guess_knoll) ksp->guess_knoll = s.guess_knoll;
    if (ksp->converged == Converged) ksp->converged = s.converged;
    if (s.Pb && ksp->vec_rhs == s.Pb) std::swap(ksp->vec_rhs, s.b);
  }
  if (s.PA) {
    if (pc->mat == s.PA) std::swap(pc->mat, s.A);
    PetscCall(MatShellSetContext(s.PA, nullptr)); /* who keeps it cannot multiply with it any more */
  }
  for (Mat *A : {&s.A, &s.PA}) PetscCall(MatDestroy(A));
  for (Vec *b : {&s.b, &s.Pb}) PetscCall(VecDestroy(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Undoes the solves from that one on, which are over without PCPostSolve(). */
static PetscErrorCode Forget(PC pc, std::size_t from) {
  PC_SubdomainDeflation *d = Data(pc);

  PetscFunctionBegin;
  while (d->solves.size() > from) {
    const Shared k = std::move(d->solves.back());
    d->solves.pop_back();
    if (d->inner) d->inner->presolvedone = k->solve.presolves;
    PetscCall(VecDestroy(&d->work[2])); /* an error may have left the lock of a right-hand side */
    PetscCall(Restore(pc, k.get()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationForgetSolves(PC pc) {
  PetscFunctionBegin;
  PetscCall(Forget(pc, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first solve that is over: k's own, or that of a KSP that is gone. Those after it were inside of it. */
static std::size_t FirstOver(PC pc, const KSPDeflation *k) {
  const auto &solves = Data(pc)->solves;
  std::size_t i = 0;

  while (i < solves.size() && solves[i].get() != k && solves[i]->ksp) ++i;
  return i;
}

PetscErrorCode PCDeflationBegin(PC pc, KSP ksp, PCDeflationSolve **solve) {
  PC_SubdomainDeflation *d = Data(pc);
  Shared k;

  PetscFunctionBegin;
  PetscCall(KSPDeflationFind(ksp, PETSC_TRUE, &k));
  if (k->solve.pc && k->solve.pc != pc) PetscCall(Forget(k->solve.pc, FirstOver(k->solve.pc, k.get())));
  PetscCall(Forget(pc, FirstOver(pc, k.get())));
  k->solve.pc = pc;
  k->solve.guess_zero = ksp->guess_zero;
  k->solve.guess_knoll = ksp->guess_knoll;
  k->solve.converged = ksp->converged;
  k->solve.presolves = d->inner->presolvedone;
  d->solves.push_back(k);
  *solve = &k->solve;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationEnd(PC pc, KSP ksp, PetscBool *def1, PetscBool *transposed) {
  PC_SubdomainDeflation *d = Data(pc);
  Shared k;

  PetscFunctionBegin;
  *def1 = *transposed = PETSC_FALSE;
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &k));
  if (!k || k->solve.pc != pc) PetscFunctionReturn(PETSC_SUCCESS);
  while (d->solves.back() != k) PetscCall(Forget(pc, d->solves.size() - 1)); /* an error in them did not end this one */
  *def1 = (PetscBool)(k->solve.PA != nullptr);
  *transposed = k->solve.transposed;
  d->solves.pop_back();
  PetscCall(Restore(pc, k.get()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
