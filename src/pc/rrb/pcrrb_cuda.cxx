/* PCRRB where the matrix is on a CUDA device: all work goes to the current PetscDeviceContext's stream. */
#include "pc/rrb/pcrrb_data.h"

#if PETSCRRB_ON_DEVICES

  #include "comm/ranks_cuda.h"
  #include "dense/cuda/dense.hpp"
  #include "dense/cuda/substructured.hpp"
  #include "grid/cuda/csr.hpp"
  #include "pc/rrb/core/last_block.hpp"
  #include "pc/rrb/cuda/cycle_graphs.hpp"
  #include "pc/rrb/pcrrb_on_ranks.h"
  #include "petsc/stream_cuda.h"
  #include "stencil/cuda/stencil.hpp"
  #include "stencil/refusal.hpp"

  #include <future>
  #include <system_error>

using namespace petscrrb;

namespace {

class OnDevice final : public PCRRBBackend {
  auto LastBlockSolver(Core &core) {
    return [this, &core](rrb::Part part) { return SolveLastBlock(core, part); };
  }

public:
  explicit OnDevice(PetscBool ranks) {
    if (ranks) on_ranks_ = std::make_unique<PCRRBOnRanks<cuda::Buffer<double>>>(PCRRBRowValuesOnDevice(stream_));
  }
  PetscErrorCode Start() { return stream_.Start(); }

  PetscBool on_device() const override { return PETSC_TRUE; }
  std::shared_ptr<const void> pool() override {
    return on_ranks_ ? nullptr : std::make_shared<const cuda::Pool>(stream_.Ready());
  }
  PetscErrorCode FindGrid(PC pc, const PetscRRBMatrix &P, Grid *grid) override {
    matrix_reader_ = nullptr;
    if (on_ranks_) return on_ranks_->matrix.FindGrid(pc, P.on_ranks, grid);
    return PCRRBFindGridOfRows(pc, PetscRRBRowsOnDevice(stream_, P.csr), grid);
  }
  void weights(double *x, double *y) const override {
    if (on_ranks_) return on_ranks_->matrix.weights(x, y);
    *x = facts_.weights[0], *y = facts_.weights[1];
  }
  PetscErrorCode Read(PC, const PetscRRBMatrix &, const Grid &, Vec, double, Positive, PCRRBValues *) override;
  PetscErrorCode ReadGraph(PC, const PetscRRBMatrix &, PetscBool, Vec, double, PCRRBValues *) override;
  PetscErrorCode Build(PC, const rrb::Extent &, const rrb::Options &, rrb::Precision, std::unique_ptr<Core> *) override;
  PetscErrorCode BuildOnGraph(PC, const rrb::Extent &, const rrb::Options &, PetscBool, rrb::Lumping,
                              std::unique_ptr<Core> *) override;
  PetscErrorCode Share(PC, Core &, const std::vector<index_t> &, PetscInt, PetscBool *) override;
  PetscErrorCode GatherRows(PC, Mat P, const std::vector<PetscInt> *places, Csr *) override;
  void ExpectFactor(Core &core, const rrb::Lumping &lumping) override { expected_factor_ = {&core, lumping}; }
  PetscErrorCode Factor(Core &, rrb::Lumping, PetscBool) override;
  void ExpectLevels(const rrb::Extent &, int levels) override;
  PetscErrorCode SetUpLastBlock(PC, Core &, PCRRBCoarse, KSP) override;
  PetscErrorCode FactorLastBlock(Core &, double, rrb::Outcome *, PetscBool *) override;
  PetscErrorCode EstimateForCycle(Core &) override;
  PetscInt null_directions() const override { return inverse_ ? null_directions_ : coarse_.null_directions(); }
  PetscErrorCode Apply(PC pc, Core &core, Vec x, Vec y, rrb::Part part) override {
    return vectors_.Use(pc, "PCRRB", x, y, [&](Vec r, Vec z) { return ApplyHere(pc, core, r, z, part); });
  }
  PetscErrorCode ViewRanks(PetscViewer) override;
  PCRRBParts parts(Core &) override;
  rrb::PreparedStencil prepared() override {
    if (matrix_reader_) return matrix_reader_->prepared();
    return {stencil_.C.data(),  stencil_.E.data(),  stencil_.N.data(),
            stencil_.NE.data(), stencil_.NW.data(), stencil_.scaled ? stencil_.v.data() : nullptr};
  }
  const double *scaling() const override { return stencil_.scaled ? stencil_.v.data() : nullptr; }
  double bytes() const override;

private:
  PetscErrorCode ReadOnRank(PC, const Csr &, const Grid &, Vec, double, Positive, PCRRBValues *);
  void FollowRefresh(Core &, const rrb::Lumping &); /* with the last block and AMLI's estimate */
  /* What a read of values may enqueue before it knows what it has found. */
  auto Begin() {
    begun_ = false;
    return [this, next = std::exchange(expected_factor_, {})] {
      begun_ = next.core && inverse_ && graphs_.begin_refresh(cuda_, *next.core, prepared(), next.lumping);
      if (begun_) FollowRefresh(*next.core, next.lumping);
    };
  }
  PetscErrorCode ChooseTransport(PC, std::unique_ptr<rrb::Ranks> *);
  template <class F> PetscErrorCode Make(PC, std::unique_ptr<Core> *, const F &make);
  PetscErrorCode ApplyHere(PC, Core &, Vec, Vec, rrb::Part); /* to vectors on the device */
  PetscErrorCode SolveLastBlock(Core &, rrb::Part);
  /* what the core does but for the last block is enqueued work alone, and that is, too */
  bool may_be_graphs() const { return inverse_ && (!ranks() || ranks()->only_enqueue()); }
  rrb::Ranks *ranks() const {
    return on_ranks_ ? on_ranks_->ranks.get() : ranks_.get();
  } /* with whom applications are shared */
  PetscErrorCode AskWhetherBroken(PC, PCRRBValues *) const;

  PetscRRBStream stream_{"PCRRB"};
  Cuda &cuda_ = stream_.cuda;
  cuda::DeviceStencil stencil_;
  std::unique_ptr<cuda::StencilReader> reader_;
  std::unique_ptr<rrb::MatrixReader> matrix_reader_; /* instead, of a matrix on no grid */
  Grid read_;                                        /* which the reader is for, */
  Positive positive_ = Positive::moves;              /* and this */
  RowFacts facts_;
  std::unique_ptr<PCRRBOnRanks<cuda::Buffer<double>>> on_ranks_; /* NULL on one */
  MPI_Comm comm_ = MPI_COMM_NULL;                                /* the PC's */
  std::unique_ptr<rrb::Ranks> ranks_;                            /* of a graph that all of them have */
  std::unique_ptr<rrb::RowsOfRanks> rows_;                       /* of its matrix */
  PetscRRBTransport transport_;                                  /* of any */
  struct {
    Core *core; /* or NULL */
    rrb::Lumping lumping;
  } expected_factor_ = {};                        /* after the next read */
  bool begun_ = false;                            /* Factor(), by the read before */
  rrb::CycleGraphs graphs_;                       /* they go before the transport that they use */
  cuda::Buffer<int> ia_, ja_;                     /* of the last block on a graph */
  std::future<void> expected_;                    /* the last block's SubstructureOf() */
  std::unique_ptr<dense::DeviceInverse> inverse_; /* of the last block, or */
  rrb::CoarseSolver coarse_;
  std::vector<double> host_r_, host_z_; /* the last block, for those solvers of it that are the host's */
  PetscInt null_directions_ = 0;
  PetscRRBVectors vectors_{PETSC_TRUE};
};

PetscErrorCode ToHost(PetscRRBStream &stream, std::vector<double> &to, const double *from) {
  PetscFunctionBegin;
  PetscCall(stream.Run([&] {
    const size_t bytes = to.size() * sizeof(double);
    cuda::check(cudaMemcpyAsync(to.data(), from, bytes, cudaMemcpyDeviceToHost, stream.cuda.stream), "cudaMemcpyAsync");
    cuda::wait_for(stream.cuda.stream, "the last block's right-hand side");
  }));
  PetscCall(PetscLogGpuToCpu(to.size() * sizeof(double)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool same(const Grid &a, const Grid &b) {
  return std::equal(a.n, a.n + 3, b.n) && std::equal(a.periodic, a.periodic + 3, b.periodic) && a.points == b.points;
}

PetscErrorCode OnDevice::ReadOnRank(PC pc, const Csr &csr, const Grid &grid, Vec near_null, double rounding,
                                    Positive positive, PCRRBValues *values) {
  const PetscScalar *v = nullptr;
  PetscMemType where = PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  const auto begin = Begin();
  *values = PCRRBValues();
  if (near_null) {
    PetscCall(VecGetArrayReadAndMemType(near_null, &v, &where));
    PetscCheck(PetscMemTypeDevice(where), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A vector of this matrix is on the host");
  }
  PetscCall(stream_.Run([&] {
    if (!reader_ || !same(grid, read_) || positive != positive_) {
      reader_ = nullptr;
      reader_ = std::make_unique<cuda::StencilReader>(grid, positive);
      read_ = grid, positive_ = positive;
    }
    values->result = reader_->read(csr, v, rounding, stencil_, facts_, cuda_.stream, begin);
    if (values->result == ReadResult::refused || facts_.bad_pivot != no_row)
      values->why = cuda::why_not(csr, grid, cuda_.stream);
  }));
  if (near_null) PetscCall(VecRestoreArrayReadAndMemType(near_null, &v));
  if (facts_.useless_row != no_row)
    PetscCall(PetscInfo(pc, "The near null space is %g at row %lld: the constant vector is used instead\n",
                        facts_.useless_value, (long long)facts_.useless_row));
  values->Take(facts_, grid);
  values->scaled = (PetscBool)stencil_.scaled;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::Read(PC pc, const PetscRRBMatrix &P, const Grid &grid, Vec near_null, double rounding,
                              Positive positive, PCRRBValues *values) {
  PetscFunctionBegin;
  if (!on_ranks_) {
    PetscCall(ReadOnRank(pc, P.csr, grid, near_null, rounding, positive, values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(on_ranks_->matrix.Read(pc, P.on_ranks, grid, near_null, rounding, positive, PCRRBRoomIn(stencil_), values));
  stencil_.scaled = values->scaled != PETSC_FALSE;
  PetscCall(AskWhetherBroken(pc, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Then what was read is for another transport, from the first message on. */
PetscErrorCode OnDevice::AskWhetherBroken(PC pc, PCRRBValues *values) const {
  PetscFunctionBegin;
  if (!ranks() || values->result != ReadResult::ok) PetscFunctionReturn(PETSC_SUCCESS);
  int broken = ranks()->broken();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &broken, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (broken) values->result = ReadResult::rebuild;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::ReadGraph(PC pc, const PetscRRBMatrix &P, PetscBool anew, Vec near_null, double rounding,
                                   PCRRBValues *values) {
  const PetscScalar *v = nullptr;
  PetscMemType where = PETSC_MEMTYPE_DEVICE;
  PetscErrorCode read;

  PetscFunctionBegin;
  if (anew) expected_factor_ = {}; /* that is of other nonzeros */
  const auto begin = Begin();
  *values = PCRRBValues();
  if (near_null) PetscCall(VecGetArrayReadAndMemType(near_null, &v, &where));
  PetscCheck(PetscMemTypeDevice(where), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A vector of this matrix is on the host");
  read = stream_.Run([&] {
    if (!matrix_reader_) matrix_reader_ = rrb::make_matrix_reader(cuda_);
    if (anew) stencil_ = {}, reader_ = nullptr, matrix_reader_->set(P.csr, ((PC_RRB *)pc->data)->state->grid);
    facts_ = matrix_reader_->read(P.csr, v, rounding, begin);
    if (facts_.result() == ReadResult::refused) values->why = why_refused(cuda::HostCopy(P.csr, cuda_.stream).csr());
  });
  if (near_null) PetscCall(VecRestoreArrayReadAndMemType(near_null, &v));
  PetscCall(read);
  PetscCall(PCRRBTakeFactsOfGraph(pc, *matrix_reader_, P.csr.n, &facts_, values));
  PetscCall(AskWhetherBroken(pc, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::ChooseTransport(PC pc, std::unique_ptr<rrb::Ranks> *ranks) {
  PetscFunctionBegin;
  *ranks = nullptr; /* what it has goes first */
  PetscCall(PetscRRBChooseTransport((PetscObject)pc, "-pc_rrb_transport", ((PC_RRB *)pc->data)->transport, cuda_,
                                    &transport_));
  *ranks = std::move(transport_.ranks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::Share(PC pc, Core &core, const std::vector<index_t> &cuts, PetscInt gather_size,
                               PetscBool *shared) {
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PCRRBTogether([&] { return ChooseTransport(pc, &ranks_); }));
  PetscCall(stream_.Run([&] { code = PCRRBShare(comm_, stream_.say, core, &ranks_, cuts, gather_size, shared); }));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::GatherRows(PC pc, Mat P, const std::vector<PetscInt> *places, Csr *csr) {
  std::unique_ptr<rrb::Ranks> ranks;
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  if (places) {
    rows_ = nullptr; /* what it has goes first */
    PetscCall(PCRRBTogether([&] { return ChooseTransport(pc, &ranks); }));
  }
  PetscCall(stream_.Run([&] { code = PCRRBGatherRows(P, places, stream_.say, cuda_, std::move(ranks), &rows_, csr); }));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class F> PetscErrorCode OnDevice::Make(PC pc, std::unique_ptr<Core> *core, const F &make) {
  PetscFunctionBegin;
  graphs_.reset();
  core->reset();
  comm_ = PetscObjectComm((PetscObject)pc);
  if (on_ranks_) PetscCall(PCRRBTogether([&] { return ChooseTransport(pc, &on_ranks_->ranks); }));
  PetscCall(PetscRRBTryTogether(comm_, stream_.say, [&] { stream_.Do(make); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::Build(PC pc, const rrb::Extent &all, const rrb::Options &o, rrb::Precision precision,
                               std::unique_ptr<Core> *core) {
  return Make(pc, core, [&] { PCRRBBuild(on_ranks_.get(), pc, cuda_, all, o, precision, core); });
}

PetscErrorCode OnDevice::BuildOnGraph(PC pc, const rrb::Extent &all, const rrb::Options &o, PetscBool single,
                                      rrb::Lumping lumping, std::unique_ptr<Core> *core) {
  return Make(pc, core, [&] {
    const cuda::Pool pool(cuda_.stream);
    PCRRBBuildOnGraph(on_ranks_.get(), pc, cuda_, all, o, single, prepared(), lumping, stream_.say, core);
  });
}

void OnDevice::FollowRefresh(Core &core, const rrb::Lumping &lumping) {
  if (inverse_) inverse_->refresh(core.last_values(), core.last_excess(), lumping.null_inverse, cuda_.stream);
  graphs_.begin_estimate(cuda_);
}

PetscErrorCode OnDevice::Factor(Core &core, rrb::Lumping lumping, PetscBool factored) {
  PetscFunctionBegin;
  if (std::exchange(begun_, false) && graphs_.is_of(core, prepared(), lumping)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] {
    if (!factored && on_ranks_)
      core.refresh(prepared(), lumping);
    else if (!factored)
      graphs_.refresh(cuda_, core, prepared(), lumping);
    FollowRefresh(core, lumping);
  }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Cache<rrb::LastBlockShape, dense::Substructure> substructures;

static std::shared_ptr<const dense::Substructure> SubstructureOf(const rrb::LastBlockShape &shape) {
  const rrb::Side &x = shape.grid.x, &y = shape.grid.y;

  return substructures.get(shape, [&] {
    const auto to_int = [](const std::vector<PetscInt> &v) { return std::vector<int>(v.begin(), v.end()); };
    const auto p = rrb::LastBlockPattern::of(shape);
    return std::make_shared<const dense::Substructure>(
        to_int(p->ia), to_int(p->ja), to_int(p->x), to_int(p->y),
        dense::GridShape{int(x.n), int(y.n), x.periodic, y.periodic, shape.skew ? 2 : 1});
  });
}

/* The first one of a shape takes the host as long as all else that a small grid's set-up is. */
void OnDevice::ExpectLevels(const rrb::Extent &all, int levels) {
  const rrb::LastBlockShape shape{rrb::last_extent(all, levels), levels % 2 != 0};

  expected_ = {};
  if (shape.grid.nodes() / (shape.skew ? 2 : 1) > rrb::largest_device_inverse || substructures.has(shape)) return;
  try {
    expected_ = std::async(std::launch::async, [shape] { (void)SubstructureOf(shape); });
  } catch (const std::system_error &) { /* there is no thread: SetUpLastBlock() makes it */
  }
}

PetscErrorCode OnDevice::SetUpLastBlock(PC pc, Core &core, PCRRBCoarse type, KSP ksp) {
  rrb::LastBlock &b = core.last_block();

  PetscFunctionBegin;
  graphs_.reset();
  inverse_ = nullptr;
  PetscCall(coarse_.Reset());
  if (type != PC_RRB_COARSE_INVERSE) {
    PetscCall(PetscInfo(pc,
                        "The last block is solved on the host: its %" PetscInt_FMT
                        " unknowns are copied there and back in every application\n",
                        b.size()));
    PetscCall(PetscRRBTry(stream_.say, [&] { host_r_.resize(b.size()), host_z_.resize(b.size()); }));
    PetscCall(coarse_.SetUp(&b, type, ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(b.size() <= rrb::largest_device_inverse, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The inverse of the last Schur complement, %" PetscInt_FMT " unknowns, is limited to %d on a device. Use "
             "more -pc_rrb_levels, or -pc_rrb_coarse cholesky",
             b.size(), rrb::largest_device_inverse);
  PetscCall(stream_.Run([&] {
    if (b.x.empty()) { /* it is on no grid */
      ia_.assign(std::vector<int>(b.ia.begin(), b.ia.end())), ja_.assign(std::vector<int>(b.ja.begin(), b.ja.end()));
      inverse_ = std::make_unique<dense::DenseInverse>(
          dense::SparseView{int(b.size()), ia_.data(), ja_.data(), core.last_values(), core.last_excess()},
          dense::Inverse::explicit_inverse, nullptr, cuda_.stream);
      return;
    }
    inverse_ = std::make_unique<dense::SubstructuredInverse>(*SubstructureOf({b.grid, b.skew}));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::FactorLastBlock(Core &core, double null_inverse, rrb::Outcome *outcome, PetscBool *spd) {
  rrb::LastBlock &b = core.last_block();
  const auto factor = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(stream_.Run([&] { *outcome = core.outcome(); })); /* waits, for the inverse's status too */
    *spd = outcome->ok ? PETSC_TRUE : PETSC_FALSE;
    if (!outcome->ok) PetscFunctionReturn(PETSC_SUCCESS);
    if (inverse_) {
      *spd = inverse_->status().definite ? PETSC_TRUE : PETSC_FALSE;
      null_directions_ = inverse_->status().null_directions;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(ToHost(stream_, b.a, core.last_values()));
    PetscCall(ToHost(stream_, b.excess, core.last_excess()));
    PetscCall(coarse_.Refresh(null_inverse, spd));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  return PCRRBTogether([&] {
    PetscFunctionBegin;
    PetscCall(PetscRRBCallTogether(comm_, stream_.say, factor));
    if (ranks()) /* before what has come is used */
      PetscCall(PetscRRBTryTogether(comm_, stream_.say, [&] { ranks()->check(true); }));
    PetscCall(PCRRBAgree(comm_, spd));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

PetscErrorCode OnDevice::SolveLastBlock(Core &core, rrb::Part part) {
  PetscFunctionBegin;
  if (inverse_) { /* on the stream that is in use, which may be a captured one */
    PetscCall(PetscRRBTry(stream_.say, [&] {
      const double *z = inverse_->solve(const_cast<double *>(core.coarse_r()), core.coarse_z(), cuda_.stream);
      if (z != core.coarse_z()) cuda_.copy(core.coarse_z(), z, core.last_block().at.size());
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ToHost(stream_, host_r_, core.coarse_r()));
  PetscCall(coarse_.Solve(host_r_.data(), host_z_.data(), part));
  const size_t bytes = host_z_.size() * sizeof(double);
  PetscCall(stream_.Run([&] {
    cuda::check(cudaMemcpyAsync(core.coarse_z(), host_z_.data(), bytes, cudaMemcpyHostToDevice, cuda_.stream),
                "cudaMemcpyAsync");
  }));
  PetscCall(PetscLogCpuToGpu(bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::EstimateForCycle(Core &core) {
  PetscErrorCode solved = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(stream_.Run([&] {
    if (may_be_graphs())
      solved = graphs_.estimate(cuda_, core, LastBlockSolver(core));
    else
      solved = rrb::Cycle(core).estimate(LastBlockSolver(core));
  }));
  PetscCall(solved);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::ApplyHere(PC pc, Core &core, Vec x, Vec y, rrb::Part part) {
  const auto apply = [&](const PetscScalar *from, PetscScalar *to) -> PetscErrorCode {
    PetscErrorCode solved = PETSC_SUCCESS;

    PetscFunctionBegin;
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(stream_.Run([&] {
      if (part == rrb::Part::whole && may_be_graphs())
        solved = graphs_.apply(cuda_, core, from, to, LastBlockSolver(core));
      else
        solved = rrb::Cycle(core).apply(from, to, part, LastBlockSolver(core));
    }));
    PetscCall(solved);
    PetscCall(PetscLogGpuTimeEnd());
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  if (ranks()) PetscCall(PetscRRBTry(stream_.say, [&] { ranks()->check(false); }));
  PetscCall(PetscRRBUseArrays(PETSC_TRUE, x, y, PETSC_FALSE, [&](const PetscScalar *r, PetscScalar *z) {
    return on_ranks_ ? on_ranks_->OnBox(r, z, apply) : apply(r, z);
  }));
  PetscCall(PetscLogGpuFlops(PCRRBFlops(pc, part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::ViewRanks(PetscViewer viewer) {
  PetscFunctionBegin;
  if (on_ranks_) PetscCall(on_ranks_->matrix.View(viewer));
  if (ranks()) PetscCall(transport_.View(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PCRRBParts OnDevice::parts(Core &core) {
  PCRRBParts parts{&core, LastBlockSolver(core)};

  parts.stream = &stream_;
  parts.captured = (PetscBool)may_be_graphs();
  if (on_ranks_) on_ranks_->Lend(&parts);
  return parts;
}

double OnDevice::bytes() const {
  return stencil_.bytes() + (matrix_reader_ ? (double)matrix_reader_->bytes() : 0.0) +
         (rows_ ? (double)rows_->bytes() : 0.0) + (inverse_ ? (double)inverse_->bytes() : coarse_.bytes()) +
         (on_ranks_ ? on_ranks_->bytes() : 0.0);
}

} // namespace

PetscErrorCode PCRRBCreateCuda(PetscBool ranks, std::unique_ptr<PCRRBBackend> *backend) {
  return PetscRRBCreateOnDevice<OnDevice>("PCRRB", backend, ranks);
}

#endif
