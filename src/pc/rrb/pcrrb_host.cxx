/* PCRRB where the matrix is on the host. */
#include "comm/ranks_mpi.h"
#include "exec/host/host.hpp"
#include "pc/rrb/core/prepare.hpp"
#include "pc/rrb/pcrrb_data.h"
#include "pc/rrb/pcrrb_on_ranks.h"
#include "stencil/refusal.hpp"

using namespace petscrrb;

namespace {

class OnHost final : public PCRRBBackend {
  auto LastBlockSolver(Core &core) {
    return [this, &core](rrb::Part part) { return coarse_.Solve(core.coarse_r(), core.coarse_z(), part); };
  }

public:
  explicit OnHost(PetscBool ranks) {
    if (ranks) on_ranks_ = std::make_unique<PCRRBOnRanks<std::vector<double>>>(PCRRBRowValuesOnHost());
  }
  PetscBool on_device() const override { return PETSC_FALSE; }
  PetscErrorCode FindGrid(PC, const PetscRRBMatrix &, Grid *) override;
  PetscErrorCode ReadGraph(PC, const PetscRRBMatrix &, PetscBool, Vec, double, PCRRBValues *) override;
  void weights(double *x, double *y) const override;
  PetscErrorCode Read(PC, const PetscRRBMatrix &, const Grid &, Vec, double, Positive, PCRRBValues *) override;
  PetscErrorCode Build(PC, const rrb::Extent &, const rrb::Options &, rrb::Precision, std::unique_ptr<Core> *) override;
  PetscErrorCode BuildOnGraph(PC, const rrb::Extent &, const rrb::Options &, PetscBool, rrb::Lumping,
                              std::unique_ptr<Core> *) override;
  PetscErrorCode Share(PC, Core &core, const std::vector<index_t> &cuts, PetscInt gather_size,
                       PetscBool *shared) override {
    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(comm_, "PCRRB", [&] { ranks_ = std::make_unique<PetscRRBRanks>(comm_); }));
    PetscCall(PCRRBShare(comm_, "PCRRB", core, &ranks_, cuts, gather_size, shared));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode GatherRows(PC, Mat P, const std::vector<PetscInt> *places, Csr *) override;
  PetscErrorCode Factor(Core &core, rrb::Lumping lumping, PetscBool factored) override {
    return PCRRBTogether([&] {
      if (!factored) core.refresh(prepared(), lumping);
      return PETSC_SUCCESS;
    });
  }
  PetscErrorCode SetUpLastBlock(PC, Core &core, PCRRBCoarse type, KSP ksp) override {
    return coarse_.SetUp(&core.last_block(), type, ksp);
  }
  PetscErrorCode FactorLastBlock(Core &, double, rrb::Outcome *, PetscBool *) override;
  PetscErrorCode EstimateForCycle(Core &core) override {
    return PCRRBTogether([&] { return rrb::Cycle(core).estimate(LastBlockSolver(core)); });
  }
  PetscInt null_directions() const override { return coarse_.null_directions(); }
  PetscErrorCode Apply(PC, Core &, Vec, Vec, rrb::Part) override;
  PetscErrorCode ViewRanks(PetscViewer viewer) override {
    return on_ranks_ ? on_ranks_->matrix.View(viewer) : PETSC_SUCCESS;
  }
  PCRRBParts parts(Core &core) override {
    PCRRBParts parts{&core, LastBlockSolver(core)};
    parts.host = &host_;
    if (on_ranks_) on_ranks_->Lend(&parts);
    return parts;
  }
  rrb::PreparedStencil prepared() override { return reader_ ? reader_->prepared() : rrb::prepared(stencil_); }
  const double *scaling() const override { return stencil_.v.empty() ? nullptr : stencil_.v.data(); }
  double bytes() const override {
    return coarse_.bytes() + stencil_.bytes() + (reader_ ? (double)reader_->bytes() : 0.0) +
           (rows_ ? (double)rows_->bytes() : 0.0) + (on_ranks_ ? on_ranks_->bytes() : 0.0);
  }

private:
  PetscErrorCode ReadNearNullVector(PC, Vec);
  template <class F> PetscErrorCode Make(PC, std::unique_ptr<Core> *, const F &make);

  Host host_;
  Stencil stencil_;
  std::unique_ptr<rrb::MatrixReader> reader_; /* instead, of a matrix on no grid */
  RowFacts facts_;
  rrb::CoarseSolver coarse_;
  PetscRRBVectors vectors_{PETSC_FALSE};
  MPI_Comm comm_ = MPI_COMM_NULL;                               /* the PC's */
  std::unique_ptr<PCRRBOnRanks<std::vector<double>>> on_ranks_; /* NULL on one */
  std::unique_ptr<rrb::Ranks> ranks_;                           /* that share applications on a graph */
  std::unique_ptr<rrb::RowsOfRanks> rows_;                      /* of their matrix */
};

PetscErrorCode OnHost::GatherRows(PC, Mat P, const std::vector<PetscInt> *places, Csr *csr) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  std::unique_ptr<rrb::Ranks> ranks;

  PetscFunctionBegin;
  if (places) PetscCall(PetscRRBTryTogether(comm, "PCRRB", [&] { ranks = std::make_unique<PetscRRBRanks>(comm); }));
  PetscCall(PCRRBGatherRows(P, places, "PCRRB", host_, std::move(ranks), &rows_, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnHost::FindGrid(PC pc, const PetscRRBMatrix &P, Grid *grid) {
  reader_ = nullptr;
  if (on_ranks_) return on_ranks_->matrix.FindGrid(pc, P.on_ranks, grid);
  return PCRRBFindGridOfRows(pc, PetscRRBRowsOnHost(P.csr, "PCRRB"), grid);
}

void OnHost::weights(double *x, double *y) const {
  if (on_ranks_) return on_ranks_->matrix.weights(x, y);
  *x = facts_.weights[0], *y = facts_.weights[1];
}

PetscErrorCode OnHost::ReadNearNullVector(PC pc, Vec near_null) {
  std::vector<double> &v = stencil_.v;
  const PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry("PCRRB", [&] { v.resize(near_null ? stencil_.C.size() : 0); }));
  if (!near_null) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(near_null, &x));
  take_vector((index_t)v.size(), stencil_.identity.data(), x, v.data(), facts_);
  PetscCall(VecRestoreArrayRead(near_null, &x));
  if (facts_.useless_row == no_row) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "The near null space is %g at row %lld: the constant vector is used instead\n",
                      facts_.useless_value, (long long)facts_.useless_row));
  v.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnHost::Read(PC pc, const PetscRRBMatrix &P, const Grid &grid, Vec near_null, double rounding,
                            Positive positive, PCRRBValues *values) {
  PetscFunctionBegin;
  if (on_ranks_) {
    PetscCall(
        on_ranks_->matrix.Read(pc, P.on_ranks, grid, near_null, rounding, positive, PCRRBRoomIn(stencil_), values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *values = PCRRBValues();
  PetscCall(PetscRRBTry("PCRRB", [&] { values->result = read_stencil(P.csr, grid, stencil_, facts_, values->why); }));
  if (values->result != ReadResult::ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ReadNearNullVector(pc, near_null));
  rrb::prepare(stencil_, grid, rounding, positive, facts_);
  values->Take(facts_, grid);
  values->scaled = (PetscBool)!stencil_.v.empty();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnHost::ReadGraph(PC pc, const PetscRRBMatrix &P, PetscBool anew, Vec near_null, double rounding,
                                 PCRRBValues *values) {
  const PetscScalar *v = nullptr;
  PetscErrorCode read;

  PetscFunctionBegin;
  *values = PCRRBValues();
  if (near_null) PetscCall(VecGetArrayRead(near_null, &v));
  read = PetscRRBTry("PCRRB", [&] {
    if (!reader_) reader_ = rrb::make_matrix_reader(host_);
    if (anew) stencil_ = {}, reader_->set(P.csr, ((PC_RRB *)pc->data)->state->grid);
    facts_ = reader_->read(P.csr, v, rounding);
    if (facts_.result() == ReadResult::refused) values->why = why_refused(P.csr);
  });
  if (near_null) PetscCall(VecRestoreArrayRead(near_null, &v));
  PetscCall(read);
  PetscCall(PCRRBTakeFactsOfGraph(pc, *reader_, P.csr.n, &facts_, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class F> PetscErrorCode OnHost::Make(PC pc, std::unique_ptr<Core> *core, const F &make) {
  PetscFunctionBegin;
  PetscCall(coarse_.Reset());
  core->reset();
  comm_ = PetscObjectComm((PetscObject)pc);
  PetscCall(PetscRRBTryTogether(comm_, "PCRRB", [&] {
    if (on_ranks_) on_ranks_->ranks = std::make_unique<PetscRRBRanks>(comm_);
    make();
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnHost::Build(PC pc, const rrb::Extent &all, const rrb::Options &o, rrb::Precision precision,
                             std::unique_ptr<Core> *core) {
  return Make(pc, core, [&] { PCRRBBuild(on_ranks_.get(), pc, host_, all, o, precision, core); });
}

PetscErrorCode OnHost::BuildOnGraph(PC pc, const rrb::Extent &all, const rrb::Options &o, PetscBool single,
                                    rrb::Lumping lumping, std::unique_ptr<Core> *core) {
  return Make(pc, core, [&] {
    PCRRBBuildOnGraph(on_ranks_.get(), pc, host_, all, o, single, prepared(), lumping, "PCRRB", core);
  });
}

PetscErrorCode OnHost::FactorLastBlock(Core &core, double null_inverse, rrb::Outcome *outcome, PetscBool *spd) {
  const auto factor = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    *outcome = core.outcome();
    *spd = outcome->ok ? PETSC_TRUE : PETSC_FALSE;
    if (outcome->ok) PetscCall(coarse_.Refresh(null_inverse, spd));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  return PCRRBTogether([&] {
    PetscFunctionBegin;
    PetscCall(PetscRRBCallTogether(comm_, "PCRRB", factor));
    PetscCall(PCRRBAgree(comm_, spd));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

PetscErrorCode OnHost::Apply(PC pc, Core &core, Vec x, Vec y, rrb::Part part) {
  const auto apply = [&](const PetscScalar *from, PetscScalar *to) {
    return rrb::Cycle(core).apply(from, to, part, LastBlockSolver(core));
  };

  PetscFunctionBegin;
  PetscCall(vectors_.SayOf(pc, "PCRRB", x));
  PetscCall(PetscRRBUseArrays(PETSC_FALSE, x, y, PETSC_FALSE, [&](const PetscScalar *r, PetscScalar *z) {
    return PCRRBTogether([&] { return on_ranks_ ? on_ranks_->OnBox(r, z, apply) : apply(r, z); });
  }));
  PetscCall(PetscLogFlops(PCRRBFlops(pc, part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCRRBCreateHost(PetscBool ranks, std::unique_ptr<PCRRBBackend> *backend) {
  return PetscRRBTry("PCRRB", [&] { *backend = std::make_unique<OnHost>(ranks); });
}
