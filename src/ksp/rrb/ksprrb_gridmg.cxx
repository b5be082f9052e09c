/* KSPRRB on PCGRIDMG, wherever the matrix is. */
#include "ksp/rrb/ksprrb_fused.h"
#include "pc/gridmg/pcgridmg_data.h"

using namespace petscrrb;

namespace {

PCGridMGState *StateOf(PC pc) { return ((PC_GridMG *)pc->data)->state; }

class OnGrids final : public KSPRRBFused {
public:
  OnGrids(const PCGridMGParts &with, bool black)
      : KSPRRBFused("KSPRRB", with.stream, (PetscBool)(!RanksOf(with) || RanksOf(with)->only_enqueue()),
                    [](rrb::Part) { return 0; }, {RanksOf(with), with.vectors, with.points}),
        iteration_(KSPRRBAt(with.stream, [&](auto &on) {
          if constexpr (std::decay_t<decltype(on)>::on_device)
            return rrbsolver::make_grid_iteration(on, *with.grids, black);
          else
            return rrbsolver::make_grid_iteration(*with.grids, black);
        })) {}

  PetscErrorCode Refresh(PC pc, const PetscRRBMatrix &A, const PetscRRBMatrixState &now,
                         KSPRRBValues *values) override {
    const PCGridMGState *s = StateOf(pc);
    RowFacts facts = s->found.read;

    PetscFunctionBegin;
    if (s->factored == now && !facts.positive)
      iteration_->refresh();
    else
      PetscCall(Compute([&] { return facts = iteration_->refresh(s->backend->Rows(pc, A)), 0; }));
    *values = KSPRRBValuesOf(facts.result(), facts.zero_rows);
    if (*values == KSP_RRB_VALUES_OK && facts.bad_pivot != no_row) *values = KSP_RRB_VALUES_NOT_POSITIVE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static rrb::Ranks *RanksOf(const PCGridMGParts &with) { return with.grids->ranks(); }
  const char *schur() const override { return "of the black points, in the finest grid's arrays"; }
  Iteration &iteration() const override { return *iteration_; }

  const std::unique_ptr<rrbsolver::GridIteration> iteration_;
};

PetscErrorCode Choose(PC pc, KSPRRBForm *form, const char **why) {
  const gridmg::GridMG &grids = *StateOf(pc)->backend->parts().grids;

  PetscFunctionBegin;
  if (grids.scaled()) {
    *form = KSP_RRB_UNFUSED;
    *why = "the preconditioner keeps a near null space";
  } else if (grids.red_black()) {
    *form = KSP_RRB_SCHUR;
  } else {
    *form = KSP_RRB_FULL;
    *why = "the finest grid is not smoothed by red-black points, or has an odd number of them around a periodic side";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Create(KSP ksp, KSPRRBForm form, std::unique_ptr<KSPRRBSolver> *solver) {
  const PC pc = ksp->pc;
  const PCGridMGParts with = StateOf(pc)->backend->parts();
  const PetscRRBSay say("KSPRRB", with.stream ? PETSC_ERR_GPU : PETSC_ERR_LIB);

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), say, [&] {
    KSPRRBDoAt(with.stream, [&] { *solver = std::make_unique<OnGrids>(with, form == KSP_RRB_SCHUR); });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

const KSPRRBInside KSPRRBOnGridMG = {
    PCGRIDMG,
    [](PC pc) -> PetscInt64 { return StateOf(pc)->grid.n[0] ? StateOf(pc)->backend->parts().build : 0; },
    [](PC pc) { return StateOf(pc)->backend->on_device(); },
    Choose,
    Create,
    [](PC pc) -> PetscRRBStateOfAll * { return StateOf(pc); },
    [](PC pc) { return StateOf(pc)->found.read.positive > 0; },
    [](PC pc) { return ((PC_GridMG *)pc->data)->known->masks(); }};
