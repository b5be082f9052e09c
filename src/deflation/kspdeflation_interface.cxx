/* The public functions of deflation that say how it is done, with their man pages. */
#include "deflation/kspdeflation_impl.h"

using Shared = std::shared_ptr<KSPDeflation>;

/* A new value takes effect at the next solve. */
template <class T> static PetscErrorCode Set(KSP ksp, T KSPDeflation::*member, T value) {
  Shared deflation;

  PetscFunctionBegin;
  PetscCall(KSPDeflationFind(ksp, PETSC_TRUE, &deflation));
  if ((*deflation).*member != value) ++deflation->version;
  (*deflation).*member = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPSetDeflation - Puts subdomain deflation around the preconditioner of a `KSP`, or takes it away

   Logically Collective

   Input Parameters:
+  ksp  - the Krylov solver
-  type - the deflated subdomains, `KSP_DEFLATION_NONE` (default), `KSP_DEFLATION_STRIPE`, `KSP_DEFLATION_BLOCK`,
          `KSP_DEFLATION_LEVELSET` or `KSP_DEFLATION_USER`

   Options Database Keys:
+  -ksp_deflation <none,stripe,block,levelset,user> - the deflated subdomains
.  -ksp_deflation_variant <adef2,def1>              - where the projection is applied
.  -ksp_deflation_inverse <explicit,cholesky>       - how E is solved with
.  -ksp_deflation_stripe_lines <lines>              - grid lines in a stripe
.  -ksp_deflation_stripe_cuts <cuts>                - pieces that a line is cut into
.  -ksp_deflation_blocks <nx,ny,nz>                 - number of blocks each way, also those that cut phases
.  -ksp_deflation_jump <factor>                     - diagonals that differ by it are of two phases
-  -ksp_deflation_grid <nx,ny,nz>                   - unknowns each way

   Level: beginner

   Notes:
   Z has one vector a subdomain, 1 on its rows; rows without a coupling (Dirichlet rows that are kept) are in none.
   With E = Z^T A Z, Q = Z E^-1 Z^T and P = I - A Q the solver never sees the small eigenvalues that go with Z, for
   example those of a jump of coefficients. A is symmetric. Where it is singular E is inverted on the complement of its
   null space. E follows the operator by itself, also where the preconditioner is reused.

   On several MPI ranks subdomains are those of the grid of all, and so are the iterations. The grid is that of a
   `DMDA`, or `KSPDeflationSetGrid()` tells it and the rows are numbered in its natural order. Each rank has the inverse
   of E.

   Any preconditioner can be inside, whose options and type are set as without deflation. `KSPGetPC()` gives what is put
   around it; `KSPDeflationGetPC()` gives itself. `KSPMINRES` and others that need a symmetric preconditioner get one
   (balancing Neumann-Neumann: P^T M^-1 P + Q). A relative tolerance refers to the norm that it refers to without
   deflation, that of the right-hand side.

   The options act on every `KSP` that is made once the library is loaded, with its prefix. A PETSc configured
   --with-log=0 does not tell the library of them; this function is then the only way.

   Errors:
   In `KSPSetUp()` and `KSPSolve()`: a matrix that is not symmetric, or that has no entries to read; `KSPRRB`, `KSPLSQR`,
   `KSPCGLS`, `KSPCGNE` and `KSPQCG`; `PCEISENSTAT` and others that change the system; more than 8192 subdomains. An E that
   is not positive definite makes the `KSP` diverge with `KSP_DIVERGED_PC_FAILED`.

   References:
.  * - R. Gupta, M. van Gijzen, C. Vuik, Efficient two-level preconditioned conjugate gradient method on the GPU, 2013

.seealso: `KSPGetDeflation()`, `KSPDeflationSetStripes()`, `KSPDeflationSetBlocks()`, `KSPDeflationSetLevelSet()`,
          `KSPDeflationSetJump()`, `KSPDeflationSetSpace()`, `KSPDeflationSetGrid()`, `KSPDeflationSetVariant()`,
          `KSPDeflationSetInverse()`, `KSPDeflationGetPC()`, `PCDEFLATION`
@*/
PetscErrorCode KSPSetDeflation(KSP ksp, KSPDeflationType type) {
  Shared deflation;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, type, 2);
  PetscCheck(type >= KSP_DEFLATION_NONE && type <= KSP_DEFLATION_USER, PetscObjectComm((PetscObject)ksp),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown KSPDeflationType %d", (int)type);
  PetscCall(KSPDeflationFind(ksp, PETSC_TRUE, &deflation));
  if (deflation->choice.type != type) ++deflation->version;
  deflation->choice.type = type;
  PetscCall(KSPDeflationWrap(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPGetDeflation - Gets the subdomains that are deflated from a `KSP`

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameter:
.  type - the deflated subdomains, `KSP_DEFLATION_NONE` where there is no deflation

   Level: intermediate

.seealso: `KSPSetDeflation()`
@*/
PetscErrorCode KSPGetDeflation(KSP ksp, KSPDeflationType *type) {
  Shared deflation;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCheck(type, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &deflation));
  *type = deflation ? deflation->choice.type : KSP_DEFLATION_NONE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationSetVariant - Sets where the projection of a deflated `KSP` is applied

   Logically Collective

   Input Parameters:
+  ksp     - the Krylov solver
-  variant - `KSP_DEFLATION_ADEF2` (default) or `KSP_DEFLATION_DEF1`

   Options Database Key:
.  -ksp_deflation_variant <adef2,def1> - where the projection is applied

   Level: intermediate

   Notes:
   With `KSP_DEFLATION_ADEF2` the preconditioner is P^T M^-1 + Q and the initial guess Q b + P^T x0. It tolerates an
   inexact E, and the residual is that of A x = b.

   With `KSP_DEFLATION_DEF1` the `KSP` solves P A x^ = P b during the solve, from x0, and x = Q b + P^T x^ is made after
   it (Gupta, van Gijzen and Vuik, Algorithm 1). What monitors see before that as a solution is x^.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetVariant()`
@*/
PetscErrorCode KSPDeflationSetVariant(KSP ksp, KSPDeflationVariant variant) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, variant, 2);
  PetscCheck(variant == KSP_DEFLATION_ADEF2 || variant == KSP_DEFLATION_DEF1, PetscObjectComm((PetscObject)ksp),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown KSPDeflationVariant %d", (int)variant);
  PetscCall(Set(ksp, &KSPDeflation::variant, variant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationGetVariant - Gets where the projection of a deflated `KSP` is applied

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameter:
.  variant - the variant

   Level: intermediate

.seealso: `KSPSetDeflation()`, `KSPDeflationSetVariant()`
@*/
PetscErrorCode KSPDeflationGetVariant(KSP ksp, KSPDeflationVariant *variant) {
  Shared deflation;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCheck(variant, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &deflation));
  *variant = deflation ? deflation->variant : KSP_DEFLATION_ADEF2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationSetInverse - Sets how E = Z^T A Z of a deflated `KSP` is solved with

   Logically Collective

   Input Parameters:
+  ksp     - the Krylov solver
-  inverse - `KSP_DEFLATION_EXPLICIT` or `KSP_DEFLATION_CHOLESKY`

   Options Database Key:
.  -ksp_deflation_inverse <explicit,cholesky> - how E is solved with

   Level: intermediate

   Notes:
   The default is the explicit inverse on a device and for `KSP_DEFLATION_USER`, and Cholesky on the host, where the
   factor of stripes and blocks is narrow. These are the two ways of Gupta, van Gijzen and Vuik, Section 6.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetInverse()`
@*/
PetscErrorCode KSPDeflationSetInverse(KSP ksp, KSPDeflationInverse inverse) {
  Shared deflation;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, inverse, 2);
  PetscCheck(inverse == KSP_DEFLATION_EXPLICIT || inverse == KSP_DEFLATION_CHOLESKY, PetscObjectComm((PetscObject)ksp),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown KSPDeflationInverse %d", (int)inverse);
  PetscCall(KSPDeflationFind(ksp, PETSC_TRUE, &deflation));
  if (!deflation->choice.inverse_set || deflation->choice.inverse != inverse) ++deflation->version;
  deflation->choice.inverse = inverse;
  deflation->choice.inverse_set = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the wrapper around the KSP's PC was set up with; NULL where it was not. */
static PetscErrorCode InUse(KSP ksp, PCDeflationBackend **backend) {
  PetscBool wrapped = PETSC_FALSE;

  PetscFunctionBegin;
  *backend = nullptr;
  if (ksp->pc) PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCSUBDOMAINDEFLATION, &wrapped));
  if (wrapped) *backend = ((PC_SubdomainDeflation *)ksp->pc->data)->backend.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationGetInverse - Gets how E = Z^T A Z of a deflated `KSP` is solved with

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameter:
.  inverse - after `KSPSetUp()` the one in use, before it the one set, or else the default where the operator is now

   Level: intermediate

.seealso: `KSPSetDeflation()`, `KSPDeflationSetInverse()`
@*/
PetscErrorCode KSPDeflationGetInverse(KSP ksp, KSPDeflationInverse *inverse) {
  Shared deflation;
  PCDeflationBackend *used;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCheck(inverse, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &deflation));
  PetscCall(InUse(ksp, &used));
  if (used)
    *inverse = used->inverse();
  else if (deflation && deflation->choice.inverse_set)
    *inverse = deflation->choice.inverse;
  else {
    PetscBool device = PETSC_FALSE;
    if (ksp->pc && ksp->pc->mat) PetscCall(PetscRRBMatOnDevice(ksp->pc->mat, &device));
    *inverse = PCDeflationDefaultInverse(deflation ? deflation->choice.type : KSP_DEFLATION_NONE, device);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationGetPC - Gets the preconditioner that deflation is put around

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameter:
.  pc - the preconditioner M^-1; without deflation the same as `KSPGetPC()` gives

   Level: intermediate

   Note:
   `KSPGetPC()` gives the preconditioner with deflation. Setting the type of that one sets the type of M^-1, too, but
   functions about a type (`PCGAMGSetThreshold()`) need this one.

.seealso: `KSPSetDeflation()`, `KSPGetPC()`
@*/
PetscErrorCode KSPDeflationGetPC(KSP ksp, PC *pc) {
  PetscBool wrapped;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscCall(KSPGetPC(ksp, pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)*pc, PCSUBDOMAINDEFLATION, &wrapped));
  if (wrapped) *pc = ((PC_SubdomainDeflation *)(*pc)->data)->inner;
  PetscFunctionReturn(PETSC_SUCCESS);
}
