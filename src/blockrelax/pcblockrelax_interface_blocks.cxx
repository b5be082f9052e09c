/* The public functions of PCBLOCKRELAX for its blocks, with their man pages; what they do is in
   pcblockrelax_options.cxx. */
#include "blockrelax/pcblockrelax_impl.h"

/*@
   PCBlockRelaxSetBlockSize - Sets how many cells the blocks of `PCBLOCKRELAX` have along each side

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
.  bx - cells in the x direction, along which unknowns are numbered first
.  by - cells in the y direction
-  bz - cells in the z direction, 1 for a 2D grid

   Options Database Key:
.  -pc_blockrelax_block_size <bx,by[,bz]> - the sizes; bz is 1 where it is left out

   Level: beginner

   Notes:
   The default is 8 x 8 x 8 in 3D and 32 x 32 in 2D. Blocks begin at multiples of these sizes, and those at the far sides
   are truncated. A size beyond the grid's makes lines or planes of the blocks.

   It takes effect at the next `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where a size is not positive.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetBlockSize()`, `PCBlockRelaxSetGrid()`
@*/
PetscErrorCode PCBlockRelaxSetBlockSize(PC pc, PetscInt bx, PetscInt by, PetscInt bz) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, bx, 2);
  PetscValidLogicalCollectiveInt(pc, by, 3);
  PetscValidLogicalCollectiveInt(pc, bz, 4);
  PetscCheck(bx >= 1 && by >= 1 && bz >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Blocks of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells: all sizes must be positive",
             bx, by, bz);
  PetscTryMethod(pc, "PCBlockRelaxSetBlockSize_C", (PC, PetscInt, PetscInt, PetscInt), (pc, bx, by, bz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetBlockSize - Gets how many cells the blocks of `PCBLOCKRELAX` have along each side

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameters:
+  bx - cells in the x direction, or `NULL`
.  by - cells in the y direction, or `NULL`
-  bz - cells in the z direction, or `NULL`

   Level: intermediate

   Note:
   After `PCSetUp()` the sizes in use, which are no longer than the grid's, before it those set, 0 where none were.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetBlockSize()`
@*/
PetscErrorCode PCBlockRelaxGetBlockSize(PC pc, PetscInt *bx, PetscInt *by, PetscInt *bz) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCBlockRelaxGetBlockSize_C", (PC, PetscInt *, PetscInt *, PetscInt *), (pc, bx, by, bz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxSetInverse - Sets how `PCBLOCKRELAX` inverts its blocks

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  inverse - `PC_BLOCKRELAX_INVERSE_AUTO` (default), `PC_BLOCKRELAX_INVERSE_TENSOR` or `PC_BLOCKRELAX_INVERSE_DENSE`

   Options Database Key:
.  -pc_blockrelax_inverse <auto,tensor,dense> - the inverse

   Level: intermediate

   Notes:
   All blocks of a shape then share one inverse. tensor applies it in the sine bases of the sides, some dozens of operations a
   cell, dense as a matrix, twice as many operations as a block has cells. Where coefficients vary, blocks are factored one
   by one, or with dense inverted. `PCView()` says what is in use.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetInverse()`, `PCBlockRelaxSetMemory()`
@*/
PetscErrorCode PCBlockRelaxSetInverse(PC pc, PCBlockRelaxInverse inverse) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, inverse, 2);
  PetscCheck(inverse >= 0 && inverse <= PC_BLOCKRELAX_INVERSE_DENSE, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCBlockRelaxInverse %d", (int)inverse);
  PetscTryMethod(pc, "PCBlockRelaxSetInverse_C", (PC, PCBlockRelaxInverse), (pc, inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetInverse - Gets how `PCBLOCKRELAX` inverts its blocks

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  inverse - what was set

   Level: intermediate

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetInverse()`
@*/
PetscErrorCode PCBlockRelaxGetInverse(PC pc, PCBlockRelaxInverse *inverse) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(inverse, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCBlockRelaxGetInverse_C", (PC, PCBlockRelaxInverse *), (pc, inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxSetParallel - Sets what the threads of `PCBLOCKRELAX` share on the host

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  parallel - `PC_BLOCKRELAX_PARALLEL_AUTO` (default), `PC_BLOCKRELAX_PARALLEL_PATCHES`, `PC_BLOCKRELAX_PARALLEL_BLOCKS` or
              `PC_BLOCKRELAX_PARALLEL_BOTH`

   Options Database Key:
.  -pc_blockrelax_parallel <auto,patches,blocks,both> - what is shared

   Level: advanced

   Notes:
   Jacobi and coloured sweeps give the same with all of them.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetParallel()`, `PCBlockRelaxSetPatches()`
@*/
PetscErrorCode PCBlockRelaxSetParallel(PC pc, PCBlockRelaxParallel parallel) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, parallel, 2);
  PetscCheck(parallel >= 0 && parallel <= PC_BLOCKRELAX_PARALLEL_BOTH, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCBlockRelaxParallel %d", (int)parallel);
  PetscTryMethod(pc, "PCBlockRelaxSetParallel_C", (PC, PCBlockRelaxParallel), (pc, parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetParallel - Gets what the threads of `PCBLOCKRELAX` share on the host

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  parallel - what was set

   Level: intermediate

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetParallel()`
@*/
PetscErrorCode PCBlockRelaxGetParallel(PC pc, PCBlockRelaxParallel *parallel) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(parallel, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCBlockRelaxGetParallel_C", (PC, PCBlockRelaxParallel *), (pc, parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxSetMemory - Sets how much memory the factors of `PCBLOCKRELAX` may take on each rank

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  memory - bytes; 0 (default): no limit

   Options Database Key:
.  -pc_blockrelax_memory <bytes> - the limit

   Level: advanced

   Notes:
   It is of use where coefficients vary, and each block has a factor of its own. Blocks whose factors have no place are
   factored anew in each sweep, which gives the same.

   It takes effect at the next `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where it is negative.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetMemory()`, `PCBlockRelaxSetBlockSize()`
@*/
PetscErrorCode PCBlockRelaxSetMemory(PC pc, PetscReal memory) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, memory, 2);
  PetscCheck(memory >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Memory of %g bytes must not be negative", (double)memory);
  PetscTryMethod(pc, "PCBlockRelaxSetMemory_C", (PC, PetscReal), (pc, memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetMemory - Gets how much memory the factors of `PCBLOCKRELAX` may take on each rank

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  memory - bytes, 0: no limit

   Level: intermediate

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetMemory()`
@*/
PetscErrorCode PCBlockRelaxGetMemory(PC pc, PetscReal *memory) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(memory, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCBlockRelaxGetMemory_C", (PC, PetscReal *), (pc, memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}
