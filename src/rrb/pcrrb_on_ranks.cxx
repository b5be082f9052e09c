/* PCRRB on several ranks: boxes, exchanges, applications. */
#include "rrb/pcrrb_on_ranks.h"

using namespace petscrrb;

PCRRBOnRanks::~PCRRBOnRanks() { (void)PetscSFDestroy(&lines_); }

static PetscRRBTrouble SayNoMemory(const std::exception &e) {
  return {std::string("No memory for RRB: ") + e.what(), PETSC_ERR_MEM};
}

/* Of a grid of all ranks. Plans are made by each rank alone, so that none waits for one that has no memory. */
PetscErrorCode PCRRBOnRanks::Build(PC pc, const rrb::Extent &all, const rrb::Options &o, PetscBool single,
                                   std::unique_ptr<Core> *core) {
  const PetscInt size = ((PC_RRB *)pc->data)->gather_size;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(coarse_.Reset());
  core->reset();
  PetscCall(PetscRRBTryTogether(comm, SayNoMemory, [&] {
    ranks_ = std::make_unique<PCRRBRanks>(comm);
    boxes_ = std::make_unique<rrb::Boxes>(cuts_.x, cuts_.y, all.x.periodic, all.y.periodic);
    gathered_ = rrb::gathered_grid(*boxes_, o.levels, size == PETSC_DECIDE ? PCRRBDefaultGatherSize : size);
    *core = rrb::make_distributed<PetscInt>(host_, *ranks_, *boxes_, o, gathered_, single != PETSC_FALSE);
    const std::size_t n = lines_ ? (std::size_t)(*core)->extent().nodes() : 0;
    r_.resize(n);
    z_.resize(n);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* work() is done with other ranks; what goes wrong with the messages comes as an exception. */
template <class Work> static PetscErrorCode Together(const Work &work) {
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  try {
    code = work();
  } catch (const std::exception &e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "RRB on several ranks: %s", e.what());
  }
  PetscFunctionReturn(code);
}

PetscErrorCode PCRRBOnRanks::Factor(Core &core, rrb::Lumping lumping) {
  return Together([&] { return PCRRBHost::Factor(core, lumping); });
}

/* The last block is the same on all ranks, as far as their processors are. */
PetscErrorCode PCRRBOnRanks::FactorLastBlock(Core &core, rrb::Outcome *outcome, PetscBool *spd) {
  return Together([&] {
    PetscFunctionBegin;
    PetscCall(PCRRBHost::FactorLastBlock(core, outcome, spd));
    for (const double of_rank : ranks_->tell({(double)*spd}))
      if (of_rank == 0) *spd = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

PetscErrorCode PCRRBOnRanks::EstimateForCycle(Core &core) {
  return Together([&] { return PCRRBHost::EstimateForCycle(core); });
}

PetscErrorCode PCRRBOnRanks::Apply(PC pc, Core &core, Vec x, Vec y, rrb::Part part) {
  return Together([&] { return lines_ ? ApplyOnBoxes(pc, core, x, y, part) : PCRRBHost::Apply(pc, core, x, y, part); });
}

/* The vectors are not where the boxes are. */
PetscErrorCode PCRRBOnRanks::ApplyOnBoxes(PC pc, Core &core, Vec x, Vec y, rrb::Part part) {
  const PetscScalar *r;
  PetscScalar *z;

  PetscFunctionBegin;
  PetscCall(vectors_.Say(pc, "PCRRB", x));
  PetscCall(VecGetArrayRead(x, &r));
  PetscCall(PetscSFBcastBegin(lines_, MPIU_SCALAR, r, r_.data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(lines_, MPIU_SCALAR, r, r_.data(), MPI_REPLACE));
  PetscCall(VecRestoreArrayRead(x, &r));
  PetscCall(rrb::Cycle(core).apply(r_.data(), z_.data(), part, LastBlockSolver(core)));
  PetscCall(VecGetArrayWrite(y, &z));
  PetscCall(PetscSFReduceBegin(lines_, MPIU_SCALAR, z_.data(), z, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(lines_, MPIU_SCALAR, z_.data(), z, MPI_REPLACE));
  PetscCall(VecRestoreArrayWrite(y, &z));
  PetscCall(PetscLogFlops(PCRRBFlops(pc, part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBOnRanks::ViewRanks(PetscViewer viewer) {
  const rrb::Extent x = boxes_->all(gathered_);

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "the same as on one rank, on %d: %d x %d boxes%s\n", boxes_->count(),
                                   (int)cuts_.x.size() - 1, (int)cuts_.y.size() - 1,
                                   lines_ ? "; some rows are on another rank than their line" : ""));
  if (gathered_ > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "grids 0 to %d are distributed, ", gathered_ - 1));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s is distributed, ", gathered_ ? "grid 0" : "no grid"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  PetscCall(PetscViewerASCIIPrintf(viewer, "grid %d (%lld x %lld) is on every rank\n", gathered_, (long long)x.x.n,
                                   (long long)x.y.n));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double PCRRBOnRanks::bytes() const {
  return PCRRBHost::bytes() + bytes_of(rows_) + 8.0 * (double)(a_.size() + v_.size() + r_.size() + z_.size()) +
         (double)(identity_.size() + places_.bytes()) +
         (double)sizeof(PetscInt) * (double)(overlap_.ja().size() + overlap_.ia().size());
}

PetscErrorCode PCRRBCreateOnRanks(std::unique_ptr<PCRRBBackend> *backend) {
  PetscFunctionBegin;
  *backend = std::make_unique<PCRRBOnRanks>();
  PetscFunctionReturn(PETSC_SUCCESS);
}
