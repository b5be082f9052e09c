/* PCMIC where its matrix is. */
#include "pc/backend.h"
#include "pc/mic/pcmic_data.h"

using namespace petscrrb;

namespace {

template <class Where> class Backend final : public PetscRRBBackendAt<Where, PCMICBackend> {
  using PetscRRBBackendAt<Where, PCMICBackend>::where_;

public:
  Backend() : PetscRRBBackendAt<Where, PCMICBackend>("PCMIC") {}
  PetscRRBTrouble Create(const Grid &g, const mic::Options &options) override {
    flops_ = (PetscLogDouble)(g.n[0] * g.n[1] * g.n[2]) * (1.0 + 4.0 * (g.points / 2));
    build_ = PetscRRBNewBuild();
    return where_.Attempt(
        [&] { mic_ = where_.Make([&](const auto &...on) { return mic::make_mic(on..., g, options); }); });
  }
  PetscRRBTrouble Refresh(const Csr &rows, mic::Findings *found) override {
    return where_.Attempt([&] { *found = mic_->refresh(rows); });
  }
  PetscErrorCode Apply(PC pc, PCMICPart part, Vec x, Vec y) override {
    const auto apply = [&](const PetscScalar *r, PetscScalar *z) {
      if (part == PCMICPart::all) return mic_->apply(r, z);
      part == PCMICPart::left ? mic_->apply_left(r, z) : mic_->apply_right(r, z);
    };

    PetscFunctionBegin;
    PetscCall(where_.Use(pc, x, y, apply));
    PetscCall(where_.LogFlops(part == PCMICPart::all ? flops_ : 0.5 * flops_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode MatApply(Mat X, Mat Y, PetscBool *done) override {
    PetscInt columns;
    const auto apply = [&](const PetscScalar *r, PetscInt from, PetscScalar *z, PetscInt to, int n) {
      mic_->apply(r, from, z, to, n);
    };

    PetscFunctionBegin;
    PetscCall(MatGetSize(X, nullptr, &columns));
    PetscCall(PetscRRBUseColumns(where_, X, Y, done, apply));
    if (*done) PetscCall(where_.LogFlops((double)columns * flops_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  double bytes() const override { return mic_ ? mic_->bytes() : 0; }
  PetscRRBEnqueued enqueued() override {
    const auto apply = [this](const PetscScalar *r, PetscScalar *z, double *terms) { mic_->apply(r, z, terms); };
    return {where_.Enqueues(apply), [this] { mic_->check(); }, [this] { return mic_->version(); }, build_,
            mic_->energy_terms()};
  }

private:
  std::unique_ptr<mic::Mic> mic_;
  double flops_ = 0;     /* of an application to one vector: two for each coupling and triangle, and the diagonal */
  PetscInt64 build_ = 0; /* of mic_ */
};

} // namespace

PetscErrorCode PCMICCreateBackend(PetscBool device, std::unique_ptr<PCMICBackend> *backend) {
  return PetscRRBCreateBackend<Backend>(device, "PCMIC", backend);
}
