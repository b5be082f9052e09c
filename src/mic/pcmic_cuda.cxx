/* PCMIC where the matrix is on a CUDA device: all work goes to the current PetscDeviceContext's stream. */
#include "mic/pcmic_impl.h"

#if PETSCRRB_ON_DEVICES

  #include "glue/columns.h"
  #include "glue/stream_cuda.h"
  #include "grid/csr_cuda.hpp"

using namespace petscrrb;

namespace {

class CudaBackend final : public PCMICBackend {
public:
  PetscErrorCode Start() { return stream_.Start(); }

  PetscBool on_device() const override { return PETSC_TRUE; }
  PetscRRBRows rows(const Csr &a) override { return stream_.Rows(a); }
  PetscErrorCode Create(const Grid &g, const mic::Options &options) override {
    PetscFunctionBegin;
    flops_ = PCMICFlops(g);
    PetscCall(stream_.Run([&] { mic_ = mic::make_mic(stream_.cuda, g, options); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Refresh(const Csr &rows, mic::Findings *found) override {
    PetscFunctionBegin;
    PetscCall(stream_.Run([&] { *found = mic_->refresh(rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Apply(PC, PCMICPart, Vec, Vec) override;
  PetscErrorCode MatApply(Mat, Mat, PetscBool *) override;
  double bytes() const override { return mic_ ? mic_->bytes() : 0; }
  PetscErrorCode WhyRefused(const Csr &rows, std::string *why) override {
    PetscFunctionBegin;
    PetscCall(stream_.Run([&] {
      const cuda::HostCopy copy(rows, stream_.cuda.stream);
      *why = why_refused(copy.csr());
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode ApplyHere(PCMICPart, Vec, Vec);

  PetscRRBStream stream_;
  std::unique_ptr<mic::Mic> mic_;
  double flops_ = 0;
  PetscRRBVectorsOnDevice vectors_;
};

PetscErrorCode CudaBackend::ApplyHere(PCMICPart part, Vec x, Vec y) {
  const PetscScalar *r;
  PetscScalar *z;

  PetscFunctionBegin;
  if (!mic_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayReadAndMemType(x, &r, nullptr));
  PetscCall(VecGetArrayWriteAndMemType(y, &z, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] { PCMICApply(*mic_, part, r, z); }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecRestoreArrayWriteAndMemType(y, &z));
  PetscCall(VecRestoreArrayReadAndMemType(x, &r));
  PetscCall(PetscLogGpuFlops(part == PCMICPart::all ? flops_ : 0.5 * flops_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CudaBackend::Apply(PC pc, PCMICPart part, Vec x, Vec y) {
  return vectors_.Use(pc, "PCMIC", x, y, [&](Vec r, Vec z) { return ApplyHere(part, r, z); });
}

PetscErrorCode CudaBackend::MatApply(Mat X, Mat Y, PetscBool *done) {
  PetscFunctionBegin;
  PetscCall(PetscRRBUseColumnsOnDevice(
      X, Y, done, [&](const PetscScalar *r, PetscInt from, PetscScalar *z, PetscInt to, int columns) -> PetscErrorCode {
        PetscFunctionBegin;
        if (!mic_) PetscFunctionReturn(PETSC_SUCCESS);
        PetscCall(stream_.Run([&] { mic_->apply(r, from, z, to, columns); }));
        PetscCall(PetscLogGpuFlops(columns * flops_));
        PetscFunctionReturn(PETSC_SUCCESS);
      }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCMICCreateCuda(std::unique_ptr<PCMICBackend> *backend) {
  return PetscRRBCreateOnDevice<CudaBackend>(backend);
}

#else

PetscErrorCode PCMICCreateCuda(std::unique_ptr<PCMICBackend> *) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "petscrrb was built without CUDA");
}

#endif
