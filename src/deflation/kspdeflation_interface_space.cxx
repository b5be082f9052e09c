/* The public functions of deflation for its stripes, blocks and their grid, with their man pages. */
#include "deflation/kspdeflation_impl.h"

#include <algorithm>

using Shared = std::shared_ptr<KSPDeflation>;

static PetscErrorCode SetSizes(KSP ksp, PetscInt (KSPDeflationChoice::*member)[3], const PetscInt n[3]) {
  Shared deflation;

  PetscFunctionBegin;
  PetscCall(KSPDeflationFind(ksp, PETSC_TRUE, &deflation));
  PetscInt *kept = deflation->choice.*member;
  if (!std::equal(n, n + 3, kept)) ++deflation->version;
  std::copy(n, n + 3, kept);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDeflationGetChoice(KSP ksp, KSPDeflationChoice *choice, PCDeflationBackend **used) {
  Shared deflation;
  PetscBool wrapped = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &deflation));
  if (deflation) *choice = deflation->choice;
  *used = nullptr;
  if (ksp->pc) PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCSUBDOMAINDEFLATION, &wrapped));
  if (wrapped) *used = ((PC_SubdomainDeflation *)ksp->pc->data)->backend.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationSetStripes - Sets the stripes of a `KSP` with `KSP_DEFLATION_STRIPE`

   Logically Collective

   Input Parameters:
+  ksp   - the Krylov solver
.  lines - grid lines along x in a stripe, at least 1 (default 1)
-  cuts  - pieces of even length that each stripe is cut into, at least 1 (default 2)

   Options Database Keys:
+  -ksp_deflation_stripe_lines <lines> - grid lines in a stripe
-  -ksp_deflation_stripe_cuts <cuts>   - pieces that a line is cut into

   Level: intermediate

   Notes:
   The defaults are the 2n half lines of Gupta, van Gijzen and Vuik, Figure 9. In 3D a stripe has lines of one plane.

   It takes effect at the next solve.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetStripes()`
@*/
PetscErrorCode KSPDeflationSetStripes(KSP ksp, PetscInt lines, PetscInt cuts) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, lines, 2);
  PetscValidLogicalCollectiveInt(ksp, cuts, 3);
  PetscCheck(lines >= 1 && cuts >= 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "Stripes of %" PetscInt_FMT " lines in %" PetscInt_FMT " pieces: both must be at least 1", lines, cuts);
  PetscCall(KSPDeflationSetChoice(ksp, &KSPDeflationChoice::lines, lines));
  PetscCall(KSPDeflationSetChoice(ksp, &KSPDeflationChoice::cuts, cuts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationGetStripes - Gets the stripes of a `KSP` with `KSP_DEFLATION_STRIPE`

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameters:
+  lines - grid lines in a stripe, or `NULL`
-  cuts  - pieces that each is cut into, or `NULL`

   Level: intermediate

.seealso: `KSPSetDeflation()`, `KSPDeflationSetStripes()`
@*/
PetscErrorCode KSPDeflationGetStripes(KSP ksp, PetscInt *lines, PetscInt *cuts) {
  KSPDeflationChoice choice;
  PCDeflationBackend *used;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(KSPDeflationGetChoice(ksp, &choice, &used));
  if (lines) *lines = choice.lines;
  if (cuts) *cuts = choice.cuts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationSetBlocks - Sets the blocks of a `KSP` with `KSP_DEFLATION_BLOCK`, or those that cut the phases of
   `KSP_DEFLATION_LEVELSET`

   Logically Collective

   Input Parameters:
+  ksp - the Krylov solver
.  nx  - number of blocks in the x direction, at least 1
.  ny  - number of blocks in the y direction, at least 1
-  nz  - number of blocks in the z direction, at least 1; without a meaning in 2D

   Options Database Key:
.  -ksp_deflation_blocks <nx,ny,nz> - number of blocks each way; nz may be left out

   Level: intermediate

   Notes:
   Blocks of n points have sides of n / nx points, rounded up or down; there are at most as many as points. The default
   is blocks of 8 points each way, but at most 64 x 64 or 16 x 16 x 16 of them. Phases are not cut unless this is set.

   It takes effect at the next solve.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetBlocks()`, `KSPDeflationSetLevelSet()`
@*/
PetscErrorCode KSPDeflationSetBlocks(KSP ksp, PetscInt nx, PetscInt ny, PetscInt nz) {
  const PetscInt n[3] = {nx, ny, nz};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, nx, 2);
  PetscValidLogicalCollectiveInt(ksp, ny, 3);
  PetscValidLogicalCollectiveInt(ksp, nz, 4);
  PetscCheck(nx >= 1 && ny >= 1 && nz >= 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " blocks: all numbers must be positive", nx, ny,
             nz);
  PetscCall(SetSizes(ksp, &KSPDeflationChoice::blocks, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationGetBlocks - Gets the numbers of blocks of a deflated `KSP`

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameters:
+  nx - number of blocks in the x direction, or `NULL`
.  ny - number of blocks in the y direction, or `NULL`
-  nz - number of blocks in the z direction, or `NULL`

   Level: intermediate

   Note:
   After `KSPSetUp()` those in use, before it those set, 0 where none were.

.seealso: `KSPSetDeflation()`, `KSPDeflationSetBlocks()`
@*/
PetscErrorCode KSPDeflationGetBlocks(KSP ksp, PetscInt *nx, PetscInt *ny, PetscInt *nz) {
  KSPDeflationChoice choice;
  PCDeflationBackend *used;
  PetscInt *to[3] = {nx, ny, nz};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(KSPDeflationGetChoice(ksp, &choice, &used));
  for (int d = 0; d < 3; ++d)
    if (to[d]) *to[d] = used && used->boxes() ? used->boxes()->count[d] : choice.blocks[d];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationSetGrid - Sets the grid on which the stripes and blocks of a deflated `KSP` are

   Logically Collective

   Input Parameters:
+  ksp - the Krylov solver
.  nx  - number of unknowns in the x direction, along which they are numbered first
.  ny  - number of unknowns in the y direction
-  nz  - number of unknowns in the z direction, 1 in 2D

   Options Database Key:
.  -ksp_deflation_grid <nx,ny,nz> - the grid; nz may be left out

   Level: intermediate

   Notes:
   Needed only where neither a `DMDA` nor the matrix's nonzero values tell. The couplings may be any.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` where a size is not positive; a grid with another number of points than the matrix has rows
   is an error in `KSPSetUp()`.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetGrid()`
@*/
PetscErrorCode KSPDeflationSetGrid(KSP ksp, PetscInt nx, PetscInt ny, PetscInt nz) {
  const PetscInt n[3] = {nx, ny, nz};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, nx, 2);
  PetscValidLogicalCollectiveInt(ksp, ny, 3);
  PetscValidLogicalCollectiveInt(ksp, nz, 4);
  PetscCheck(nx >= 1 && ny >= 1 && nz >= 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "Grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points: all sizes must be positive", nx,
             ny, nz);
  PetscCall(SetSizes(ksp, &KSPDeflationChoice::grid, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationGetGrid - Gets the grid on which the stripes and blocks of a deflated `KSP` are

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameters:
+  nx - number of unknowns in the x direction, or `NULL`
.  ny - number of unknowns in the y direction, or `NULL`
-  nz - number of unknowns in the z direction, or `NULL`

   Level: intermediate

   Note:
   After `KSPSetUp()` the grid in use, before it the one set, 0 where none was or is needed.

.seealso: `KSPSetDeflation()`, `KSPDeflationSetGrid()`
@*/
PetscErrorCode KSPDeflationGetGrid(KSP ksp, PetscInt *nx, PetscInt *ny, PetscInt *nz) {
  KSPDeflationChoice choice;
  PCDeflationBackend *used;
  PetscInt *to[3] = {nx, ny, nz};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(KSPDeflationGetChoice(ksp, &choice, &used));
  for (int d = 0; d < 3; ++d)
    if (to[d]) *to[d] = used && used->grid() ? (PetscInt)used->grid()->n[d] : choice.grid[d];
  PetscFunctionReturn(PETSC_SUCCESS);
}
