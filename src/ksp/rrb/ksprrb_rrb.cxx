/* What KSPRRB wants to know of PCRRB. */
#include "ksp/rrb/ksprrb_inside.h"
#include "ksp/rrb/ksprrb_rrb.h"

using namespace petscrrb;

static PCRRBState *StateOf(PC pc) { return ((PC_RRB *)pc->data)->state; }

/* On the first Schur complement of a graph, which the factorization has. */
template <class Array> class OnBlackNodes final : public KSPRRBFused<Array> {
public:
  explicit OnBlackNodes(const PCRRBParts &with)
      : KSPRRBFused<Array>("KSPRRB", with.stream, with.captured, KSPRRBSolveOf(with), {}),
        iteration_(KSPRRBOnBackend(with, [&](auto &on) { return rrbsolver::make_graph_iteration(on, *with.core); })) {}
  /* It is of the matrix that was factored: Choose() sees to that. */
  PetscErrorCode Refresh(PC, const PetscRRBMatrix &, const PetscRRBMatrixState &, KSPRRBValues *values) override {
    *values = KSP_RRB_VALUES_OK;
    return PETSC_SUCCESS;
  }
  const char *schur() const override { return "of a graph, in the order of elimination"; }

private:
  rrbsolver::Iteration &iteration() const override { return *iteration_; }

  const std::unique_ptr<rrbsolver::Iteration> iteration_;
};

/* Why the core's, if it has one, is not that of Amat as it is now; NULL: it is. */
static PetscErrorCode WhyNotOfAmat(PC pc, const char **why) {
  const PCRRBState *s = StateOf(pc);
  PetscRRBMatrixState now;

  PetscFunctionBegin;
  PetscCall(now.Take(pc->mat));
  *why = KSPRRBWhyOtherValues(s->values);
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
    if (!full && with.core->black_graph()) {
      *solver = KSPRRBMakeSolver<OnBlackNodes>(with);
      return;
    }
    if (rows) {
      *solver = KSPRRBSolverOnGraph(with);
      return;
    }
    const auto pool = StateOf(pc)->backend->pool();
#if PETSCRRB_ON_DEVICES
    if (with.stream) {
      *solver = KSPRRBSolverOnDevice(with, full);
      return;
    }
#endif
    *solver = KSPRRBSolverOnHost(with, full);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const KSPRRBInside KSPRRBOnRRB = {
    PCRRB,
    [](PC pc) -> PetscRRBStateOfAll * { return StateOf(pc); },
    [](PC pc) -> PetscInt64 { return StateOf(pc)->core ? StateOf(pc)->build : 0; },
    [](PC pc) { return StateOf(pc)->backend->on_device(); },
    [](PC pc) { return (PetscBool)(StateOf(pc)->values.positive > 0); },
    [](PC pc) { return ((PC_RRB *)pc->data)->known->masks(); },
    PCRRBWantSchur,
    [](PC pc) -> KSP { return StateOf(pc)->coarse == PC_RRB_COARSE_KSP ? ((PC_RRB *)pc->data)->coarse_ksp : nullptr; },
    Choose,
    Create};
