/* KSPRRB where the matrix is on a CUDA device, on one rank. */
#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

  #include "pc/rrb/pcrrb_backend.h"
  #include "ksp/rrb/ksprrb_cuda.h"

using namespace petscrrb;

PetscErrorCode KSPRRBCudaSolver::StartFrom(const PetscScalar *r0, Norm norm, Numbers *numbers) {
  int error = 0;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] {
    error = iteration_->start(r0, norm, solve_);
    if (!error) *numbers = iteration_->started(norm);
  }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall((PetscErrorCode)error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPRRBCudaSolver::Start(Vec r0, Norm norm, Numbers *numbers) {
  const PetscScalar *r;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(r0, &r, nullptr));
  PetscCall(StartFrom(r, norm, numbers));
  PetscCall(VecRestoreArrayReadAndMemType(r0, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPRRBCudaSolver::Steps(Norm norm, const Limits &limits, std::vector<Numbers> *steps) {
  int error = 0;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] { error = iteration_->run(norm, limits, captured_ != PETSC_FALSE, solve_, *steps); }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall((PetscErrorCode)error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPRRBCudaSolver::Resume() {
  int error = 0;

  PetscFunctionBegin;
  PetscCall(stream_.Run([&] { error = iteration_->resume(solve_); }));
  PetscCall((PetscErrorCode)error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPRRBCudaSolver::PutSolution(const PetscScalar *r0, PetscScalar *x, PetscBool add) {
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] { iteration_->solution(r0, x, add != PETSC_FALSE); }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPRRBCudaSolver::Solution(Vec r0, Vec x, PetscBool add) {
  const PetscScalar *r;
  PetscScalar *to;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(r0, &r, nullptr));
  PetscCall(add ? VecGetArrayAndMemType(x, &to, nullptr) : VecGetArrayWriteAndMemType(x, &to, nullptr));
  PetscCall(PutSolution(r, to, add));
  PetscCall(add ? VecRestoreArrayAndMemType(x, &to) : VecRestoreArrayWriteAndMemType(x, &to));
  PetscCall(VecRestoreArrayReadAndMemType(r0, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

class OneRank final : public KSPRRBCudaSolver {
public:
  OneRank(PetscRRBStream &stream, Core &core, PetscBool full, PetscBool captured, const SolveLastBlock &solve)
      : KSPRRBCudaSolver(stream, rrbsolver::make_device_iteration(stream.cuda, core, full != PETSC_FALSE), captured,
                         solve),
        full_(full) {}

  PetscErrorCode Refresh(PC, const Csr &, const Grid &, const double *, KSPRRBValues *) override;

private:
  std::unique_ptr<cuda::StencilReader> reader_;
  cuda::DeviceFacts facts_;
  PetscBool full_;
};

PetscErrorCode OneRank::Refresh(PC, const Csr &csr, const Grid &grid, const double *v, KSPRRBValues *values) {
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

} // namespace

PetscErrorCode KSPRRBCreateCuda(PetscRRBStream &stream, KSPRRBSolver::Core &core, PetscBool full, PetscBool captured,
                                const KSPRRBSolver::SolveLastBlock &solve, std::unique_ptr<KSPRRBSolver> *solver) {
  PetscFunctionBegin;
  PetscCall(stream.Run([&] { *solver = std::make_unique<OneRank>(stream, core, full, captured, solve); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
