/* PCMIC where the matrix is on a CUDA device: all work goes to the current PetscDeviceContext's stream. */
#include "pc/mic/pcmic_data.h"

#if PETSCRRB_ON_DEVICES

  #include "pc/columns.h"
  #include "pc/backend.h"
  #include "grid/cuda/csr.hpp"

using namespace petscrrb;

namespace {

class OnDevice final : public PetscRRBOnDevice<PCMICBackend> {
public:
  OnDevice() : PetscRRBOnDevice("PCMIC") {}
  PetscRRBTrouble Create(const Grid &g, const mic::Options &options) override {
    flops_ = PCMICFlops(g);
    return stream_.Attempt([&] { mic_ = mic::make_mic(stream_.cuda, g, options); });
  }
  PetscRRBTrouble Refresh(const Csr &rows, mic::Findings *found) override {
    return stream_.Attempt([&] { *found = mic_->refresh(rows); });
  }
  PetscErrorCode Apply(PC, PCMICPart, Vec, Vec) override;
  PetscErrorCode MatApply(Mat, Mat, PetscBool *) override;
  double bytes() const override { return mic_ ? mic_->bytes() : 0; }
  PetscRRBTrouble WhyRefused(const Csr &rows, std::string *why) override {
    return stream_.Attempt([&] {
      const cuda::HostCopy copy(rows, stream_.cuda.stream);
      *why = why_refused(copy.csr());
    });
  }

private:
  std::unique_ptr<mic::Mic> mic_;
  double flops_ = 0;
};

PetscErrorCode OnDevice::Apply(PC pc, PCMICPart part, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(vectors_.Use(pc, "PCMIC", stream_, x, y,
                         [&](const PetscScalar *r, PetscScalar *z) { PCMICApply(*mic_, part, r, z); }));
  PetscCall(PetscLogGpuFlops(part == PCMICPart::all ? flops_ : 0.5 * flops_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::MatApply(Mat X, Mat Y, PetscBool *done) {
  PetscInt columns;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, nullptr, &columns));
  PetscCall(PetscRRBUseColumnsOnDevice(stream_, X, Y, done,
                                       [&](const PetscScalar *r, PetscInt from, PetscScalar *z, PetscInt to, int n) {
                                         mic_->apply(r, from, z, to, n);
                                       }));
  if (*done) PetscCall(PetscLogGpuFlops((double)columns * flops_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCMICCreateCuda(std::unique_ptr<PCMICBackend> *backend) {
  return PetscRRBCreateOnDevice<OnDevice>("PCMIC", backend);
}

#endif
