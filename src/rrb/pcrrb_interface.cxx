/* The public functions of PCRRB with their man pages. What they do is in pcrrb_options.cxx. */
#include "rrb/pcrrb_impl.h"

/*@
   PCRRBSetLevels - Sets the number of red-black levels of `PCRRB`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  l - number of red-black levels, at least 1, or `PETSC_DECIDE`

   Options Database Key:
.  -pc_rrb_levels <l> - the number of red-black levels

   Level: beginner

   Notes:
   More levels make a cheaper but less accurate preconditioner. The default is the fewest levels that leave at most 1024
   unknowns for the last block. More than 2 ceil(log2(max(nx, ny))) + 1 (de Jong and Vuik 2016, eq. (2.1)) are cut to
   that. With one level a 5-point matrix is factored exactly.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCRRB`, `PCRRBGetLevels()`
@*/
PetscErrorCode PCRRBSetLevels(PC pc, PetscInt l)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, l, 2);
  PetscCheck(l == PETSC_DECIDE || l >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Number of levels %" PetscInt_FMT " must be at least 1", l);
  PetscTryMethod(pc, "PCRRBSetLevels_C", (PC, PetscInt), (pc, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetLevels - Gets the number of red-black levels of `PCRRB`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  l - number of levels; after `PCSetUp()` the one in use, before it the one set

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetLevels()`
@*/
PetscErrorCode PCRRBGetLevels(PC pc, PetscInt *l)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(l, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetLevels_C", (PC, PetscInt *), (pc, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetLumping - Sets how much of the dropped entries goes to the diagonal of `PCRRB`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  omega - relaxation of the lumping, 0 <= omega <= 1

   Options Database Key:
.  -pc_rrb_lumping <omega> - how much of the dropped entries goes to the diagonal

   Level: intermediate

   Notes:
   With 1, the default, dropped entries go to the diagonal in full, so that M v = A v for constant vectors v, or for the
   matrix's near null space (`MatSetNearNullSpace()`); the condition number grows far slower than with less: 0.999
   doubles the iterations of a 1023 x 1023 Poisson problem. This is omega of de Jong and Vuik 2016, eqs. (2.12), (2.13).

   It takes effect at the next `PCSetUp()`.

.seealso: `PCRRB`, `PCRRBGetLumping()`
@*/
PetscErrorCode PCRRBSetLumping(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscCheck(omega >= 0.0 && omega <= 1.0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Lumping %g must be between 0 and 1", (double)omega);
  PetscTryMethod(pc, "PCRRBSetLumping_C", (PC, PetscReal), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetLumping - Gets how much of the dropped entries goes to the diagonal of `PCRRB`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  omega - the relaxation; after `PCSetUp()` the one in use, before it the one set

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetLumping()`
@*/
PetscErrorCode PCRRBGetLumping(PC pc, PetscReal *omega)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(omega, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetLumping_C", (PC, PetscReal *), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetLumpNodes - Sets the nodes whose dropped couplings are lumped of `PCRRB`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  nodes - `PC_RRB_LUMP_RED` (default) or `PC_RRB_LUMP_BOTH`

   Options Database Key:
.  -pc_rrb_lump_nodes <red,both> - the nodes whose dropped couplings are lumped

   Level: intermediate

   Notes:
   Together with `PCRRBSetLumping()` these are the variants M1u (red, 0), M1m (red, 1), M2u (both, 0) and M2m (both, 1)
   of de Jong and Vuik 2016, Table 1.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCRRB`, `PCRRBGetLumpNodes()`
@*/
PetscErrorCode PCRRBSetLumpNodes(PC pc, PCRRBLumpNodes nodes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, nodes, 2);
  PetscCheck(nodes == PC_RRB_LUMP_RED || nodes == PC_RRB_LUMP_BOTH, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCRRBLumpNodes %d", (int)nodes);
  PetscTryMethod(pc, "PCRRBSetLumpNodes_C", (PC, PCRRBLumpNodes), (pc, nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetLumpNodes - Gets the nodes whose dropped couplings are lumped of `PCRRB`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  nodes - the nodes; after `PCSetUp()` the one in use, before it the one set

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetLumpNodes()`
@*/
PetscErrorCode PCRRBGetLumpNodes(PC pc, PCRRBLumpNodes *nodes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(nodes, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetLumpNodes_C", (PC, PCRRBLumpNodes *), (pc, nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
PetscErrorCode PCRRBSetStorage(PC pc, PCRRBStorage storage)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, storage, 2);
  PetscCheck(storage == PC_RRB_STORAGE_NAIVE || storage == PC_RRB_STORAGE_R1R2B1B2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCRRBStorage %d", (int)storage);
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
PetscErrorCode PCRRBGetStorage(PC pc, PCRRBStorage *storage)
{
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
PetscErrorCode PCRRBSetStorageGrids(PC pc, PetscInt g)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, g, 2);
  PetscCheck(g == PETSC_DECIDE || g >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Number of storage grids %" PetscInt_FMT " must not be negative", g);
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
PetscErrorCode PCRRBGetStorageGrids(PC pc, PetscInt *g)
{
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
-  dcb - width in nodes, a power of two from 8 on

   Options Database Key:
.  -pc_rrb_compute_block <dcb> - the padding of the r1/r2/b1/b2 arrays

   Level: intermediate

   Notes:
   Rows of the r1/r2/b1/b2 arrays begin at multiples of this many nodes and have a border of that width (de Jong and Vuik
   2016, Figure 9); it also enters the default of `PCRRBSetStorageGrids()`.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCRRB`, `PCRRBGetComputeBlock()`
@*/
PetscErrorCode PCRRBSetComputeBlock(PC pc, PetscInt dcb)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, dcb, 2);
  PetscCheck(dcb >= 8 && !(dcb & (dcb - 1)), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Compute block %" PetscInt_FMT " must be a power of two, at least 8", dcb);
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
PetscErrorCode PCRRBGetComputeBlock(PC pc, PetscInt *dcb)
{
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
PetscErrorCode PCRRBSetCoarse(PC pc, PCRRBCoarse coarse)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, coarse, 2);
  PetscCheck(coarse >= PC_RRB_COARSE_CHOLESKY && coarse <= PC_RRB_COARSE_KSP, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCRRBCoarse %d", (int)coarse);
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
PetscErrorCode PCRRBGetCoarse(PC pc, PCRRBCoarse *coarse)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(coarse, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetCoarse_C", (PC, PCRRBCoarse *), (pc, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetGrid - Sets the grid on which the matrix of `PCRRB` lives

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
.  nx - number of unknowns in the x direction, along which they are numbered first
-  ny - number of unknowns in the y direction

   Options Database Key:
.  -pc_rrb_grid <nx,ny> - the grid

   Level: intermediate

   Notes:
   Needed only where neither a `DMDA` nor the matrix's nonzero values tell. Unknown j nx + i is the point (i, j). A grid
   that does not fit the matrix is an error, raised in `PCSetUp()`, that names the row.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where a size is not positive.

.seealso: `PCRRB`, `PCRRBGetGrid()`
@*/
PetscErrorCode PCRRBSetGrid(PC pc, PetscInt nx, PetscInt ny)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, nx, 2);
  PetscValidLogicalCollectiveInt(pc, ny, 3);
  PetscCheck(nx >= 1 && ny >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Grid of %" PetscInt_FMT " x %" PetscInt_FMT " points: both sizes must be positive", nx, ny);
  PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, nx, ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetGrid - Gets the grid of `PCRRB`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameters:
+  nx - number of unknowns in the x direction, or `NULL`
-  ny - number of unknowns in the y direction, or `NULL`

   Level: intermediate

   Note:
   After `PCSetUp()` the grid in use, before it the one set, 0 where none was.

.seealso: `PCRRB`, `PCRRBSetGrid()`
@*/
PetscErrorCode PCRRBGetGrid(PC pc, PetscInt *nx, PetscInt *ny)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCRRBGetGrid_C", (PC, PetscInt *, PetscInt *), (pc, nx, ny));
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
PetscErrorCode PCRRBGetCoarseKSP(PC pc, KSP *ksp)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(ksp, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetCoarseKSP_C", (PC, KSP *), (pc, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
