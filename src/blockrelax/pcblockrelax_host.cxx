/* PCBLOCKRELAX where the matrix is on the host. */
#include "blockrelax/pcblockrelax_impl.h"

using namespace petscrrb;

static PetscErrorCode NoMemory(const std::exception &e) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for block relaxation: %s", e.what());
}

namespace {

class HostBackend final : public PCBlockRelaxBackend {
public:
  PetscBool on_device() const override { return PETSC_FALSE; }
  PetscRRBRows rows(const Csr &a) override { return PetscRRBRowsOnHost(a, NoMemory); }
  PetscErrorCode Create(const PCBlockRelaxShape &shape, const blockrelax::Options &options) override {
    PetscFunctionBegin;
    PetscCall(PetscRRBTry(
        NoMemory, [&] { relax_ = blockrelax::make_blockrelax(shape.patches, shape.points, shape.periodic, options); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Refresh(const Csr &rows, blockrelax::Findings *found) override {
    PetscFunctionBegin;
    couplings_ = rows.n ? rows.ia[rows.n] : 0;
    PetscCall(PetscRRBTry(NoMemory, [&] { *found = relax_->refresh(rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Sweep(PC, Vec, Vec, PetscInt, PetscBool) override;
  double bytes() const override { return relax_ ? relax_->bytes() : 0; }
  PetscErrorCode WhyRefused(const Csr &rows, std::string *why) override {
    PetscFunctionBegin;
    PetscCall(PetscRRBTry(NoMemory, [&] { *why = why_refused(rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode SayWhereVectorsAre(PC, Vec);

  std::unique_ptr<blockrelax::BlockRelax> relax_;
  PetscLogDouble couplings_ = 0;
  bool said_ = false; /* where the vectors are */
};

PetscErrorCode HostBackend::SayWhereVectorsAre(PC pc, Vec x) {
  PetscBool device;

  PetscFunctionBegin;
  if (said_) PetscFunctionReturn(PETSC_SUCCESS);
  said_ = true;
  PetscCall(PetscRRBVecOnDevice(x, &device));
  if (device)
    PetscCall(PetscInfo(pc,
                        "PCBLOCKRELAX: the matrix is on the host and the vectors are on the device: they are copied "
                        "there and back in every application\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostBackend::Sweep(PC pc, Vec b, Vec x, PetscInt sweeps, PetscBool from_zero) {
  const PetscScalar *right;
  PetscScalar *u;

  PetscFunctionBegin;
  if (!relax_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SayWhereVectorsAre(pc, b));
  PetscCall(VecGetArrayRead(b, &right));
  PetscCall(from_zero ? VecGetArrayWrite(x, &u) : VecGetArray(x, &u));
  PetscCall(PetscRRBTry(NoMemory, [&] { relax_->sweep(right, u, (int)sweeps, from_zero != PETSC_FALSE); }));
  PetscCall(from_zero ? VecRestoreArrayWrite(x, &u) : VecRestoreArray(x, &u));
  PetscCall(VecRestoreArrayRead(b, &right));
  PetscCall(PetscLogFlops((double)(sweeps - (from_zero ? 1 : 0)) * 2 * couplings_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCBlockRelaxCreateHost(std::unique_ptr<PCBlockRelaxBackend> *backend) {
  PetscFunctionBegin;
  *backend = std::make_unique<HostBackend>();
  PetscFunctionReturn(PETSC_SUCCESS);
}
