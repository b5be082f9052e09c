/* PCRRB where the matrix is on a CUDA device, on one rank (pcrrb_cuda.cxx) and what of it is the same on several. All work
   goes to the current PetscDeviceContext's stream. */
#pragma once

#include "dense/cuda/coarse.hpp"
#include "pc/stream_cuda.h"
#include "stencil/cuda/stencil.hpp"
#include "pc/rrb/cuda/cycle_graphs.hpp"
#include "pc/rrb/pcrrb_impl.h"
#include "ksp/rrb/ksprrb_solver.h"

class PCRRBCuda : public PCRRBBackend {
public:
  PetscErrorCode Start() { return stream_.Start(); }

  PetscBool on_device() const override { return PETSC_TRUE; }
  PetscErrorCode FindGrid(PC pc, const petscrrb::Csr &a, petscrrb::Grid *grid) override {
    return PCRRBFindGridOfRows(pc, stream_.Rows(a), grid);
  }
  void weights(double *x, double *y) const override { *x = facts_.weights_x, *y = facts_.weights_y; }
  PetscErrorCode Read(PC, const petscrrb::Csr &, const petscrrb::Grid &, Vec, double, PCRRBValues *) override;
  PetscErrorCode Build(PC, const petscrrb::rrb::Extent &, const petscrrb::rrb::Options &, PetscBool,
                       std::unique_ptr<Core> *) override;
  PetscErrorCode Factor(Core &, petscrrb::rrb::Lumping) override;
  PetscErrorCode SetUpLastBlock(PC, Core &, PCRRBCoarse, KSP) override;
  PetscErrorCode FactorLastBlock(Core &, petscrrb::rrb::Outcome *, PetscBool *) override;
  PetscErrorCode EstimateForCycle(Core &) override;
  PetscInt null_directions() const override { return inverse_ ? null_directions_ : coarse_.null_directions(); }
  PetscErrorCode Apply(PC, Core &, Vec, Vec, petscrrb::rrb::Part) override;
  double bytes() const override;
  PetscErrorCode CreateSolver(PC, Core &, PetscBool, std::unique_ptr<KSPRRBSolver> *) override;
  const double *scaling() const override { return stencil_.scaled ? stencil_.v.data() : nullptr; }

protected:
  PetscErrorCode SolveLastBlock(Core &, petscrrb::rrb::Part);
  auto LastBlockSolver(Core &core) {
    return [this, &core](petscrrb::rrb::Part part) { return SolveLastBlock(core, part); };
  }
  virtual PetscErrorCode ApplyHere(PC, Core &, Vec, Vec, petscrrb::rrb::Part); /* to vectors on the device */
  /* with the arrays of the core's points, on the device */
  PetscErrorCode ApplyToArrays(Core &, const PetscScalar *r, PetscScalar *z, petscrrb::rrb::Part);
  virtual bool may_be_graphs() const { return true; } /* what the core does but for the last block is kernels alone */

  PetscRRBStream stream_{"PCRRB"};
  petscrrb::Cuda &cuda_ = stream_.cuda;
  petscrrb::cuda::DeviceStencil stencil_;
  petscrrb::rrb::CycleGraphs graphs_;
  std::unique_ptr<petscrrb::coarse::DeviceCoarse> inverse_; /* or */
  petscrrb::rrb::CoarseSolver coarse_;

private:
  petscrrb::rrb::PreparedStencil stencil() const {
    return {stencil_.C.data(),  stencil_.E.data(),  stencil_.N.data(),
            stencil_.NE.data(), stencil_.NW.data(), stencil_.scaled ? stencil_.v.data() : nullptr};
  }
  template <class T> PetscErrorCode ToHost(std::vector<T> &to, const T *from);

  std::unique_ptr<petscrrb::cuda::StencilReader> reader_;
  petscrrb::Grid read_; /* what the reader was made for */
  petscrrb::cuda::DeviceFacts facts_;
  std::vector<double> host_r_, host_z_; /* the last block, for those solvers of it that are the host's */
  petscrrb::cuda::Pinned<petscrrb::coarse::CoarseStatus> status_;
  PetscInt null_directions_ = 0;
  PetscRRBVectorsOnDevice vectors_;
};
