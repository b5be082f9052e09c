/* PCBLOCKRELAX, the PETSc preconditioner: what PCApply(), PCView() and their kin do, and the type itself. */
#include "pc/blockrelax/pcblockrelax_data.h"
#include "petsc/about/citations.h"

using namespace petscrrb;

static PetscErrorCode ViewBriefly(const PC_BlockRelax *b, PetscViewer viewer) {
  return PetscViewerStringSPrintf(viewer, " %s", PCBlockRelaxTypes[b->type]);
}

static const char *MethodOf(const PC_BlockRelax *b) {
  if (b->type == PC_BLOCKRELAX_TYPE_JACOBI) return "block Jacobi";
  if (b->type == PC_BLOCKRELAX_TYPE_CHAOTIC) return "chaotic block Gauss-Seidel";
  return b->symmetric ? "symmetric coloured block Gauss-Seidel" : "coloured block Gauss-Seidel";
}

static PetscErrorCode ViewChoices(const PC_BlockRelax *b, PetscViewer viewer) {
  const bool ready = b->state && b->state->ready;

  PetscFunctionBegin;
  if (ready || b->omega != PETSC_DECIDE)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s, omega: %g%s\n", MethodOf(b),
                                     ready ? b->state->options.omega : (double)b->omega,
                                     b->omega == PETSC_DECIDE ? " (the default)" : ""));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s, omega: the default\n", MethodOf(b)));
  if (b->sweeps != 1) PetscCall(PetscViewerASCIIPrintf(viewer, "sweeps: %" PetscInt_FMT "\n", b->sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewBlocks(const PCBlockRelaxState *s, const char *where, PetscViewer viewer) {
  const blockrelax::Options &o = s->options;
  long long blocks = 0;

  PetscFunctionBegin;
  for (const blockrelax::Patch &p : s->shape.patches) blocks += o.cut().blocks(p);
  PetscCall(PetscViewerASCIIPrintf(viewer, "blocks%s: %d x %d x %d, %lld of them\n", where, o.block[0], o.block[1],
                                   o.block[2], blocks));
  if (o.order == blockrelax::Order::coloured) PetscCall(PetscViewerASCIIPrintf(viewer, "colours: %d\n", o.colours));
  PetscCall(PetscViewerASCIIPrintf(viewer, "coefficients: %s\n", s->found.constant ? "constant" : "variable"));
  PetscCall(
      PetscViewerASCIIPrintf(viewer, "inverses: %s, %lld held\n", s->found.used.c_str(), (long long)s->found.shapes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewState(PC pc, PetscViewer viewer) {
  const PCBlockRelaxState *s = ((PC_BlockRelax *)pc->data)->state;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  double here[2] = {(double)s->found.read.identity_rows, s->backend->bytes()}, all[2];
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Allreduce(here, all, 2, MPI_DOUBLE, MPI_SUM, comm));
  const char *where = ranks > 1 ? " of the first rank" : "";
  if (ranks > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "Jacobi between %d ranks\n", (int)ranks));
  if (!s->shape.patches.empty()) {
    if (s->grid.n[0])
      PetscCall(PetscRRBViewGrid(viewer, where, s->grid, [](int) { return ""; }));
    else
      PetscCall(PetscViewerASCIIPrintf(viewer, "patches%s: %lld, %d-point\n", where, (long long)s->shape.patches.size(),
                                       s->shape.points));
    PetscCall(ViewBlocks(s, where, viewer));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "backend: %s\n", s->backend->on_device() ? "cuda" : "host"));
  if (all[0] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "identity rows: %.0f\n", all[0]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory: %.0f bytes\n", all[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_BlockRelax(PC pc) {
  PetscFunctionBegin;
  PetscCall(PetscFree(((PC_BlockRelax *)pc->data)->sizes));
  PetscCall((PetscRRBDestroy<PC_BlockRelax, PCBlockRelaxComposeParameters>(pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static constexpr auto PCApply_BlockRelax = PetscRRBApply<PC_BlockRelax, PCBlockRelaxSweeps>;

static PetscErrorCode PCApplyTranspose_BlockRelax(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCheck(
      PCBlockRelaxIsSymmetric((PC_BlockRelax *)pc->data), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
      "Block Gauss-Seidel is not symmetric, and its transpose is not implemented: use -pc_blockrelax_type jacobi, or "
      "-pc_blockrelax_type coloured -pc_blockrelax_symmetric");
  PetscCall(PCApply_BlockRelax(pc, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_BlockRelax(PC pc, Mat X, Mat Y) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  if (!b->state->failed && (b->state->one_rank || b->sweeps <= 1))
    PetscCall(b->state->backend->SweepColumns(pc, X, Y, b->sweeps, &done));
  if (!done) PetscCall(PetscRRBMatApply<PCApply_BlockRelax>(pc, X, Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool MayHaveIdentityRows(PC pc) {
  return (PetscBool)(((PC_BlockRelax *)pc->data)->state->found.read.identity_rows > 0);
}

/*MC
   PCBLOCKRELAX - Block Jacobi and block Gauss-Seidel over boxes of a structured grid, with exact inverses of the blocks

   Options Database Keys:
+  -pc_blockrelax_type <jacobi,chaotic,coloured> - which new values a block uses; default jacobi
.  -pc_blockrelax_block_size <bx,by[,bz]>        - cells per block in x, y and z; default 8,8,8, in 2D 32,32
.  -pc_blockrelax_omega <omega>                  - the relaxation parameter; default 0.8 for jacobi, 1 for the others
.  -pc_blockrelax_sweeps <s>                     - sweeps per application; default 1
.  -pc_blockrelax_colours <c>                    - coloured: colours of the blocks; default: the smallest number possible
.  -pc_blockrelax_symmetric <bool>               - coloured: forward, then backward, through the colours; default false
.  -pc_blockrelax_inverse <auto,tensor,dense>    - how blocks are inverted; default auto
.  -pc_blockrelax_parallel <auto,patches,blocks,both> - how work is divided among threads on the host; default auto
.  -pc_blockrelax_memory <bytes>                 - the maximum memory of the blocks' factors; default 0: no limit
-  -pc_blockrelax_grid <nx,ny[,nz]>              - unknowns in x, y and z, if neither a DM nor the matrix determines them

   Level: beginner

   Notes:
   A sweep is x <- x + omega M^-1 (b - A x) (the paper's eq. (6)). For jacobi M is the block diagonal of A. With
   the others a block uses new values of its neighbours: in no particular order with chaotic, which is fast and differs
   from run to run; colour by colour with coloured, which is reproducible. Lines and planes are also possible: a block may be
   as long as the grid.

   It can be used as a smoother, mainly for `PCMG`, as a preconditioner, and with `KSPRICHARDSON` as a solver, which updates x in place,
   with several sweeps in one call. Unless the norm type is `KSP_NORM_NONE`, rtol, abstol and dtol apply to the norm of the true residual,
   relative to that of b.

   M is symmetric for jacobi and for coloured with `PCBlockRelaxSetSymmetric()`; `KSPCG` needs one of them. chaotic,
   and coloured in one direction, are for `KSPRICHARDSON`, `KSPGMRES` (chaotic: `KSPFGMRES`) and smoothers. With several
   sweeps, M is positive definite if Richardson's iteration converges.

   The matrix must be symmetric, with 5 or 9 points on a 2D grid, or 7 or 27 on a 3D one, of any size and with any coefficients, or on
   patches that `PCBlockRelaxSetPatches()` describes. Blocks do not cross patches; between patches it is Jacobi. Identity rows (Dirichlet
   conditions kept in the matrix, masked cells) are decoupled in M; if other rows keep their columns, their values are put into the initial
   guess of a `KSP` that needs a symmetric operator.

   With several ranks blocks do not cross ranks, and between ranks each sweep is Jacobi.

   Errors:
   A matrix that is not finite or not symmetric, or not on such a grid, is an error that names the row. A block that is not positive
   definite makes the `KSP` diverge with `KSP_DIVERGED_PC_FAILED`, or is an error with `-ksp_error_if_not_converged`. Too few colours are an
   error.

   References:
.  * - M. Rodriguez, B. Philip, Z. Wang, M. Berrill, Block-relaxation methods for 3D constant-coefficient stencils on GPUs
       and multicore CPUs, 2012

.seealso: `PCBlockRelaxSetType()`, `PCBlockRelaxSetBlockSize()`, `PCBlockRelaxSetOmega()`, `PCBlockRelaxSetSweeps()`,
          `PCBlockRelaxSetColours()`, `PCBlockRelaxSetSymmetric()`, `PCBlockRelaxSetInverse()`,
          `PCBlockRelaxSetParallel()`, `PCBlockRelaxSetMemory()`, `PCBlockRelaxSetGrid()`, `PCBlockRelaxSetPatches()`,
          `PCMIC`, `PCNEUMANN`, `PCSOR`, `PCPBJACOBI`, `PCMG`
M*/
PetscErrorCode PCCreate_BlockRelax(PC pc) {
  PC_BlockRelax *b;

  PetscFunctionBegin;
  PetscCall((PetscRRBCreate<PC_BlockRelax, PCBlockRelaxComposeParameters>(
      pc,
      {PCSetUp_BlockRelax, PCApply_BlockRelax, PCMatApply_BlockRelax, PCSetFromOptions_BlockRelax,
       PetscRRBView<PC_BlockRelax, ViewBriefly, ViewChoices, ViewState>, MayHaveIdentityRows},
      &b)));
  b->type = PC_BLOCKRELAX_TYPE_JACOBI;
  b->omega = PETSC_DECIDE;
  b->sweeps = 1;
  b->colours = PETSC_DECIDE;
  b->inverse = PC_BLOCKRELAX_INVERSE_AUTO;
  b->parallel = PC_BLOCKRELAX_PARALLEL_AUTO;
  b->test = PCBlockRelaxNoKSP;
  pc->ops->presolve = PCPreSolve_BlockRelax; /* which have more to do */
  pc->ops->postsolve = PCPostSolve_BlockRelax;
  pc->ops->destroy = PCDestroy_BlockRelax;
  pc->ops->applytranspose = PCApplyTranspose_BlockRelax; /* not every M is symmetric */
  pc->ops->applyrichardson = PCApplyRichardson_BlockRelax;
  PetscCall(PetscRRBCite(PETSCRRB_PAPER_BLOCK_RELAXATION));
  PetscFunctionReturn(PETSC_SUCCESS);
}
