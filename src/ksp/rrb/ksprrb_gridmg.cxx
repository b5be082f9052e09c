/* KSPRRB on PCGRIDMG, wherever the matrix is. */
#include "ksp/rrb/core/grid_iteration.hpp"
#include "ksp/rrb/ksprrb_fused.h"
#include "ksp/rrb/ksprrb_inside.h"
#include "pc/gridmg/pcgridmg_data.h"

using namespace petscrrb;

namespace {

PCGridMGState *StateOf(PC pc) { return ((PC_GridMG *)pc->data)->state; }

class OnGrids final : public KSPRRBFused {
public:
  OnGrids(const PCGridMGParts &with, bool black)
      : KSPRRBFused("KSPRRB", with.stream, PETSC_TRUE, [](rrb::Part) { return 0; }) {
#if PETSCRRB_ON_DEVICES
    if (stream_) stream_->Do([&] { iteration_ = rrbsolver::make_grid_iteration(stream_->cuda, *with.grids, black); });
#endif
    if (!stream_) iteration_ = rrbsolver::make_grid_iteration(*with.grids, black);
  }

  PetscErrorCode Refresh(PC pc, const PetscRRBMatrix &A, const PetscRRBMatrixState &now,
                         KSPRRBValues *values) override {
    const PCGridMGState *s = StateOf(pc);
    RowFacts facts = s->found.read;

    PetscFunctionBegin;
    if (s->factored == now && !facts.positive)
      iteration_->refresh();
    else
      PetscCall(Compute([&] { return facts = iteration_->refresh(A.csr), 0; }));
    *values = KSPRRBValuesOf(facts.result(), facts.zero_rows);
    if (*values == KSP_RRB_VALUES_OK && facts.bad_pivot != no_row) *values = KSP_RRB_VALUES_NOT_POSITIVE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  rrbsolver::Iteration &iteration() const override { return *iteration_; }

  std::unique_ptr<rrbsolver::GridIteration> iteration_;
};

PetscErrorCode Choose(PC pc, KSPRRBForm *form, const char **why) {
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (ranks > 1) {
    *form = KSP_RRB_UNFUSED;
    *why = "the grid is on several ranks";
  } else if (StateOf(pc)->backend->scaled()) {
    *form = KSP_RRB_UNFUSED;
    *why = "the preconditioner keeps a near null space";
  } else if (StateOf(pc)->backend->parts().grids->red_black()) {
    *form = KSP_RRB_SCHUR;
  } else {
    *form = KSP_RRB_FULL;
    *why = "the finest grid is not smoothed by red-black points, or has an odd number of them around a periodic side";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

const KSPRRBInside KSPRRBOnGridMG = {
    PCGRIDMG,
    "of the black points, in the finest grid's arrays",
    [](PC pc) -> PetscRRBStateOfAll * { return StateOf(pc); },
    [](PC pc) -> PetscInt64 { return StateOf(pc)->grid.n[0] ? StateOf(pc)->backend->parts().build : 0; },
    [](PC pc) { return StateOf(pc)->backend->on_device(); },
    [](PC pc) { return (PetscBool)(StateOf(pc)->found.read.positive > 0); },
    [](PC) -> KSP { return nullptr; },
    Choose,
    [](PC pc, KSPRRBForm form, std::unique_ptr<KSPRRBSolver> *solver) {
      return PetscRRBTry(
          "KSPRRB", [&] { *solver = std::make_unique<OnGrids>(StateOf(pc)->backend->parts(), form == KSP_RRB_SCHUR); });
    }};
