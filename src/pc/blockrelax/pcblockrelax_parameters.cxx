/* What a user can set of PCBLOCKRELAX. */
#include "pc/blockrelax/pcblockrelax_data.h"
#include "pc/parameter.h"

const char *const PCBlockRelaxTypes[] = {"jacobi", "chaotic", "coloured", "PCBlockRelaxType", "PC_BLOCKRELAX_TYPE_",
                                         nullptr};
const char *const PCBlockRelaxInverses[] = {"auto", "tensor", "dense", "PCBlockRelaxInverse", "PC_BLOCKRELAX_INVERSE_",
                                            nullptr};
const char *const PCBlockRelaxParallels[] = {
    "auto", "patches", "blocks", "both", "PCBlockRelaxParallel", "PC_BLOCKRELAX_PARALLEL_", nullptr};

static bool IsReady(const PC_BlockRelax &b) { return b.state && b.state->ready && !b.state->shape.patches.empty(); }

static PetscReal OmegaInUse(const PC_BlockRelax &b) { return IsReady(b) ? b.state->options.omega : b.omega; }
static PetscInt ColoursInUse(const PC_BlockRelax &b) {
  return IsReady(b) && b.type == PC_BLOCKRELAX_TYPE_COLOURED ? b.state->options.colours : b.colours;
}
static PetscBool BlockInUse(const PC_BlockRelax &b, PetscInt n[3]) {
  if (!IsReady(b)) return PETSC_FALSE;
  std::copy(b.state->options.block, b.state->options.block + 3, n);
  return PETSC_TRUE;
}
/* It takes the place of patches. */
static PetscErrorCode SetGrid(PC pc, const PetscInt n[3]) {
  PC_BlockRelax *b = (PC_BlockRelax *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscRRBSetGridOfRank(pc, n, b->sizes != nullptr, b->grid));
  PetscCall(PetscFree(b->sizes));
  b->patches = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxSetType - Sets which blocks of `PCBLOCKRELAX` use new values of others in the same sweep

   Input Parameters:
+  pc - the preconditioner context
-  type - `PC_BLOCKRELAX_TYPE_JACOBI` (default), `PC_BLOCKRELAX_TYPE_CHAOTIC` or `PC_BLOCKRELAX_TYPE_COLOURED`

   Options Database Key:
.  -pc_blockrelax_type <jacobi,chaotic,coloured> - the type

   Level: beginner

   Notes:
   jacobi is symmetric. chaotic takes about half as many sweeps, and is a different operator in each application: it is for
   `KSPRICHARDSON`, for smoothers, and for flexible Krylov methods. coloured takes as few sweeps as chaotic and is reproducible;
   `PCBlockRelaxSetSymmetric()` makes it suitable for `KSPCG`.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetType()`, `PCBlockRelaxSetOmega()`,
          `PCBlockRelaxSetSymmetric()`
@*/
PETSCRRB_PARAMETER(BlockRelax, Type, PCBlockRelaxType, &PC_BlockRelax::type, "-pc_blockrelax_type",
                   "Which new values a block uses", PCBlockRelaxTypes);

/*@
   PCBlockRelaxSetOmega - Sets the relaxation parameter of `PCBLOCKRELAX`

   Input Parameters:
+  pc - the preconditioner context
-  omega - between 0 and 2; `PETSC_DECIDE` (default): 0.8 for jacobi, 1 for the others

   Options Database Key:
.  -pc_blockrelax_omega <omega> - the relaxation parameter; -1 for the default

   Level: beginner

   Notes:
   With omega 1 block Jacobi converges on many matrices, but does not smooth: the spectrum of its iteration is symmetric
   about zero. If rho is its spectral radius, omega 0.8 gives 0.2 + 0.8 rho, and block Gauss-Seidel rho^2.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if it is neither between 0 and 2 nor `PETSC_DECIDE`.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetOmega()`, `PCBlockRelaxSetType()`
@*/
PETSCRRB_PARAMETER(
    BlockRelax, Omega, PetscReal, &PC_BlockRelax::omega, "-pc_blockrelax_omega",
    "Relaxation parameter; -1: the type's default",
    [](PetscReal omega) { return (omega > 0 && omega < 2) || omega == PETSC_DECIDE; },
    "Omega %g must be between 0 and 2, or -1 for the default", OmegaInUse);

/*@
   PCBlockRelaxSetSweeps - Sets the number of sweeps in an application of `PCBLOCKRELAX`

   Input Parameters:
+  pc - the preconditioner context
-  sweeps - the number of sweeps, 1 by default

   Options Database Key:
.  -pc_blockrelax_sweeps <s> - sweeps per application

   Level: intermediate

   Notes:
   An application starts from zero, so its first sweep needs no residual. An iteration of `KSPRICHARDSON` has the same number of sweeps.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if it is not positive.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetSweeps()`
@*/
PETSCRRB_PARAMETER(
    BlockRelax, Sweeps, PetscInt, &PC_BlockRelax::sweeps, "-pc_blockrelax_sweeps", "Sweeps per application",
    [](PetscInt sweeps) { return sweeps >= 1; }, "Number of sweeps %" PetscInt_FMT " must be positive");

/*@
   PCBlockRelaxSetColours - Sets how many colours the blocks of `PC_BLOCKRELAX_TYPE_COLOURED` have

   Input Parameters:
+  pc - the preconditioner context
-  colours - the number of colours; `PETSC_DECIDE` (default): the smallest possible

   Options Database Key:
.  -pc_blockrelax_colours <c> - colours; -1 for the default

   Level: intermediate

   Notes:
   Blocks of the same colour must not be coupled. 2 colours (red and black blocks) are enough for 5 and 7 points, 4 for 9 points on a 2D
   grid, 8 for 27 points. An odd number of blocks around a periodic side needs more. Too few are an error, raised in `PCSetUp()`, that says
   how many are needed. With more colours the iteration may converge a little faster, but fewer blocks can be relaxed at once.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if it is neither positive nor `PETSC_DECIDE`.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetColours()`, `PCBlockRelaxSetType()`
@*/
PETSCRRB_PARAMETER(
    BlockRelax, Colours, PetscInt, &PC_BlockRelax::colours, "-pc_blockrelax_colours",
    "Number of colours; -1: the smallest possible",
    [](PetscInt colours) { return colours >= 1 || colours == PETSC_DECIDE; },
    "Number of colours %" PetscInt_FMT " must be positive, or -1 for the default", ColoursInUse);

/*@
   PCBlockRelaxSetSymmetric - Sets whether a sweep of `PC_BLOCKRELAX_TYPE_COLOURED` goes forward, then backward, through the colours

   Input Parameters:
+  pc - the preconditioner context
-  symmetric - `PETSC_TRUE`: forward, then backward; `PETSC_FALSE` (default): forward only

   Options Database Key:
.  -pc_blockrelax_symmetric <bool> - forward, then backward

   Level: intermediate

   Notes:
   With forward and backward sweeps M is symmetric, and positive definite if A is, as `KSPCG` requires. For the other types `PETSC_TRUE` is
   an error, raised in `PCSetUp()`: jacobi is always symmetric, chaotic never.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetSymmetric()`, `PCBlockRelaxSetType()`
@*/
PETSCRRB_PARAMETER(BlockRelax, Symmetric, PetscBool, &PC_BlockRelax::symmetric, "-pc_blockrelax_symmetric",
                   "Forward, then backward, through the colours");

/*@
   PCBlockRelaxSetInverse - Sets how `PCBLOCKRELAX` inverts its blocks

   Input Parameters:
+  pc - the preconditioner context
-  inverse - `PC_BLOCKRELAX_INVERSE_AUTO` (default), `PC_BLOCKRELAX_INVERSE_TENSOR` or `PC_BLOCKRELAX_INVERSE_DENSE`

   Options Database Key:
.  -pc_blockrelax_inverse <auto,tensor,dense> - the inverse

   Level: intermediate

   Notes:
   Where coefficients are constant, all blocks of a shape share one inverse. tensor applies it in the sine bases of the sides, with some
   dozens of operations per cell; dense applies it as a matrix, with twice as many operations per cell as a block has cells. Where
   coefficients vary, blocks are factored one by one or, with dense, inverted. `PCView()` shows what is in use.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetInverse()`, `PCBlockRelaxSetMemory()`
@*/
PETSCRRB_PARAMETER(BlockRelax, Inverse, PCBlockRelaxInverse, &PC_BlockRelax::inverse, "-pc_blockrelax_inverse",
                   "How blocks are inverted", PCBlockRelaxInverses);

/*@
   PCBlockRelaxSetParallel - Sets how `PCBLOCKRELAX` divides its work among threads on the host

   Input Parameters:
+  pc - the preconditioner context
-  parallel - `PC_BLOCKRELAX_PARALLEL_AUTO` (default), `PC_BLOCKRELAX_PARALLEL_PATCHES`, `PC_BLOCKRELAX_PARALLEL_BLOCKS` or
              `PC_BLOCKRELAX_PARALLEL_BOTH`

   Options Database Key:
.  -pc_blockrelax_parallel <auto,patches,blocks,both> - how work is divided

   Level: advanced

   Notes:
   Jacobi and coloured sweeps give the same result with all of them.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetParallel()`, `PCBlockRelaxSetPatches()`
@*/
PETSCRRB_PARAMETER(BlockRelax, Parallel, PCBlockRelaxParallel, &PC_BlockRelax::parallel, "-pc_blockrelax_parallel",
                   "How work is divided among threads on the host", PCBlockRelaxParallels);

/*@
   PCBlockRelaxSetMemory - Sets how much memory the factors of `PCBLOCKRELAX` may take on each rank

   Input Parameters:
+  pc - the preconditioner context
-  memory - bytes; 0 (default): no limit

   Options Database Key:
.  -pc_blockrelax_memory <bytes> - the limit

   Level: advanced

   Notes:
   It matters if coefficients vary, so that each block has its own factor. Blocks whose factors exceed the limit are
   factored anew in each sweep, with the same result.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if it is negative.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetMemory()`, `PCBlockRelaxSetBlockSize()`
@*/
PETSCRRB_PARAMETER(
    BlockRelax, Memory, PetscReal, &PC_BlockRelax::memory, "-pc_blockrelax_memory",
    "Bytes that the blocks' factors may take; 0: no limit", [](PetscReal memory) { return memory >= 0; },
    "Memory of %g bytes must not be negative");

/*@
   PCBlockRelaxSetBlockSize - Sets how many cells the blocks of `PCBLOCKRELAX` have along each side

   Input Parameters:
+  pc - the preconditioner context
.  bx - cells in the x direction, along which unknowns are numbered first
.  by - cells in the y direction
-  bz - cells in the z direction, 1 for a 2D grid

   Options Database Key:
.  -pc_blockrelax_block_size <bx,by[,bz]> - the sizes; bz is 1 if omitted

   Level: beginner

   Notes:
   The default is 8 x 8 x 8 in 3D and 32 x 32 in 2D. Blocks begin at multiples of these sizes, and those at the far
   sides are truncated. A size beyond that of the grid makes the blocks lines or planes.

   It takes effect at the next `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if a size is not positive.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetBlockSize()`, `PCBlockRelaxSetGrid()`
@*/
PETSCRRB_SIZES(BlockRelax, BlockSize, &PC_BlockRelax::block, "-pc_blockrelax_block_size",
               "Cells per block in x, y and z",
               "Blocks of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells: all sizes must be positive",
               BlockInUse);

/*@
   PCBlockRelaxSetGrid - Sets the sizes of the grid that `PCBLOCKRELAX` works on

   Collective; the sizes may differ between ranks

   Note:
   It replaces patches that were set before.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetGrid()`, `PCBlockRelaxSetPatches()`
@*/
PETSCRRB_SIZES(BlockRelax, Grid, &PC_BlockRelax::grid, "-pc_blockrelax_grid", "Unknowns in x, y and z", nullptr,
               PetscRRBGridInUse, SetGrid);

/*@
   PCBlockRelaxSetPatches - Sets the logically rectangular patches that the unknowns of `PCBLOCKRELAX` are on

   Collective; the patches may differ between ranks

   Input Parameters:
+  pc - the preconditioner context
.  n - number of this rank's patches; 0 for none, but a grid
-  sizes - 3 n sizes: the unknowns of the first patch in x, y and z (1 in 2D), those of the second, and so on; they
           are copied

   Level: intermediate

   Notes:
   Patches are for a level of an adaptively refined mesh. This rank's unknowns are numbered patch by patch, within a patch with x first:
   unknown (k ny + j) nx + i of a patch is its point (i, j, k). So the products of the sizes add up to the number of the rank's rows. Within
   a patch, a row couples with its neighbours, 5 or 9 in 2D, 7 or 27 in 3D, itself included. Couplings with rows of other patches are
   arbitrary: the position of patches, and interpolation between them, are in the matrix only.

   Blocks do not cross patches, and each patch has its own first block. Between patches all types are Jacobi.

   There is no option for it. It takes effect at the next `PCSetUp()`.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` if the number is negative or a size is not positive on some rank; at `PCSetUp()`, `PETSC_ERR_ARG_INCOMP` if
   the sizes do not add up to the rows.

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxGetPatches()`, `PCBlockRelaxSetGrid()`, `PCBlockRelaxSetParallel()`
@*/
PetscErrorCode PCBlockRelaxSetPatches(PC pc, PetscInt n, const PetscInt sizes[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCBlockRelaxSetPatches_C", (PC, PetscInt, const PetscInt[]), (pc, n, sizes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCBlockRelaxGetPatches - Gets the patches that were set for `PCBLOCKRELAX`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameters:
+  n - number of this rank's patches, or `NULL`
-  sizes - 3 n sizes, owned by the preconditioner, or `NULL`

   Level: intermediate

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetPatches()`
@*/
PetscErrorCode PCBlockRelaxGetPatches(PC pc, PetscInt *n, const PetscInt *sizes[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCBlockRelaxGetPatches_C", (PC, PetscInt *, const PetscInt *[]), (pc, n, sizes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyPatches(PetscInt patches, const PetscInt sizes[], PetscInt **copy) {
  PetscFunctionBegin;
  PetscCheck(patches >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Number of patches %" PetscInt_FMT " must not be negative", patches);
  PetscCheck(patches == 0 || sizes, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 3");
  for (PetscInt p = 0; p < patches; ++p)
    PetscCheck(sizes[3 * p] >= 1 && sizes[3 * p + 1] >= 1 && sizes[3 * p + 2] >= 1, PETSC_COMM_SELF,
               PETSC_ERR_ARG_OUTOFRANGE,
               "Patch %" PetscInt_FMT " of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
               " points: all sizes must be positive",
               p, sizes[3 * p], sizes[3 * p + 1], sizes[3 * p + 2]);
  if (!patches) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(3 * patches, copy));
  PetscCall(PetscArraycpy(*copy, sizes, 3 * patches));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* They may be others on each rank: what is bad on one is an error on all. */
static PetscErrorCode PCBlockRelaxSetPatches_BlockRelax(PC pc, PetscInt patches, const PetscInt sizes[]) {
  PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PetscInt *copy = nullptr;

  PetscFunctionBegin;
  const PetscErrorCode code = PetscRRBCallTogether(PetscObjectComm((PetscObject)pc), "PCBLOCKRELAX",
                                                   [&] { return CopyPatches(patches, sizes, &copy); });
  if (code) PetscCall(PetscFree(copy));
  PetscCall(code);
  PetscCall(PetscFree(b->sizes));
  b->sizes = copy;
  b->patches = patches;
  PetscCall(PetscRRBRebuild(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCBlockRelaxGetPatches_BlockRelax(PC pc, PetscInt *patches, const PetscInt *sizes[]) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;

  PetscFunctionBegin;
  if (patches) *patches = b->patches;
  if (sizes) *sizes = b->sizes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Parameters =
    PetscRRBParameters<Type, Omega, Sweeps, Colours, Symmetric, Inverse, Parallel, Memory, BlockSize, Grid>;

PetscErrorCode PCBlockRelaxComposeParameters(PC pc, PetscBool on) {
  PetscFunctionBegin;
  PetscCall(Parameters::Compose(pc, on));
  PetscCall(PetscRRBCompose((PetscObject)pc, on, "PCBlockRelaxSetPatches_C", PCBlockRelaxSetPatches_BlockRelax));
  PetscCall(PetscRRBCompose((PetscObject)pc, on, "PCBlockRelaxGetPatches_C", PCBlockRelaxGetPatches_BlockRelax));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_BlockRelax(PC pc, PetscRRBOptionItems items) {
  return Parameters::SetFromOptions(pc, items, "Block relaxation options");
}
