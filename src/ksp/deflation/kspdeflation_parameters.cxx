/* What a user can set of deflation, with the functions' man pages. */
#include "ksp/deflation/kspdeflation_data.h"
#include "pc/parameter.h"

using Shared = std::shared_ptr<KSPDeflation>;

const char *const KSPDeflationTypes[] = {"none", "stripe",           "block",          "levelset",
                                         "user", "KSPDeflationType", "KSP_DEFLATION_", nullptr};
const char *const KSPDeflationVariants[] = {"adef2", "def1", "KSPDeflationVariant", "KSP_DEFLATION_", nullptr};
const char *const KSPDeflationInverses[] = {"explicit", "cholesky", "KSPDeflationInverse", "KSP_DEFLATION_", nullptr};

/* What is chosen belongs to the KSP, as if by its default where nothing is. A new value takes effect at the next solve. */
template <> struct PetscRRBOwner<KSPDeflation> {
  using Object = KSP;

  template <class Method, class... Values>
  static PetscErrorCode CallSetter(KSP ksp, const PetscRRBParameterNames &, Method *method, Values... values) {
    PetscFunctionBegin;
    PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
    PetscCall(method(ksp, values...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <class... All> static PetscErrorCode CallGetter(const All &...all) { return CallSetter(all...); }

  template <class Assign> static PetscErrorCode Set(KSP ksp, const Assign &assign) {
    Shared deflation;

    PetscFunctionBegin;
    PetscCall(KSPDeflationFind(ksp, PETSC_TRUE, &deflation));
    if (assign(*deflation)) ++deflation->version;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <class Read> static PetscErrorCode Get(KSP ksp, const Read &read) {
    Shared deflation;

    PetscFunctionBegin;
    PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &deflation));
    if (deflation)
      read(*deflation);
    else
      read(KSPDeflation(ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

#define KSP_DEFLATION_PARAMETER(...) PETSCRRB_PARAMETER_OF(KSPDeflation, KSP, KSPDeflation, __VA_ARGS__)
#define KSP_DEFLATION_SIZES(...)     PETSCRRB_SIZES_OF(KSPDeflation, KSP, KSPDeflation, __VA_ARGS__)
#define KSP_DEFLATION_TWO_SIZES(Name, ...)                                                                             \
  static constexpr PetscRRBSizes<KSPDeflation, 2> Name = {                                                             \
      {"KSPDeflationSet" #Name, "KSPDeflationSet" #Name "_C", "KSPDeflationGet" #Name "_C"}, __VA_ARGS__};             \
  PETSCRRB_FUNCTIONS_(KSPDeflationSet##Name, KSPDeflationGet##Name, Name, (KSP ksp, PetscInt nx, PetscInt ny),         \
                      (KSP ksp, PetscInt * nx, PetscInt * ny), (ksp, nx, ny))
/* a vector or a matrix that the user keeps changing */
#define KSP_DEFLATION_OBJECT(Name, T, member, classid, required)                                                       \
  PetscErrorCode KSPDeflationSet##Name(KSP ksp, T value) { return SetObject(ksp, member, value, classid, required); }  \
  PetscErrorCode KSPDeflationGet##Name(KSP ksp, T *value) { return GetObject(ksp, member, value); }                    \
  static_assert(true, "")

template <class T>
static PetscErrorCode SetObject(KSP ksp, T KSPDeflation::*member, T value, PetscClassId classid, bool required) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  (void)classid, (void)required; /* where PETSc does not check its arguments */
  if (value || required) PetscValidHeaderSpecific(value, classid, 2);
  PetscCall(PetscObjectReference((PetscObject)value));
  PetscCall(PetscRRBOwner<KSPDeflation>::Set(ksp, [&](KSPDeflation &deflation) {
    std::swap(deflation.*member, value);
    return true;
  }));
  PetscCall(PetscObjectDereference((PetscObject)value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> static PetscErrorCode GetObject(KSP ksp, T KSPDeflation::*member, T *value) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscCall(PetscRRBOwner<KSPDeflation>::Get(ksp, [&](const KSPDeflation &deflation) { *value = deflation.*member; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the wrapper around the KSP's PC was set up with; NULL where it was not. */
static const PCDeflationBackend *InUse(const KSPDeflation &deflation) {
  const PC pc = deflation.ksp->pc;
  PetscBool wrapped = PETSC_FALSE;

  if (pc) (void)PetscObjectTypeCompare((PetscObject)pc, PCSUBDOMAINDEFLATION, &wrapped);
  return wrapped ? Data(pc)->backend.get() : nullptr;
}

static const petscrrb::deflation::Space *SpaceInUse(const KSPDeflation &deflation) {
  const PCDeflationBackend *used = InUse(deflation);
  return used ? used->space() : nullptr;
}

static PetscBool BlocksInUse(const KSPDeflation &deflation, PetscInt n[]) {
  const auto *space = SpaceInUse(deflation);
  if (space) std::copy_n(space->boxes.count, 3, n);
  return (PetscBool)(space != nullptr);
}

static PetscBool GridInUse(const KSPDeflation &deflation, PetscInt n[]) {
  const auto *space = SpaceInUse(deflation);
  if (space) std::copy_n(space->grid.n, 3, n);
  return (PetscBool)(space != nullptr);
}

static KSPDeflationInverse InverseInUse(const KSPDeflation &deflation) {
  const PC pc = deflation.ksp->pc;
  PetscBool device = PETSC_FALSE;

  if (const PCDeflationBackend *used = InUse(deflation)) return used->inverse();
  if (pc && pc->mat) (void)PetscRRBMatOnDevice(pc->mat, &device);
  return PCDeflationInverse(deflation, device);
}

static constexpr PetscRRBParameter<KSPDeflation, KSPDeflationType> Type({"KSPSetDeflation", nullptr, nullptr},
                                                                        &KSPDeflation::type, "-ksp_deflation",
                                                                        "Deflated subdomains", KSPDeflationTypes);

/*@
   KSPSetDeflation - Wraps the preconditioner of a `KSP` in subdomain deflation, or removes it

   Logically Collective

   Input Parameters:
+  ksp  - the Krylov solver
-  type - the deflated subdomains, `KSP_DEFLATION_NONE` (default), `KSP_DEFLATION_STRIPE`, `KSP_DEFLATION_BLOCK`,
          `KSP_DEFLATION_LEVELSET` or `KSP_DEFLATION_USER`

   Options Database Keys:
+  -ksp_deflation <none,stripe,block,levelset,user> - the deflated subdomains
.  -ksp_deflation_variant <adef2,def1>              - where the projection is applied
.  -ksp_deflation_inverse <explicit,cholesky>       - how systems with E are solved
.  -ksp_deflation_stripe_lines <lines>              - grid lines in a stripe
.  -ksp_deflation_stripe_cuts <cuts>                - pieces that a line is cut into
.  -ksp_deflation_blocks <nx,ny,nz>                 - number of blocks in each direction, also of those that cut phases
.  -ksp_deflation_jump <factor>                     - diagonal entries that differ by it belong to different phases
-  -ksp_deflation_grid <nx,ny,nz>                   - unknowns in each direction

   Level: beginner

   Notes:
   Z has one vector per subdomain, which is 1 on the subdomain's rows; rows without couplings (Dirichlet rows that are kept) are in no
   subdomain. With E = Z^T A Z, Q = Z E^-1 Z^T and P = I - A Q the solver does not see the small eigenvalues that belong to Z, for example
   those due to jumps of the coefficients. A must be symmetric. If it is singular, E is inverted on the complement of its null space. E is
   updated with the operator, even if the preconditioner is reused.

   On several MPI ranks the subdomains are those of the whole grid, and the iterations are those of one rank. The grid is that of a
   `DMDA`, or is set by `KSPDeflationSetGrid()` with rows numbered in its natural order. Each rank has the inverse of E.

   Any preconditioner can be wrapped; its type and options are set as without deflation. `KSPGetPC()` returns the wrapper,
   `KSPDeflationGetPC()` the preconditioner inside. `KSPMINRES` and other methods that need a symmetric preconditioner get one (balancing
   Neumann-Neumann: P^T M^-1 P + Q). A relative tolerance refers to the same norm as without deflation, that of the right-hand side.

   The options act on every `KSP` that is created after the library was loaded, with the prefix of that `KSP`. They have no effect if PETSc
   was configured with --with-log=0; then this function is the only way.

   Errors:
   In `KSPSetUp()` and `KSPSolve()`: a matrix that is not symmetric, or whose entries cannot be read; `KSPRRB`, `KSPLSQR`, `KSPCGLS`,
   `KSPCGNE` and `KSPQCG`; `PCEISENSTAT` and others that change the system; more than 8192 subdomains. An E that is not positive definite
   makes the `KSP` diverge with `KSP_DIVERGED_PC_FAILED`.

   References:
.  * - R. Gupta, M. van Gijzen, C. Vuik, Efficient two-level preconditioned conjugate gradient method on the GPU, 2013

.seealso: `KSPGetDeflation()`, `KSPDeflationSetStripes()`, `KSPDeflationSetBlocks()`, `KSPDeflationSetLevelSet()`,
          `KSPDeflationSetJump()`, `KSPDeflationSetSpace()`, `KSPDeflationSetGrid()`, `KSPDeflationSetVariant()`,
          `KSPDeflationSetInverse()`, `KSPDeflationGetPC()`, `PCDEFLATION`
@*/
PetscErrorCode KSPSetDeflation(KSP ksp, KSPDeflationType type) {
  PetscFunctionBegin;
  PetscCall(PetscRRBMethods<Type>::CallSetter(ksp, type));
  PetscCall(KSPDeflationWrap(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPGetDeflation - Gets the subdomains that are deflated from a `KSP`

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameter:
.  type - the deflated subdomains, `KSP_DEFLATION_NONE` where there is no deflation

   Level: intermediate

.seealso: `KSPSetDeflation()`
@*/
PetscErrorCode KSPGetDeflation(KSP ksp, KSPDeflationType *type) {
  PetscFunctionBegin;
  PetscCall(PetscRRBMethods<Type>::CallGetter(ksp, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationSetVariant - Sets where the projection of a deflated `KSP` is applied

   Input Parameters:
+  ksp     - the Krylov solver
-  variant - `KSP_DEFLATION_ADEF2` (default) or `KSP_DEFLATION_DEF1`

   Options Database Key:
.  -ksp_deflation_variant <adef2,def1> - where the projection is applied

   Level: intermediate

   Notes:
   With `KSP_DEFLATION_ADEF2` the preconditioner is P^T M^-1 + Q and the initial guess Q b + P^T x0. It tolerates an
   inexact E, and the residual is that of A x = b.

   With `KSP_DEFLATION_DEF1` the `KSP` solves P A x^ = P b, starting from x0, and x = Q b + P^T x^ is computed
   afterwards (Gupta, van Gijzen and Vuik, Algorithm 1). Until then, the solution that monitors see is x^.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetVariant()`
@*/
KSP_DEFLATION_PARAMETER(Variant, KSPDeflationVariant, &KSPDeflation::variant, "-ksp_deflation_variant",
                        "Where the projection is applied", KSPDeflationVariants);

/*@
   KSPDeflationSetInverse - Sets how systems with E = Z^T A Z of a deflated `KSP` are solved

   Input Parameters:
+  ksp     - the Krylov solver
-  inverse - `KSP_DEFLATION_EXPLICIT` or `KSP_DEFLATION_CHOLESKY`

   Options Database Key:
.  -ksp_deflation_inverse <explicit,cholesky> - how systems with E are solved

   Level: intermediate

   Notes:
   The default is the explicit inverse on a device and for `KSP_DEFLATION_USER`, and Cholesky on the host, where the
   factor of stripes and blocks is narrow. These are the two approaches of Gupta, van Gijzen and Vuik, Section 6.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetInverse()`
@*/
KSP_DEFLATION_PARAMETER(Inverse, KSPDeflationInverse, &KSPDeflation::inverse, "-ksp_deflation_inverse",
                        "How systems with E = Z^T A Z are solved; default: explicit on a device and for user",
                        KSPDeflationInverses, InverseInUse, &KSPDeflation::inverse_set);

/*@
   KSPDeflationSetStripes - Sets the stripes of a `KSP` with `KSP_DEFLATION_STRIPE`

   Input Parameters:
+  ksp   - the Krylov solver
.  lines - grid lines along x in a stripe, at least 1 (default 1)
-  cuts  - pieces of about equal length that each stripe is cut into, at least 1 (default 2)

   Options Database Keys:
+  -ksp_deflation_stripe_lines <lines> - grid lines in a stripe
-  -ksp_deflation_stripe_cuts <cuts>   - pieces that a line is cut into

   Level: intermediate

   Notes:
   The defaults are the 2n half lines of Gupta, van Gijzen and Vuik, Figure 9. In 3D the lines of a stripe are in one
   plane.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetStripes()`
@*/
KSP_DEFLATION_TWO_SIZES(Stripes, &KSPDeflation::stripes, nullptr, nullptr, /* two options: below */
                        "Stripes of %" PetscInt_FMT " lines in %" PetscInt_FMT " pieces: both must be at least 1",
                        [](const KSPDeflation &, PetscInt[]) { return PETSC_FALSE; });

/*@
   KSPDeflationSetBlocks - Sets the numbers of blocks of a deflated `KSP`

   Input Parameters:
+  ksp - the Krylov solver
.  nx  - number of blocks in the x direction, at least 1
.  ny  - number of blocks in the y direction, at least 1
-  nz  - number of blocks in the z direction, at least 1; ignored in 2D

   Options Database Key:
.  -ksp_deflation_blocks <nx,ny,nz> - number of blocks in each direction; nz may be omitted

   Level: intermediate

   Notes:
   The blocks are the subdomains of `KSP_DEFLATION_BLOCK`, or cut the phases of `KSP_DEFLATION_LEVELSET`.

   Where the grid has n points in x, a block has n / nx of them, rounded up or down; there are at most as many blocks as
   points. The default is blocks of 8 points in each direction, but at most 64 x 64 or 16 x 16 x 16 of them. Phases are
   cut only if this is set.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetBlocks()`, `KSPDeflationSetLevelSet()`
@*/
KSP_DEFLATION_SIZES(
    Blocks, &KSPDeflation::blocks, "-ksp_deflation_blocks",
    "Number of blocks in each direction; 0: blocks of 8 points, at most 64 x 64 or 16 x 16 x 16 of them",
    "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " blocks: all numbers must be positive", BlocksInUse);

/*@
   KSPDeflationSetGrid - Sets the grid of the stripes and blocks of a deflated `KSP`

   Input Parameters:
+  ksp - the Krylov solver
.  nx  - number of unknowns in the x direction, along which they are numbered first
.  ny  - number of unknowns in the y direction
-  nz  - number of unknowns in the z direction, 1 in 2D

   Options Database Key:
.  -ksp_deflation_grid <nx,ny,nz> - the grid; nz may be omitted

   Level: intermediate

   Notes:
   Needed only if neither a `DMDA` nor the nonzeros of the matrix determine it. Any couplings are allowed.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if a size is not positive; a grid whose number of points is not the number of rows of the
   matrix is an error in `KSPSetUp()`.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetGrid()`
@*/
KSP_DEFLATION_SIZES(Grid, &KSPDeflation::grid, "-ksp_deflation_grid",
                    "Unknowns in each direction; 0: found automatically",
                    "Grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
                    " points: all sizes must be positive",
                    GridInUse);

/*@
   KSPDeflationSetLevelSet - Sets the function whose sign distinguishes the phases of a `KSP` with `KSP_DEFLATION_LEVELSET`

   Input Parameters:
+  ksp - the Krylov solver
-  phi - a value for each row of the matrix, or `NULL`

   Level: intermediate

   Notes:
   Rows with phi >= 0 are in one phase, rows with phi < 0 in the other. A subdomain is a part of a phase that is
   connected by nonzero couplings of the matrix, or the piece of it in one of the blocks that `KSPDeflationSetBlocks()`
   set. Without phi the phases follow from the coefficients: see `KSPDeflationSetJump()`.

   New values of phi take effect at the next solve.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetLevelSet()`, `KSPDeflationSetJump()`, `KSPDeflationSetBlocks()`
@*/
KSP_DEFLATION_OBJECT(LevelSet, Vec, &KSPDeflation::phi, VEC_CLASSID, false);

/*@
   KSPDeflationSetJump - Sets the factor by which diagonal entries of neighbours in different phases differ

   Input Parameters:
+  ksp  - the Krylov solver
-  jump - the factor, larger than 1 (default 10)

   Options Database Key:
.  -ksp_deflation_jump <jump> - diagonal entries that differ by it belong to different phases

   Level: intermediate

   Notes:
   It applies to `KSP_DEFLATION_LEVELSET` without a level set.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetJump()`, `KSPDeflationSetLevelSet()`
@*/
KSP_DEFLATION_PARAMETER(
    Jump, PetscReal, &KSPDeflation::jump, "-ksp_deflation_jump",
    "Diagonal entries that differ by this factor belong to different phases", [](PetscReal jump) { return jump > 1.0; },
    "Jump by a factor of %g: it must be larger than 1");

/*@
   KSPDeflationSetSpace - Sets the vectors that a `KSP` with `KSP_DEFLATION_USER` deflates

   Input Parameters:
+  ksp - the Krylov solver
-  Z   - a matrix with the rows of the operator, distributed in the same way, and one column per vector, at most 8192

   Level: intermediate

   Notes:
   The columns may be any vectors, for example approximate eigenvectors, and may be linearly dependent. A Z and Z^T A Z
   are computed by PETSc's own products, so Z may be dense or sparse, on the host or on a device; on several MPI ranks
   it must be of type `MATAIJ` or `MATDENSE`, and its columns may be distributed in any way. New values take effect at
   the next solve.

   Errors:
   In `KSPSetUp()` and `KSPSolve()`: `PETSC_ERR_ARG_SIZ` if a rank does not have as many rows of Z as of the operator,
   `PETSC_ERR_ARG_OUTOFRANGE` for more than 8192 vectors, `PETSC_ERR_ARG_NOTSAMECOMM` for a Z on other ranks,
   `PETSC_ERR_SUP` for another type on several ranks.

.seealso: `KSPSetDeflation()`, `KSPDeflationGetSpace()`
@*/
KSP_DEFLATION_OBJECT(Space, Mat, &KSPDeflation::Z, MAT_CLASSID, true);

/* KSPSetFromOptions() of every KSP comes here. */
PetscErrorCode KSPDeflationSetFromOptions(PetscObject object, PetscRRBOptionItems PetscOptionsObject, void *) {
  KSP ksp = (KSP)object;
  KSPDeflationType type;
  PetscInt lines, cuts;
  PetscBool set, other;

  PetscFunctionBegin;
  PetscCall(KSPGetDeflation(ksp, &type));
  PetscCall(PetscOptionsEnum(Type.option, Type.text, Type.names.setter, Type.words, (PetscEnum)type, (PetscEnum *)&type,
                             &set));
  if (!set && type == KSP_DEFLATION_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetDeflation(ksp, type)); /* also where an application has set another PC since */
  PetscCall(KSPDeflationGetStripes(ksp, &lines, &cuts));
  PetscCall(PetscOptionsInt("-ksp_deflation_stripe_lines", "Grid lines in a stripe", "KSPDeflationSetStripes", lines,
                            &lines, &set));
  PetscCall(PetscOptionsInt("-ksp_deflation_stripe_cuts", "Pieces that a line is cut into", "KSPDeflationSetStripes",
                            cuts, &cuts, &other));
  if (set || other) PetscCall(KSPDeflationSetStripes(ksp, lines, cuts));
  PetscCall((PetscRRBParameters<Blocks, Grid, Jump, Variant, Inverse>::SetFromOptions(ksp, PetscOptionsObject)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
