/* PCPOINTJACOBI where its matrix is. */
#include "exec/host/host.hpp"
#include "pc/backend.h"
#include "pc/pointjacobi/pcpointjacobi_data.h"

using namespace petscrrb;

namespace {

template <class Where> class Backend final : public PetscRRBBackendAt<Where, PCPointJacobiBackend> {
  using PetscRRBBackendAt<Where, PCPointJacobiBackend>::where_;

public:
  Backend() : PetscRRBBackendAt<Where, PCPointJacobiBackend>("PCPOINTJACOBI") {}
  PetscRRBTrouble Create(const Grid &g) override {
    return where_.Attempt(
        [&] { jacobi_ = where_.Make([&](const auto &...on) { return pointjacobi::make_pointjacobi(on..., g); }); });
  }
  PetscRRBTrouble Refresh(const Csr &rows, index_t *bad_row) override {
    return where_.Attempt([&] { *bad_row = jacobi_->refresh(rows); });
  }
  PetscErrorCode Apply(PC pc, double omega, Vec x, Vec y) override {
    return where_.Use(pc, x, y, [&](const PetscScalar *r, PetscScalar *z) { jacobi_->apply(omega, r, z); });
  }
  double bytes() const override { return jacobi_ ? jacobi_->bytes() : 0; }

private:
  std::unique_ptr<pointjacobi::PointJacobi> jacobi_;
};

} // namespace

PetscErrorCode PCPointJacobiCreateBackend(PetscBool device, std::unique_ptr<PCPointJacobiBackend> *backend) {
  return PetscRRBCreateBackend<Backend>(device, "PCPOINTJACOBI", backend);
}
