/* PCBLOCKRELAX where the matrix is on the host. */
#include "pc/backend.h"
#include "pc/blockrelax/pcblockrelax_data.h"
#include "pc/columns.h"

using namespace petscrrb;

namespace {

class OnHost final : public PetscRRBOnHost<PCBlockRelaxBackend> {
public:
  OnHost() : PetscRRBOnHost("PCBLOCKRELAX") {}
  PetscRRBTrouble Create(const PCBlockRelaxShape &shape, const blockrelax::Options &options) override {
    return PetscRRBTroubleOf(
        say_, [&] { relax_ = blockrelax::make_blockrelax(shape.patches, shape.points, shape.periodic, options); });
  }
  PetscRRBTrouble Refresh(const Csr &rows, blockrelax::Findings *found) override {
    return PetscRRBTroubleOf(say_, [&] { *found = relax_->refresh(rows); });
  }
  PetscErrorCode Sweep(PC, Vec, Vec, PetscInt, PetscBool) override;
  PetscErrorCode SweepColumns(PC, Mat, Mat, PetscInt, PetscBool *) override;
  double bytes() const override { return relax_ ? relax_->bytes() : 0; }
  PetscRRBTrouble WhyRefused(const Csr &rows, std::string *why) override {
    return PetscRRBTroubleOf(say_, [&] { *why = why_refused(rows); });
  }

private:
  std::unique_ptr<blockrelax::BlockRelax> relax_;
};

PetscErrorCode OnHost::Sweep(PC pc, Vec b, Vec x, PetscInt sweeps, PetscBool from_zero) {
  const auto sweep = [&](const PetscScalar *right, PetscScalar *u) {
    relax_->sweep(right, u, (int)sweeps, from_zero != PETSC_FALSE);
  };

  PetscFunctionBegin;
  PetscCall(vectors_.Use(pc, "PCBLOCKRELAX", b, x, sweep, (PetscBool)!from_zero));
  PetscCall(PetscLogFlops(PCBlockRelaxFlops(pc, sweeps, from_zero)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnHost::SweepColumns(PC pc, Mat B, Mat X, PetscInt sweeps, PetscBool *done) {
  PetscInt columns;

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  PetscCall(MatGetSize(B, nullptr, &columns));
  PetscCall(
      PetscRRBUseColumns(say_, B, X, [&](const PetscScalar *b, PetscInt from, PetscScalar *x, PetscInt to, int n) {
        for (int k = 0; k < n; ++k) relax_->sweep(b + index_t(k) * from, x + index_t(k) * to, (int)sweeps, true);
      }));
  PetscCall(PetscLogFlops((double)columns * PCBlockRelaxFlops(pc, sweeps, PETSC_TRUE)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCBlockRelaxCreateHost(std::unique_ptr<PCBlockRelaxBackend> *backend) {
  PetscFunctionBegin;
  *backend = std::make_unique<OnHost>();
  PetscFunctionReturn(PETSC_SUCCESS);
}
