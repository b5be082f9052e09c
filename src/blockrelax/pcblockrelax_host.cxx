/* PCBLOCKRELAX where the matrix is on the host. */
#include "blockrelax/pcblockrelax_impl.h"
#include "glue/columns.h"

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
    PetscCall(PetscRRBTry(NoMemory, [&] { *found = relax_->refresh(rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Sweep(PC, Vec, Vec, PetscInt, PetscBool) override;
  PetscErrorCode SweepColumns(PC, Mat, Mat, PetscInt, PetscBool *) override;
  double bytes() const override { return relax_ ? relax_->bytes() : 0; }
  PetscErrorCode WhyRefused(const Csr &rows, std::string *why) override {
    PetscFunctionBegin;
    PetscCall(PetscRRBTry(NoMemory, [&] { *why = why_refused(rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  std::unique_ptr<blockrelax::BlockRelax> relax_;
  PetscRRBVectorsOnHost vectors_;
};

PetscErrorCode HostBackend::Sweep(PC pc, Vec b, Vec x, PetscInt sweeps, PetscBool from_zero) {
  const PetscScalar *right;
  PetscScalar *u;

  PetscFunctionBegin;
  if (!relax_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(vectors_.Say(pc, "PCBLOCKRELAX", b));
  PetscCall(VecGetArrayRead(b, &right));
  PetscCall(from_zero ? VecGetArrayWrite(x, &u) : VecGetArray(x, &u));
  PetscCall(PetscRRBTry(NoMemory, [&] { relax_->sweep(right, u, (int)sweeps, from_zero != PETSC_FALSE); }));
  PetscCall(from_zero ? VecRestoreArrayWrite(x, &u) : VecRestoreArray(x, &u));
  PetscCall(VecRestoreArrayRead(b, &right));
  PetscCall(PetscLogFlops(PCBlockRelaxFlops(pc, sweeps, from_zero)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostBackend::SweepColumns(PC pc, Mat B, Mat X, PetscInt sweeps, PetscBool *done) {
  PetscFunctionBegin;
  *done = PETSC_TRUE;
  if (!relax_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBUseColumns(
      B, X, [&](const PetscScalar *b, PetscInt from, PetscScalar *x, PetscInt to, int columns) -> PetscErrorCode {
        PetscFunctionBegin;
        PetscCall(PetscRRBTry(NoMemory, [&] {
          for (int k = 0; k < columns; ++k)
            relax_->sweep(b + index_t(k) * from, x + index_t(k) * to, (int)sweeps, true);
        }));
        PetscCall(PetscLogFlops(columns * PCBlockRelaxFlops(pc, sweeps, PETSC_TRUE)));
        PetscFunctionReturn(PETSC_SUCCESS);
      }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCBlockRelaxCreateHost(std::unique_ptr<PCBlockRelaxBackend> *backend) {
  PetscFunctionBegin;
  *backend = std::make_unique<HostBackend>();
  PetscFunctionReturn(PETSC_SUCCESS);
}
