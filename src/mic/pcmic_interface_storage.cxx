/* The public functions of PCMIC for its grid, its blocks and how the factor is stored, with their man pages. */
#include "mic/pcmic_impl.h"

/*@
   PCMICSetPrecision - Sets the precision in which `PCMIC` stores its factor

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  precision - `PC_MIC_PRECISION_DOUBLE` (default) or `PC_MIC_PRECISION_SINGLE`

   Options Database Key:
.  -pc_mic_precision <double,single> - the precision

   Level: intermediate

   Notes:
   In single precision the factor takes half of the memory, and an application moves two thirds of the bytes. It is the
   factorization of a matrix that differs from yours by 6e-8, with the same row sums; vectors and arithmetic are double.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCMIC`, `PCMICGetPrecision()`
@*/
PetscErrorCode PCMICSetPrecision(PC pc, PCMICPrecision precision) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscCheck(precision == PC_MIC_PRECISION_DOUBLE || precision == PC_MIC_PRECISION_SINGLE,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCMICPrecision %d", (int)precision);
  PetscTryMethod(pc, "PCMICSetPrecision_C", (PC, PCMICPrecision), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICGetPrecision - Gets the precision in which `PCMIC` stores its factor

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  precision - the precision

   Level: intermediate

.seealso: `PCMIC`, `PCMICSetPrecision()`
@*/
PetscErrorCode PCMICGetPrecision(PC pc, PCMICPrecision *precision) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(precision, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCMICGetPrecision_C", (PC, PCMICPrecision *), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICSetBlockLines - Sets how many grid lines `PCMIC` puts into a block that is not coupled to the others

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  m - lines of y on a 2D grid, planes of z on a 3D one; 0 (default): all in one block

   Options Database Key:
.  -pc_mic_block_lines <m> - lines of a block

   Level: intermediate

   Notes:
   The couplings between blocks are left out of M, and the diagonal keeps them. There are as many times more things to do at
   once as there are blocks, and iterations grow. With `PCMICSetOmega()` 0 this is the block incomplete Cholesky
   preconditioner that is called Block-IC(m n) for a grid of n points a line.

   It takes effect at the next `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where it is negative.

.seealso: `PCMIC`, `PCMICGetBlockLines()`
@*/
PetscErrorCode PCMICSetBlockLines(PC pc, PetscInt m) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, m, 2);
  PetscCheck(m >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Number of lines %" PetscInt_FMT " of a block must not be negative", m);
  PetscTryMethod(pc, "PCMICSetBlockLines_C", (PC, PetscInt), (pc, m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICGetBlockLines - Gets how many grid lines `PCMIC` puts into a block

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  m - lines of a block, 0: all in one

   Level: intermediate

.seealso: `PCMIC`, `PCMICSetBlockLines()`
@*/
PetscErrorCode PCMICGetBlockLines(PC pc, PetscInt *m) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(m, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCMICGetBlockLines_C", (PC, PetscInt *), (pc, m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICSetGrid - Sets the sizes of the grid that `PCMIC` works on

   Collective; the sizes may differ between ranks

   Input Parameters:
+  pc - the preconditioner context
.  nx - number of this rank's unknowns in the x direction, along which they are numbered first
.  ny - number of this rank's unknowns in the y direction
-  nz - number of this rank's unknowns in the z direction, 1 for a 2D grid

   Options Database Key:
.  -pc_mic_grid <nx,ny[,nz]> - the grid, the same on all ranks

   Level: intermediate

   Notes:
   Needed only where neither a `DMDA` nor the matrix's nonzero values tell. Unknown (k ny + j) nx + i is the point (i,
   j, k). With several ranks it is the grid of a rank's own unknowns, which are numbered so from the first of them on: the
   product of the sizes is the number of the rank's rows. A grid that does not fit is an error, raised in
   `PCSetUp()`, that names the row.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where a size is not positive on some rank.

.seealso: `PCMIC`, `PCMICGetGrid()`
@*/
PetscErrorCode PCMICSetGrid(PC pc, PetscInt nx, PetscInt ny, PetscInt nz) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCMICSetGrid_C", (PC, PetscInt, PetscInt, PetscInt), (pc, nx, ny, nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICGetGrid - Gets the grid of `PCMIC`

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

.seealso: `PCMIC`, `PCMICSetGrid()`
@*/
PetscErrorCode PCMICGetGrid(PC pc, PetscInt *nx, PetscInt *ny, PetscInt *nz) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCMICGetGrid_C", (PC, PetscInt *, PetscInt *, PetscInt *), (pc, nx, ny, nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}
