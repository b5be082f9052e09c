/* KSPRRB on PCGRIDMG, wherever the matrix is. */
#include "ksp/rrb/core/grid_iteration.hpp"
#include "ksp/rrb/ksprrb_fused.h"
#include "ksp/rrb/ksprrb_inside.h"
#include "pc/gridmg/pcgridmg_data.h"

using namespace petscrrb;

namespace {

PCGridMGState *StateOf(PC pc) { return ((PC_GridMG *)pc->data)->state; }

template <class Array> class OnGrids final : public KSPRRBFused<Array> {
public:
  OnGrids(const PCGridMGParts &with, bool black)
      : KSPRRBFused<Array>("KSPRRB", with.stream, (PetscBool)(!RanksOf(with) || RanksOf(with)->only_enqueue()),
                           [](rrb::Part) { return 0; }, {RanksOf(with), with.vectors, with.points}) {
#if PETSCRRB_ON_DEVICES
    if (with.stream) iteration_ = rrbsolver::make_grid_iteration(with.stream->cuda, *with.grids, black);
#endif
    if (!with.stream) iteration_ = rrbsolver::make_grid_iteration(*with.grids, black);
  }

  PetscErrorCode Refresh(PC pc, const PetscRRBMatrix &A, const PetscRRBMatrixState &now,
                         KSPRRBValues *values) override {
    const PCGridMGState *s = StateOf(pc);
    RowFacts facts = s->found.read;

    PetscFunctionBegin;
    if (s->factored == now && !facts.positive)
      iteration_->refresh();
    else
      PetscCall(this->Compute([&] { return facts = iteration_->refresh(s->backend->Rows(pc, A)), 0; }));
    *values = KSPRRBValuesOf(facts.result(), facts.zero_rows);
    if (*values == KSP_RRB_VALUES_OK && facts.bad_pivot != no_row) *values = KSP_RRB_VALUES_NOT_POSITIVE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const char *schur() const override { return "of the black points, in the finest grid's arrays"; }

private:
  static rrb::Ranks *RanksOf(const PCGridMGParts &with) { return with.grids->ranks(); }
  rrbsolver::Iteration &iteration() const override { return *iteration_; }

  std::unique_ptr<rrbsolver::GridIteration> iteration_;
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
  const bool black = form == KSP_RRB_SCHUR;
  const PetscRRBSay say("KSPRRB", with.stream ? PETSC_ERR_GPU : PETSC_ERR_LIB);

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), say, [&] {
#if PETSCRRB_ON_DEVICES
    if (with.stream) {
      with.stream->Do([&] { *solver = std::make_unique<OnGrids<cuda::Buffer<double>>>(with, black); });
      return;
    }
#endif
    *solver = std::make_unique<OnGrids<std::vector<double>>>(with, black);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

const KSPRRBInside KSPRRBOnGridMG = {
    PCGRIDMG,
    [](PC pc) -> PetscRRBStateOfAll * { return StateOf(pc); },
    [](PC pc) -> PetscInt64 { return StateOf(pc)->grid.n[0] ? StateOf(pc)->backend->parts().build : 0; },
    [](PC pc) { return StateOf(pc)->backend->on_device(); },
    [](PC pc) { return (PetscBool)(StateOf(pc)->found.read.positive > 0); },
    [](PC pc) { return ((PC_GridMG *)pc->data)->known->masks(); },
    nullptr,
    [](PC) -> KSP { return nullptr; },
    Choose,
    Create};
