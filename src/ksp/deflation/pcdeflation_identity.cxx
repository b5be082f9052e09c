/* Identity rows (Dirichlet values that are kept as unknowns). Where their columns are kept, too, A is symmetric only on what
   is left once they are right: so they are made right at the start and no preconditioner may disturb them. */
#include "ksp/deflation/kspdeflation_data.h"

/* The number of rows in each row's subdomain is 0 on identity rows. One whose diagonal is zero, too, says nothing: there y
   is what M^-1 makes of it, as without deflation. */
PetscErrorCode PCDeflationFindIdentityRows(PC pc, Mat A) {
  PC_SubdomainDeflation *d = Data(pc);
  Vec one, diagonal;

  PetscFunctionBegin;
  if (!d->backend->report().identity_rows) {
    PetscCall(VecDestroy(&d->free));
    PetscCall(VecDestroy(&d->fixed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscRRBWorkVecOf(A, &d->free));
  PetscCall(PetscRRBWorkVec(d->free, &d->fixed));
  PetscCall(PCDeflationGetWork(pc, 0, &one));
  PetscCall(PCDeflationGetWork(pc, 3, &diagonal));
  PetscCall(VecSet(one, 1.0));
  PetscCall(d->backend->Restrict(one, nullptr));
  PetscCall(d->backend->Prolong(nullptr, d->free));
  PetscCall(VecPointwiseMin(d->free, d->free, one));
  PetscCall(VecAYPX(d->free, -1.0, one)); /* 1 on identity rows */
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecPointwiseMult(diagonal, diagonal, d->free));
  PetscCall(VecCopy(diagonal, d->fixed));
  PetscCall(VecReciprocal(d->fixed)); /* but zeros stay */
  PetscCall(VecPointwiseMult(d->free, d->fixed, diagonal));
  PetscCall(VecScale(d->free, 2.0)); /* rounding is cut off with the other half */
  PetscCall(VecPointwiseMin(d->free, d->free, one));
  PetscCall(VecAYPX(d->free, -1.0, one));
  PetscCall(MatMult(A, d->fixed, one));
  PetscCall(VecPointwiseMult(one, one, d->free));
  PetscCall(VecNorm(one, NORM_INFINITY, &d->residual_by_b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With A^T the others' values show in these rows, where their columns are kept. */
PetscErrorCode PCDeflationFix(PC pc, PetscBool transposed, Vec r, Vec y) {
  PC_SubdomainDeflation *d = Data(pc);
  Vec w;

  PetscFunctionBegin;
  if (!d->free) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCDeflationGetWork(pc, 3, &w));
  PetscCall(VecPointwiseMult(y, y, d->free));
  if (transposed) {
    PetscCall(MatMultTranspose(PCDeflationOperator(pc), y, w));
    PetscCall(VecAYPX(w, -1.0, r));
    PetscCall(VecPointwiseMult(w, d->fixed, w));
  } else
    PetscCall(VecPointwiseMult(w, d->fixed, r));
  PetscCall(VecAXPY(y, 1.0, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationEliminate(PC pc, PetscBool transposed, Vec r, Vec *rest) {
  PC_SubdomainDeflation *d = Data(pc);
  Vec w;

  PetscFunctionBegin;
  *rest = r;
  if (!d->free) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCDeflationGetWork(pc, 1, rest));
  if (transposed)
    PetscCall(VecCopy(r, *rest));
  else {
    PetscCall(PCDeflationGetWork(pc, 3, &w));
    PetscCall(VecPointwiseMult(w, d->fixed, r));
    PetscCall(MatMult(PCDeflationOperator(pc), w, *rest));
    PetscCall(VecAYPX(*rest, -1.0, r));
  }
  PetscCall(VecPointwiseMult(*rest, *rest, d->free));
  PetscFunctionReturn(PETSC_SUCCESS);
}
