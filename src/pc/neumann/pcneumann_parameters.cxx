/* What a user can set of PCNEUMANN. */
#include "pc/parameter.h"
#include "pc/neumann/pcneumann_data.h"

const char *const PCNeumannTypes[] = {"series", "poisson", "PCNeumannType", "PC_NEUMANN_", nullptr};
const char *const PCNeumannDrops[] = {"none", "pattern", "threshold", "PCNeumannDrop", "PC_NEUMANN_DROP_", nullptr};

/*@
   PCNeumannSetTerms - Sets how many terms follow the first one in the Neumann series of `PCNEUMANN`

   Input Parameters:
+  pc - the preconditioner context
-  k - number of terms, at least 0

   Options Database Key:
.  -pc_neumann_terms <k> - the number of terms

   Level: beginner

   Notes:
   K = I - L~ + L~^2 - ... + (-L~)^k. With 1 this is Neu1 of Gupta, van Gijzen and Vuik, eq. (15), with 2, the
   default, Neu2, eq. (16); with 0 it is the diagonal alone, `PCJACOBI`. Each term costs a product with a triangle and
   its transpose, and each further term helps less. If the norm of L~ is not below 1 (`-info` says so), more terms may not
   help at all.

   Incomplete Poisson (`PCNeumannSetType()`) always has one term.

.seealso: `PCNEUMANN`, `PCNeumannGetTerms()`, `PCNeumannSetType()`
@*/
PETSCRRB_PARAMETER(
    Neumann, Terms, PetscInt, &PC_Neumann::terms, "-pc_neumann_terms", "Terms after the first one in the series",
    [](PetscInt k) { return k >= 0 && k <= 1000000; }, "Number of terms %" PetscInt_FMT " must be from 0 to 1000000");

/*@
   PCNeumannSetOmega - Sets the relaxation of the triangles in the Neumann series of `PCNEUMANN`

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

   For incomplete Poisson (`PCNeumannSetType()`) a value other than 1 is an error, raised in `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if it is not between 0 and 2.

.seealso: `PCNEUMANN`, `PCNeumannGetOmega()`, `PCNeumannSetTerms()`, `PCMICSetOmega()`
@*/
PETSCRRB_PARAMETER(
    Neumann, Omega, PetscReal, &PC_Neumann::omega, "-pc_neumann_omega", "Relaxation of the triangles of the series",
    [](PetscReal omega) { return omega > 0 && omega < 2; }, "Omega %g must be between 0 and 2");

/*@
   PCNeumannSetType - Sets which polynomial of the triangles `PCNEUMANN` applies

   Input Parameters:
+  pc - the preconditioner context
-  type - `PC_NEUMANN_SERIES` (default) or `PC_NEUMANN_POISSON`

   Options Database Key:
.  -pc_neumann_type <series,poisson> - the polynomial

   Level: beginner

.seealso: `PCNEUMANN`, `PCNeumannGetType()`, `PCNeumannSetTerms()`, `PCNeumannSetScale()`, `PCNeumannSetDrop()`
@*/
PETSCRRB_PARAMETER(Neumann, Type, PCNeumannType, &PC_Neumann::type, "-pc_neumann_type",
                   "The series, or incomplete Poisson", PCNeumannTypes);

/*@
   PCNeumannSetScale - Sets whether incomplete Poisson is that of the diagonally scaled matrix

   Input Parameters:
+  pc - the preconditioner context
-  scale - `PETSC_TRUE` (default): of D^-1/2 A D^-1/2

   Options Database Key:
.  -pc_neumann_scale <bool> - whether the matrix is scaled

   Level: intermediate

   Notes:
   Unscaled it is the original (I - L D^-1)(I - D^-1 L^T), which is poor if the diagonal varies: on a two-phase
   matrix with a jump of 1000 it takes three times the iterations of `PCJACOBI`. The series is always that of the scaled
   matrix: `PETSC_FALSE` is an error then, raised in `PCSetUp()`.

.seealso: `PCNEUMANN`, `PCNeumannGetScale()`, `PCNeumannSetType()`
@*/
PETSCRRB_PARAMETER(Neumann, Scale, PetscBool, &PC_Neumann::scale, "-pc_neumann_scale",
                   "Incomplete Poisson of the diagonally scaled matrix");

/*@
   PCNeumannSetDrop - Sets which entries of the incomplete Poisson preconditioner are dropped

   Input Parameters:
+  pc - the preconditioner context
-  drop - `PC_NEUMANN_DROP_NONE` (default), `PC_NEUMANN_DROP_PATTERN` or `PC_NEUMANN_DROP_THRESHOLD`

   Options Database Key:
.  -pc_neumann_drop <none,pattern,threshold> - what is dropped

   Level: intermediate

   Notes:
   The original keeps those entries of the product (I - L D^-1)(I - D^-1 L^T) that are not small; for a five-point
   Poisson matrix these have the pattern of the matrix. M^-1 is then one sparse matrix, which PETSc stores and
   multiplies by; an application is one product. The threshold applies to the entries of the product before it is scaled
   back, whose diagonal entries are at least 1. With a large threshold, or on matrices with positive couplings, M^-1
   need not be positive definite.

   For the series any value other than `PC_NEUMANN_DROP_NONE` is an error, raised in `PCSetUp()`.

.seealso: `PCNEUMANN`, `PCNeumannGetDrop()`, `PCNeumannSetDropThreshold()`, `PCNeumannSetType()`
@*/
PETSCRRB_PARAMETER(Neumann, Drop, PCNeumannDrop, &PC_Neumann::drop, "-pc_neumann_drop",
                   "Entries dropped from incomplete Poisson", PCNeumannDrops);

/*@
   PCNeumannSetDropThreshold - Sets the size below which entries of incomplete Poisson are dropped

   Input Parameters:
+  pc - the preconditioner context
-  threshold - smaller off-diagonal entries are dropped; default 0.1

   Options Database Key:
.  -pc_neumann_drop_threshold <t> - the threshold

   Level: intermediate

   Notes:
   It applies with `PC_NEUMANN_DROP_THRESHOLD` (`PCNeumannSetDrop()`).

.seealso: `PCNEUMANN`, `PCNeumannGetDropThreshold()`, `PCNeumannSetDrop()`
@*/
PETSCRRB_PARAMETER(
    Neumann, DropThreshold, PetscReal, &PC_Neumann::threshold, "-pc_neumann_drop_threshold",
    "Smaller entries are dropped", [](PetscReal threshold) { return threshold >= 0; },
    "Threshold %g must not be negative");

/*@
   PCNeumannSetGrid - Sets the grid of the matrix of `PCNEUMANN`

   Note:
   Without a grid, products with sparse matrices replace the loops over it, with the same result.

.seealso: `PCNEUMANN`, `PCNeumannGetGrid()`
@*/
PETSCRRB_SIZES(Neumann, Grid, &PC_Neumann::grid, "-pc_neumann_grid", "Unknowns in x, y and z",
               "Grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points: all sizes must be positive",
               PetscRRBGridInUse);

using Parameters = PetscRRBParameters<Terms, Omega, Type, Scale, Drop, DropThreshold, Grid>;

PetscErrorCode PCNeumannComposeParameters(PC pc, PetscBool on) { return Parameters::Compose(pc, on); }

PetscErrorCode PCSetFromOptions_Neumann(PC pc, PetscRRBOptionItems items) {
  return Parameters::SetFromOptions(pc, items, "Neumann options");
}
