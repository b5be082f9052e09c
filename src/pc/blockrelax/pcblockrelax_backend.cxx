/* PCBLOCKRELAX where its matrix is. */
#include "pc/backend.h"
#include "pc/blockrelax/pcblockrelax_data.h"

using namespace petscrrb;

namespace {

template <class Where> class Backend final : public PetscRRBBackendAt<Where, PCBlockRelaxBackend> {
  using PetscRRBBackendAt<Where, PCBlockRelaxBackend>::where_;

public:
  Backend() : PetscRRBBackendAt<Where, PCBlockRelaxBackend>("PCBLOCKRELAX") {}
  PetscRRBTrouble Create(const blockrelax::Domain &domain, const blockrelax::Options &options) override {
    const auto make = [&](const auto &...on) { return blockrelax::make_blockrelax(on..., domain, options); };
    return where_.Attempt([&] { relax_ = where_.Make(make); });
  }
  PetscRRBTrouble Refresh(const Csr &rows, blockrelax::Findings *found) override {
    return where_.Attempt([&] { *found = relax_->refresh(rows); });
  }
  PetscErrorCode Sweep(PC pc, Vec b, Vec x, PetscInt sweeps, PetscBool from_zero) override {
    const auto sweep = [&](const PetscScalar *right, PetscScalar *u) {
      relax_->sweep(right, u, (int)sweeps, from_zero != PETSC_FALSE);
    };

    PetscFunctionBegin;
    PetscCall(where_.Use(pc, b, x, sweep, (PetscBool)!from_zero));
    PetscCall(where_.LogFlops(PCBlockRelaxFlops(pc, sweeps, from_zero)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode SweepColumns(PC pc, Mat B, Mat X, PetscInt sweeps, PetscBool *done) override {
    PetscInt columns;
    const auto sweep = [&](const PetscScalar *b, PetscInt from, PetscScalar *x, PetscInt to, int n) {
      for (int k = 0; k < n; ++k) relax_->sweep(b + index_t(k) * from, x + index_t(k) * to, (int)sweeps, true);
    };

    PetscFunctionBegin;
    PetscCall(MatGetSize(B, nullptr, &columns));
    PetscCall(PetscRRBUseColumns(where_, B, X, done, sweep));
    if (*done) PetscCall(where_.LogFlops((double)columns * PCBlockRelaxFlops(pc, sweeps, PETSC_TRUE)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  double bytes() const override { return relax_ ? relax_->bytes() : 0; }

private:
  std::unique_ptr<blockrelax::BlockRelax> relax_;
};

} // namespace

PetscErrorCode PCBlockRelaxCreateBackend(PetscBool device, std::unique_ptr<PCBlockRelaxBackend> *backend) {
  return PetscRRBCreateBackend<Backend>(device, "PCBLOCKRELAX", backend);
}
