/* PCBLOCKRELAX where the matrix is on a CUDA device: all work goes to the current PetscDeviceContext's stream. */
#include "blockrelax/pcblockrelax_impl.h"

#if PETSCRRB_ON_DEVICES

  #include "glue/columns.h"
  #include "glue/stream_cuda.h"
  #include "grid/csr_cuda.hpp"

using namespace petscrrb;

namespace {

class CudaBackend final : public PCBlockRelaxBackend {
public:
  PetscErrorCode Start() { return stream_.Start(); }

  PetscBool on_device() const override { return PETSC_TRUE; }
  PetscRRBRows rows(const Csr &a) override { return stream_.Rows(a); }
  PetscErrorCode Create(const PCBlockRelaxShape &shape, const blockrelax::Options &options) override {
    PetscFunctionBegin;
    PetscCall(stream_.Run([&] {
      relax_ = blockrelax::make_blockrelax(stream_.cuda, shape.patches, shape.points, shape.periodic, options);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Refresh(const Csr &rows, blockrelax::Findings *found) override {
    PetscFunctionBegin;
    PetscCall(stream_.Run([&] { *found = relax_->refresh(rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Sweep(PC, Vec, Vec, PetscInt, PetscBool) override;
  PetscErrorCode SweepColumns(PC, Mat, Mat, PetscInt, PetscBool *) override;
  double bytes() const override { return relax_ ? relax_->bytes() : 0; }
  PetscErrorCode WhyRefused(const Csr &rows, std::string *why) override {
    PetscFunctionBegin;
    PetscCall(stream_.Run([&] {
      const cuda::HostCopy copy(rows, stream_.cuda.stream);
      *why = why_refused(copy.csr());
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode SweepHere(Vec, Vec, PetscInt, PetscBool);

  PetscRRBStream stream_;
  std::unique_ptr<blockrelax::BlockRelax> relax_;
  PetscRRBVectorsOnDevice vectors_;
};

PetscErrorCode CudaBackend::SweepHere(Vec b, Vec x, PetscInt sweeps, PetscBool from_zero) {
  const PetscScalar *right;
  PetscScalar *u;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(b, &right, nullptr));
  PetscCall(from_zero ? VecGetArrayWriteAndMemType(x, &u, nullptr) : VecGetArrayAndMemType(x, &u, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(stream_.Run([&] { relax_->sweep(right, u, (int)sweeps, from_zero != PETSC_FALSE); }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(from_zero ? VecRestoreArrayWriteAndMemType(x, &u) : VecRestoreArrayAndMemType(x, &u));
  PetscCall(VecRestoreArrayReadAndMemType(b, &right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CudaBackend::Sweep(PC pc, Vec b, Vec x, PetscInt sweeps, PetscBool from_zero) {
  const auto here = [&](Vec right, Vec u) { return SweepHere(right, u, sweeps, from_zero); };

  PetscFunctionBegin;
  if (!relax_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(vectors_.Use(pc, "PCBLOCKRELAX", b, x, here, (PetscBool)!from_zero));
  PetscCall(PetscLogGpuFlops(PCBlockRelaxFlops(pc, sweeps, from_zero)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CudaBackend::SweepColumns(PC pc, Mat B, Mat X, PetscInt sweeps, PetscBool *done) {
  PetscFunctionBegin;
  PetscCall(PetscRRBUseColumnsOnDevice(
      B, X, done, [&](const PetscScalar *b, PetscInt from, PetscScalar *x, PetscInt to, int columns) -> PetscErrorCode {
        PetscFunctionBegin;
        if (!relax_) PetscFunctionReturn(PETSC_SUCCESS);
        PetscCall(stream_.Run([&] {
          for (int k = 0; k < columns; ++k)
            relax_->sweep(b + index_t(k) * from, x + index_t(k) * to, (int)sweeps, true);
        }));
        PetscCall(PetscLogGpuFlops(columns * PCBlockRelaxFlops(pc, sweeps, PETSC_TRUE)));
        PetscFunctionReturn(PETSC_SUCCESS);
      }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCBlockRelaxCreateCuda(std::unique_ptr<PCBlockRelaxBackend> *backend) {
  return PetscRRBCreateOnDevice<CudaBackend>(backend);
}

#else

PetscErrorCode PCBlockRelaxCreateCuda(std::unique_ptr<PCBlockRelaxBackend> *) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "petscrrb was built without CUDA");
}

#endif
