/* The public functions of PCRRB for its cycle and the precision of its factor; see pcrrb_options.cxx. */
#include "rrb/pcrrb_impl.h"

/*@
   PCRRBSetCycle - Sets how often the coarse grids are visited in an application of `PCRRB`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  cycle - `PC_RRB_CYCLE_V` or `PC_RRB_CYCLE_AMLI`; default: AMLI from 8 levels on, V below

   Options Database Key:
.  -pc_rrb_cycle <v,amli> - how often the coarse grids are visited

   Level: intermediate

   Notes:
   With `PC_RRB_CYCLE_AMLI` one coarse grid, with about half of the levels above it, and all below are visited twice, with a
   Chebyshev polynomial of degree 2 around them. It lowers iteration counts on large grids for the price of two small
   cycles. The polynomial needs the largest eigenvalue on that grid, which is estimated at every `PCSetUp()`. Where it is
   too large for the polynomial to help, as with strong anisotropy, and where there is no such grid, the cycle is V;
   `PCView()` and -info say so. `PCApplySymmetricLeft()` and `PCApplySymmetricRight()` are halves of
   the V-cycle; where AMLI was set they are refused.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCRRB`, `PCRRBGetCycle()`
@*/
PetscErrorCode PCRRBSetCycle(PC pc, PCRRBCycle cycle) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, cycle, 2);
  PetscCheck(cycle == PC_RRB_CYCLE_V || cycle == PC_RRB_CYCLE_AMLI, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCRRBCycle %d", (int)cycle);
  PetscTryMethod(pc, "PCRRBSetCycle_C", (PC, PCRRBCycle), (pc, cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetCycle - Gets how often the coarse grids are visited in an application of `PCRRB`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  cycle - after `PCSetUp()` the one in use, before it the one set; AMLI may fall back to V, which `PCView()` tells

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetCycle()`
@*/
PetscErrorCode PCRRBGetCycle(PC pc, PCRRBCycle *cycle) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(cycle, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetCycle_C", (PC, PCRRBCycle *), (pc, cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetPrecision - Sets the precision in which the factor is stored of `PCRRB`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  precision - `PC_RRB_PRECISION_DOUBLE` (default) or `PC_RRB_PRECISION_SINGLE`

   Options Database Key:
.  -pc_rrb_precision <double,single> - the precision of the factor

   Level: intermediate

   Notes:
   In single precision the couplings and inverse pivots of L take half of the memory and bandwidth. The matrix, from
   which they are computed in double precision, and all vectors and sums stay double.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCRRB`, `PCRRBGetPrecision()`
@*/
PetscErrorCode PCRRBSetPrecision(PC pc, PCRRBPrecision precision) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscCheck(precision == PC_RRB_PRECISION_DOUBLE || precision == PC_RRB_PRECISION_SINGLE,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCRRBPrecision %d", (int)precision);
  PetscTryMethod(pc, "PCRRBSetPrecision_C", (PC, PCRRBPrecision), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetPrecision - Gets the precision in which the factor is stored of `PCRRB`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  precision - the precision; after `PCSetUp()` the one in use, before it the one set

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetPrecision()`
@*/
PetscErrorCode PCRRBGetPrecision(PC pc, PCRRBPrecision *precision) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(precision, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetPrecision_C", (PC, PCRRBPrecision *), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}
