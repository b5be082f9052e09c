/* What KSPRRB wants to know of PCRRB, and its iterations on the factorization, wherever the matrix is. */
#include "ksp/rrb/core/iteration.hpp"
#include "ksp/rrb/ksprrb_fused.h"
#include "pc/rrb/pcrrb_data.h"

using namespace petscrrb;

static PCRRBState *StateOf(PC pc) { return ((PC_RRB *)pc->data)->state; }

/* Why what the preconditioner has read is not what would be read here; NULL: it is. */
static const char *WhyOtherValues(const RowFacts &v) {
  if (v.rounded) return "the preconditioner takes small row sums for 0, since there is a null space";
  if (v.positive) return "the preconditioner has moved positive off-diagonal entries";
  return v.zero_rows ? "the matrix has zero rows" : nullptr;
}

namespace {

/* On the first Schur complement of a grid, on one rank and on the boxes of several. full: on all nodes instead, where red ones are not
   exact. */
class OnGrid final : public KSPRRBFused {
public:
  OnGrid(const PCRRBParts &with, bool full)
      : KSPRRBFused(
            with.matrix ? "RRB on several ranks" : "KSPRRB", with.stream, with.captured, with.solve_last_block,
            {with.ranks, with.matrix ? &with.matrix->vectors() : nullptr, (std::size_t)with.core->extent().nodes()}),
        matrix_(with.matrix), full_(full),
        stencil_(KSPRRBAt(with.stream, [](auto &on) { return rrb::make_stencil_reader(on); })),
        iteration_(KSPRRBAt(with.stream, [&](auto &on) {
          const bool launched = with.ranks && !with.ranks->only_kernels();
          if constexpr (std::decay_t<decltype(on)>::on_device)
            return rrbsolver::make_rrb_iteration(on, *with.core, full, with.black,
                                                 launched ? Iteration::Loop::launches : Iteration::Loop::automatic);
          else
            return rrbsolver::make_rrb_iteration(on, *with.core, full, with.black);
        })) {}

  PetscErrorCode Refresh(PC pc, const PetscRRBMatrix &A, const PetscRRBMatrixState &now,
                         KSPRRBValues *values) override {
    const PCRRBState &s = *StateOf(pc);

    PetscFunctionBegin;
    if (matrix_)
      PetscCall(RefreshOnRanks(pc, A.on_ranks, s.grid, values));
    else if (!full_ && now == s.factored && s.core->keeps_matrix() && !WhyOtherValues(s.values.facts))
      PetscCall(RefreshByFactored(s, values));
    else
      PetscCall(RefreshFrom(A.csr, s.grid, full_ ? nullptr : s.backend->prepared().v, values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  double bytes() const override { return KSPRRBFused::bytes() + stencil_->bytes(); }

private:
  const char *schur() const override { return "in r1/r2/b1/b2 storage"; }
  Iteration &iteration() const override { return *iteration_; }

  /* the iteration's matrix, as it was read; may throw */
  KSPRRBValues Take(const rrb::PreparedStencil &A, const rrb::FirstSchur *made = nullptr) {
    iteration_->refresh(A, made);
    return iteration_->refreshed() ? KSP_RRB_VALUES_OK : KSP_RRB_VALUES_NOT_POSITIVE;
  }
  /* the matrix where the preconditioner has it */
  PetscErrorCode RefreshByFactored(const PCRRBState &s, KSPRRBValues *values) {
    const bool lends = s.core->schur() && !s.outcome.unscaled;
    rrb::FirstSchur made;
    if (lends) made = *s.core->schur();
    if (!s.outcome.few_kinds) made.kind = nullptr;
    return Compute([&] { return *values = Take(s.backend->prepared(), lends ? &made : nullptr), 0; });
  }
  /* v: of the preconditioner's V A V, where the matrix is; NULL: V = I. Of rows that have become identity rows it is 1, whatever
     it was. */
  PetscErrorCode RefreshFrom(const Csr &A, const Grid &grid, const double *v, KSPRRBValues *values) {
    return Compute([&] {
      RowFacts facts;
      const ReadResult result = stencil_->read(A, grid, v, rounding, Positive::stays, facts, nullptr);
      *values = KSPRRBValuesOf(result, facts.zero_rows);
      if (*values == KSP_RRB_VALUES_OK) *values = Take(stencil_->prepared());
      return 0;
    });
  }
  PetscErrorCode RefreshOnRanks(PC pc, Mat A, const Grid &grid, KSPRRBValues *values) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
    rrb::PreparedStencil read;
    RowFacts facts;
    PetscBool ok = PETSC_FALSE;

    PetscFunctionBegin;
    PetscCall(matrix_->ReadForSolver(pc, A, grid, rounding, stencil_.get(), &read, &facts));
    *values = KSPRRBValuesOf(facts.result(), facts.zero_rows);
    if (*values != KSP_RRB_VALUES_OK) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscRRBTryTogether(
        comm, say_, [&] { KSPRRBDoAt(stream_, [&] { ok = (PetscBool)(Take(read) == KSP_RRB_VALUES_OK); }); }));
    PetscCall(PCRRBAgree(comm, &ok));
    if (!ok) *values = KSP_RRB_VALUES_NOT_POSITIVE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PCRRBDistribution *const matrix_; /* NULL on one rank */
  const bool full_;                 /* which is of A itself, whatever V is in the preconditioner */
  const std::unique_ptr<rrb::StencilReader> stencil_;
  const std::unique_ptr<rrbsolver::RrbIteration> iteration_;
};

/* On the first Schur complement of a graph, which the factorization has. */
class OnBlackNodes final : public KSPRRBFused {
public:
  explicit OnBlackNodes(const PCRRBParts &with)
      : KSPRRBFused("KSPRRB", with.stream, with.captured, with.solve_last_block, {}),
        iteration_(KSPRRBAt(with.stream, [&](auto &on) { return rrbsolver::make_graph_iteration(on, *with.core); })) {}
  /* It is of the matrix that was factored: Choose() sees to that. */
  PetscErrorCode Refresh(PC, const PetscRRBMatrix &, const PetscRRBMatrixState &, KSPRRBValues *values) override {
    *values = KSP_RRB_VALUES_OK;
    return PETSC_SUCCESS;
  }

private:
  const char *schur() const override { return "of a graph, in the order of elimination"; }
  Iteration &iteration() const override { return *iteration_; }

  const std::unique_ptr<Iteration> iteration_;
};

} // namespace

/* Why the core's, if it has one, is not that of Amat as it is now; NULL: it is. */
static PetscErrorCode WhyNotOfAmat(PC pc, const char **why) {
  const PCRRBState *s = StateOf(pc);
  PetscRRBMatrixState now;

  PetscFunctionBegin;
  PetscCall(now.Take(pc->mat));
  *why = WhyOtherValues(s->values.facts);
  if (!(now == s->factored))
    *why = "the preconditioner was built from other values";
  else if (s->values.scaled)
    *why = "the preconditioner keeps a near null space";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Choose(PC pc, KSPRRBForm *form, const char **why) {
  const PCRRBState *s = StateOf(pc);
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  *form = KSP_RRB_FULL;
  if (s->core->black_graph() && ranks == 1) {
    PetscCall(WhyNotOfAmat(pc, why));
    if (!*why) *form = KSP_RRB_SCHUR;
  } else if (s->on_graph)
    *why = "the matrix is on no grid";
  else if (s->support)
    *why = "red nodes are chosen by support";
  else if (s->grid.points != 5)
    *why = "the matrix is not a 5-point matrix";
  else if (s->core->extent().x.odd_ring() || s->core->extent().y.odd_ring())
    *why = "red nodes couple around a periodic side with an odd number of points";
  else if (ranks > 1 && !s->core->black_level().around)
    *why = "the finest grid is on every rank";
  else if (ranks == 1 && s->core->options().storage_grids < 1)
    *why = "the finest grid is not in r1/r2/b1/b2 storage";
  else
    *form = KSP_RRB_SCHUR;
  if (ranks > 1 && *form == KSP_RRB_FULL) *form = KSP_RRB_UNFUSED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(KSP ksp, KSPRRBForm form, std::unique_ptr<KSPRRBSolver> *solver) {
  const PC pc = ksp->pc;
  const PCRRBParts with = StateOf(pc)->backend->parts(*StateOf(pc)->core);
  const bool full = form == KSP_RRB_FULL, rows = StateOf(pc)->on_graph;
  const PetscRRBSay say("KSPRRB", with.stream ? PETSC_ERR_GPU : PETSC_ERR_LIB);

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), say, [&] {
    const bool black = !full && with.core->black_graph();
    const auto pool = black || rows ? nullptr : StateOf(pc)->backend->pool();
    KSPRRBDoAt(with.stream, [&] {
      if (black)
        *solver = std::make_unique<OnBlackNodes>(with);
      else if (rows)
        *solver = KSPRRBSolverOnGraph(with);
      else
        *solver = std::make_unique<OnGrid>(with, full);
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const KSPRRBInside KSPRRBOnRRB = {
    PCRRB,
    [](PC pc) -> PetscInt64 { return StateOf(pc)->core ? StateOf(pc)->build : 0; },
    [](PC pc) { return StateOf(pc)->backend->on_device(); },
    Choose,
    Create,
    [](PC pc) -> PetscRRBStateOfAll * { return StateOf(pc); },
    [](PC pc) { return StateOf(pc)->values.facts.positive > 0; },
    [](PC pc) { return ((PC_RRB *)pc->data)->known->masks(); },
    [](PC pc) -> KSP { return StateOf(pc)->coarse == PC_RRB_COARSE_KSP ? ((PC_RRB *)pc->data)->coarse_ksp : nullptr; },
    PCRRBWantSchur};
