/* PCGRIDMG, the PETSc preconditioner. */
#include "pc/backend.h"
#include "pc/gridmg/pcgridmg_data.h"
#include "pc/set_up.h"

using namespace petscrrb;

namespace {

template <class Where> class Backend final : public PetscRRBBackendAt<Where, PCGridMGBackend> {
  using PetscRRBBackendAt<Where, PCGridMGBackend>::where_;

public:
  Backend() : PetscRRBBackendAt<Where, PCGridMGBackend>("PCGRIDMG") {}
  PetscRRBTrouble Create(const Grid &g, const gridmg::Options &o, PCGridMGPrecision precision) override {
    grid_ = g, options_ = o;
    single_ = precision != PC_GRIDMG_PRECISION_DOUBLE, automatic_ = precision == PC_GRIDMG_PRECISION_AUTO;
    return where_.Attempt([&] { Make(); });
  }
  PetscRRBTrouble Refresh(const Csr &rows, gridmg::Findings *found) override {
    return where_.Attempt([&] {
      *found = grids_->refresh(rows);
      if (!automatic_ || !single_ || !found->wants_double) return;
      grids_ = nullptr; /* its memory first */
      single_ = false;  /* for good: values that want it come again */
      Make();
      *found = grids_->refresh(rows);
    });
  }
  PetscErrorCode Apply(PC pc, Vec x, Vec y) override {
    PetscFunctionBegin;
    PetscCall(where_.Use(pc, x, y, [&](const PetscScalar *r, PetscScalar *z) { grids_->apply(r, z); }));
    PetscCall(where_.LogFlops(grids_ ? grids_->flops() : 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<gridmg::GridReport> report() const override {
    return grids_ ? grids_->report() : std::vector<gridmg::GridReport>();
  }
  bool single() const override { return single_; }
  double bytes() const override { return grids_ ? grids_->bytes() : 0; }
  PCGridMGParts parts() override { return {grids_.get(), where_.Stream(), build_}; }

private:
  void Make() {
    grids_ = where_.Make([&](auto &...on) { return gridmg::make_gridmg(on..., grid_, options_, single_); });
    build_ = PetscRRBNewBuild();
  }

  Grid grid_;
  gridmg::Options options_;
  bool single_ = true, automatic_ = false;
  PetscInt64 build_ = 0;
  std::unique_ptr<gridmg::GridMG> grids_;
};

} // namespace

static PetscErrorCode CreateBackend(PetscBool device, std::unique_ptr<PCGridMGBackend> *backend) {
  return PetscRRBCreateBackend<Backend>(device, "PCGRIDMG", backend);
}

/* --- set-up, on each rank by itself --- */

static PetscErrorCode CheckChoices(PC) { return PETSC_SUCCESS; } /* none excludes another one */

static PetscErrorCode Build(PC pc, PetscRRBTrouble *trouble) {
  const PC_GridMG *mg = (PC_GridMG *)pc->data;
  PCGridMGState *s = mg->state;
  gridmg::Options o;
  PetscRRBMatrixState now;

  PetscFunctionBegin;
  PetscCall(now.Take(pc->pmat));
  if (mg->expected && mg->expected->of == now && !mg->grid[0])
    s->grid = mg->expected->grid;
  else
    PetscCall(PetscRRBFindStarOnRank(pc, pc->pmat, mg->grid, "-pc_gridmg_grid", s->backend->rows(s->rows.csr),
                                     "-pc_type rrb", &s->grid, trouble));
  if (*trouble) PetscFunctionReturn(PETSC_SUCCESS);
  o.coarsening = (gridmg::Coarsening)mg->coarsening;
  o.smoother = (gridmg::Smoother)mg->smoother;
  o.smooths = (int)mg->smooths;
  o.grids = (int)mg->grids;
  o.coarse_size = mg->coarse_size;
  *trouble = s->backend->Create(s->grid, o, mg->precision);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadValues(PC pc, PetscBool *rebuild, PetscRRBTrouble *trouble) {
  return PetscRRBReadValues(((PC_GridMG *)pc->data)->state, "PCGRIDMG", rebuild, trouble);
}

static PetscErrorCode CheckPivots(PC pc, PetscRRBTrouble *trouble) {
  const gridmg::Findings &f = ((PC_GridMG *)pc->data)->state->found;
  PetscInt first;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(pc->pmat, &first, nullptr));
  if (f.read.bad_pivot != no_row)
    *trouble = {"the diagonal entry of row " + std::to_string(first + f.read.bad_pivot) +
                    " is not positive: the matrix is not positive definite",
                PETSC_ERR_MAT_LU_ZRPVT};
  else if (f.too_large)
    *trouble = {"the coarsest grid has " + std::to_string(f.too_large) + " points, and at most " +
                    std::to_string(f.most) +
                    " are solved exactly: take more -pc_gridmg_grids, or a smaller -pc_gridmg_coarse_size",
                PETSC_ERR_ARG_OUTOFRANGE};
  else if (f.failed)
    *trouble = {"a coarser grid has a pivot that is not positive: the matrix is not positive definite, or it has rows "
                "whose sums are negative",
                PETSC_ERR_MAT_LU_ZRPVT};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_GridMG(PC pc) {
  return PetscRRBSetUpDiagonalBlock<PC_GridMG>(
      pc, PetscRRBSteps<PCGridMGBackend>{"PCGRIDMG", CreateBackend, CheckChoices, Build, ReadValues, CheckPivots});
}

/* --- the rest of a PC --- */

static PetscErrorCode Apply(PC pc, Vec x, Vec y) { return ((PC_GridMG *)pc->data)->state->backend->Apply(pc, x, y); }

static PetscErrorCode ViewBriefly(const PC_GridMG *mg, PetscViewer viewer) {
  return PetscViewerStringSPrintf(viewer, " coarsening %s, smoother %s", PCGridMGCoarsenings[mg->coarsening],
                                  PCGridMGSmoothers[mg->smoother]);
}

static PetscErrorCode ViewChoices(const PC_GridMG *mg, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "V(%" PetscInt_FMT ",%" PetscInt_FMT "), coarsening: %s, smoother: %s\n",
                                   mg->smooths, mg->smooths, PCGridMGCoarsenings[mg->coarsening],
                                   PCGridMGSmoothers[mg->smoother]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "precision: %s\n", PCGridMGPrecisions[mg->precision]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* "64 x 64 x 32: zebra lines in z, coarsened in y and z"; may throw */
static std::vector<std::string> Describe(const std::vector<gridmg::GridReport> &grids) {
  const auto words = [](const std::vector<int> &directions) {
    std::string text;
    for (std::size_t i = 0; i < directions.size(); ++i)
      text += (i == 0 ? "" : i + 1 == directions.size() ? " and " : ", ") + std::string(1, "xyz"[directions[i]]);
    return text;
  };
  std::vector<std::string> lines;

  for (std::size_t i = 0; i < grids.size(); ++i) {
    const auto &g = grids[i];
    if (i && !g.smoothed && i + 1 < grids.size()) continue; /* between two directions */
    std::vector<int> coarsened;
    for (std::size_t j = i; j < grids.size() && (j == i || !grids[j].smoothed) && grids[j].coarsened >= 0; ++j)
      coarsened.push_back(grids[j].coarsened);
    std::string line = std::to_string(g.n[0]) + " x " + std::to_string(g.n[1]) + " x " + std::to_string(g.n[2]) + ": ";
    line += !g.smoothed ? "solved" : g.lines.empty() ? "red-black points" : "zebra lines in " + words(g.lines);
    if (!coarsened.empty()) line += ", coarsened in " + words(coarsened);
    lines.push_back(line);
  }
  return lines;
}

static PetscErrorCode ViewGrids(const PCGridMGBackend &backend, PetscViewer viewer) {
  std::vector<std::string> lines;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBSay("PCGRIDMG"), [&] { lines = Describe(backend.report()); }));
  PetscCall(PetscViewerASCIIPrintf(viewer, "grids:\n"));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  for (const std::string &line : lines) PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", line.c_str()));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewState(PC pc, PetscViewer viewer) {
  const PCGridMGState *s = ((PC_GridMG *)pc->data)->state;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  double identity_null_bytes[] = {(double)s->found.read.identity_rows, (double)s->found.null_directions,
                                  s->backend->bytes()};
  const auto &[identity, null, bytes] = identity_null_bytes; /* of all ranks */
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, identity_null_bytes, 3, MPI_DOUBLE, MPI_SUM, comm));
  if (ranks > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "block Jacobi between %d ranks: couplings between them are left out\n",
                                     (int)ranks));
  if (s->grid.n[0]) {
    PetscCall(PetscRRBViewGrid(viewer, ranks > 1 ? " of the first rank" : "", s->grid, [](int) { return ""; }));
    PetscCall(ViewGrids(*s->backend, viewer));
    if (((PC_GridMG *)pc->data)->precision == PC_GRIDMG_PRECISION_AUTO)
      PetscCall(PetscViewerASCIIPrintf(viewer, "precision in use%s: %s\n", ranks > 1 ? ", of the first rank" : "",
                                       s->backend->single() ? "single" : "double"));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "backend: %s\n", s->backend->on_device() ? "cuda" : "host"));
  if (null > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "null directions: %.0f\n", null));
  if (identity > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "identity rows, decoupled: %.0f\n", identity));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory: %.0f bytes\n", bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool MayHaveIdentityRows(PC pc) {
  return (PetscBool)(((PC_GridMG *)pc->data)->state->found.read.identity_rows > 0);
}

PetscErrorCode PCGridMGExpectGrid(PC pc, const Grid &grid) {
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBSay("PCGRIDMG"), [&] {
    if (!mg->expected) mg->expected = new PCGridMGExpected;
    mg->expected->grid = grid;
  }));
  PetscCall(mg->expected->of.Take(pc->pmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_GridMG(PC pc) {
  PetscFunctionBegin;
  delete ((PC_GridMG *)pc->data)->expected;
  PetscCall((PetscRRBDestroy<PC_GridMG, PCGridMGComposeParameters>(pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCGRIDMG - Multigrid on structured grids, whose coarsening and smoothing follow the couplings of the matrix

   Options Database Keys:
+  -pc_gridmg_coarsening <auto,full,semi>  - the directions that are coarsened; default auto: those that are strongly coupled
.  -pc_gridmg_smoother <auto,points,lines> - red-black points, or zebra lines; default auto: lines where couplings differ
.  -pc_gridmg_smooths <nu>                 - smoothing sweeps before and after a coarser grid; default 1
.  -pc_gridmg_precision <auto,double,single> - of the cycle; default auto: single, unless coefficients jump far
.  -pc_gridmg_grids <n>                    - grids at the most
.  -pc_gridmg_coarse_size <n>              - points of the coarsest grid at the most; default 512
-  -pc_gridmg_grid <nx,ny[,nz]>            - unknowns in x, y and z, where neither a DM nor the matrix tells

   Level: beginner

   Notes:
   One V-cycle, symmetric and positive definite: for `KSPCG`. Coarser grids have stencils of 7 points (5 in 2D) that are made of
   the matrix alone; the coarsest one is solved exactly. It is meant for 3D grids, isotropic or not, with coefficients that jump,
   and takes some ten iterations at any size; on 2D grids `PCRRB` is faster.

   The matrix is symmetric, with 7 points on a 3D grid or 5 on a 2D one, of any sizes. Sides may be periodic. Identity
   rows (Dirichlet conditions kept in the matrix, masked cells) are decoupled, and where other rows keep their columns their
   values are put into the initial guess of a `KSP` that needs a symmetric operator. A singular matrix keeps its null
   vectors. Positive couplings are moved to the diagonal.

   With several ranks this is block Jacobi: each rank has grids of its own, made of its diagonal block. With a `DMDA` it is
   the rank's box.

   Errors:
   A matrix that is not finite or not symmetric, or on no such grid, is an error that names the row. A diagonal entry that is not
   positive makes the `KSP` diverge with `KSP_DIVERGED_PC_FAILED`, or is an error with `-ksp_error_if_not_converged`.

.seealso: `PCGridMGSetCoarsening()`, `PCGridMGSetSmoother()`, `PCGridMGSetSmooths()`, `PCGridMGSetPrecision()`,
          `PCGridMGSetGrids()`, `PCGridMGSetCoarseSize()`, `PCGridMGSetGrid()`, `PCRRB`, `PCMIC`, `PCMG`
M*/
PetscErrorCode PCCreate_GridMG(PC pc) {
  PC_GridMG *mg;

  PetscFunctionBegin;
  PetscCall((PetscRRBCreate<PC_GridMG, PCGridMGComposeParameters>(
      pc,
      {PCSetUp_GridMG, PetscRRBApply<PC_GridMG, Apply>, nullptr, PCSetFromOptions_GridMG,
       PetscRRBView<PC_GridMG, ViewBriefly, ViewChoices, ViewState>, MayHaveIdentityRows},
      &mg)));
  pc->ops->destroy = PCDestroy_GridMG;
  mg->precision = PC_GRIDMG_PRECISION_AUTO;
  mg->smooths = 1;
  mg->grids = 100;
  mg->coarse_size = 512;
  PetscFunctionReturn(PETSC_SUCCESS);
}
