/* Deflation by subdomains where the matrix is on the host. PETSc copies there what a vector has on a device. */
#include "ksp/deflation/pcdeflation_subdomains.h"

using namespace petscrrb;

static const PetscRRBSay say("deflation");

namespace {

class HostBackend final : public PCDeflationSubdomains {
public:
  HostBackend() { projection_ = deflation::make_projection_host(); }
  PetscBool on_device() const override { return PETSC_FALSE; }

protected:
  PetscRRBRows Rows(const Csr &a) override { return PetscRRBRowsOnHost(a, say); }
  PetscErrorCode ExchangeRows(PetscRRBOverlap &overlap, Mat P, PetscBool, Csr *rows) override {
    PetscFunctionBegin;
    PetscCall(
        PetscRRBTryTogether(PetscObjectComm((PetscObject)P), say, [&] { a_.resize((std::size_t)overlap.entries()); }));
    PetscCall(overlap.Exchange(P, PETSC_FALSE, a_.data()));
    *rows = overlap.rows(a_.data());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Run(const PCDeflationWork &work) override { return PetscRRBTry(say, work); }
  const PetscRRBSay &Says() const override { return say; }
  PetscErrorCode Log(PetscLogDouble flops) override { return PetscLogFlops(flops); }

  PetscErrorCode Near(Vec x, int, PetscBool, Vec *near) override {
    *near = x;
    return PETSC_SUCCESS;
  }
  PetscErrorCode GetRead(Vec x, const PetscScalar **a) override { return VecGetArrayRead(x, a); }
  PetscErrorCode RestoreRead(Vec x, const PetscScalar **a) override { return VecRestoreArrayRead(x, a); }
  PetscErrorCode Get(Vec x, PetscBool values, PetscScalar **a) override {
    return values ? VecGetArray(x, a) : VecGetArrayWrite(x, a);
  }
  PetscErrorCode Restore(Vec x, PetscBool values, PetscScalar **a) override {
    return values ? VecRestoreArray(x, a) : VecRestoreArrayWrite(x, a);
  }

private:
  std::vector<PetscScalar> a_; /* of rows with ghosts */
};

} // namespace

PetscErrorCode PCDeflationCreateHost(MPI_Comm comm, std::unique_ptr<PCDeflationBackend> *backend) {
  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(comm, say, [&] { *backend = std::make_unique<HostBackend>(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
