/* The public functions of deflation for its level sets and for a user's vectors, with their man pages. */
#include "deflation/kspdeflation_impl.h"

using Shared = std::shared_ptr<KSPDeflation>;

/*@
   KSPDeflationSetLevelSet - Sets the function whose sign tells the phases of a `KSP` with `KSP_DEFLATION_LEVELSET`

   Logically Collective

   Input Parameters:
+  ksp - the Krylov solver
-  phi - a value for each row of the matrix, or `NULL`

   Level: intermediate

   Notes:
   Rows are of one phase where phi >= 0, of the other where phi < 0. A subdomain is a connected part of a phase, by the
   matrix's nonzero couplings, or what of it is in one of the blocks that `KSPDeflationSetBlocks()` set. Without phi the
   coefficients tell: see `KSPDeflationSetJump()`.

   New values of phi are seen at the next solve.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetLevelSet()`, `KSPDeflationSetJump()`, `KSPDeflationSetBlocks()`
@*/
PetscErrorCode KSPDeflationSetLevelSet(KSP ksp, Vec phi) {
  Shared deflation;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  if (phi) PetscValidHeaderSpecific(phi, VEC_CLASSID, 2);
  PetscCall(KSPDeflationFind(ksp, PETSC_TRUE, &deflation));
  PetscCall(PetscObjectReference((PetscObject)phi));
  PetscCall(VecDestroy(&deflation->phi));
  deflation->phi = phi;
  ++deflation->version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationGetLevelSet - Gets the function whose sign tells the phases of a `KSP` with `KSP_DEFLATION_LEVELSET`

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameter:
.  phi - the values that were set, or `NULL`

   Level: intermediate

.seealso: `KSPSetDeflation()`, `KSPDeflationSetLevelSet()`
@*/
PetscErrorCode KSPDeflationGetLevelSet(KSP ksp, Vec *phi) {
  Shared deflation;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCheck(phi, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &deflation));
  *phi = deflation ? deflation->phi : nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationSetJump - Sets by which factor diagonals of neighbours differ that are of two phases, of a `KSP` with
   `KSP_DEFLATION_LEVELSET` and no level set

   Logically Collective

   Input Parameters:
+  ksp  - the Krylov solver
-  jump - the factor, larger than 1 (default 10)

   Options Database Key:
.  -ksp_deflation_jump <jump> - diagonals that differ by it are of two phases

   Level: intermediate

   Note:
   It takes effect at the next solve.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetJump()`, `KSPDeflationSetLevelSet()`
@*/
PetscErrorCode KSPDeflationSetJump(KSP ksp, PetscReal jump) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveReal(ksp, jump, 2);
  PetscCheck(jump > 1.0, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "A jump by a factor of %g: it must be larger than 1", (double)jump);
  PetscCall(KSPDeflationSetChoice(ksp, &KSPDeflationChoice::jump, jump));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationGetJump - Gets by which factor diagonals of neighbours differ that are of two phases

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameter:
.  jump - the factor

   Level: intermediate

.seealso: `KSPSetDeflation()`, `KSPDeflationSetJump()`
@*/
PetscErrorCode KSPDeflationGetJump(KSP ksp, PetscReal *jump) {
  KSPDeflationChoice choice;
  PCDeflationBackend *used;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCheck(jump, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscCall(KSPDeflationGetChoice(ksp, &choice, &used));
  *jump = choice.jump;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationSetSpace - Sets the vectors that a `KSP` with `KSP_DEFLATION_USER` deflates

   Logically Collective

   Input Parameters:
+  ksp - the Krylov solver
-  Z   - a matrix with the rows of the operator, distributed as they are, and one column a vector, at most 8192

   Level: intermediate

   Notes:
   The columns may be any vectors, for example approximate eigenvectors, and may depend on one another. A Z and Z^T A Z
   are made by PETSc's own products, so Z may be dense or sparse, on the host or on a device; on several MPI ranks it is
   of type `MATAIJ` or `MATDENSE`, and its columns may be distributed in any way. New values are seen at the next solve.

   Errors:
   In `KSPSetUp()` and `KSPSolve()`: `PETSC_ERR_ARG_SIZ` where a rank has not as many rows of Z as of the operator,
   `PETSC_ERR_ARG_OUTOFRANGE` for more than 8192 vectors, `PETSC_ERR_ARG_NOTSAMECOMM` for a Z on other ranks,
   `PETSC_ERR_SUP` for another type on several ranks.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetSpace()`
@*/
PetscErrorCode KSPDeflationSetSpace(KSP ksp, Mat Z) {
  Shared deflation;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidHeaderSpecific(Z, MAT_CLASSID, 2);
  PetscCall(KSPDeflationFind(ksp, PETSC_TRUE, &deflation));
  PetscCall(PetscObjectReference((PetscObject)Z));
  PetscCall(MatDestroy(&deflation->Z));
  deflation->Z = Z;
  ++deflation->version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationGetSpace - Gets the vectors that a `KSP` with `KSP_DEFLATION_USER` deflates

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameter:
.  Z - the matrix that was set, or `NULL`

   Level: intermediate

.seealso: `KSPSetDeflation()`, `KSPDeflationSetSpace()`
@*/
PetscErrorCode KSPDeflationGetSpace(KSP ksp, Mat *Z) {
  Shared deflation;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCheck(Z, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &deflation));
  *Z = deflation ? deflation->Z : nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
