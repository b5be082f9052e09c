/* KSPRRB where the matrix is on a CUDA device. */
#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

  #include "ksp/rrb/cuda/iteration.hpp"
  #include "ksp/rrb/ksprrb_fused.h"
  #include "petsc/stream_cuda.h"
  #include "stencil/cuda/stencil.hpp"

using namespace petscrrb;

namespace {

class OnDevice final : public KSPRRBFused<cuda::DeviceStencil, cuda::Buffer<double>> {
public:
  using Iteration = rrbsolver::DeviceIteration;

  OnDevice(const PCRRBParts &with, bool full)
      : KSPRRBFused(with), stream_(*with.stream), full_(full), iteration_(make(with, full)),
        solve_([solve = with.solve_last_block](rrb::Part part) { return (int)solve(part); }) {}

  PetscErrorCode Steps(Norm, const Limits &, std::vector<Numbers> *) override;
  PetscErrorCode Resume() override {
    int error = 0;

    PetscFunctionBegin;
    PetscCall(stream_.Run([&] { error = iteration_->resume(solve_); }));
    PetscCall((PetscErrorCode)error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Settle() override {
    return stream_.Run([&] { iteration_->settle(); });
  }
  void DropStep() override { iteration_->drop_step(); }
  double bytes() const override { return (double)iteration_->bytes() + bytes_of_arrays(); }

private:
  static std::unique_ptr<Iteration> make(const PCRRBParts &with, bool full) {
    if (!with.ranks) return rrbsolver::make_device_iteration(with.stream->cuda, *with.core, full);
    return rrbsolver::make_device_iteration(with.stream->cuda, *with.core, *with.black,
                                            with.ranks->only_kernels() ? Iteration::Loop::automatic
                                                                       : Iteration::Loop::launches);
  }
  PetscErrorCode StartFrom(const PetscScalar *, Norm, Numbers *) override;
  PetscErrorCode PutSolution(const PetscScalar *, PetscScalar *, PetscBool) override;
  PetscErrorCode RefreshFrom(const Csr &, const Grid &, const double *, KSPRRBValues *) override;
  void Take(const rrb::PreparedStencil &A) override {
    (void)stream_.Ready();
    iteration_->refresh(A);
  }
  bool positive() const override { return iteration_->positive(); }
  PetscErrorCode CheckMessages(const Numbers &);

  PetscRRBStream &stream_; /* the preconditioner's */
  const bool full_;
  std::unique_ptr<Iteration> iteration_;
  Iteration::Solve solve_;
  std::unique_ptr<cuda::StencilReader> reader_;
  RowFacts facts_;
};

PetscErrorCode OnDevice::RefreshFrom(const Csr &csr, const Grid &grid, const double *v, KSPRRBValues *values) {
  PetscFunctionBegin;
  PetscCall(stream_.Run([&] {
    if (!reader_) reader_ = std::make_unique<cuda::StencilReader>(grid, Positive::stays);
    const ReadResult result = reader_->read(csr, full_ ? nullptr : v, rounding, stencil_, facts_, stream_.cuda.stream);
    *values = KSPRRBValuesOf(result, facts_.zero_rows);
    if (*values != KSP_RRB_VALUES_OK) return;
    Take({stencil_.C.data(), stencil_.E.data(), stencil_.N.data(), stencil_.NE.data(), stencil_.NW.data(),
          stencil_.scaled ? stencil_.v.data() : nullptr});
    if (!positive()) *values = KSP_RRB_VALUES_NOT_POSITIVE;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums of all ranks are NaN where a message did not come to one of them: which has told the others before that. */
PetscErrorCode OnDevice::CheckMessages(const Numbers &n) {
  const bool finite = std::isfinite(n.rho) && std::isfinite(n.curvature) && std::isfinite(n.norm);

  PetscFunctionBegin;
  if (with_.ranks) PetscCall(PetscRRBTry(say_, [&] { with_.ranks->check(!finite); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::StartFrom(const PetscScalar *r0, Norm norm, Numbers *numbers) {
  int error = 0;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] {
    error = iteration_->start(r0, norm, solve_);
    if (!error) *numbers = iteration_->started(norm);
  }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall((PetscErrorCode)error);
  PetscCall(CheckMessages(*numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::Steps(Norm norm, const Limits &limits, std::vector<Numbers> *steps) {
  int error = 0;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] { error = iteration_->run(norm, limits, with_.captured != PETSC_FALSE, solve_, *steps); }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall((PetscErrorCode)error);
  if (!steps->empty()) PetscCall(CheckMessages(steps->back()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::PutSolution(const PetscScalar *r0, PetscScalar *x, PetscBool add) {
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] { iteration_->solution(r0, x, add != PETSC_FALSE); }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnDevice(const PCRRBParts &with, bool full) {
  std::unique_ptr<KSPRRBSolver> solver;

  with.stream->Do([&] { solver = std::make_unique<OnDevice>(with, full); });
  return solver;
}

#endif
