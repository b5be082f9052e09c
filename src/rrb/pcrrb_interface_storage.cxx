/* The public functions of PCRRB that say how M is stored and its last block solved; see pcrrb_options.cxx. */
#include "rrb/pcrrb_impl.h"

/*@
   PCRRBSetStorage - Sets the order in which the factor is stored of `PCRRB`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  storage - `PC_RRB_STORAGE_R1R2B1B2` (default) or `PC_RRB_STORAGE_NAIVE`

   Options Database Key:
.  -pc_rrb_storage <naive,r1r2b1b2> - the order in which the factor is stored

   Level: intermediate

   Notes:
   The storage changes the speed and, by rounding, the last digits; not the method. See de Jong et al. 2017, section 3.1.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCRRB`, `PCRRBGetStorage()`
@*/
PetscErrorCode PCRRBSetStorage(PC pc, PCRRBStorage storage) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, storage, 2);
  PetscCheck(storage == PC_RRB_STORAGE_NAIVE || storage == PC_RRB_STORAGE_R1R2B1B2, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCRRBStorage %d", (int)storage);
  PetscTryMethod(pc, "PCRRBSetStorage_C", (PC, PCRRBStorage), (pc, storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetStorage - Gets the order in which the factor is stored of `PCRRB`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  storage - the storage; after `PCSetUp()` the one in use, before it the one set

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetStorage()`
@*/
PetscErrorCode PCRRBGetStorage(PC pc, PCRRBStorage *storage) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(storage, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetStorage_C", (PC, PCRRBStorage *), (pc, storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetStorageGrids - Sets how many grids are in r1/r2/b1/b2 storage of `PCRRB`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  g - number of grids in r1/r2/b1/b2 storage, 2g <= l, or `PETSC_DECIDE`

   Options Database Key:
.  -pc_rrb_storage_grids <g> - how many grids are in r1/r2/b1/b2 storage

   Level: intermediate

   Notes:
   The levels below them are kept in natural order. The default is g_max of de Jong and Vuik 2016, eq. (3.1),
   ceil(log2(max(nx, ny) / dcb)), but not more than half of the levels. Not used with `PC_RRB_STORAGE_NAIVE`.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCRRB`, `PCRRBGetStorageGrids()`
@*/
PetscErrorCode PCRRBSetStorageGrids(PC pc, PetscInt g) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, g, 2);
  PetscCheck(g == PETSC_DECIDE || g >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Number of storage grids %" PetscInt_FMT " must not be negative", g);
  PetscTryMethod(pc, "PCRRBSetStorageGrids_C", (PC, PetscInt), (pc, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetStorageGrids - Gets how many grids are in r1/r2/b1/b2 storage of `PCRRB`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  g - number of grids; after `PCSetUp()` the one in use, before it the one set

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetStorageGrids()`
@*/
PetscErrorCode PCRRBGetStorageGrids(PC pc, PetscInt *g) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(g, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetStorageGrids_C", (PC, PetscInt *), (pc, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetComputeBlock - Sets the padding of the r1/r2/b1/b2 arrays of `PCRRB`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  dcb - width in nodes, a power of two from 8 to 4096

   Options Database Key:
.  -pc_rrb_compute_block <dcb> - the padding of the r1/r2/b1/b2 arrays

   Level: intermediate

   Notes:
   Rows of the r1/r2/b1/b2 arrays begin at multiples of this many nodes and have a border of that width (de Jong and Vuik
   2016, Figure 9); it also enters the default of `PCRRBSetStorageGrids()`.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCRRB`, `PCRRBGetComputeBlock()`
@*/
PetscErrorCode PCRRBSetComputeBlock(PC pc, PetscInt dcb) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, dcb, 2);
  PetscCheck(dcb >= 8 && dcb <= 4096 && !(dcb & (dcb - 1)), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Compute block %" PetscInt_FMT " must be a power of two, from 8 to 4096", dcb);
  PetscTryMethod(pc, "PCRRBSetComputeBlock_C", (PC, PetscInt), (pc, dcb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetComputeBlock - Gets the padding of the r1/r2/b1/b2 arrays of `PCRRB`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  dcb - the width; after `PCSetUp()` the one in use, before it the one set

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetComputeBlock()`
@*/
PetscErrorCode PCRRBGetComputeBlock(PC pc, PetscInt *dcb) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(dcb, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetComputeBlock_C", (PC, PetscInt *), (pc, dcb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetCoarse - Sets the solver of the last Schur complement of `PCRRB`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  coarse - `PC_RRB_COARSE_CHOLESKY` (default), `PC_RRB_COARSE_INVERSE` or `PC_RRB_COARSE_KSP`

   Options Database Key:
.  -pc_rrb_coarse <cholesky,inverse,ksp> - the solver of the last Schur complement

   Level: intermediate

   Notes:
   The last block is singular for singular matrices: then Cholesky and the inverse act as its pseudo-inverse, and the
   matrix of the inner `KSP` has a null space. The inverse is dense: n^2 numbers for n unknowns, at most 4096 of them.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCRRB`, `PCRRBGetCoarse()`
@*/
PetscErrorCode PCRRBSetCoarse(PC pc, PCRRBCoarse coarse) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, coarse, 2);
  PetscCheck(coarse >= PC_RRB_COARSE_CHOLESKY && coarse <= PC_RRB_COARSE_KSP, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCRRBCoarse %d", (int)coarse);
  PetscTryMethod(pc, "PCRRBSetCoarse_C", (PC, PCRRBCoarse), (pc, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetCoarse - Gets the solver of the last Schur complement of `PCRRB`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  coarse - the solver; after `PCSetUp()` the one in use, before it the one set

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetCoarse()`
@*/
PetscErrorCode PCRRBGetCoarse(PC pc, PCRRBCoarse *coarse) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(coarse, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetCoarse_C", (PC, PCRRBCoarse *), (pc, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetCoarseKSP - Gets the `KSP` that `PCRRB` uses for the last Schur complement with `PC_RRB_COARSE_KSP`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  ksp - the inner solver; its options prefix is that of `pc` followed by `rrb_coarse_`

   Level: advanced

   Notes:
   Its default is one application of PETSc's sparse Cholesky factorization (`KSPPREONLY`, `PCCHOLESKY`). For `PCRRB` to be
   a symmetric operator, as `KSPCG` needs it, the inner solver must be linear and symmetric: `KSPPREONLY` with a
   symmetric preconditioner, or a fixed number of `KSPCHEBYSHEV` or `KSPRICHARDSON` steps. Do not destroy it.

.seealso: `PCRRB`, `PCRRBSetCoarse()`
@*/
PetscErrorCode PCRRBGetCoarseKSP(PC pc, KSP *ksp) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(ksp, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetCoarseKSP_C", (PC, KSP *), (pc, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
