/* PCRRB where the matrix is on a CUDA device: all work goes to the current PetscDeviceContext's stream. */
#include "pc/rrb/pcrrb_impl.h"

#if PETSCRRB_ON_DEVICES

  #include "pc/rrb/pcrrb_cuda.h"

using namespace petscrrb;

static bool same(const Grid &a, const Grid &b) {
  return std::equal(a.n, a.n + 3, b.n) && std::equal(a.periodic, a.periodic + 3, b.periodic) && a.points == b.points;
}

PetscErrorCode PCRRBCuda::Read(PC pc, const Csr &csr, const Grid &grid, Vec near_null, double rounding,
                               PCRRBValues *values) {
  const PetscScalar *v = nullptr;
  PetscMemType where = PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  *values = PCRRBValues();
  if (near_null) {
    PetscCall(VecGetArrayReadAndMemType(near_null, &v, &where));
    PetscCheck(PetscMemTypeDevice(where), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A vector of this matrix is on the host");
  }
  PetscCall(stream_.Run([&] {
    if (!reader_ || !same(grid, read_)) {
      reader_ = nullptr;
      reader_ = std::make_unique<cuda::StencilReader>(grid);
      read_ = grid;
    }
    values->result = reader_->read(csr, v, rounding, stencil_, facts_, cuda_.stream);
    if (values->result == ReadResult::refused || facts_.not_positive)
      values->why = cuda::why_not(csr, grid, cuda_.stream);
  }));
  if (near_null) PetscCall(VecRestoreArrayReadAndMemType(near_null, &v));
  if (facts_.useless_row >= 0)
    PetscCall(PetscInfo(pc, "The near null space is %g at row %lld: the constant vector is taken in its place\n",
                        facts_.useless_value, (long long)facts_.useless_row));
  values->identity_rows = facts_.identity_rows;
  values->positive = facts_.positive;
  values->not_positive = (PetscBool)facts_.not_positive;
  values->simpler = (PetscBool)(facts_.ring_is_cut || (grid.points == 9 && !facts_.corners));
  values->scaled = (PetscBool)stencil_.scaled;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBCuda::Build(PC, const rrb::Extent &extent, const rrb::Options &o, PetscBool single,
                                std::unique_ptr<Core> *core) {
  PetscFunctionBegin;
  graphs_.reset();
  core->reset();
  PetscCall(stream_.Run([&] { *core = rrb::make_factorization<PetscInt>(cuda_, extent, o, single != PETSC_FALSE); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBCuda::Factor(Core &core, rrb::Lumping lumping) {
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] {
    core.refresh(stencil(), lumping);
    if (inverse_) inverse_->refresh(core.last_values(), core.last_excess(), cuda_.stream);
  }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBCuda::SetUpLastBlock(PC pc, Core &core, PCRRBCoarse type, KSP ksp) {
  rrb::LastBlock<PetscInt> &b = core.last_block();

  PetscFunctionBegin;
  graphs_.reset();
  inverse_ = nullptr;
  PetscCall(coarse_.Reset());
  if (type != PC_RRB_COARSE_INVERSE) {
    PetscCall(PetscInfo(pc,
                        "The last block is solved on the host: its %" PetscInt_FMT
                        " unknowns are copied there and back in every application\n",
                        b.size()));
    PetscCall(
        PetscRRBTry(PetscRRBSay("PCRRB", PETSC_ERR_GPU), [&] { host_r_.resize(b.size()), host_z_.resize(b.size()); }));
    PetscCall(coarse_.SetUp(&b, type, ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(b.size() <= rrb::largest_device_inverse, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The inverse of the last Schur complement, %" PetscInt_FMT " unknowns, is for at most %d on a device. Use "
             "more -pc_rrb_levels, or -pc_rrb_coarse cholesky",
             b.size(), rrb::largest_device_inverse);
  PetscCall(stream_.Run([&] {
    const std::vector<int> ia(b.ia.begin(), b.ia.end()), ja(b.ja.begin(), b.ja.end()), x(b.x.begin(), b.x.end()),
        y(b.y.begin(), b.y.end());
    const coarse::GridShape shape{int(b.grid.x.n), int(b.grid.y.n), b.grid.x.periodic, b.grid.y.periodic,
                                  b.skew ? 2 : 1};
    inverse_ = std::make_unique<coarse::DeviceCoarse>(int(b.size()), ia.data(), ja.data(), x.data(), y.data(), shape);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode PCRRBCuda::ToHost(std::vector<T> &to, const T *from) {
  PetscFunctionBegin;
  PetscCall(stream_.Run([&] {
    const size_t bytes = to.size() * sizeof(T);
    cuda::check(cudaMemcpyAsync(to.data(), from, bytes, cudaMemcpyDeviceToHost, cuda_.stream), "cudaMemcpyAsync");
    cuda::wait_for(cuda_.stream, "the last block's right-hand side");
  }));
  PetscCall(PetscLogGpuToCpu(to.size() * sizeof(T)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBCuda::FactorLastBlock(Core &core, rrb::Outcome *outcome, PetscBool *spd) {
  rrb::LastBlock<PetscInt> &b = core.last_block();

  PetscFunctionBegin;
  PetscCall(stream_.Run([&] {
    if (inverse_)
      cuda::check(cudaMemcpyAsync(status_.data(), inverse_->device_status(), sizeof(coarse::CoarseStatus),
                                  cudaMemcpyDeviceToHost, cuda_.stream),
                  "cudaMemcpyAsync");
    *outcome = core.outcome(); /* waits, for the status too */
  }));
  *spd = outcome->ok ? PETSC_TRUE : PETSC_FALSE;
  if (!outcome->ok) PetscFunctionReturn(PETSC_SUCCESS);
  if (inverse_) {
    *spd = status_.data()->spd ? PETSC_TRUE : PETSC_FALSE;
    null_directions_ = status_.data()->null_directions;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ToHost(b.a, core.last_values()));
  PetscCall(ToHost(b.excess, core.last_excess()));
  PetscCall(coarse_.Refresh(spd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBCuda::SolveLastBlock(Core &core, rrb::Part part) {
  PetscFunctionBegin;
  if (inverse_) { /* on the stream that is in use, which may be a captured one */
    PetscCall(PetscRRBTry(PetscRRBSay("PCRRB", PETSC_ERR_GPU),
                          [&] { inverse_->apply(core.coarse_r(), core.coarse_z(), cuda_.stream); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ToHost(host_r_, core.coarse_r()));
  PetscCall(coarse_.Solve(host_r_.data(), host_z_.data(), part));
  const size_t bytes = host_z_.size() * sizeof(double);
  PetscCall(stream_.Run([&] {
    cuda::check(cudaMemcpyAsync(core.coarse_z(), host_z_.data(), bytes, cudaMemcpyHostToDevice, cuda_.stream),
                "cudaMemcpyAsync");
  }));
  PetscCall(PetscLogCpuToGpu(bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBCuda::EstimateForCycle(Core &core) {
  PetscErrorCode solved = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(stream_.Run([&] {
    if (inverse_ && may_be_graphs())
      solved = graphs_.estimate(cuda_, core, LastBlockSolver(core));
    else
      solved = rrb::Cycle(core).estimate(LastBlockSolver(core));
  }));
  PetscCall(solved);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBCuda::ApplyToArrays(Core &core, const PetscScalar *r, PetscScalar *z, rrb::Part part) {
  PetscErrorCode solved = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] {
    if (part == rrb::Part::whole && inverse_ && may_be_graphs())
      solved = graphs_.apply(cuda_, core, r, z, LastBlockSolver(core));
    else
      solved = rrb::Cycle(core).apply(r, z, part, LastBlockSolver(core));
  }));
  PetscCall(solved);
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBCuda::ApplyHere(PC pc, Core &core, Vec x, Vec y, rrb::Part part) {
  const PetscScalar *r;
  PetscScalar *z;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(x, &r, nullptr));
  PetscCall(VecGetArrayWriteAndMemType(y, &z, nullptr));
  PetscCall(ApplyToArrays(core, r, z, part));
  PetscCall(VecRestoreArrayWriteAndMemType(y, &z));
  PetscCall(VecRestoreArrayReadAndMemType(x, &r));
  PetscCall(PetscLogGpuFlops(PCRRBFlops(pc, part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBCuda::Apply(PC pc, Core &core, Vec x, Vec y, rrb::Part part) {
  return vectors_.Use(pc, "PCRRB", x, y, [&](Vec r, Vec z) { return ApplyHere(pc, core, r, z, part); });
}

PetscErrorCode PCRRBCuda::CreateSolver(PC, Core &core, PetscBool full, std::unique_ptr<KSPRRBSolver> *solver) {
  return KSPRRBCreateCuda(stream_, core, full, (PetscBool)(inverse_ != nullptr), LastBlockSolver(core), solver);
}

double PCRRBCuda::bytes() const {
  const cuda::DeviceStencil &s = stencil_;
  const double last = inverse_ ? (double)inverse_->bytes() : coarse_.bytes();

  return last + s.C.bytes() + s.E.bytes() + s.N.bytes() + s.NE.bytes() + s.NW.bytes() + s.v.bytes() +
         s.identity.bytes();
}

PetscErrorCode PCRRBCreateCuda(std::unique_ptr<PCRRBBackend> *backend) {
  return PetscRRBCreateOnDevice<PCRRBCuda>("PCRRB", backend);
}

#else

PetscErrorCode PCRRBCreateCuda(std::unique_ptr<PCRRBBackend> *) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "petscrrb was built without CUDA");
}

#endif
