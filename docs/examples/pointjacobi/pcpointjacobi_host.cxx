/* PCPOINTJACOBI where the matrix is on the host. */
#include "exec/host/host.hpp"
#include "pc/backend.h"
#include "pc/pointjacobi/pcpointjacobi_data.h"

using namespace petscrrb;

namespace {

class OnHost final : public PetscRRBOnHost<PCPointJacobiBackend> {
public:
  OnHost() : PetscRRBOnHost("PCPOINTJACOBI") {}
  PetscRRBTrouble Create(const Grid &g) override {
    return PetscRRBTroubleOf(say_, [&] { jacobi_ = std::make_unique<pointjacobi::PointJacobiOn<Host>>(host_, g); });
  }
  PetscRRBTrouble Refresh(const Csr &rows, index_t *bad_row) override {
    return PetscRRBTroubleOf(say_, [&] { *bad_row = jacobi_->refresh(rows); });
  }
  PetscErrorCode Apply(PC pc, double omega, Vec x, Vec y) override {
    return vectors_.Use(pc, "PCPOINTJACOBI", x, y,
                        [&](const PetscScalar *r, PetscScalar *z) { jacobi_->apply(omega, r, z); });
  }
  double bytes() const override { return jacobi_ ? jacobi_->bytes() : 0; }

private:
  Host host_;
  std::unique_ptr<pointjacobi::PointJacobi> jacobi_;
};

} // namespace

PetscErrorCode PCPointJacobiCreateHost(std::unique_ptr<PCPointJacobiBackend> *backend) {
  *backend = std::make_unique<OnHost>();
  return PETSC_SUCCESS;
}
