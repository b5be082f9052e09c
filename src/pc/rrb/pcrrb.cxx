/* PCRRB, the PETSc preconditioner: what PCApply(), PCView() and PCReset() do. No arithmetic. */
#include "pc/rrb/pcrrb_data.h"
#include "petsc/about/citations.h"

using namespace petscrrb;
using rrb::Part;

static PetscErrorCode PCDestroy_RRB(PC pc) {
  PetscFunctionBegin;
  PetscCall(PCReset_RRB(pc)); /* before the solver that the last block's backend uses */
  PetscCall(KSPDestroy(&((PC_RRB *)pc->data)->coarse_ksp));
  delete ((PC_RRB *)pc->data)->schur_wanted;
  PetscCall((PetscRRBDestroy<PC_RRB, PCRRBComposeParameters>(pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a failed setup z is infinite: that is how a KSP notices, and then it looks at the failed reason. */
static PetscErrorCode ApplyPart(PC pc, Vec x, Vec y, Part part) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(VecGetSize(y, &rows));
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(rrb->state && rrb->state->core, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER,
             "PCRRB has not been set up: its last set-up ended with an error");
  PCRRBState &s = *rrb->state;
  if (s.failed) {
    PetscCall(PetscRRBSetInfinite(y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ++s.uses;
  const auto apply = [&](Vec r, Vec z) { return s.backend->Apply(pc, *s.core, r, z, part); };
  PetscCall(s.everywhere ? s.everywhere->Use(x, y, apply) : apply(x, y));
  if (s.coarse == PC_RRB_COARSE_KSP) PetscCall(KSPCheckSolve(rrb->coarse_ksp, pc, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_RRB(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(ApplyPart(pc, x, y, Part::whole));
  PetscCall(((PC_RRB *)pc->data)->known->Mask(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* They are halves of the V-cycle, which is what is in use for them where the cycle was left to us. */
static PetscErrorCode CheckHalves(PC pc) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  PetscCheck(!rrb->cycle_set || rrb->cycle == PC_RRB_CYCLE_V, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The symmetric application needs M as one product L D L^T: use -pc_rrb_cycle v");
  PetscCheck(rrb->state->coarse == PC_RRB_COARSE_CHOLESKY, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The symmetric application needs the factor of the last block: use -pc_rrb_coarse cholesky");
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Part part> static PetscErrorCode ApplyHalf(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(CheckHalves(pc));
  PetscCall(ApplyPart(pc, x, y, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* That of the first rank: all have the same. */
static PetscErrorCode ViewCoarseKSP(KSP ksp, PetscViewer viewer) {
  PetscMPIInt rank;
  PetscViewer own;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)viewer), &rank));
  PetscCall(PetscViewerGetSubViewer(viewer, PETSC_COMM_SELF, &own));
  if (rank == 0) PetscCall(KSPView(ksp, own));
  PetscCall(PetscViewerRestoreSubViewer(viewer, PETSC_COMM_SELF, &own));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewOnGraph(const PCRRBState &s, PetscViewer viewer) {
  const rrb::GraphReport graph = s.core->graph();

  PetscFunctionBegin;
  if (s.on_graph)
    PetscCall(PetscViewerASCIIPrintf(viewer, "red nodes: by support, on the graph of the matrix\n"));
  else if (s.failing)
    PetscCall(PetscViewerASCIIPrintf(viewer, "red nodes: by support, since %lld plain ones fail the test\n",
                                     (long long)s.failing));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "red nodes: by support\n"));
  if (!graph.halvings.empty()) {
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "the direction of strong couplings is halved first: %s; then red nodes are plain\n",
        graph.halvings.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "plain levels: %d; couplings per unknown, level by level:", graph.plain));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  for (const double c : graph.couplings) PetscCall(PetscViewerASCIIPrintf(viewer, " %.1f", c));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscCall(PetscViewerASCIIPrintf(viewer, "couplings of the factor: %.1f per unknown\n", graph.factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewState(PC pc, PetscViewer viewer) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState &s = *rrb->state;
  std::string cycle;
  const Grid &g = s.grid;
  const rrb::Options &o = s.core->options();
  std::vector<index_t> unknowns;

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), "PCRRB",
                                [&] { unknowns = s.core->unknowns_by_level(), cycle = PCRRBDescribeCycle(s); }));
  const auto around = [&](int d) {
    return g.n[d] % ((index_t)1 << ((o.levels + 1) / 2))
               ? ": not a multiple of 2^ceil(levels/2), some couplings across this side are lumped"
               : "";
  };
  if (s.on_graph && g.dim == 2)
    PetscCall(PetscViewerASCIIPrintf(viewer, "graph: %lld unknowns\n", (long long)g.n[0]));
  else
    PetscCall(PetscRRBViewGrid(viewer, "", g, around));
  PetscCall(PetscViewerASCIIPrintf(viewer, "backend: %s\n", s.backend->on_device() ? "cuda" : "host"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "levels: %d, unknowns left:", o.levels));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  for (const index_t n : unknowns) PetscCall(PetscViewerASCIIPrintf(viewer, " %lld", (long long)n));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  if (s.support)
    PetscCall(ViewOnGraph(s, viewer));
  else if (rrb->storage == PC_RRB_STORAGE_NAIVE)
    PetscCall(PetscViewerASCIIPrintf(viewer, "storage: naive\n"));
  else
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "storage: r1r2b1b2 on %d grids, compute block %d\n", o.storage_grids, o.block));
  PetscCall(PetscViewerASCIIPrintf(viewer, "last block: %s, %" PetscInt_FMT " unknowns\n", PCRRBCoarseTypes[s.coarse],
                                   s.core->last_block().size()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "cycle: %s\n", cycle.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "factor: in %s precision\n", PCRRBPrecisions[(int)s.core->precision()]));
  if (s.values.scaled) PetscCall(PetscViewerASCIIPrintf(viewer, "lumping keeps the near null space of the matrix\n"));
  if (s.values.facts.identity_rows)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "identity rows, decoupled: %lld\n", (long long)s.values.facts.identity_rows));
  if (s.values.facts.positive)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "positive off-diagonal entries, %s: %lld\n",
                               s.support ? "moved along other couplings or to the diagonal" : "moved to the diagonal",
                               (long long)s.values.facts.positive));
  if (s.outcome.unlumped)
    PetscCall(PetscViewerASCIIPrintf(viewer, "pivots left unlumped: %lld\n", (long long)s.outcome.unlumped));
  if (s.outcome.null + s.backend->null_directions())
    PetscCall(PetscViewerASCIIPrintf(viewer, "null directions: %lld\n",
                                     (long long)(s.outcome.null + s.backend->null_directions())));
  if (s.omega_dropped)
    PetscCall(PetscViewerASCIIPrintf(viewer, "a pivot was not positive with this lumping: factored with lumping 0\n"));
  PetscCall(s.backend->ViewRanks(viewer));
  if (s.everywhere)
    PetscCall(PetscViewerASCIIPrintf(viewer, "all of it is on every rank%s\n",
                                     s.everywhere->shared() ? "; they share its applications" : ""));
  double bytes = (double)s.core->bytes() + s.backend->bytes();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory: %.0f bytes, %.1f per unknown\n", bytes,
                                   bytes / (double)(g.n[0] * g.n[1] * g.n[2])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewChoices(const PC_RRB *rrb, PetscViewer viewer) {
  return PetscViewerASCIIPrintf(viewer, "lumping: %g, of %s nodes\n", (double)rrb->lumping,
                                rrb->lump_nodes == PC_RRB_LUMP_RED ? "red" : "red and black");
}

static PetscErrorCode ViewBriefly(const PC_RRB *rrb, PetscViewer viewer) {
  if (!rrb->state || !rrb->state->ready) return PETSC_SUCCESS;
  return PetscViewerStringSPrintf(viewer, " levels %d", rrb->state->core->options().levels);
}

static PetscErrorCode PCView_RRB(PC pc, PetscViewer viewer) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall((PetscRRBView<PC_RRB, ViewBriefly, ViewChoices, ViewState>(pc, viewer)));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii && (rrb->state ? rrb->state->coarse : rrb->coarse) == PC_RRB_COARSE_KSP && rrb->coarse_ksp)
    PetscCall(ViewCoarseKSP(rrb->coarse_ksp, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool MayHaveIdentityRows(PC pc) {
  return (PetscBool)(((PC_RRB *)pc->data)->state->values.facts.identity_rows > 0);
}

/*MC
   PCRRB - Repeated red-black preconditioner, RRB-l, for 5- and 9-point matrices on structured 2D grids

   Options Database Keys:
+  -pc_rrb_levels <l>                      - number of levels; default: the fewest that leave at most 1024 unknowns; on devices 4096, with
                                             an even number of levels up to 4 million points
.  -pc_rrb_lumping <omega>                 - fraction of the dropped entries that is added to the diagonal, 0 to 1; default 1
.  -pc_rrb_lump_nodes <red,both>           - nodes whose dropped entries are lumped; default red
.  -pc_rrb_grid <nx,ny>                    - unknowns in x and y, if neither a DM nor the matrix determines them
.  -pc_rrb_coarse <cholesky,inverse,ksp>   - solver of the last Schur complement; default cholesky, inverse on a device
.  -pc_rrb_cycle <v,amli>                  - how often the coarse grids are visited; default v below 8 levels, amli from 8 on
.  -pc_rrb_red_nodes <auto,plain,support>  - how red nodes are chosen; default auto
.  -pc_rrb_precision <double,single,mixed> - precision of the factor; default mixed: the finest grid in double, coarser ones in single
.  -pc_rrb_storage <naive,r1r2b1b2>        - order in which the factor is stored; default r1r2b1b2
.  -pc_rrb_storage_grids <g>               - grids in r1/r2/b1/b2 storage, 2g <= l
.  -pc_rrb_compute_block <dcb>             - padding of the r1/r2/b1/b2 arrays
.  -pc_rrb_gather_size <points>            - with several ranks, the maximum number of points of a grid that is on every
                                             rank; default 1024, on devices 65536; on no 2D grid 8192 and 65536
-  -pc_rrb_transport <auto,stores,nccl,sf> - with several ranks on devices, how values travel; default auto

   Level: beginner

   Notes:
   An incomplete factorization M = L D L^T in the order of repeated red-black colourings. On Poisson problems the iterations of CG grow like
   h^-0.3, from 10 at 127 x 127 to 18 at 2047 x 2047 points, after a short set-up. The matrix must be symmetric and positive (semi)definite,
   with one unknown per grid point. Coefficients may vary, sides may be periodic, rows may be identity rows (Dirichlet conditions kept in
   the matrix, masked cells), and the matrix may be singular. If other rows keep the columns of identity rows, the values of identity rows
   are put into the initial guess of a `KSP` that needs a symmetric operator. Unknown j nx + i is the point (i, j). The grid is that of the
   option, or of the `DMDA` of the `PC` or of the matrix, or is found from the nonzeros of the matrix.

   A matrix that is on no such grid is taken for a graph, with red nodes by support: 3D grids, triangles, quad-trees. Its off-diagonal entries
   must be nearly all negative. A matrix for which that cannot be good is an error. On several ranks each then has all rows, and does all
   that one would.

   M is symmetric and positive definite, so it can be used with `KSPCG`. The spectrum of M^-1 A is [1, kappa], with red nodes by support
   from about 0.7: as a stationary iteration it must be scaled by 2 / (1 + kappa) (`-ksp_type richardson -ksp_richardson_scale`).

   With plain red nodes it is the same operator on any number of MPI ranks, up to rounding. Each rank has a box of points: that of the
   `DMDA`, or lines of the grid if rows are numbered in natural order.

   If the colouring does not suit the coefficients, the eliminated nodes are chosen according to these (`PCRRBSetRedNodes()`): anisotropy,
   stretched grids, random jumps, channels and masks take 9 to 20 iterations. Except for anisotropy, the first set-up then takes longer. On
   several ranks, each then does all of the work. On grids too large for that, anisotropy of 1000:1 takes 13 to 18 times the iterations;
   random coefficient jumps of 1000 and more from face to face, and masks, take hundreds.

   Errors:
   A matrix that is not of this kind is an error that names the row and the reason. A pivot that is not positive makes
   the `KSP` diverge with `KSP_DIVERGED_PC_FAILED`, or is an error with `-ksp_error_if_not_converged`.

   References:
+  * - M. de Jong, A. van der Ploeg, A. Ditzel, K. Vuik, Fine-grain parallel RRB-solver for 5-/9-point stencil problems suitable for GPU-type processors, ETNA, 2017
-  * - M. de Jong, C. Vuik, GPU implementation of the RRB-solver, report 16-06, Delft University of Technology, 2016

.seealso: `PCRRBSetLevels()`, `PCRRBSetLumping()`, `PCRRBSetLumpNodes()`, `PCRRBSetGrid()`, `PCRRBSetCoarse()`,
          `PCRRBGetCoarseKSP()`, `PCRRBSetStorage()`, `PCRRBSetStorageGrids()`, `PCRRBSetComputeBlock()`,
          `PCRRBSetCycle()`, `PCRRBSetRedNodes()`, `PCRRBSetPrecision()`, `PCRRBSetGatherSize()`, `PCRRBSetTransport()`, `PCMG`, `PCGAMG`
M*/
std::shared_ptr<const void> PCRRBWantSchur(PC pc) {
  std::weak_ptr<const void> *&wanted = ((PC_RRB *)pc->data)->schur_wanted;

  try {
    if (!wanted) wanted = new std::weak_ptr<const void>;
    std::shared_ptr<const void> held = wanted->lock();
    if (!held) *wanted = held = std::make_shared<char>();
    return held;
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

PetscErrorCode PCCreate_RRB(PC pc) {
  PC_RRB *rrb;

  PetscFunctionBegin;
  PetscCall((PetscRRBCreate<PC_RRB, PCRRBComposeParameters>(
      pc,
      {PCSetUp_RRB, PCApply_RRB, PetscRRBMatApply<PCApply_RRB>, PCSetFromOptions_RRB, PCView_RRB, MayHaveIdentityRows},
      &rrb)));
  rrb->levels = PETSC_DECIDE;
  rrb->lumping = 1.0;
  rrb->lump_nodes = PC_RRB_LUMP_RED;
  rrb->storage = PC_RRB_STORAGE_R1R2B1B2;
  rrb->storage_grids = PETSC_DECIDE;
  rrb->compute_block = 32;
  rrb->coarse = PC_RRB_COARSE_CHOLESKY;
  rrb->cycle = PC_RRB_CYCLE_V;
  rrb->precision = PC_RRB_PRECISION_MIXED;
  rrb->gather_size = PETSC_DECIDE;
  pc->ops->applysymmetricleft = ApplyHalf<Part::left>;
  pc->ops->applysymmetricright = ApplyHalf<Part::right>;
  pc->ops->reset = PCReset_RRB; /* which have more to do */
  pc->ops->destroy = PCDestroy_RRB;
  PetscCall(PetscRRBCite(PETSCRRB_PAPER_RRB));
  PetscFunctionReturn(PETSC_SUCCESS);
}
