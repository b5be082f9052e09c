/* The public functions of PCNEUMANN that say what is dropped and where the matrix lives, with their man pages. */
#include "neumann/pcneumann_impl.h"

/*@
   PCNeumannSetDrop - Sets which entries of the incomplete Poisson preconditioner are left out

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  drop - `PC_NEUMANN_DROP_NONE` (default), `PC_NEUMANN_DROP_PATTERN` or `PC_NEUMANN_DROP_THRESHOLD`

   Options Database Key:
.  -pc_neumann_drop <none,pattern,threshold> - what is left out

   Level: intermediate

   Notes:
   The original keeps what of the product (I - L D^-1)(I - D^-1 L^T) is not small, which on a five-point Poisson
   matrix is the pattern of the matrix. M^-1 then is one sparse matrix, stored and multiplied with by PETSc; an
   application is one product. A threshold is for the entries of the product before it is scaled back, whose diagonal
   is 1 and more. With a large one, or on matrices with positive couplings, M^-1 need not be positive definite.

   For the series any other value than `PC_NEUMANN_DROP_NONE` is an error, raised in `PCSetUp()`.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCNEUMANN`, `PCNeumannGetDrop()`, `PCNeumannSetDropThreshold()`, `PCNeumannSetType()`
@*/
PetscErrorCode PCNeumannSetDrop(PC pc, PCNeumannDrop drop) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, drop, 2);
  PetscCheck(drop >= PC_NEUMANN_DROP_NONE && drop <= PC_NEUMANN_DROP_THRESHOLD, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCNeumannDrop %d", (int)drop);
  PetscTryMethod(pc, "PCNeumannSetDrop_C", (PC, PCNeumannDrop), (pc, drop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannGetDrop - Gets which entries of the incomplete Poisson preconditioner are left out

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  drop - what is left out

   Level: intermediate

.seealso: `PCNEUMANN`, `PCNeumannSetDrop()`
@*/
PetscErrorCode PCNeumannGetDrop(PC pc, PCNeumannDrop *drop) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(drop, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCNeumannGetDrop_C", (PC, PCNeumannDrop *), (pc, drop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannSetDropThreshold - Sets below which size entries of incomplete Poisson are left out

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  threshold - entries off the diagonal that are smaller are left out; default 0.1

   Options Database Key:
.  -pc_neumann_drop_threshold <t> - the threshold

   Level: intermediate

   Notes:
   It counts with `PC_NEUMANN_DROP_THRESHOLD` (`PCNeumannSetDrop()`).

   It takes effect at the next `PCSetUp()`.

.seealso: `PCNEUMANN`, `PCNeumannGetDropThreshold()`, `PCNeumannSetDrop()`
@*/
PetscErrorCode PCNeumannSetDropThreshold(PC pc, PetscReal threshold) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, threshold, 2);
  PetscCheck(threshold >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Threshold %g must not be negative", (double)threshold);
  PetscTryMethod(pc, "PCNeumannSetDropThreshold_C", (PC, PetscReal), (pc, threshold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannGetDropThreshold - Gets below which size entries of incomplete Poisson are left out

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  threshold - smaller entries off the diagonal are left out

   Level: intermediate

.seealso: `PCNEUMANN`, `PCNeumannSetDropThreshold()`
@*/
PetscErrorCode PCNeumannGetDropThreshold(PC pc, PetscReal *threshold) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(threshold, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCNeumannGetDropThreshold_C", (PC, PetscReal *), (pc, threshold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannSetGrid - Sets the grid on which the matrix of `PCNEUMANN` lives

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
.  nx - number of unknowns in the x direction, along which they are numbered first
.  ny - number of unknowns in the y direction
-  nz - number of unknowns in the z direction, 1 for a 2D grid

   Options Database Key:
.  -pc_neumann_grid <nx,ny[,nz]> - the grid

   Level: intermediate

   Notes:
   Needed only where neither a `DMDA` nor the matrix's nonzero values tell. Unknown (k ny + j) nx + i is the point (i,
   j, k). A grid that does not fit the matrix is an error, raised in `PCSetUp()`, that names the row. Where there is
   no grid, products with sparse matrices take the place of the loops on it; the result is the same.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where a size is not positive.

.seealso: `PCNEUMANN`, `PCNeumannGetGrid()`
@*/
PetscErrorCode PCNeumannSetGrid(PC pc, PetscInt nx, PetscInt ny, PetscInt nz) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, nx, 2);
  PetscValidLogicalCollectiveInt(pc, ny, 3);
  PetscValidLogicalCollectiveInt(pc, nz, 4);
  PetscCheck(nx >= 1 && ny >= 1 && nz >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points: all sizes must be positive", nx,
             ny, nz);
  PetscTryMethod(pc, "PCNeumannSetGrid_C", (PC, PetscInt, PetscInt, PetscInt), (pc, nx, ny, nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannGetGrid - Gets the grid of `PCNEUMANN`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameters:
+  nx - number of unknowns in the x direction, or `NULL`
.  ny - number of unknowns in the y direction, or `NULL`
-  nz - number of unknowns in the z direction, or `NULL`

   Level: intermediate

   Note:
   After `PCSetUp()` the grid in use, before it the one set, 0 where none was. There may be none in use.

.seealso: `PCNEUMANN`, `PCNeumannSetGrid()`
@*/
PetscErrorCode PCNeumannGetGrid(PC pc, PetscInt *nx, PetscInt *ny, PetscInt *nz) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCNeumannGetGrid_C", (PC, PetscInt *, PetscInt *, PetscInt *), (pc, nx, ny, nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}
