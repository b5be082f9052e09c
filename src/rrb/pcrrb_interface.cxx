/* The public functions of PCRRB that say what M is, with their man pages; what they do is in pcrrb_options.cxx. */
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
PetscErrorCode PCRRBSetLevels(PC pc, PetscInt l) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, l, 2);
  PetscCheck(l == PETSC_DECIDE || l >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Number of levels %" PetscInt_FMT " must be at least 1", l);
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
PetscErrorCode PCRRBGetLevels(PC pc, PetscInt *l) {
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
PetscErrorCode PCRRBSetLumping(PC pc, PetscReal omega) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscCheck(omega >= 0.0 && omega <= 1.0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Lumping %g must be between 0 and 1", (double)omega);
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
PetscErrorCode PCRRBGetLumping(PC pc, PetscReal *omega) {
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
PetscErrorCode PCRRBSetLumpNodes(PC pc, PCRRBLumpNodes nodes) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, nodes, 2);
  PetscCheck(nodes == PC_RRB_LUMP_RED || nodes == PC_RRB_LUMP_BOTH, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCRRBLumpNodes %d", (int)nodes);
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
PetscErrorCode PCRRBGetLumpNodes(PC pc, PCRRBLumpNodes *nodes) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(nodes, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetLumpNodes_C", (PC, PCRRBLumpNodes *), (pc, nodes));
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
PetscErrorCode PCRRBSetGrid(PC pc, PetscInt nx, PetscInt ny) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, nx, 2);
  PetscValidLogicalCollectiveInt(pc, ny, 3);
  PetscCheck(nx >= 1 && ny >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Grid of %" PetscInt_FMT " x %" PetscInt_FMT " points: both sizes must be positive", nx, ny);
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
PetscErrorCode PCRRBGetGrid(PC pc, PetscInt *nx, PetscInt *ny) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCRRBGetGrid_C", (PC, PetscInt *, PetscInt *), (pc, nx, ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}
