/* PCRRB on several ranks of hosts. */
#include "pc/rrb/pcrrb_on_ranks.h"

#include "pc/rrb/pcrrb_host.h"
#include "comm/ranks_mpi.h"

using namespace petscrrb;

namespace {

class OnRanks final : public PCRRBHost {
public:
  PetscErrorCode FindGrid(PC pc, const Csr &, Grid *grid) override { return matrix_.FindGrid(pc, grid); }
  PetscErrorCode Read(PC pc, const Csr &, const Grid &grid, Vec near_null, double rounding,
                      PCRRBValues *values) override {
    return matrix_.Read(pc, grid, near_null, rounding, PCRRBRoomIn(stencil_), values);
  }
  void weights(double *x, double *y) const override { matrix_.weights(x, y); }

  PetscErrorCode Build(PC, const rrb::Extent &, const rrb::Options &, PetscBool, std::unique_ptr<Core> *) override;
  PetscErrorCode Factor(Core &core, rrb::Lumping lumping) override {
    return PCRRBTogether([&] { return PCRRBHost::Factor(core, lumping); });
  }
  PetscErrorCode FactorLastBlock(Core &, rrb::Outcome *, PetscBool *) override;
  PetscErrorCode EstimateForCycle(Core &core) override {
    return PCRRBTogether([&] { return PCRRBHost::EstimateForCycle(core); });
  }
  PetscErrorCode Apply(PC, Core &, Vec, Vec, rrb::Part) override;
  PetscErrorCode ViewRanks(PetscViewer viewer) override { return matrix_.View(viewer); }
  PetscErrorCode CreateSolver(PC pc, Core &core, PetscBool, std::unique_ptr<KSPRRBSolver> *solver) override {
    return KSPRRBCreateOnRanks(pc, host_, core, *black_, *ranks_, matrix_, LastBlockSolver(core), solver);
  }
  double bytes() const override { return PCRRBHost::bytes() + matrix_.bytes() + 8.0 * (double)(r_.size() + z_.size()); }

private:
  PetscErrorCode ApplyOnBoxes(PC, Core &, Vec, Vec, rrb::Part);

  PCRRBDistribution matrix_{PCRRBRowValuesOnHost()};
  std::vector<double> r_, z_; /* of the box, where vectors are not what it has */
  std::unique_ptr<PCRRBRanks> ranks_;
  rrb::BlackRanks *black_ = nullptr; /* the core */
};

/* Of a grid of all ranks. Plans are made by each rank alone, so that none waits for one that has no memory. */
PetscErrorCode OnRanks::Build(PC pc, const rrb::Extent &all, const rrb::Options &o, PetscBool single,
                              std::unique_ptr<Core> *core) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(coarse_.Reset());
  core->reset();
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSay("PCRRB"), [&] {
    ranks_ = std::make_unique<PCRRBRanks>(comm);
    matrix_.SetBoxes(pc, all, o.levels);
    auto made =
        rrb::make_distributed<PetscInt>(host_, *ranks_, matrix_.boxes(), o, matrix_.gathered(), single != PETSC_FALSE);
    black_ = made.get();
    *core = std::move(made);
    const std::size_t n = matrix_.lines() ? (std::size_t)(*core)->extent().nodes() : 0;
    r_.resize(n);
    z_.resize(n);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnRanks::FactorLastBlock(Core &core, rrb::Outcome *outcome, PetscBool *spd) {
  return PCRRBTogether([&] {
    PetscFunctionBegin;
    PetscCall(PetscRRBCallTogether(ranks_->comm(), PetscRRBSay("PCRRB"),
                                   [&] { return PCRRBHost::FactorLastBlock(core, outcome, spd); }));
    PetscCall(PCRRBAgree(ranks_->comm(), spd));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

PetscErrorCode OnRanks::Apply(PC pc, Core &core, Vec x, Vec y, rrb::Part part) {
  return PCRRBTogether(
      [&] { return matrix_.lines() ? ApplyOnBoxes(pc, core, x, y, part) : PCRRBHost::Apply(pc, core, x, y, part); });
}

PetscErrorCode OnRanks::ApplyOnBoxes(PC pc, Core &core, Vec x, Vec y, rrb::Part part) {
  const PetscScalar *r;
  PetscScalar *z;

  PetscFunctionBegin;
  PetscCall(vectors_.Say(pc, "PCRRB", x));
  PetscCall(VecGetArrayRead(x, &r));
  PetscCall(matrix_.ToBoxes(r, r_.data()));
  PetscCall(VecRestoreArrayRead(x, &r));
  PetscCall(rrb::Cycle(core).apply(r_.data(), z_.data(), part, LastBlockSolver(core)));
  PetscCall(VecGetArrayWrite(y, &z));
  PetscCall(matrix_.ToRows(z_.data(), z));
  PetscCall(VecRestoreArrayWrite(y, &z));
  PetscCall(PetscLogFlops(PCRRBFlops(pc, part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCRRBCreateOnRanks(std::unique_ptr<PCRRBBackend> *backend) {
  return PetscRRBTry(PetscRRBSay("PCRRB"), [&] { *backend = std::make_unique<OnRanks>(); });
}
