/* PCPOINTJACOBI where the matrix is on a CUDA device: all work goes to the current PetscDeviceContext's stream. */
#include "pc/pointjacobi/pcpointjacobi_data.h"

#if PETSCRRB_ON_DEVICES

  #include "pc/pointjacobi/cuda/pointjacobi.hpp"
  #include "pc/backend.h"

using namespace petscrrb;

namespace {

class OnDevice final : public PetscRRBOnDevice<PCPointJacobiBackend> {
public:
  OnDevice() : PetscRRBOnDevice("PCPOINTJACOBI") {}
  PetscRRBTrouble Create(const Grid &g) override {
    return stream_.Attempt([&] { jacobi_ = pointjacobi::make(stream_.cuda, g); });
  }
  PetscRRBTrouble Refresh(const Csr &rows, index_t *bad_row) override {
    return stream_.Attempt([&] { *bad_row = jacobi_->refresh(rows); });
  }
  PetscErrorCode Apply(PC pc, double omega, Vec x, Vec y) override {
    return vectors_.Use(pc, "PCPOINTJACOBI", stream_, x, y,
                        [&](const PetscScalar *r, PetscScalar *z) { jacobi_->apply(omega, r, z); });
  }
  double bytes() const override { return jacobi_ ? jacobi_->bytes() : 0; }

private:
  std::unique_ptr<pointjacobi::PointJacobi> jacobi_;
};

} // namespace

PetscErrorCode PCPointJacobiCreateCuda(std::unique_ptr<PCPointJacobiBackend> *backend) {
  return PetscRRBCreateOnDevice<OnDevice>("PCPOINTJACOBI", backend);
}

#endif
