/* PCBLOCKRELAX where the matrix is on a CUDA device: all work goes to the current PetscDeviceContext's stream. */
#include "pc/blockrelax/pcblockrelax_data.h"

#if PETSCRRB_ON_DEVICES

  #include "pc/columns.h"
  #include "pc/backend.h"
  #include "grid/cuda/csr.hpp"

using namespace petscrrb;

namespace {

class OnDevice final : public PetscRRBOnDevice<PCBlockRelaxBackend> {
public:
  OnDevice() : PetscRRBOnDevice("PCBLOCKRELAX") {}
  PetscRRBTrouble Create(const PCBlockRelaxShape &shape, const blockrelax::Options &options) override {
    return stream_.Attempt([&] {
      relax_ = blockrelax::make_blockrelax(stream_.cuda, shape.patches, shape.points, shape.periodic, options);
    });
  }
  PetscRRBTrouble Refresh(const Csr &rows, blockrelax::Findings *found) override {
    return stream_.Attempt([&] { *found = relax_->refresh(rows); });
  }
  PetscErrorCode Sweep(PC, Vec, Vec, PetscInt, PetscBool) override;
  PetscErrorCode SweepColumns(PC, Mat, Mat, PetscInt, PetscBool *) override;
  double bytes() const override { return relax_ ? relax_->bytes() : 0; }
  PetscRRBTrouble WhyRefused(const Csr &rows, std::string *why) override {
    return stream_.Attempt([&] {
      const cuda::HostCopy copy(rows, stream_.cuda.stream);
      *why = why_refused(copy.csr());
    });
  }

private:
  std::unique_ptr<blockrelax::BlockRelax> relax_;
};

PetscErrorCode OnDevice::Sweep(PC pc, Vec b, Vec x, PetscInt sweeps, PetscBool from_zero) {
  const auto sweep = [&](const PetscScalar *right, PetscScalar *u) {
    relax_->sweep(right, u, (int)sweeps, from_zero != PETSC_FALSE);
  };

  PetscFunctionBegin;
  PetscCall(vectors_.Use(pc, "PCBLOCKRELAX", stream_, b, x, sweep, (PetscBool)!from_zero));
  PetscCall(PetscLogGpuFlops(PCBlockRelaxFlops(pc, sweeps, from_zero)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice::SweepColumns(PC pc, Mat B, Mat X, PetscInt sweeps, PetscBool *done) {
  PetscInt columns;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B, nullptr, &columns));
  PetscCall(PetscRRBUseColumnsOnDevice(stream_, B, X, done,
                                       [&](const PetscScalar *b, PetscInt from, PetscScalar *x, PetscInt to, int n) {
                                         for (int k = 0; k < n; ++k)
                                           relax_->sweep(b + index_t(k) * from, x + index_t(k) * to, (int)sweeps, true);
                                       }));
  if (*done) PetscCall(PetscLogGpuFlops((double)columns * PCBlockRelaxFlops(pc, sweeps, PETSC_TRUE)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCBlockRelaxCreateCuda(std::unique_ptr<PCBlockRelaxBackend> *backend) {
  return PetscRRBCreateOnDevice<OnDevice>("PCBLOCKRELAX", backend);
}

#endif
