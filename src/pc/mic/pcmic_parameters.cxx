/* What a user can set of PCMIC. */
#include "pc/parameter.h"
#include "pc/mic/pcmic_data.h"

const char *const PCMICTypes[] = {"mic", "ssor", "PCMICType", "PC_MIC_TYPE_", nullptr};
const char *const PCMICPrecisions[] = {"double", "single", "PCMICPrecision", "PC_MIC_PRECISION_", nullptr};

static PetscReal OmegaInUse(const PC_MIC &mic) {
  return mic.state && mic.state->ready ? mic.state->options.omega : mic.omega;
}

/*@
   PCMICSetType - Sets which diagonal the factors of `PCMIC` have

   Input Parameters:
+  pc - the preconditioner context
-  type - `PC_MIC_TYPE_MIC` (default) or `PC_MIC_TYPE_SSOR`

   Options Database Key:
.  -pc_mic_type <mic,ssor> - the type

   Level: beginner

   Notes:
   SSOR needs no factorization. An application of mic costs the same, and mic takes one half to one third of the
   iterations.

.seealso: `PCMIC`, `PCMICGetType()`, `PCMICSetOmega()`, `PCSOR`
@*/
PETSCRRB_PARAMETER(MIC, Type, PCMICType, &PC_MIC::type, "-pc_mic_type", "Incomplete Cholesky, or SSOR", PCMICTypes);

/*@
   PCMICSetOmega - Sets how much of what `PCMIC` drops is added to the diagonal, or the relaxation parameter of SSOR

   Input Parameters:
+  pc - the preconditioner context
-  omega - for `PC_MIC_TYPE_MIC` from 0 to 1, for `PC_MIC_TYPE_SSOR` between 0 and 2; `PETSC_DECIDE` (default) for the
           default of either type

   Options Database Key:
.  -pc_mic_omega <omega> - the parameter; -1 for the default

   Level: beginner

   Notes:
   0 is the incomplete Cholesky factorization IC(0), that of `PCICC` in natural ordering. 1 is MIC(0), which keeps row sums: M 1 = A 1.
   Usually a little less than 1 is best, closer to 1 on larger grids: the default is 1 - 24 / n^2, n the mean number of points per side, but
   at least 0.9 and at most 0.999 (in 2D 0.9995). `PCView()` shows it. The default of SSOR is 1, symmetric Gauss-Seidel.

   It takes effect at the next `PCSetUp()`, which raises `PETSC_ERR_ARG_INCOMP` if the type does not take this value.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if it is neither from 0 to 2, excluding 2, nor `PETSC_DECIDE`.

.seealso: `PCMIC`, `PCMICGetOmega()`, `PCMICSetType()`
@*/
PETSCRRB_PARAMETER(
    MIC, Omega, PetscReal, &PC_MIC::omega, "-pc_mic_omega",
    "From 0 (IC(0)) to 1 (MIC(0)), or the relaxation parameter of SSOR",
    [](PetscReal omega) { return (omega >= 0 && omega < 2) || omega == PETSC_DECIDE; },
    "Omega %g must be from 0 to 1 (mic) or between 0 and 2 (ssor), or -1 for the default", OmegaInUse);

/*@
   PCMICSetPrecision - Sets the precision in which `PCMIC` stores its factor

   Input Parameters:
+  pc - the preconditioner context
-  precision - `PC_MIC_PRECISION_DOUBLE` (default) or `PC_MIC_PRECISION_SINGLE`

   Options Database Key:
.  -pc_mic_precision <double,single> - the precision

   Level: intermediate

   Notes:
   In single precision the factor takes half of the memory, and an application moves two thirds of the bytes. It is the
   factorization of a matrix that differs from yours by 6e-8, with the same row sums; vectors and arithmetic are double.

.seealso: `PCMIC`, `PCMICGetPrecision()`
@*/
PETSCRRB_PARAMETER(MIC, Precision, PCMICPrecision, &PC_MIC::precision, "-pc_mic_precision",
                   "The precision in which the factor is stored", PCMICPrecisions);

/*@
   PCMICSetShift - Sets the fraction of the diagonal entry to which `PCMIC` raises smaller pivots

   Input Parameters:
+  pc - the preconditioner context
-  shift - the fraction, from 0 (default) to 1; 0 raises none

   Options Database Key:
.  -pc_mic_shift <s> - the fraction

   Level: intermediate

   Notes:
   A matrix with positive couplings may have pivots that are not positive, although it is positive definite. Without a
   shift that is a failure, whose message names the row and the grid point. `PCView()` shows how many pivots were
   raised. A pivot that is 0 up to rounding is the null direction of a singular matrix; the diagonal entry takes its
   place, also with a shift.

   `PC_MIC_TYPE_SSOR` has no pivots: a shift is an error there, raised in `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if it is not from 0 to 1.

.seealso: `PCMIC`, `PCMICGetShift()`, `PCMICSetOmega()`
@*/
PETSCRRB_PARAMETER(
    MIC, Shift, PetscReal, &PC_MIC::shift, "-pc_mic_shift",
    "Pivots below this fraction of the diagonal entry are raised to it",
    [](PetscReal shift) { return shift >= 0 && shift <= 1; }, "Shift %g must be from 0 to 1");

/*@
   PCMICSetBlockLines - Sets the number of grid lines in each of the uncoupled blocks of `PCMIC`

   Input Parameters:
+  pc - the preconditioner context
-  m - lines of constant y on a 2D grid, planes of constant z on a 3D one; 0 (default): all in one block

   Options Database Key:
.  -pc_mic_block_lines <m> - lines per block

   Level: intermediate

   Notes:
   The couplings between blocks are left out of M, and the diagonal does not change. The blocks can be solved in parallel, but iterations
   grow. With `PCMICSetOmega()` 0 this is the block incomplete Cholesky preconditioner that is called Block-IC(m n) for a grid with n points
   per line.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if it is negative.

.seealso: `PCMIC`, `PCMICGetBlockLines()`
@*/
PETSCRRB_PARAMETER(
    MIC, BlockLines, PetscInt, &PC_MIC::block_lines, "-pc_mic_block_lines", "Lines per uncoupled block; 0: no blocks",
    [](PetscInt m) { return m >= 0; }, "Number of lines %" PetscInt_FMT " per block must not be negative");

/*@
   PCMICSetGrid - Sets the sizes of the grid that `PCMIC` works on

   Collective; the sizes may differ between ranks

.seealso: `PCMIC`, `PCMICGetGrid()`
@*/
PETSCRRB_SIZES(MIC, Grid, &PC_MIC::grid, "-pc_mic_grid", "Unknowns in x, y and z", nullptr, PetscRRBGridInUse,
               PetscRRBSetGridOfRank<PC_MIC>);

using Parameters = PetscRRBParameters<Type, Omega, Precision, Shift, BlockLines, Grid>;

PetscErrorCode PCMICComposeParameters(PC pc, PetscBool on) { return Parameters::Compose(pc, on); }

PetscErrorCode PCSetFromOptions_MIC(PC pc, PetscRRBOptionItems items) {
  return Parameters::SetFromOptions(pc, items, "MIC options");
}
