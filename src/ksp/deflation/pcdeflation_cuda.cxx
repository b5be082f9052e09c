/* Deflation by subdomains where the matrix is on a CUDA device: all work goes to the current PetscDeviceContext's stream. */
#include "ksp/deflation/pcdeflation_subdomains.h"

#if PETSCRRB_ON_DEVICES

  #include "petsc/agree.h"
  #include "petsc/stream_cuda.h"

using namespace petscrrb;

namespace {

class CudaBackend final : public PCDeflationSubdomains {
public:
  CudaBackend() { projection_ = deflation::make_projection_cuda(stream_.cuda); }
  ~CudaBackend() override {
    projection_.reset(); /* before the stream that it refers to */
    for (Vec &x : near_) (void)VecDestroy(&x);
  }
  PetscErrorCode Start() { return stream_.Start(); }
  PetscBool on_device() const override { return PETSC_TRUE; }

protected:
  PetscRRBRows Rows(const Csr &a) override { return PetscRRBRowsOnDevice(stream_, a); }
  PetscErrorCode ExchangeRows(PetscRRBOverlap &overlap, Mat P, PetscBool built, Csr *rows) override {
    PetscFunctionBegin;
    if (built)
      PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)P), stream_.say, [&] {
        ia_.assign(overlap.ia());
        ja_.assign(overlap.ja());
        a_.resize(ja_.size());
      }));
    PetscCall(overlap.Exchange(P, PETSC_TRUE, a_.data()));
    *rows = {overlap.own(), ia_.data(), ja_.data(), a_.data()};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Run(const PCDeflationWork &work) override {
    PetscFunctionBegin;
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(stream_.Run(work));
    PetscCall(PetscLogGpuTimeEnd());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscRRBSay &Says() const override { return stream_.say; }
  PetscErrorCode Log(PetscLogDouble flops) override { return PetscLogGpuFlops(flops); }

  PetscErrorCode Near(Vec x, int slot, PetscBool values, Vec *near) override {
    PetscBool here;

    PetscFunctionBegin;
    PetscCall(PetscRRBVecOnDevice(x, &here));
    *near = x;
    if (here) PetscFunctionReturn(PETSC_SUCCESS);
    if (!near_[slot]) {
      PetscInt n, all;
      PetscCall(PetscInfo(x, "The matrix is on the device and a vector is on the host: deflation copies it there in "
                             "every application\n"));
      PetscCall(VecGetLocalSize(x, &n));
      PetscCall(VecGetSize(x, &all));
      PetscCall(VecCreate(PetscObjectComm((PetscObject)x), &near_[slot]));
      PetscCall(VecSetSizes(near_[slot], n, all));
      PetscCall(VecSetType(near_[slot], VECCUDA));
    }
    if (values) PetscCall(VecCopy(x, near_[slot]));
    *near = near_[slot];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode GetRead(Vec x, const PetscScalar **a) override { return VecGetArrayReadAndMemType(x, a, nullptr); }
  PetscErrorCode RestoreRead(Vec x, const PetscScalar **a) override { return VecRestoreArrayReadAndMemType(x, a); }
  PetscErrorCode Get(Vec x, PetscBool values, PetscScalar **a) override {
    return values ? VecGetArrayAndMemType(x, a, nullptr) : VecGetArrayWriteAndMemType(x, a, nullptr);
  }
  PetscErrorCode Restore(Vec x, PetscBool values, PetscScalar **a) override {
    return values ? VecRestoreArrayAndMemType(x, a) : VecRestoreArrayWriteAndMemType(x, a);
  }

private:
  PetscRRBStream stream_{"deflation"};
  Vec near_[2] = {};               /* of vectors that are on the host */
  cuda::Buffer<PetscInt> ia_, ja_; /* of rows with ghosts, on several ranks */
  cuda::Buffer<PetscScalar> a_;
};

} // namespace

PetscErrorCode PCDeflationCreateCuda(MPI_Comm comm, std::unique_ptr<PCDeflationBackend> *backend) {
  CudaBackend *made = nullptr;

  PetscFunctionBegin;
  const PetscErrorCode code = PetscRRBTryTogether(comm, PetscRRBSay("deflation", PETSC_ERR_GPU),
                                                  [&] { backend->reset(made = new CudaBackend); });
  if (code != PETSC_SUCCESS) backend->reset(); /* where it could be made, too */
  PetscCall(code);
  PetscCall(made->Start());
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
