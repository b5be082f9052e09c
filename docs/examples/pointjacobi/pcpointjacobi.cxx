/* PCPOINTJACOBI, the PETSc preconditioner. */
#include "pc/parameter.h"
#include "pc/pointjacobi/pcpointjacobi_data.h"
#include "pc/set_up.h"

/* --- what a user can set --- */

PETSC_EXTERN PetscErrorCode PCPointJacobiSetOmega(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCPointJacobiGetOmega(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCPointJacobiSetGrid(PC, PetscInt, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCPointJacobiGetGrid(PC, PetscInt *, PetscInt *, PetscInt *);

/*@
   PCPointJacobiSetOmega - Sets the damping of `PCPOINTJACOBI`

   Input Parameters:
+  pc - the preconditioner context
-  omega - between 0 and 2; default 1

   Options Database Key:
.  -pc_pointjacobi_omega <omega> - the damping

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where it is not between 0 and 2.

.seealso: `PCPOINTJACOBI`, `PCPointJacobiGetOmega()`
@*/
PETSCRRB_PARAMETER(
    PointJacobi, Omega, PetscReal, &PC_PointJacobi::omega, "-pc_pointjacobi_omega", "The damping",
    [](PetscReal omega) { return omega > 0 && omega < 2; }, "Omega %g must be between 0 and 2");

/*@
   PCPointJacobiSetGrid - Sets the grid of `PCPOINTJACOBI`

   Collective

   Input Parameters:
+  pc - the preconditioner context
.  nx - unknowns in x
.  ny - unknowns in y
-  nz - unknowns in z, 1 in 2D

   Options Database Key:
.  -pc_pointjacobi_grid <nx,ny[,nz]> - the grid of a rank's own unknowns

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where a size is not positive on some rank.

.seealso: `PCPOINTJACOBI`, `PCPointJacobiGetGrid()`
@*/
PETSCRRB_SIZES(PointJacobi, Grid, &PC_PointJacobi::grid, "-pc_pointjacobi_grid", "Unknowns in x, y and z", nullptr,
               PetscRRBGridInUse, PetscRRBSetGridOfRank<PC_PointJacobi>);

using Parameters = PetscRRBParameters<Omega, Grid>;

static PetscErrorCode ComposeParameters(PC pc, PetscBool on) { return Parameters::Compose(pc, on); }

static PetscErrorCode PCSetFromOptions_PointJacobi(PC pc, PetscRRBOptionItems items) {
  return Parameters::SetFromOptions(pc, items, "Point Jacobi options");
}

/* --- set-up: PetscRRBSetUpDiagonalBlock() calls these, on each rank by itself --- */

static PetscErrorCode CheckChoices(PC) { return PETSC_SUCCESS; } /* none excludes another one */

static PetscErrorCode Build(PC pc, PetscRRBTrouble *trouble) {
  const PC_PointJacobi *data = (PC_PointJacobi *)pc->data;
  PCPointJacobiState *s = data->state;

  PetscFunctionBegin;
  PetscCall(PetscRRBFindGridOnRank(pc, pc->pmat, petscrrb::Widest::box, data->grid, "-pc_pointjacobi_grid",
                                   s->backend->rows(s->rows.csr), &s->grid, trouble));
  if (!*trouble) *trouble = s->backend->Create(s->grid);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadValues(PC pc, PetscBool *, PetscRRBTrouble *trouble) {
  PCPointJacobiState *s = ((PC_PointJacobi *)pc->data)->state;

  *trouble = s->backend->Refresh(s->rows.csr, &s->bad_row);
  return PETSC_SUCCESS;
}

static PetscErrorCode CheckPivots(PC pc, PetscRRBTrouble *trouble) {
  const PCPointJacobiState *s = ((PC_PointJacobi *)pc->data)->state;
  PetscInt first;

  PetscFunctionBegin;
  if (s->bad_row == petscrrb::no_row) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(pc->pmat, &first, nullptr));
  *trouble = {"the diagonal entry of row " + std::to_string(first + s->bad_row) + " is not positive",
              PETSC_ERR_MAT_LU_ZRPVT}; /* a zero pivot, which the KSP is told of */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_PointJacobi(PC pc) {
  const PetscRRBSteps<PCPointJacobiBackend> steps = {
      "PCPOINTJACOBI", PCPointJacobiCreateBackend, CheckChoices, Build, ReadValues, CheckPivots};
  return PetscRRBSetUpDiagonalBlock<PC_PointJacobi>(pc, steps);
}

/* --- the rest of a PC --- */

static PetscErrorCode Apply(PC pc, Vec x, Vec y) {
  const PC_PointJacobi *data = (PC_PointJacobi *)pc->data;
  return data->state->backend->Apply(pc, data->omega, x, y);
}

static PetscErrorCode ViewBriefly(const PC_PointJacobi *data, PetscViewer viewer) {
  return PetscViewerStringSPrintf(viewer, " omega %g", (double)data->omega);
}

static PetscErrorCode ViewChoices(const PC_PointJacobi *data, PetscViewer viewer) {
  return PetscViewerASCIIPrintf(viewer, "omega %g\n", (double)data->omega);
}

static PetscErrorCode ViewState(PC pc, PetscViewer viewer) {
  const PCPointJacobiState *s = ((PC_PointJacobi *)pc->data)->state;

  return PetscViewerASCIIPrintf(viewer, "backend: %s, memory: %.0f bytes\n", s->backend->on_device() ? "cuda" : "host",
                                s->backend->bytes());
}

static PetscBool MayHaveIdentityRows(PC) { return PETSC_TRUE; } /* nobody has looked */

/*MC
   PCPOINTJACOBI - Damped point Jacobi on structured grids

   Options Database Keys:
+  -pc_pointjacobi_omega <omega>     - the damping; default 1
-  -pc_pointjacobi_grid <nx,ny[,nz]> - unknowns in x, y and z, if neither a DM nor the matrix determines them

   Level: beginner

.seealso: `PCPointJacobiSetOmega()`, `PCPointJacobiSetGrid()`, `PCJACOBI`
M*/
PETSC_INTERN PetscErrorCode PCCreate_PointJacobi(PC pc) {
  PC_PointJacobi *data;

  PetscFunctionBegin;
  PetscCall((PetscRRBCreate<PC_PointJacobi, ComposeParameters>(
      pc,
      {PCSetUp_PointJacobi, PetscRRBApply<PC_PointJacobi, Apply>, nullptr, PCSetFromOptions_PointJacobi,
       PetscRRBView<PC_PointJacobi, ViewBriefly, ViewChoices, ViewState>, MayHaveIdentityRows},
      &data)));
  data->omega = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
