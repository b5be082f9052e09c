/* The public functions of PCBLOCKRELAX for what a sweep is, with their man pages; what they do is in
   pcblockrelax_options.cxx. */
#include "blockrelax/pcblockrelax_impl.h"

/*@
   PCBlockRelaxSetType - Sets which blocks of `PCBLOCKRELAX` see what others have become in the same sweep

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  type - `PC_BLOCKRELAX_TYPE_JACOBI` (default), `PC_BLOCKRELAX_TYPE_CHAOTIC` or `PC_BLOCKRELAX_TYPE_COLOURED`

   Options Database Key:
.  -pc_blockrelax_type <jacobi,chaotic,coloured> - the type

   Level: beginner

   Notes:
   jacobi is symmetric. chaotic takes about half of its sweeps, and is another operator at each application: it is for
   `KSPRICHARDSON`, for smoothers, and for flexible Krylov methods. coloured takes as few sweeps and is the same from run
   to run; `PCBlockRelaxSetSymmetric()` makes it fit for `KSPCG`.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetType()`, `PCBlockRelaxSetOmega()`,
          `PCBlockRelaxSetSymmetric()`
@*/
PetscErrorCode PCBlockRelaxSetType(PC pc, PCBlockRelaxType type) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, type, 2);
  PetscCheck(type >= 0 && type <= PC_BLOCKRELAX_TYPE_COLOURED, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCBlockRelaxType %d", (int)type);
  PetscTryMethod(pc, "PCBlockRelaxSetType_C", (PC, PCBlockRelaxType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetType - Gets which blocks of `PCBLOCKRELAX` see what others have become in the same sweep

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  type - the type

   Level: intermediate

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetType()`
@*/
PetscErrorCode PCBlockRelaxGetType(PC pc, PCBlockRelaxType *type) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(type, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCBlockRelaxGetType_C", (PC, PCBlockRelaxType *), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxSetOmega - Sets the relaxation of `PCBLOCKRELAX`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  omega - between 0 and 2; `PETSC_DECIDE` (default): 0.8 for jacobi, 1 for the others

   Options Database Key:
.  -pc_blockrelax_omega <omega> - the relaxation; -1 for the default

   Level: beginner

   Notes:
   With omega 1 block Jacobi converges on many matrices, but does not smooth: the spectrum of its iteration is symmetric
   about zero. With rho its spectral radius, that with 0.8 is 0.2 + 0.8 rho, and that of block Gauss-Seidel rho^2.

   It takes effect at the next `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where it is neither between 0 and 2 nor `PETSC_DECIDE`.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetOmega()`, `PCBlockRelaxSetType()`
@*/
PetscErrorCode PCBlockRelaxSetOmega(PC pc, PetscReal omega) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscCheck((omega > 0 && omega < 2) || omega == PETSC_DECIDE, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Omega %g must be between 0 and 2, or -1 for the default", (double)omega);
  PetscTryMethod(pc, "PCBlockRelaxSetOmega_C", (PC, PetscReal), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetOmega - Gets the relaxation of `PCBLOCKRELAX`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  omega - the relaxation

   Level: intermediate

   Note:
   After `PCSetUp()` the one in use, before it the one set, `PETSC_DECIDE` where none was.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetOmega()`
@*/
PetscErrorCode PCBlockRelaxGetOmega(PC pc, PetscReal *omega) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(omega, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCBlockRelaxGetOmega_C", (PC, PetscReal *), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxSetSweeps - Sets how many sweeps an application of `PCBLOCKRELAX` is

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  sweeps - their number, 1 by default

   Options Database Key:
.  -pc_blockrelax_sweeps <s> - sweeps an application

   Level: intermediate

   Notes:
   An application begins at zero, so its first sweep needs no residual. An iteration of `KSPRICHARDSON` is so many sweeps,
   too.

   It takes effect at the next `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where it is not positive.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetSweeps()`
@*/
PetscErrorCode PCBlockRelaxSetSweeps(PC pc, PetscInt sweeps) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, sweeps, 2);
  PetscCheck(sweeps >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Number of sweeps %" PetscInt_FMT " must be positive", sweeps);
  PetscTryMethod(pc, "PCBlockRelaxSetSweeps_C", (PC, PetscInt), (pc, sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetSweeps - Gets how many sweeps an application of `PCBLOCKRELAX` is

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  sweeps - their number

   Level: intermediate

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetSweeps()`
@*/
PetscErrorCode PCBlockRelaxGetSweeps(PC pc, PetscInt *sweeps) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(sweeps, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCBlockRelaxGetSweeps_C", (PC, PetscInt *), (pc, sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxSetColours - Sets how many colours the blocks of `PC_BLOCKRELAX_TYPE_COLOURED` have

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  colours - their number; `PETSC_DECIDE` (default): as few as will do

   Options Database Key:
.  -pc_blockrelax_colours <c> - colours; -1 for the default

   Level: intermediate

   Notes:
   Blocks of a colour must not be coupled. 2 (red and black blocks) will do for 5 and 7 points, 4 for 9 points on a 2D grid,
   8 for 27 points; where the number of blocks around a periodic side is odd, it takes more. Too few are an error, raised in
   `PCSetUp()`, which says how many it takes. More colours may converge a little faster, and leave fewer blocks to do at
   once.

   It takes effect at the next `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where it is neither positive nor `PETSC_DECIDE`.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetColours()`, `PCBlockRelaxSetType()`
@*/
PetscErrorCode PCBlockRelaxSetColours(PC pc, PetscInt colours) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, colours, 2);
  PetscCheck(colours >= 1 || colours == PETSC_DECIDE, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Number of colours %" PetscInt_FMT " must be positive, or -1 for the default", colours);
  PetscTryMethod(pc, "PCBlockRelaxSetColours_C", (PC, PetscInt), (pc, colours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetColours - Gets how many colours the blocks of `PC_BLOCKRELAX_TYPE_COLOURED` have

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  colours - their number

   Level: intermediate

   Note:
   After `PCSetUp()` the number in use, before it the one set, `PETSC_DECIDE` where none was.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetColours()`
@*/
PetscErrorCode PCBlockRelaxGetColours(PC pc, PetscInt *colours) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(colours, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCBlockRelaxGetColours_C", (PC, PetscInt *), (pc, colours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxSetSymmetric - Sets whether a sweep of `PC_BLOCKRELAX_TYPE_COLOURED` goes through the colours forth and back

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  symmetric - `PETSC_TRUE`: forth and back; `PETSC_FALSE` (default): forth

   Options Database Key:
.  -pc_blockrelax_symmetric <bool> - forth and back

   Level: intermediate

   Notes:
   Then M is symmetric and positive definite where A is, as `KSPCG` needs. For the other types it is an error, raised in
   `PCSetUp()`: jacobi is symmetric as it is, chaotic never.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetSymmetric()`, `PCBlockRelaxSetType()`
@*/
PetscErrorCode PCBlockRelaxSetSymmetric(PC pc, PetscBool symmetric) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, symmetric, 2);
  PetscTryMethod(pc, "PCBlockRelaxSetSymmetric_C", (PC, PetscBool), (pc, symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetSymmetric - Gets whether a sweep of `PC_BLOCKRELAX_TYPE_COLOURED` goes through the colours forth and back

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  symmetric - whether it does

   Level: intermediate

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetSymmetric()`
@*/
PetscErrorCode PCBlockRelaxGetSymmetric(PC pc, PetscBool *symmetric) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(symmetric, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCBlockRelaxGetSymmetric_C", (PC, PetscBool *), (pc, symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}
