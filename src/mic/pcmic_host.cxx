/* PCMIC where the matrix is on the host. */
#include "glue/columns.h"
#include "mic/pcmic_impl.h"

using namespace petscrrb;

static PetscErrorCode NoMemory(const std::exception &e) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for MIC: %s", e.what());
}

namespace {

class HostBackend final : public PCMICBackend {
public:
  PetscBool on_device() const override { return PETSC_FALSE; }
  PetscRRBRows rows(const Csr &a) override { return PetscRRBRowsOnHost(a, NoMemory); }
  PetscErrorCode Create(const Grid &g, const mic::Options &options) override {
    PetscFunctionBegin;
    flops_ = PCMICFlops(g);
    PetscCall(PetscRRBTry(NoMemory, [&] { mic_ = mic::make_mic(g, options); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Refresh(const Csr &rows, mic::Findings *found) override {
    PetscFunctionBegin;
    PetscCall(PetscRRBTry(NoMemory, [&] { *found = mic_->refresh(rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Apply(PC, PCMICPart, Vec, Vec) override;
  PetscErrorCode MatApply(Mat, Mat, PetscBool *) override;
  double bytes() const override { return mic_ ? mic_->bytes() : 0; }
  PetscErrorCode WhyRefused(const Csr &rows, std::string *why) override {
    PetscFunctionBegin;
    PetscCall(PetscRRBTry(NoMemory, [&] { *why = why_refused(rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  std::unique_ptr<mic::Mic> mic_;
  double flops_ = 0;
  PetscRRBVectorsOnHost vectors_;
};

PetscErrorCode HostBackend::Apply(PC pc, PCMICPart part, Vec x, Vec y) {
  const PetscScalar *r;
  PetscScalar *z;

  PetscFunctionBegin;
  if (!mic_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(vectors_.Say(pc, "PCMIC", x));
  PetscCall(VecGetArrayRead(x, &r));
  PetscCall(VecGetArrayWrite(y, &z));
  PetscCall(PetscRRBTry(NoMemory, [&] { PCMICApply(*mic_, part, r, z); }));
  PetscCall(VecRestoreArrayWrite(y, &z));
  PetscCall(VecRestoreArrayRead(x, &r));
  PetscCall(PetscLogFlops(part == PCMICPart::all ? flops_ : 0.5 * flops_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostBackend::MatApply(Mat X, Mat Y, PetscBool *done) {
  PetscFunctionBegin;
  *done = PETSC_TRUE;
  if (!mic_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBUseColumns(
      X, Y, [&](const PetscScalar *r, PetscInt from, PetscScalar *z, PetscInt to, int columns) -> PetscErrorCode {
        PetscFunctionBegin;
        PetscCall(PetscRRBTry(NoMemory, [&] { mic_->apply(r, from, z, to, columns); }));
        PetscCall(PetscLogFlops(columns * flops_));
        PetscFunctionReturn(PETSC_SUCCESS);
      }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCMICCreateHost(std::unique_ptr<PCMICBackend> *backend) {
  PetscFunctionBegin;
  *backend = std::make_unique<HostBackend>();
  PetscFunctionReturn(PETSC_SUCCESS);
}
