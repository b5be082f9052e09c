/* KSPRRB where the matrix is on the host. */
#include "ksp/rrb/ksprrb_host.h"

#include "pc/rrb/pcrrb_backend.h"
#include "ksp/rrb/core/full_cg.hpp"
#include "ksp/rrb/host/schur_loops.hpp"

using namespace petscrrb;

namespace {

template <class CG> class HostSolver final : public KSPRRBHostSolver<CG> {
public:
  using Base = KSPRRBHostSolver<CG>;
  using typename Base::Norm, typename Base::Numbers;

  HostSolver(const Host &host, KSPRRBSolver::Core &core, const KSPRRBSolver::SolveLastBlock &solve)
      : Base(host, core, solve) {}

  PetscErrorCode Refresh(PC, const Csr &, const Grid &, const double *, KSPRRBValues *) override;
  PetscErrorCode Start(Vec, Norm, Numbers *) override;
  PetscErrorCode Solution(Vec, Vec, PetscBool) override;

private:
  using Base::stencil_, Base::cg_;

  StencilFacts facts_;
};

template <class CG>
PetscErrorCode HostSolver<CG>::Refresh(PC, const Csr &csr, const Grid &grid, const double *v, KSPRRBValues *values) {
  ReadResult result = ReadResult::refused;
  std::string why;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBSay("KSPRRB"), [&] {
    result = read_stencil(csr, grid, stencil_, facts_, why);
    if (!CG::scaled || !v || result != ReadResult::ok) return;
    stencil_.v.assign(v, v + stencil_.C.size());
    for (size_t i = 0; i < stencil_.v.size(); ++i) /* the preconditioner's identity rows may be others */
      if (facts_.identity[i]) stencil_.v[i] = 1.0;
  }));
  if (!v) stencil_.v.clear();
  *values = KSPRRBValuesOf(result, facts_.zero_rows);
  if (*values != KSP_RRB_VALUES_OK) PetscFunctionReturn(PETSC_SUCCESS);
  rrb::prepare(stencil_, grid, KSPRRBSolver::rounding, Positive::stays);
  cg_.refresh(rrb::prepared(stencil_));
  if (!cg_.positive()) *values = KSP_RRB_VALUES_NOT_POSITIVE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class CG> PetscErrorCode HostSolver<CG>::Start(Vec r0, Norm norm, Numbers *numbers) {
  const PetscScalar *r;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(r0, &r));
  PetscCall(this->StartFrom(r, norm, numbers));
  PetscCall(VecRestoreArrayRead(r0, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class CG> PetscErrorCode HostSolver<CG>::Solution(Vec r0, Vec x, PetscBool add) {
  const PetscScalar *r;
  PetscScalar *to;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(r0, &r));
  PetscCall(add ? VecGetArray(x, &to) : VecGetArrayWrite(x, &to));
  cg_.solution(r, to, add != PETSC_FALSE);
  PetscCall(add ? VecRestoreArray(x, &to) : VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(r0, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <template <class, class> class CG>
void create(const Host &host, KSPRRBSolver::Core &core, const KSPRRBSolver::SolveLastBlock &solve,
            std::unique_ptr<KSPRRBSolver> *solver) {
  *solver = std::make_unique<HostSolver<CG<Host, KSPRRBSolver::Core>>>(host, core, solve);
}

} // namespace

PetscErrorCode KSPRRBCreateHost(const Host &host, KSPRRBSolver::Core &core, PetscBool full,
                                const KSPRRBSolver::SolveLastBlock &solve, std::unique_ptr<KSPRRBSolver> *solver) {
  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBSay("KSPRRB"), [&] {
    if (full)
      create<rrbsolver::FullCG>(host, core, solve, solver);
    else
      create<rrbsolver::SchurCG>(host, core, solve, solver);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
