/* The public functions of PCMIC for what it computes, with their man pages; what they do is in pcmic_options.cxx. */
#include "mic/pcmic_impl.h"

/*@
   PCMICSetType - Sets which diagonal the factors of `PCMIC` have

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  type - `PC_MIC_TYPE_MIC` (default) or `PC_MIC_TYPE_SSOR`

   Options Database Key:
.  -pc_mic_type <mic,ssor> - the type

   Level: beginner

   Notes:
   SSOR needs no factorization. At the same price an application mic takes a half to a third of its iterations.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCMIC`, `PCMICGetType()`, `PCMICSetOmega()`, `PCSOR`
@*/
PetscErrorCode PCMICSetType(PC pc, PCMICType type) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, type, 2);
  PetscCheck(type == PC_MIC_TYPE_MIC || type == PC_MIC_TYPE_SSOR, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCMICType %d", (int)type);
  PetscTryMethod(pc, "PCMICSetType_C", (PC, PCMICType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICGetType - Gets which diagonal the factors of `PCMIC` have

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  type - the type

   Level: intermediate

.seealso: `PCMIC`, `PCMICSetType()`
@*/
PetscErrorCode PCMICGetType(PC pc, PCMICType *type) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(type, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCMICGetType_C", (PC, PCMICType *), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICSetOmega - Sets how much of what `PCMIC` drops goes to the diagonal, or the relaxation of SSOR

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  omega - for `PC_MIC_TYPE_MIC` from 0 to 1, for `PC_MIC_TYPE_SSOR` between 0 and 2; `PETSC_DECIDE` (default) for the
           default of either type

   Options Database Key:
.  -pc_mic_omega <omega> - the parameter; -1 for the default

   Level: beginner

   Notes:
   0 is the incomplete Cholesky factorization IC(0), that of `PCICC` in natural ordering. 1 is MIC(0), which keeps row
   sums: M 1 = A 1. As a rule a little less than 1 is best, and the less the larger the grid: the default is 1 - 24 / n^2,
   n the mean number of points a side, but at least 0.9 and at most 0.999 (in 2D 0.9995). `PCView()` shows it. The default of SSOR is 1, symmetric Gauss-Seidel.

   It takes effect at the next `PCSetUp()`, which raises `PETSC_ERR_ARG_INCOMP` where the type does not take it.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where it is neither from 0 to 2, 2 excluded, nor `PETSC_DECIDE`.

.seealso: `PCMIC`, `PCMICGetOmega()`, `PCMICSetType()`
@*/
PetscErrorCode PCMICSetOmega(PC pc, PetscReal omega) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscCheck((omega >= 0 && omega < 2) || omega == PETSC_DECIDE, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE,
             "Omega %g must be from 0 to 1 (mic) or between 0 and 2 (ssor), or -1 for the default", (double)omega);
  PetscTryMethod(pc, "PCMICSetOmega_C", (PC, PetscReal), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICGetOmega - Gets the parameter of `PCMIC`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  omega - the parameter

   Level: intermediate

   Note:
   After `PCSetUp()` the one in use on this rank, before it the one set, `PETSC_DECIDE` where none was.

.seealso: `PCMIC`, `PCMICSetOmega()`
@*/
PetscErrorCode PCMICGetOmega(PC pc, PetscReal *omega) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(omega, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCMICGetOmega_C", (PC, PetscReal *), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICSetShift - Sets to what share of the diagonal entry `PCMIC` raises pivots that are smaller

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  shift - the share, from 0 (default) to 1; 0 raises none

   Options Database Key:
.  -pc_mic_shift <s> - the share

   Level: intermediate

   Notes:
   A matrix with positive couplings may have pivots that are not positive, although it is positive definite. Without a
   shift that is a failure, which names row and grid point. `PCView()` shows how many pivots were raised. A pivot that is
   0 but for rounding is the null direction of a singular matrix, with a shift, too: the diagonal entry takes its place.

   `PC_MIC_TYPE_SSOR` has no pivots: a shift is an error there, raised in `PCSetUp()`.

   It takes effect at the next `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where it is not from 0 to 1.

.seealso: `PCMIC`, `PCMICGetShift()`, `PCMICSetOmega()`
@*/
PetscErrorCode PCMICSetShift(PC pc, PetscReal shift) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, shift, 2);
  PetscCheck(shift >= 0 && shift <= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Shift %g must be from 0 to 1", (double)shift);
  PetscTryMethod(pc, "PCMICSetShift_C", (PC, PetscReal), (pc, shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICGetShift - Gets to what share of the diagonal entry `PCMIC` raises pivots that are smaller

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  shift - the share

   Level: intermediate

.seealso: `PCMIC`, `PCMICSetShift()`
@*/
PetscErrorCode PCMICGetShift(PC pc, PetscReal *shift) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(shift, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCMICGetShift_C", (PC, PetscReal *), (pc, shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}
