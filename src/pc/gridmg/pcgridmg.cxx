/* PCGRIDMG, the PETSc preconditioner. */
#include "pc/gridmg/pcgridmg_on_ranks.h"
#include "pc/set_up.h"
#include "stencil/refusal.hpp"

using namespace petscrrb;

namespace {

template <class Where> class Backend final : public PetscRRBBackendAt<Where, PCGridMGBackend> {
  using PetscRRBBackendAt<Where, PCGridMGBackend>::where_;

public:
  Backend() : PetscRRBBackendAt<Where, PCGridMGBackend>("PCGRIDMG") {}
  PCGridMGDistribution &distribution() override {
    if (!ranks_) ranks_ = std::make_unique<PCGridMGOnRanks<Where>>(where_);
    return ranks_->distribution;
  }
  PetscRRBTrouble Create(PC pc, const Grid &g, const gridmg::Options &o, PCGridMGPrecision precision) override {
    grid_ = g, options_ = o;
    single_ = precision != PC_GRIDMG_PRECISION_DOUBLE, automatic_ = precision == PC_GRIDMG_PRECISION_AUTO;
    const auto make = [&] {
      grids_ = nullptr;
      if (ranks_) ranks_->Prepare(pc);
      Make(pc);
    };
    return ranks_ ? where_.Attempt(make) : where_.AttemptSetUp(make);
  }
  PetscRRBTrouble Refresh(PC pc, const PetscRRBMatrix &P, const PetscRRBNearNull &near,
                          gridmg::Findings *found) override {
    const auto refresh = [&] {
      With(near, [&](gridmg::NearNull x) {
        const Csr rows = Rows(pc, P);
        if (ranks_ && near.vector) x = ranks_->OfBox(pc, x);
        *found = grids_->refresh(rows, x);
        if (!single_ || !(automatic_ ? found->wants_double : found->needs_double)) return;
        single_ = false; /* for good: values that want it come again */
        Make(pc);
        *found = grids_->refresh(rows, x);
      });
    };
    return ranks_ || std::exchange(refreshed_, true) ? where_.Attempt(refresh) : where_.AttemptSetUp(refresh);
  }
  Csr Rows(PC pc, const PetscRRBMatrix &P) override { return ranks_ ? ranks_->Rows(pc, P.on_ranks) : P.csr; }
  PetscErrorCode ViewRanks(PetscViewer viewer) override { return ranks_ ? ranks_->View(viewer) : PETSC_SUCCESS; }
  PetscErrorCode Apply(PC pc, Vec x, Vec y) override {
    const auto apply = [&](const PetscScalar *r, PetscScalar *z) { grids_->apply(r, z); };
    const auto on_box = [&](const PetscScalar *r, PetscScalar *z) { ranks_->OnBox(r, z, apply); };

    PetscFunctionBegin;
    if (!ranks_ || !grids_) /* on one, or no rank has rows */
      PetscCall(where_.Use(pc, x, y, apply));
    else
      PetscCall(where_.Use(pc, x, y, on_box, PETSC_FALSE, PETSC_TRUE));
    PetscCall(where_.LogFlops(grids_ ? grids_->flops() : 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  double bytes() const override { return (grids_ ? grids_->bytes() : 0) + (ranks_ ? ranks_->bytes() : 0); }
  PCGridMGParts parts() override {
    return {grids_.get(), where_.Stream(), build_, ranks_ ? &ranks_->vectors() : nullptr,
            ranks_ ? ranks_->points() : 0};
  }

private:
  /* f(near) with the vector's array here; may throw */
  template <class F> void With(const PetscRRBNearNull &near, const F &f) {
    const PetscScalar *x = nullptr;
    const auto restore = [&] { PetscRRBCheckSent(where_.Restore(near.vector, &x)); };

    if (!near.vector) return f({nullptr, near.rounding});
    PetscRRBCheckSent(where_.Get(near.vector, &x));
    try {
      f({x, near.rounding});
    } catch (...) {
      restore();
      throw;
    }
    restore();
  }
  void Make(PC pc) {
    grids_ = nullptr, refreshed_ = false; /* its memory first, and graphs that have messages in them */
    const gridmg::Shape all{{grid_.n[0], grid_.n[1], grid_.n[2]},
                            {grid_.periodic[0], grid_.periodic[1], grid_.periodic[2]}};
    const gridmg::Dealt dealt = ranks_ ? ranks_->MakeRanks(pc) : gridmg::Dealt{nullptr, gridmg::Cuts::uncut(all)};
    dealt.together([&] {
      grids_ =
          where_.Make([&](auto &...on) { return gridmg::make_gridmg(on..., dealt, grid_.points, options_, single_); });
    });
    build_ = PetscRRBNewBuild();
  }

  Grid grid_;
  gridmg::Options options_;
  bool single_ = true, automatic_ = false;
  bool refreshed_ = false; /* the grids that there are */
  PetscInt64 build_ = 0;
  std::unique_ptr<PCGridMGOnRanks<Where>> ranks_; /* NULL on one */
  std::unique_ptr<gridmg::GridMG> grids_;
};

} // namespace

static PetscErrorCode CreateBackend(PetscBool device, std::unique_ptr<PCGridMGBackend> *backend) {
  return PetscRRBCreateBackend<Backend>(device, "PCGRIDMG", backend);
}

/* --- set-up --- */

static gridmg::Options Options(const PC_GridMG *mg) {
  return {(gridmg::Coarsening)mg->coarsening, (gridmg::Smoother)mg->smoother, (int)mg->smooths, (int)mg->grids,
          mg->coarse_size};
}

static PetscErrorCode Build(PC pc, PetscRRBTrouble *trouble) {
  const PC_GridMG *mg = (PC_GridMG *)pc->data;
  PCGridMGState *s = mg->state;
  const Mat on_ranks = s->rows.on_ranks;
  PetscRRBMatrixState now;

  PetscFunctionBegin;
  PetscCall(now.Take(pc->pmat));
  if (on_ranks) {
    PetscCall(s->backend->distribution().FindGrid(pc, on_ranks, &s->grid));
    PetscCall(s->backend->distribution().Build(pc, on_ranks, s->grid, PCGridMGGatherSize(mg)));
  } else if (mg->expected && mg->expected->of == now && !mg->grid[0])
    s->grid = mg->expected->grid;
  else
    PetscCall(PetscRRBFindStarOnRank(pc, pc->pmat, mg->grid, "-pc_gridmg_grid", s->backend->rows(s->rows.csr),
                                     "-pc_type rrb", &s->grid, trouble));
  if (*trouble) PetscFunctionReturn(PETSC_SUCCESS);
  *trouble = s->backend->Create(pc, s->grid, Options(mg), mg->precision);
  PetscCall(PetscRRBFirstTrouble(PetscObjectComm((PetscObject)pc), trouble));
  s->fresh = on_ranks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WhyRefusedOnRanks(PC pc, std::string *why) {
  const PCGridMGState *s = ((PC_GridMG *)pc->data)->state;
  const PCGridMGDistribution &d = s->backend->distribution();
  PetscRRBTrouble trouble;
  PetscRRBOverlap overlap;
  const auto at = [&](PetscInt p) { return d.words(overlap.global(p)); };
  const auto words = [&](PetscInt row, PetscInt column) { return at(row) + ", column of " + at(column); };

  PetscFunctionBegin;
  PetscCall(overlap.Build(pc, pc->pmat, s->rows.on_ranks, 1));
  PetscCall(
      PetscRRBExplain("PCGRIDMG", overlap, s->rows.on_ranks, &trouble, [&](const Csr &rows, const Flags &identity) {
        return s->found.read.not_finite ? where_not_finite(RankRows(rows), words)
                                        : where_asymmetric(rows, identity, words);
      }));
  *why = trouble.why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadValues(PC pc, PetscBool *rebuild, PetscRRBTrouble *trouble) {
  PCGridMGState *s = ((PC_GridMG *)pc->data)->state;
  const Mat on_ranks = s->rows.on_ranks;
  std::string why;

  PetscFunctionBegin;
  PetscCall(s->near_null.Take(pc));
  *trouble = s->backend->Refresh(pc, s->rows, s->near_null, &s->found);
  PetscCall(PetscRRBFirstTrouble(PetscObjectComm((PetscObject)pc), trouble));
  if (*trouble) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->found.useless)
    PetscCall(PetscInfo(pc, "The near null space is 0 or not finite somewhere: the constant vector is used instead\n"));
  const ReadResult result = s->found.read.result();
  *rebuild = (PetscBool)(result == ReadResult::rebuild && !s->fresh);
  if (*rebuild || result == ReadResult::ok) {
    s->fresh = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!on_ranks)
    *trouble = s->backend->WhyRefused(s->rows.csr, &why);
  else if (result == ReadResult::rebuild)
    PetscCall(s->backend->distribution().WhyForeign(pc, on_ranks, &why));
  else
    PetscCall(WhyRefusedOnRanks(pc, &why));
  if (!*trouble) *trouble = {"PCGRIDMG cannot use this matrix: " + why, PETSC_ERR_ARG_WRONG};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckPivots(PC pc, PetscRRBTrouble *trouble) {
  const gridmg::Findings &f = ((PC_GridMG *)pc->data)->state->found;

  PetscFunctionBegin;
  if (f.read.bad_pivot != no_row)
    *trouble = {"the diagonal entry of row " + std::to_string(f.read.bad_pivot) +
                    " is not positive: the matrix is not positive definite",
                PETSC_ERR_MAT_LU_ZRPVT};
  else if (f.too_large)
    *trouble = {"the coarsest grid has " + std::to_string(f.too_large) + " points, but at most " +
                    std::to_string(f.most) +
                    " are solved exactly: use more -pc_gridmg_grids, or a smaller -pc_gridmg_coarse_size",
                PETSC_ERR_ARG_OUTOFRANGE};
  else if (f.failed)
    *trouble = {"a coarser grid has a pivot that is not positive: the matrix is not positive definite, or it has rows "
                "whose sums are negative",
                PETSC_ERR_MAT_LU_ZRPVT};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_GridMG(PC pc) {
  const auto get = [&] { return PetscRRBMatrixGet(pc, pc->pmat, &((PC_GridMG *)pc->data)->state->rows); };
  const auto from_rows = [&](PetscBool *rebuild, PetscRRBTrouble *trouble) -> PetscErrorCode {
    PCGridMGState *s = ((PC_GridMG *)pc->data)->state;
    PetscInt rows;

    PetscFunctionBegin;
    PetscCall(PetscRRBCallTogether(PetscObjectComm((PetscObject)pc), "PCGRIDMG", [&]() -> PetscErrorCode {
      PetscFunctionBegin;
      PetscCall(PetscRRBChooseBackend(
          s, CreateBackend, [&] { s->ready = PETSC_FALSE; }, rebuild));
      if (s->rows.on_ranks) (void)s->backend->distribution(); /* there is one from here on */
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscCall(MatGetSize(pc->pmat, &rows, nullptr));
    if (!rows) {
      s->ready = PETSC_TRUE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(PetscRRBReadOrBuild(pc, s, *rebuild, trouble, Build, ReadValues));
    if (!*trouble) PetscCall(CheckPivots(pc, trouble));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  return PetscRRBSetUp<PC_GridMG>(
      pc, PETSC_COMM_SELF, "PCGRIDMG", [] { return PETSC_SUCCESS; }, get, from_rows);
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
    if (i && !g.smooth && i + 1 < grids.size()) continue; /* between two directions */
    std::vector<int> coarsened;
    std::size_t next = i;
    for (; next < grids.size() && (next == i || !grids[next].smooth) && grids[next].direction >= 0; ++next)
      coarsened.push_back(grids[next].direction);
    std::string line = std::to_string(g.n[0]) + " x " + std::to_string(g.n[1]) + " x " + std::to_string(g.n[2]) + ": ";
    line += !g.smooth ? "solved" : g.lines.empty() ? "red-black points" : "zebra lines in " + words(g.lines);
    if (!coarsened.empty()) line += ", coarsened in " + words(coarsened);
    if (g.dealt && next < grids.size() && !grids[next].dealt) line += "; the next one is on every rank";
    lines.push_back(line);
  }
  return lines;
}

static PetscErrorCode ViewGrids(const gridmg::GridMG &grids, PetscViewer viewer) {
  std::vector<std::string> lines;

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)viewer), PetscRRBSay("PCGRIDMG"),
                                [&] { lines = Describe(grids.report()); }));
  PetscCall(PetscViewerASCIIPrintf(viewer, "grids:\n"));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  for (const std::string &line : lines) PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", line.c_str()));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewState(PC pc, PetscViewer viewer) {
  const PCGridMGState *s = ((PC_GridMG *)pc->data)->state;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  double bytes = s->backend ? s->backend->bytes() : 0.0; /* of all ranks */

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm));
  if (!s->grid.n[0]) PetscFunctionReturn(PETSC_SUCCESS); /* there are no rows */
  const gridmg::GridMG &grids = *s->backend->parts().grids;
  PetscCall(PetscRRBViewGrid(viewer, "", s->grid, [](int) { return ""; }));
  PetscCall(s->backend->ViewRanks(viewer));
  PetscCall(ViewGrids(grids, viewer));
  if (((PC_GridMG *)pc->data)->precision != PC_GRIDMG_PRECISION_DOUBLE)
    PetscCall(PetscViewerASCIIPrintf(viewer, "precision in use: %s\n", grids.single() ? "single" : "double"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "backend: %s\n", s->backend->on_device() ? "cuda" : "host"));
  if (grids.scaled()) PetscCall(PetscViewerASCIIPrintf(viewer, "the near null space of the matrix is kept\n"));
  if (s->found.null_directions)
    PetscCall(PetscViewerASCIIPrintf(viewer, "null directions: %d\n", s->found.null_directions));
  if (s->found.read.identity_rows)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "identity rows, decoupled: %lld\n", (long long)s->found.read.identity_rows));
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
.  -pc_gridmg_precision <auto,double,single> - precision of the cycle; default auto: single, unless coefficients jump too much
.  -pc_gridmg_grids <n>                    - the largest number of grids
.  -pc_gridmg_coarse_size <n>              - the largest number of points of the coarsest grid; default 512
.  -pc_gridmg_gather_size <n>              - maximum number of points of a grid that is on every rank; default 4096, on devices 32768
.  -pc_gridmg_transport <auto,stores,nccl,sf> - how values travel between devices
-  -pc_gridmg_grid <nx,ny[,nz]>            - unknowns in x, y and z, if neither a DM nor the matrix determines them

   Level: beginner

   Notes:
   One V-cycle, symmetric and positive definite, for `KSPCG`. Coarser grids have stencils of 7 points (5 in 2D) that are computed from
   the matrix alone; the coarsest one is solved exactly. It is meant for 3D grids, isotropic or not, with coefficients that may jump,
   and takes about ten iterations at any size. On 2D grids `PCRRB` is faster.

   The matrix must be symmetric, with 7 points on a 3D grid or 5 on a 2D one, of any size. Sides may be periodic. Identity rows (Dirichlet
   conditions kept in the matrix, masked cells) are decoupled; if other rows keep their columns, their values are put into the initial guess
   of a `KSP` that needs a symmetric operator. A singular matrix keeps its null vectors. Positive couplings are moved to the diagonal.
   Coarser grids keep the first vector of the near null space (`MatSetNearNullSpace()`), else that of the null space, else the constant one.

   With several ranks it is the same operator, up to rounding. Each rank has a box of the large grids, and a copy of the first one with at
   most as many points as `PCGridMGSetGatherSize()` sets and of all coarser ones. Ranks that share lines work on them one after the other. The
   grid comes from a `DMDA`, or rows must be numbered in natural order.

   Errors:
   A matrix that is not finite or not symmetric, or not on such a grid, is an error that names the row. A diagonal entry that is not
   positive makes the `KSP` diverge with `KSP_DIVERGED_PC_FAILED`, or is an error with `-ksp_error_if_not_converged`.

.seealso: `PCGridMGSetCoarsening()`, `PCGridMGSetSmoother()`, `PCGridMGSetSmooths()`, `PCGridMGSetPrecision()`,
          `PCGridMGSetGrids()`, `PCGridMGSetCoarseSize()`, `PCGridMGSetGatherSize()`, `PCGridMGSetTransport()`, `PCGridMGSetGrid()`,
          `PCRRB`, `PCMIC`, `PCMG`
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
  mg->gather_size = PETSC_DECIDE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
