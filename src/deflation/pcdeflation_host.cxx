/* Deflation by subdomains where the matrix is on the host. PETSc copies there what a vector has on a device. */
#include "deflation/pcdeflation_subdomains.h"

using namespace petscrrb;

static PetscErrorCode NoMemory(const std::exception &e) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for deflation: %s", e.what());
}

namespace {

class HostBackend final : public PCDeflationSubdomains {
public:
  HostBackend() { projection_ = deflation::make_projection_host(); }
  PetscBool on_device() const override { return PETSC_FALSE; }

protected:
  PetscRRBRows Rows(const Csr &a) override { return PetscRRBRowsOnHost(a, PetscRRBSay("deflation")); }
  PetscErrorCode BringRows(PetscRRBOverlap &overlap, Mat P, PetscBool, Csr *rows) override {
    PetscFunctionBegin;
    a_.resize((std::size_t)overlap.entries());
    PetscCall(overlap.Bring(P, PETSC_FALSE, a_.data()));
    *rows = overlap.rows(a_.data());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Run(const PCDeflationWork &work) override { return PetscRRBTry(NoMemory, work); }
  PetscErrorCode Log(PetscLogDouble flops) override { return PetscLogFlops(flops); }
  /* within E's profile, as cheap as E itself */
  KSPDeflationInverse DefaultInverse() const override { return KSP_DEFLATION_CHOLESKY; }

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

PetscErrorCode PCDeflationCreateHost(std::unique_ptr<PCDeflationBackend> *backend) {
  PetscFunctionBegin;
  *backend = std::make_unique<HostBackend>();
  PetscFunctionReturn(PETSC_SUCCESS);
}
