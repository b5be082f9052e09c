/* What KSPRRB's solvers on the host share: the iteration on arrays, on one rank (ksprrb_host.cxx) and on several
   (ksprrb_on_ranks.cxx). */
#pragma once

#include "exec/host/partial_sum.hpp"
#include "exec/host/scalars.hpp"
#include "petsc/compat.h"
#include "pc/rrb/core/prepare.hpp"
#include "ksp/rrb/ksprrb_solver.h"

template <class CG> class KSPRRBHostSolver : public KSPRRBSolver {
public:
  PetscErrorCode Steps(Norm norm, const Limits &, std::vector<Numbers> *steps) override {
    PetscFunctionBegin;
    PetscCall(cg_.step(norm, solve_, After(false)));
    steps->push_back(petscrrb::rrbsolver::numbers_of(cg_.scalars().data(), norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Settle() override {
    cg_.settle();
    return PETSC_SUCCESS;
  }
  PetscErrorCode Resume() override { return cg_.resume(solve_); }
  void DropStep() override { cg_.drop_step(); }
  double bytes() const override {
    return (double)cg_.bytes() + 8.0 * (double)(stencil_.C.size() + stencil_.E.size() + stencil_.N.size() +
                                                stencil_.NE.size() + stencil_.NW.size() + stencil_.v.size());
  }

protected:
  template <class... Ranks>
  KSPRRBHostSolver(const petscrrb::Host &host, Core &core, const SolveLastBlock &solve, Ranks *...ranks)
      : cg_(host, core, ranks...), solve_(solve) {}

  PetscErrorCode StartFrom(const PetscScalar *r0, Norm norm, Numbers *numbers) {
    PetscFunctionBegin;
    PetscCall(cg_.start(r0, norm, solve_, After(true)));
    *numbers = petscrrb::rrbsolver::numbers_of(cg_.scalars().data(), norm);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  CG cg_;
  petscrrb::Stencil stencil_;

private:
  auto After(bool start) const {
    return [this, start](const petscrrb::Terms &below) {
      petscrrb::rrbsolver::AfterCycle{cg_.scalars().data(), petscrrb::sum_of(below), start}(0, 0);
    };
  }

  SolveLastBlock solve_;
};
