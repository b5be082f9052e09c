/* The public functions of PCBLOCKRELAX for where its unknowns are, with their man pages; what they do is in
   pcblockrelax_options.cxx. */
#include "blockrelax/pcblockrelax_impl.h"

/*@
   PCBlockRelaxSetGrid - Sets the sizes of the grid that `PCBLOCKRELAX` works on

   Collective; the sizes may differ between ranks

   Input Parameters:
+  pc - the preconditioner context
.  nx - number of this rank's unknowns in the x direction, along which they are numbered first
.  ny - number of this rank's unknowns in the y direction
-  nz - number of this rank's unknowns in the z direction, 1 for a 2D grid

   Options Database Key:
.  -pc_blockrelax_grid <nx,ny[,nz]> - the grid, the same on all ranks

   Level: intermediate

   Notes:
   Needed only where neither a `DMDA` nor the matrix's nonzero values tell. Unknown (k ny + j) nx + i is the point (i,
   j, k). With several ranks it is the grid of a rank's own unknowns, which are numbered so from the first of them on: the
   product of the sizes is the number of the rank's rows. A grid that does not fit is an error, raised in
   `PCSetUp()`, that names the row. It takes the place of patches that were set.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where a size is not positive on some rank.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetGrid()`, `PCBlockRelaxSetPatches()`
@*/
PetscErrorCode PCBlockRelaxSetGrid(PC pc, PetscInt nx, PetscInt ny, PetscInt nz) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCBlockRelaxSetGrid_C", (PC, PetscInt, PetscInt, PetscInt), (pc, nx, ny, nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetGrid - Gets the grid of `PCBLOCKRELAX`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameters:
+  nx - number of this rank's unknowns in the x direction, or `NULL`
.  ny - number of this rank's unknowns in the y direction, or `NULL`
-  nz - number of this rank's unknowns in the z direction, or `NULL`

   Level: intermediate

   Note:
   After `PCSetUp()` the grid in use, before it the one set, 0 where none was.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetGrid()`
@*/
PetscErrorCode PCBlockRelaxGetGrid(PC pc, PetscInt *nx, PetscInt *ny, PetscInt *nz) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCBlockRelaxGetGrid_C", (PC, PetscInt *, PetscInt *, PetscInt *), (pc, nx, ny, nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxSetPatches - Sets the logically rectangular patches that the unknowns of `PCBLOCKRELAX` are on

   Collective; the patches may differ between ranks

   Input Parameters:
+  pc - the preconditioner context
.  n - number of this rank's patches; 0: there are none, but a grid
-  sizes - 3 n sizes: the unknowns of the first patch in x, y and z (1 in 2D), those of the second, and so on; they
           are copied

   Level: intermediate

   Notes:
   For a level of an adaptively refined mesh. This rank's unknowns are numbered patch after patch, in a patch with x first:
   unknown (k ny + j) nx + i of a patch is its point (i, j, k). So the sizes' products add up to the rank's rows. Within a
   patch a row couples with its neighbours, 5 or 9 in 2D, 7 or 27 in 3D, itself included. With rows of other patches it may
   couple as it likes: how patches lie, and what is interpolated between them, only the matrix knows.

   Blocks do not cross patches, and each patch has its own first block. Between patches it is Jacobi with all types.

   There is no option for it. It takes effect at the next `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where a number or a size is not positive on some rank; at `PCSetUp()`, `PETSC_ERR_ARG_INCOMP` where the
   sizes do not add up to the rows.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetPatches()`, `PCBlockRelaxSetGrid()`, `PCBlockRelaxSetParallel()`
@*/
PetscErrorCode PCBlockRelaxSetPatches(PC pc, PetscInt n, const PetscInt sizes[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCBlockRelaxSetPatches_C", (PC, PetscInt, const PetscInt[]), (pc, n, sizes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetPatches - Gets the patches that were set for `PCBLOCKRELAX`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameters:
+  n - number of this rank's patches, or `NULL`
-  sizes - 3 n sizes, of the preconditioner; or `NULL`

   Level: intermediate

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetPatches()`
@*/
PetscErrorCode PCBlockRelaxGetPatches(PC pc, PetscInt *n, const PetscInt *sizes[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCBlockRelaxGetPatches_C", (PC, PetscInt *, const PetscInt *[]), (pc, n, sizes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
