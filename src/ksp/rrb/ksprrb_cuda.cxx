/* KSPRRB on PCRRB where the matrix is on a CUDA device. */
#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

  #include "ksp/rrb/ksprrb_rrb.h"
  #include "stencil/cuda/stencil.hpp"

using namespace petscrrb;

namespace {

class OnDevice final : public KSPRRBOnFactorization<cuda::DeviceStencil, cuda::Buffer<double>> {
public:
  OnDevice(const PCRRBParts &with, bool full) : KSPRRBOnFactorization(with, !full), full_(full) {
    const bool launched = with.ranks && !with.ranks->only_kernels();
    iteration_ = rrbsolver::make_rrb_iteration(with.stream->cuda, *with.core, full, with.black,
                                               launched ? Iteration::Loop::launches : Iteration::Loop::automatic);
  }

private:
  PetscErrorCode RefreshFrom(const Csr &, const Grid &, const double *, KSPRRBValues *) override;
  void Take(const rrb::PreparedStencil &A, const rrb::FirstSchur *made) override {
    (void)stream_->Ready();
    KSPRRBOnFactorization::Take(A, made);
  }

  const bool full_;
  std::unique_ptr<cuda::StencilReader> reader_;
  RowFacts facts_;
};

PetscErrorCode OnDevice::RefreshFrom(const Csr &csr, const Grid &grid, const double *v, KSPRRBValues *values) {
  PetscFunctionBegin;
  PetscCall(stream_->Run([&] {
    if (!reader_) reader_ = std::make_unique<cuda::StencilReader>(grid, Positive::stays);
    const ReadResult result = reader_->read(csr, full_ ? nullptr : v, rounding, stencil_, facts_, stream_->cuda.stream);
    *values = KSPRRBValuesOf(result, facts_.zero_rows);
    if (*values != KSP_RRB_VALUES_OK) return;
    Take({stencil_.C.data(), stencil_.E.data(), stencil_.N.data(), stencil_.NE.data(), stencil_.NW.data(),
          stencil_.scaled ? stencil_.v.data() : nullptr},
         nullptr);
    if (!iteration_->refreshed()) *values = KSP_RRB_VALUES_NOT_POSITIVE;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnDevice(const PCRRBParts &with, bool full) {
  std::unique_ptr<KSPRRBSolver> solver;

  with.stream->Do([&] { solver = std::make_unique<OnDevice>(with, full); });
  return solver;
}

#endif
