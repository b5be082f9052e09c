/* PCMIC where the matrix is on the host. */
#include "pc/columns.h"
#include "pc/backend.h"
#include "pc/mic/pcmic_data.h"

using namespace petscrrb;

namespace {

class OnHost final : public PetscRRBOnHost<PCMICBackend> {
public:
  OnHost() : PetscRRBOnHost("PCMIC") {}
  PetscRRBTrouble Create(const Grid &g, const mic::Options &options) override {
    flops_ = PCMICFlops(g);
    return PetscRRBTroubleOf(say_, [&] { mic_ = mic::make_mic(g, options); });
  }
  PetscRRBTrouble Refresh(const Csr &rows, mic::Findings *found) override {
    return PetscRRBTroubleOf(say_, [&] { *found = mic_->refresh(rows); });
  }
  PetscErrorCode Apply(PC, PCMICPart, Vec, Vec) override;
  PetscErrorCode MatApply(Mat, Mat, PetscBool *) override;
  double bytes() const override { return mic_ ? mic_->bytes() : 0; }
  PetscRRBTrouble WhyRefused(const Csr &rows, std::string *why) override {
    return PetscRRBTroubleOf(say_, [&] { *why = why_refused(rows); });
  }

private:
  std::unique_ptr<mic::Mic> mic_;
  double flops_ = 0;
};

PetscErrorCode OnHost::Apply(PC pc, PCMICPart part, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(
      vectors_.Use(pc, "PCMIC", x, y, [&](const PetscScalar *r, PetscScalar *z) { PCMICApply(*mic_, part, r, z); }));
  PetscCall(PetscLogFlops(part == PCMICPart::all ? flops_ : 0.5 * flops_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnHost::MatApply(Mat X, Mat Y, PetscBool *done) {
  PetscInt columns;

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  PetscCall(MatGetSize(X, nullptr, &columns));
  PetscCall(
      PetscRRBUseColumns(say_, X, Y, [&](const PetscScalar *r, PetscInt from, PetscScalar *z, PetscInt to, int n) {
        mic_->apply(r, from, z, to, n);
      }));
  PetscCall(PetscLogFlops((double)columns * flops_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCMICCreateHost(std::unique_ptr<PCMICBackend> *backend) {
  PetscFunctionBegin;
  *backend = std::make_unique<OnHost>();
  PetscFunctionReturn(PETSC_SUCCESS);
}
