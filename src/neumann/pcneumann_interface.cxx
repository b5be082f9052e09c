/* The public functions of PCNEUMANN, with their man pages; what they do is in pcneumann_options.cxx. */
#include "neumann/pcneumann_impl.h"

/*@
   PCNeumannSetTerms - Sets how many terms follow the first one in the Neumann series of `PCNEUMANN`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  k - number of terms, at least 0

   Options Database Key:
.  -pc_neumann_terms <k> - the number of terms

   Level: beginner

   Notes:
   K = I - L~ + L~^2 - ... + (-L~)^k. With 1 this is Neu1 of Gupta, van Gijzen and Vuik, eq. (15), with 2, the
   default, Neu2, eq. (16); with 0 it is the diagonal alone, `PCJACOBI`. Each term costs a product with a triangle and
   its transpose. More of them help less and less; where the norm of L~ is not below 1 (`-info` says so), they may not
   help at all.

   Incomplete Poisson (`PCNeumannSetType()`) has one term, whatever is set here.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCNEUMANN`, `PCNeumannGetTerms()`, `PCNeumannSetType()`
@*/
PetscErrorCode PCNeumannSetTerms(PC pc, PetscInt k) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, k, 2);
  PetscCheck(k >= 0 && k <= 1000000, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Number of terms %" PetscInt_FMT " must be from 0 to 1000000", k);
  PetscTryMethod(pc, "PCNeumannSetTerms_C", (PC, PetscInt), (pc, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannGetTerms - Gets how many terms follow the first one in the Neumann series of `PCNEUMANN`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  k - number of terms

   Level: intermediate

.seealso: `PCNEUMANN`, `PCNeumannSetTerms()`
@*/
PetscErrorCode PCNeumannGetTerms(PC pc, PetscInt *k) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(k, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCNeumannGetTerms_C", (PC, PetscInt *), (pc, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannSetOmega - Sets the relaxation of the triangles in the Neumann series of `PCNEUMANN`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  omega - between 0 and 2, 1 by default

   Options Database Key:
.  -pc_neumann_omega <omega> - the relaxation

   Level: intermediate

   Notes:
   The series is that of (I + omega L~)^-1, and M^-1 is multiplied by omega (2 - omega). With one term
   (`PCNeumannSetTerms()`) this is the approximate inverse of SSOR,

   M^-1 = (2 - omega) (I - D'^-1 L^T) D'^-1 (I - L D'^-1), D' = D / omega.

   For incomplete Poisson (`PCNeumannSetType()`) another one than 1 is an error, raised in `PCSetUp()`.

   It takes effect at the next `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where it is not between 0 and 2.

.seealso: `PCNEUMANN`, `PCNeumannGetOmega()`, `PCNeumannSetTerms()`, `PCMICSetOmega()`
@*/
PetscErrorCode PCNeumannSetOmega(PC pc, PetscReal omega) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscCheck(omega > 0 && omega < 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Omega %g must be between 0 and 2", (double)omega);
  PetscTryMethod(pc, "PCNeumannSetOmega_C", (PC, PetscReal), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannGetOmega - Gets the relaxation of the triangles in the Neumann series of `PCNEUMANN`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  omega - the relaxation

   Level: intermediate

.seealso: `PCNEUMANN`, `PCNeumannSetOmega()`
@*/
PetscErrorCode PCNeumannGetOmega(PC pc, PetscReal *omega) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(omega, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCNeumannGetOmega_C", (PC, PetscReal *), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannSetType - Sets which polynomial of the triangles `PCNEUMANN` applies

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  type - `PC_NEUMANN_SERIES` (default) or `PC_NEUMANN_POISSON`

   Options Database Key:
.  -pc_neumann_type <series,poisson> - the polynomial

   Level: beginner

   Note:
   It takes effect at the next `PCSetUp()`.

.seealso: `PCNEUMANN`, `PCNeumannGetType()`, `PCNeumannSetTerms()`, `PCNeumannSetScale()`, `PCNeumannSetDrop()`
@*/
PetscErrorCode PCNeumannSetType(PC pc, PCNeumannType type) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, type, 2);
  PetscCheck(type == PC_NEUMANN_SERIES || type == PC_NEUMANN_POISSON, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCNeumannType %d", (int)type);
  PetscTryMethod(pc, "PCNeumannSetType_C", (PC, PCNeumannType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannGetType - Gets which polynomial of the triangles `PCNEUMANN` applies

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  type - the polynomial

   Level: intermediate

.seealso: `PCNEUMANN`, `PCNeumannSetType()`
@*/
PetscErrorCode PCNeumannGetType(PC pc, PCNeumannType *type) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(type, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCNeumannGetType_C", (PC, PCNeumannType *), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannSetScale - Sets whether incomplete Poisson is that of the diagonally scaled matrix

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  scale - `PETSC_TRUE` (default): of D^-1/2 A D^-1/2

   Options Database Key:
.  -pc_neumann_scale <bool> - whether the matrix is scaled

   Level: intermediate

   Notes:
   Unscaled it is the original (I - L D^-1)(I - D^-1 L^T), which does badly where the diagonal varies: on a two-phase
   matrix with a jump of 1000 it takes three times the iterations of `PCJACOBI`. For the series, which always is one
   of the scaled matrix, `PETSC_FALSE` is an error, raised in `PCSetUp()`.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCNEUMANN`, `PCNeumannGetScale()`, `PCNeumannSetType()`
@*/
PetscErrorCode PCNeumannSetScale(PC pc, PetscBool scale) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, scale, 2);
  PetscTryMethod(pc, "PCNeumannSetScale_C", (PC, PetscBool), (pc, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNeumannGetScale - Gets whether incomplete Poisson is that of the diagonally scaled matrix

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  scale - whether the matrix is scaled

   Level: intermediate

.seealso: `PCNEUMANN`, `PCNeumannSetScale()`
@*/
PetscErrorCode PCNeumannGetScale(PC pc, PetscBool *scale) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(scale, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCNeumannGetScale_C", (PC, PetscBool *), (pc, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}
