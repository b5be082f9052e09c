/* What KSPRRB's solvers on devices share: the iteration, on one rank (ksprrb_cuda.cxx) and on several (ksprrb_on_ranks_cuda.cxx). */
#pragma once

#include "pc/stream_cuda.h"
#include "stencil/cuda/stencil.hpp"
#include "ksp/rrb/cuda/iteration.hpp"
#include "ksp/rrb/ksprrb_solver.h"

class KSPRRBCudaSolver : public KSPRRBSolver {
public:
  using Iteration = petscrrb::rrbsolver::DeviceIteration;

  PetscErrorCode Start(Vec, Norm, Numbers *) override;
  PetscErrorCode Steps(Norm, const Limits &, std::vector<Numbers> *) override;
  PetscErrorCode Resume() override;
  PetscErrorCode Settle() override {
    return stream_.Run([&] { iteration_->settle(); });
  }
  void DropStep() override { iteration_->drop_step(); }
  PetscErrorCode Solution(Vec, Vec, PetscBool) override;
  double bytes() const override {
    const petscrrb::cuda::DeviceStencil &s = stencil_;
    return (double)(iteration_->bytes() + s.C.bytes() + s.E.bytes() + s.N.bytes() + s.NE.bytes() + s.NW.bytes() +
                    s.v.bytes() + s.identity.bytes());
  }

protected:
  /* captured: what a step does is enqueued work alone */
  KSPRRBCudaSolver(PetscRRBStream &stream, std::unique_ptr<Iteration> iteration, PetscBool captured,
                   const SolveLastBlock &solve)
      : stream_(stream), iteration_(std::move(iteration)),
        solve_([solve](petscrrb::rrb::Part part) { return (int)solve(part); }), captured_(captured) {}

  /* with the arrays of the core's points, on the device */
  PetscErrorCode StartFrom(const PetscScalar *r0, Norm, Numbers *);
  PetscErrorCode PutSolution(const PetscScalar *r0, PetscScalar *x, PetscBool add);

  PetscRRBStream &stream_; /* the preconditioner's */
  std::unique_ptr<Iteration> iteration_;
  petscrrb::cuda::DeviceStencil stencil_; /* of the matrix */

private:
  Iteration::Solve solve_;
  PetscBool captured_;
};
