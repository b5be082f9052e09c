/* PCRRB on several ranks of CUDA devices. */
#include "pc/rrb/pcrrb_on_ranks.h"

#if PETSCRRB_ON_DEVICES

  #include "pc/rrb/pcrrb_cuda.h"
  #include "comm/ranks_sf_cuda.h"
  #include "comm/ranks_nccl.h"
  #include "comm/ranks_stores.h"

using namespace petscrrb;

namespace {

class OnRanksCuda final : public PCRRBCuda {
public:
  ~OnRanksCuda() override { graphs_.reset(); } /* before the transport that they use */
  PetscErrorCode FindGrid(PC pc, const Csr &, Grid *grid) override { return matrix_.FindGrid(pc, grid); }
  PetscErrorCode Read(PC, const Csr &, const Grid &, Vec, double, PCRRBValues *) override;
  void weights(double *x, double *y) const override { matrix_.weights(x, y); }

  PetscErrorCode Build(PC, const rrb::Extent &, const rrb::Options &, PetscBool, std::unique_ptr<Core> *) override;
  PetscErrorCode FactorLastBlock(Core &, rrb::Outcome *, PetscBool *) override;
  PetscErrorCode ViewRanks(PetscViewer) override;
  PetscErrorCode CreateSolver(PC pc, Core &core, PetscBool, std::unique_ptr<KSPRRBSolver> *solver) override {
    return KSPRRBCreateOnRanksCuda(pc, stream_, core, *black_, *ranks_, matrix_,
                                   (PetscBool)(inverse_ && ranks_->only_enqueue()), LastBlockSolver(core), solver);
  }
  double bytes() const override { return PCRRBCuda::bytes() + matrix_.bytes() + (double)(r_.bytes() + z_.bytes()); }

private:
  bool may_be_graphs() const override { return ranks_->only_enqueue(); }
  PetscErrorCode ChooseTransport(PC);
  PetscErrorCode CheckMessages();
  PetscErrorCode ApplyHere(PC, Core &, Vec, Vec, rrb::Part) override;

  PCRRBDistribution matrix_{PCRRBRowValuesOnDevice(stream_)};
  cuda::Buffer<double> r_, z_; /* of the box, where vectors are not what it has */
  std::unique_ptr<rrb::Ranks> ranks_;
  const char *transport_ = nullptr;  /* in words */
  std::string why_not_faster_;       /* why it is not the one before it; empty: it is the first */
  MPI_Comm comm_ = MPI_COMM_NULL;    /* the PC's */
  rrb::BlackRanks *black_ = nullptr; /* the core */
};

PetscErrorCode OnRanksCuda::Read(PC pc, const Csr &, const Grid &grid, Vec near_null, double rounding,
                                 PCRRBValues *values) {
  PetscFunctionBegin;
  PetscCall(matrix_.Read(pc, grid, near_null, rounding, PCRRBRoomIn(stencil_), values));
  stencil_.scaled = values->scaled != PETSC_FALSE;
  if (ranks_ && values->result == ReadResult::ok) {
    int broken = ranks_->broken();
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &broken, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
    if (broken) values->result = ReadResult::rebuild; /* with another transport, from the first message on */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before what has come is used. Collective. */
PetscErrorCode OnRanksCuda::CheckMessages() {
  return PetscRRBTryTogether(comm_, PetscRRBSay("PCRRB", PETSC_ERR_GPU), [&] { ranks_->check(true); });
}

/* The first one that is possible of those that the user allows, the fastest first. */
PetscErrorCode OnRanksCuda::ChooseTransport(PC pc) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const PCRRBTransport wanted = ((PC_RRB *)pc->data)->transport;
  const struct {
    PCRRBTransport type;
    const char *words;
    PetscErrorCode (*create)(MPI_Comm, const Cuda &, std::unique_ptr<rrb::Ranks> *, std::string *);
  } all[] = {{PC_RRB_TRANSPORT_STORES, "stores", PCRRBCreateRanksStores},
             {PC_RRB_TRANSPORT_STORES, "stores (windows of NCCL)", PCRRBCreateRanksStoresNccl},
             {PC_RRB_TRANSPORT_NCCL, "NCCL", PCRRBCreateRanksNccl},
             {PC_RRB_TRANSPORT_SF, "PetscSF", PCRRBCreateRanksSF}};
  std::string why_not;

  PetscFunctionBegin;
  ranks_ = nullptr;
  why_not_faster_.clear();
  for (const auto &t : all) {
    if (ranks_ || (wanted != PC_RRB_TRANSPORT_AUTO && wanted != t.type)) continue;
    PetscCall(t.create(comm, cuda_, &ranks_, &why_not));
    if (ranks_) transport_ = t.words;
    if (ranks_) continue;
    PetscCall(PetscInfo(pc, "Values cannot travel by %s: %s\n", t.words, why_not.c_str()));
    why_not_faster_ = std::move(why_not);
  }
  PetscCheck(ranks_, comm, PETSC_ERR_SUP, "-pc_rrb_transport %s is not possible: %s", PCRRBTransports[wanted],
             why_not_faster_.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As on hosts; the plans of all exchanges are made by each rank alone. */
PetscErrorCode OnRanksCuda::Build(PC pc, const rrb::Extent &all, const rrb::Options &o, PetscBool single,
                                  std::unique_ptr<Core> *core) {
  PetscFunctionBegin;
  graphs_.reset();
  core->reset();
  comm_ = PetscObjectComm((PetscObject)pc);
  PetscCall(PCRRBTogether([&] { return ChooseTransport(pc); }));
  PetscCall(PetscRRBTryTogether(comm_, PetscRRBSay("PCRRB", PETSC_ERR_GPU), [&] {
    (void)stream_.Ready();
    matrix_.SetBoxes(pc, all, o.levels);
    auto made =
        rrb::make_distributed<PetscInt>(cuda_, *ranks_, matrix_.boxes(), o, matrix_.gathered(), single != PETSC_FALSE);
    black_ = made.get();
    *core = std::move(made);
    const std::size_t n = matrix_.lines() ? (std::size_t)(*core)->extent().nodes() : 0;
    r_.resize(n);
    z_.resize(n);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnRanksCuda::ViewRanks(PetscViewer viewer) {
  PetscFunctionBegin;
  PetscCall(matrix_.View(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "values travel by %s%s%s\n", transport_,
                                   why_not_faster_.empty() ? "" : ", since ", why_not_faster_.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnRanksCuda::FactorLastBlock(Core &core, rrb::Outcome *outcome, PetscBool *spd) {
  return PCRRBTogether([&] {
    PetscFunctionBegin;
    PetscCall(PetscRRBCallTogether(comm_, PetscRRBSay("PCRRB", PETSC_ERR_GPU),
                                   [&] { return PCRRBCuda::FactorLastBlock(core, outcome, spd); }));
    PetscCall(CheckMessages());
    PetscCall(PCRRBAgree(comm_, spd));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

PetscErrorCode OnRanksCuda::ApplyHere(PC pc, Core &core, Vec x, Vec y, rrb::Part part) {
  const PetscScalar *r;
  PetscScalar *z;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBSay("PCRRB", PETSC_ERR_GPU), [&] { ranks_->check(false); }));
  if (!matrix_.lines()) {
    PetscCall(PCRRBCuda::ApplyHere(pc, core, x, y, part));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayReadAndMemType(x, &r, nullptr));
  PetscCall(VecGetArrayWriteAndMemType(y, &z, nullptr));
  PetscCall(matrix_.ToBoxes(r, r_.data()));
  PetscCall(ApplyToArrays(core, r_.data(), z_.data(), part));
  PetscCall(matrix_.ToRows(z_.data(), z));
  PetscCall(VecRestoreArrayWriteAndMemType(y, &z));
  PetscCall(VecRestoreArrayReadAndMemType(x, &r));
  PetscCall(PetscLogGpuFlops(PCRRBFlops(pc, part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCRRBCreateOnRanksCuda(std::unique_ptr<PCRRBBackend> *backend) {
  return PetscRRBCreateOnDevice<OnRanksCuda>("PCRRB", backend);
}

#else

PetscErrorCode PCRRBCreateOnRanksCuda(std::unique_ptr<PCRRBBackend> *) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "petscrrb was built without CUDA");
}

#endif
