/* PCRRB where the matrix is on the host, on one rank (pcrrb_host.cxx) and what of it is the same on several. */
#pragma once

#include "exec/host/host.hpp"
#include "pc/rrb/pcrrb_impl.h"
#include "pc/rrb/core/prepare.hpp"
#include "ksp/rrb/ksprrb_solver.h"

class PCRRBHost : public PCRRBBackend {
public:
  PetscBool on_device() const override { return PETSC_FALSE; }
  PetscErrorCode FindGrid(PC, const petscrrb::Csr &, petscrrb::Grid *) override;
  void weights(double *x, double *y) const override;
  PetscErrorCode Read(PC, const petscrrb::Csr &, const petscrrb::Grid &, Vec, double, PCRRBValues *) override;
  PetscErrorCode Build(PC, const petscrrb::rrb::Extent &, const petscrrb::rrb::Options &, PetscBool,
                       std::unique_ptr<Core> *) override;
  PetscErrorCode Factor(Core &, petscrrb::rrb::Lumping) override;
  PetscErrorCode SetUpLastBlock(PC, Core &, PCRRBCoarse, KSP) override;
  PetscErrorCode FactorLastBlock(Core &, petscrrb::rrb::Outcome *, PetscBool *) override;
  PetscErrorCode EstimateForCycle(Core &) override;
  PetscInt null_directions() const override { return coarse_.null_directions(); }
  PetscErrorCode Apply(PC, Core &, Vec, Vec, petscrrb::rrb::Part) override;
  PetscErrorCode CreateSolver(PC, Core &, PetscBool, std::unique_ptr<KSPRRBSolver> *) override;
  const double *scaling() const override { return stencil_.v.empty() ? nullptr : stencil_.v.data(); }
  double bytes() const override { return coarse_.bytes() + bytes_of(stencil_); }

protected:
  auto LastBlockSolver(Core &core) {
    return [this, &core](petscrrb::rrb::Part part) { return coarse_.Solve(core.coarse_r(), core.coarse_z(), part); };
  }
  static double bytes_of(const petscrrb::Stencil &s) {
    return 8.0 * (double)(s.C.size() + s.E.size() + s.N.size() + s.NE.size() + s.NW.size() + s.v.size());
  }

  petscrrb::Host host_;
  petscrrb::Stencil stencil_;
  petscrrb::rrb::CoarseSolver coarse_;
  PetscRRBVectorsOnHost vectors_;

private:
  PetscErrorCode ReadNearNullVector(PC, Vec);

  petscrrb::StencilFacts facts_;
};
