/* What a user can set of PCGRIDMG. */
#include "pc/parameter.h"
#include "pc/gridmg/pcgridmg_data.h"

const char *const PCGridMGCoarsenings[] = {"auto", "full", "semi", "PCGridMGCoarsening", "PC_GRIDMG_COARSENING_",
                                           nullptr};
const char *const PCGridMGSmoothers[] = {"auto", "points", "lines", "PCGridMGSmoother", "PC_GRIDMG_SMOOTHER_", nullptr};
const char *const PCGridMGPrecisions[] = {"auto", "double", "single", "PCGridMGPrecision", "PC_GRIDMG_PRECISION_",
                                          nullptr};

/*@
   PCGridMGSetCoarsening - Sets which directions `PCGRIDMG` coarsens

   Input Parameters:
+  pc - the preconditioner context
-  coarsening - `PC_GRIDMG_COARSENING_AUTO` (default), `PC_GRIDMG_COARSENING_FULL` or `PC_GRIDMG_COARSENING_SEMI`

   Options Database Key:
.  -pc_gridmg_coarsening <auto,full,semi> - the directions

   Level: intermediate

   Notes:
   By default each grid is coarsened in the directions that the values of the matrix couple strongly. Full coarsening
   takes all directions, semicoarsening only the most strongly coupled one, with more grids and more memory.

.seealso: `PCGRIDMG`, `PCGridMGGetCoarsening()`, `PCGridMGSetSmoother()`
@*/
PETSCRRB_PARAMETER(GridMG, Coarsening, PCGridMGCoarsening, &PC_GridMG::coarsening, "-pc_gridmg_coarsening",
                   "Which directions are coarsened", PCGridMGCoarsenings);

/*@
   PCGridMGSetSmoother - Sets how `PCGRIDMG` smooths

   Input Parameters:
+  pc - the preconditioner context
-  smoother - `PC_GRIDMG_SMOOTHER_AUTO` (default), `PC_GRIDMG_SMOOTHER_POINTS` or `PC_GRIDMG_SMOOTHER_LINES`

   Options Database Key:
.  -pc_gridmg_smoother <auto,points,lines> - the smoother

   Level: intermediate

   Notes:
   By default a grid is smoothed by red-black points, or by zebra lines along those directions that couple some points more
   strongly than others do. Lines in all directions take about four times as long as points.

.seealso: `PCGRIDMG`, `PCGridMGGetSmoother()`, `PCGridMGSetSmooths()`
@*/
PETSCRRB_PARAMETER(GridMG, Smoother, PCGridMGSmoother, &PC_GridMG::smoother, "-pc_gridmg_smoother",
                   "Red-black points, or zebra lines", PCGridMGSmoothers);

/*@
   PCGridMGSetPrecision - Sets the precision of the cycle of `PCGRIDMG`

   Input Parameters:
+  pc - the preconditioner context
-  precision - `PC_GRIDMG_PRECISION_AUTO` (default), `PC_GRIDMG_PRECISION_DOUBLE` or `PC_GRIDMG_PRECISION_SINGLE`

   Options Database Key:
.  -pc_gridmg_precision <auto,double,single> - the precision

   Level: intermediate

   Notes:
   Coarser grids are computed, and the coarsest one is solved, in double precision. In single precision smoothing and transfers move half of
   the bytes, and iterations are usually the same. With coefficients that jump by 1e5 and more they are not: so auto takes double if the
   product of the mean of the diagonal and the mean of its inverse is 2000 or more, and then stays with double until the grid changes.
   Double is used even with single if there is only one grid, or if that product is beyond 1e20, where the exponents of single precision
   might not suffice. `-ksp_view` shows which is in use.

.seealso: `PCGRIDMG`, `PCGridMGGetPrecision()`
@*/
PETSCRRB_PARAMETER(GridMG, Precision, PCGridMGPrecision, &PC_GridMG::precision, "-pc_gridmg_precision",
                   "The precision of the cycle", PCGridMGPrecisions);

/*@
   PCGridMGSetSmooths - Sets the number of smoothing sweeps of `PCGRIDMG` before and after a coarser grid

   Input Parameters:
+  pc - the preconditioner context
-  nu - the number; default 1

   Options Database Key:
.  -pc_gridmg_smooths <nu> - the number

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if it is not positive.

.seealso: `PCGRIDMG`, `PCGridMGGetSmooths()`, `PCGridMGSetSmoother()`
@*/
PETSCRRB_PARAMETER(
    GridMG, Smooths, PetscInt, &PC_GridMG::smooths, "-pc_gridmg_smooths",
    "Smoothing sweeps before and after a coarser grid", [](PetscInt nu) { return nu > 0; },
    "Number of smoothing sweeps %" PetscInt_FMT " must be positive");

/*@
   PCGridMGSetGrids - Sets the largest number of grids of `PCGRIDMG`

   Input Parameters:
+  pc - the preconditioner context
-  grids - the number, including the coarsest; 1 applies the inverse of the matrix. Default 100, more than there can be

   Options Database Key:
.  -pc_gridmg_grids <grids> - the number

   Level: advanced

   Notes:
   With fewer grids the coarsest one, which is solved exactly, is larger. If it has more than 20000 points (8192 on a device),
   `PCSetUp()` raises an error.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if it is not positive.

.seealso: `PCGRIDMG`, `PCGridMGGetGrids()`, `PCGridMGSetCoarseSize()`
@*/
PETSCRRB_PARAMETER(
    GridMG, Grids, PetscInt, &PC_GridMG::grids, "-pc_gridmg_grids", "Maximum number of grids, including the coarsest",
    [](PetscInt n) { return n > 0; }, "Number of grids %" PetscInt_FMT " must be positive");

/*@
   PCGridMGSetCoarseSize - Sets the largest size of the coarsest grid of `PCGRIDMG`

   Input Parameters:
+  pc - the preconditioner context
-  points - the number; default 512

   Options Database Key:
.  -pc_gridmg_coarse_size <points> - the number

   Level: intermediate

   Notes:
   Coarsening stops at the first grid that has at most this many points, which is solved exactly.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if it is not positive.

.seealso: `PCGRIDMG`, `PCGridMGGetCoarseSize()`, `PCGridMGSetGrids()`
@*/
PETSCRRB_PARAMETER(
    GridMG, CoarseSize, PetscInt, &PC_GridMG::coarse_size, "-pc_gridmg_coarse_size",
    "Maximum number of points of the coarsest grid", [](PetscInt n) { return n > 0; },
    "Size of the coarsest grid %" PetscInt_FMT " must be positive");

static PetscInt GatherSizeInUse(const PC_GridMG &mg) {
  return mg.state && mg.state->backend ? PCGridMGGatherSize(&mg) : mg.gather_size;
}

/*@
   PCGridMGSetGatherSize - Sets the size of the largest grid that `PCGRIDMG` keeps on every one of several MPI ranks

   Input Parameters:
+  pc - the preconditioner context
-  points - the maximum number of points of all ranks together, 0 or more; or `PETSC_DECIDE` (default)

   Options Database Key:
.  -pc_gridmg_gather_size <points> - the maximum number of points of a grid that is on every rank; default 4096, on devices 32768

   Level: intermediate

   Notes:
   Each rank has a box of the finer grids. The first grid with at most this many points, or four times those of `PCGridMGSetCoarseSize()`,
   is gathered from all ranks, and each of them computes it and all coarser ones. The same happens to a grid that cannot be coarsened box by
   box because boxes do not begin at even points. The preconditioner is the same operator, up to rounding.

   On one rank it has no effect.

.seealso: `PCGRIDMG`, `PCGridMGGetGatherSize()`, `PCRRBSetGatherSize()`
@*/
PETSCRRB_PARAMETER(
    GridMG, GatherSize, PetscInt, &PC_GridMG::gather_size, "-pc_gridmg_gather_size",
    "Maximum number of points of a grid that is on every rank",
    [](PetscInt points) { return points >= 0 || points == PETSC_DECIDE; },
    "Gather size %" PetscInt_FMT " must be 0 or more, or PETSC_DECIDE", GatherSizeInUse);

/*@
   PCGridMGSetTransport - Sets how values travel between the devices of several ranks in `PCGRIDMG`

   Input Parameters:
+  pc - the preconditioner context
-  transport - `PC_RRB_TRANSPORT_AUTO` (default), `PC_RRB_TRANSPORT_STORES`, `PC_RRB_TRANSPORT_NCCL` or `PC_RRB_TRANSPORT_SF`

   Options Database Key:
.  -pc_gridmg_transport <auto,stores,nccl,sf> - how values travel

   Level: advanced

   Notes:
   See `PCRRBSetTransport()`. It takes effect at the next `PCSetUp()` that builds the hierarchy.

.seealso: `PCGRIDMG`, `PCRRBTransport`, `PCGridMGGetTransport()`, `PCRRBSetTransport()`
@*/
PETSCRRB_PARAMETER(GridMG, Transport, PCRRBTransport, &PC_GridMG::transport, "-pc_gridmg_transport",
                   "How values travel between devices", PCRRBTransports);

/*@
   PCGridMGSetGrid - Sets the sizes of the grid that `PCGRIDMG` works on

.seealso: `PCGRIDMG`, `PCGridMGGetGrid()`
@*/
PETSCRRB_SIZES(GridMG, Grid, &PC_GridMG::grid, "-pc_gridmg_grid", "Unknowns in x, y and z",
               "Grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points: all sizes must be positive",
               PetscRRBGridInUse);

using Parameters =
    PetscRRBParameters<Coarsening, Smoother, Precision, Smooths, Grids, CoarseSize, GatherSize, Transport, Grid>;

PetscErrorCode PCGridMGComposeParameters(PC pc, PetscBool on) { return Parameters::Compose(pc, on); }

PetscErrorCode PCSetFromOptions_GridMG(PC pc, PetscRRBOptionItems items) {
  return Parameters::SetFromOptions(pc, items, "GridMG options");
}
