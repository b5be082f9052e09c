/* Identity rows (Dirichlet values that are kept as unknowns). Where their columns are kept, too, A is symmetric only on what
   is left once they are right: so they are made right at the start and no preconditioner may disturb them. */
#include "deflation/kspdeflation_impl.h"

static PC_SubdomainDeflation *Data(PC pc) { return (PC_SubdomainDeflation *)pc->data; }

/* The number of rows in each row's subdomain is 0 on identity rows. */
PetscErrorCode PCDeflationFindIdentityRows(PC pc, Mat A) {
  PC_SubdomainDeflation *d = Data(pc);
  Vec one;

  PetscFunctionBegin;
  if (!d->backend->report().identity_rows) {
    PetscCall(VecDestroy(&d->free));
    PetscCall(VecDestroy(&d->fixed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!d->free) PetscCall(MatCreateVecs(A, &d->free, &d->fixed));
  PetscCall(PCDeflationGetWork(pc, 0, &one));
  PetscCall(VecSet(one, 1.0));
  PetscCall(d->backend->Restrict(one, nullptr));
  PetscCall(d->backend->Prolong(nullptr, d->free));
  PetscCall(VecPointwiseMin(d->free, d->free, one));
  PetscCall(VecAXPY(one, -1.0, d->free));
  PetscCall(MatGetDiagonal(A, d->fixed));
  PetscCall(VecReciprocal(d->fixed)); /* but zeros stay */
  PetscCall(VecPointwiseMult(d->fixed, d->fixed, one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationFix(PC pc, Vec r, Vec y) {
  PC_SubdomainDeflation *d = Data(pc);
  Vec w;

  PetscFunctionBegin;
  if (!d->free) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCDeflationGetWork(pc, 3, &w));
  PetscCall(VecPointwiseMult(w, d->fixed, r));
  PetscCall(VecPointwiseMult(y, y, d->free));
  PetscCall(VecAXPY(y, 1.0, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationEliminate(PC pc, Mat A, Vec r, Vec *rest) {
  PC_SubdomainDeflation *d = Data(pc);
  Vec w;

  PetscFunctionBegin;
  *rest = r;
  if (!d->free) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCDeflationGetWork(pc, 3, &w));
  PetscCall(PCDeflationGetWork(pc, 1, rest));
  PetscCall(VecPointwiseMult(w, d->fixed, r));
  PetscCall(MatMult(A, w, *rest));
  PetscCall(VecAYPX(*rest, -1.0, r));
  PetscCall(VecPointwiseMult(*rest, *rest, d->free));
  PetscFunctionReturn(PETSC_SUCCESS);
}
