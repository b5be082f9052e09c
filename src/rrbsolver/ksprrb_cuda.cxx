/* KSPRRB where the matrix is on a CUDA device. */
#include "rrb/pcrrb_backend.h"
#include "rrbsolver/ksprrb_solver.h"

#if PETSCRRB_ON_DEVICES

  #include "glue/stream_cuda.h"
  #include "grid/stencil_cuda.hpp"
  #include "rrbsolver/iteration_cuda.hpp"

using namespace petscrrb;

namespace {

class DeviceSolver final : public KSPRRBSolver {
public:
  DeviceSolver(PetscRRBStream &stream, Core &core, PetscBool full, PetscBool captured, const SolveLastBlock &solve)
      : stream_(stream), iteration_(rrbsolver::make_device_iteration(stream.cuda, core, full != PETSC_FALSE)),
        solve_([solve](rrb::Part part) { return (int)solve(part); }), full_(full), captured_(captured) {}

  PetscErrorCode Refresh(PC, const Csr &, const Grid &, const double *, KSPRRBValues *) override;
  PetscBool has_known_values() const override { return (PetscBool)(facts_.decoupled > 0); }
  PetscErrorCode SetKnownValues(Vec, Vec) override;
  PetscErrorCode Start(Vec, Norm, Numbers *) override;
  PetscErrorCode Steps(Norm, const Limits &, std::vector<Numbers> *) override;
  PetscErrorCode Resume() override;
  PetscErrorCode Settle() override {
    return stream_.Run([&] { iteration_->settle(); });
  }
  void DropStep() override { iteration_->drop_step(); }
  PetscErrorCode Solution(Vec, Vec, PetscBool) override;
  double bytes() const override {
    const cuda::DeviceStencil &s = stencil_;
    return (double)(iteration_->bytes() + s.C.bytes() + s.E.bytes() + s.N.bytes() + s.NE.bytes() + s.NW.bytes() +
                    s.v.bytes() + s.identity.bytes());
  }

private:
  PetscRRBStream &stream_; /* the preconditioner's */
  std::unique_ptr<rrbsolver::DeviceIteration> iteration_;
  rrbsolver::DeviceIteration::Solve solve_;
  std::unique_ptr<cuda::StencilReader> reader_;
  cuda::DeviceStencil stencil_;
  cuda::DeviceFacts facts_;
  PetscBool full_, captured_; /* captured: the last block is solved by kernels */
};

PetscErrorCode DeviceSolver::Refresh(PC, const Csr &csr, const Grid &grid, const double *v, KSPRRBValues *values) {
  PetscFunctionBegin;
  PetscCall(stream_.Run([&] {
    if (!reader_) reader_ = std::make_unique<cuda::StencilReader>(grid, Positive::stays);
    const ReadResult result = reader_->read(csr, full_ ? nullptr : v, rounding, stencil_, facts_, stream_.cuda.stream);
    *values = KSPRRBValuesOf(result, facts_.zero_rows);
    if (*values != KSP_RRB_VALUES_OK) return;
    iteration_->refresh({stencil_.C.data(), stencil_.E.data(), stencil_.N.data(), stencil_.NE.data(),
                         stencil_.NW.data(), stencil_.scaled ? stencil_.v.data() : nullptr});
    if (!iteration_->positive()) *values = KSP_RRB_VALUES_NOT_POSITIVE;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSolver::SetKnownValues(Vec b, Vec x) {
  const PetscScalar *known;
  PetscScalar *to;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayReadAndMemType(b, &known, nullptr));
  PetscCall(VecGetArrayAndMemType(x, &to, nullptr));
  PetscCall(stream_.Run(
      [&] { rrbsolver::set_identity_rows(stream_.cuda, n, stencil_.identity.data(), stencil_.C.data(), known, to); }));
  PetscCall(VecRestoreArrayAndMemType(x, &to));
  PetscCall(VecRestoreArrayReadAndMemType(b, &known));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSolver::Start(Vec r0, Norm norm, Numbers *numbers) {
  const PetscScalar *r;
  int error = 0;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(r0, &r, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] {
    error = iteration_->start(r, norm, solve_);
    if (!error) *numbers = iteration_->started(norm);
  }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall((PetscErrorCode)error);
  PetscCall(VecRestoreArrayReadAndMemType(r0, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSolver::Steps(Norm norm, const Limits &limits, std::vector<Numbers> *steps) {
  int error = 0;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] { error = iteration_->run(norm, limits, captured_ != PETSC_FALSE, solve_, *steps); }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall((PetscErrorCode)error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSolver::Resume() {
  int error = 0;

  PetscFunctionBegin;
  PetscCall(stream_.Run([&] { error = iteration_->resume(solve_); }));
  PetscCall((PetscErrorCode)error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSolver::Solution(Vec r0, Vec x, PetscBool add) {
  const PetscScalar *r;
  PetscScalar *to;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(r0, &r, nullptr));
  PetscCall(add ? VecGetArrayAndMemType(x, &to, nullptr) : VecGetArrayWriteAndMemType(x, &to, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] { iteration_->solution(r, to, add != PETSC_FALSE); }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(add ? VecRestoreArrayAndMemType(x, &to) : VecRestoreArrayWriteAndMemType(x, &to));
  PetscCall(VecRestoreArrayReadAndMemType(r0, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode KSPRRBCreateCuda(PetscRRBStream &stream, KSPRRBSolver::Core &core, PetscBool full, PetscBool captured,
                                const KSPRRBSolver::SolveLastBlock &solve, std::unique_ptr<KSPRRBSolver> *solver) {
  PetscFunctionBegin;
  PetscCall(stream.Run([&] { *solver = std::make_unique<DeviceSolver>(stream, core, full, captured, solve); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
