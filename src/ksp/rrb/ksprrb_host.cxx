/* KSPRRB where the matrix is on the host. */
#include "exec/host/sums.hpp"
#include "ksp/rrb/core/full_cg.hpp"
#include "ksp/rrb/host/schur_loops.hpp"
#include "ksp/rrb/ksprrb_fused.h"
#include "pc/rrb/core/prepare.hpp"

using namespace petscrrb;

namespace {

template <class CG> class OnHost final : public KSPRRBFused<Stencil, std::vector<double>> {
public:
  template <class... Ranks>
  explicit OnHost(const PCRRBParts &with, Ranks *...ranks)
      : KSPRRBFused(with), cg_(*with.host, *with.core, ranks...), solve_(with.solve_last_block) {}

  PetscErrorCode Steps(Norm norm, const Limits &, std::vector<Numbers> *steps) override {
    PetscFunctionBegin;
    PetscCall(PCRRBTogether([&] { return cg_.step(norm, solve_, After(false)); }));
    steps->push_back(rrbsolver::numbers_of(cg_.scalars().data(), norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Resume() override {
    return PCRRBTogether([&] { return cg_.resume(solve_); });
  }
  PetscErrorCode Settle() override {
    cg_.settle();
    return PETSC_SUCCESS;
  }
  void DropStep() override { cg_.drop_step(); }
  double bytes() const override { return (double)cg_.bytes() + bytes_of_arrays(); }

private:
  PetscErrorCode StartFrom(const PetscScalar *r0, Norm norm, Numbers *numbers) override {
    PetscFunctionBegin;
    PetscCall(cg_.start(r0, norm, solve_, After(true)));
    *numbers = rrbsolver::numbers_of(cg_.scalars().data(), norm);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode PutSolution(const PetscScalar *r0, PetscScalar *x, PetscBool add) override {
    cg_.solution(r0, x, add != PETSC_FALSE);
    return PETSC_SUCCESS;
  }
  PetscErrorCode RefreshFrom(const Csr &, const Grid &, const double *, KSPRRBValues *) override;
  void Take(const rrb::PreparedStencil &A) override { cg_.refresh(A); }
  bool positive() const override { return cg_.positive(); }
  auto After(bool start) const {
    return [this, start](const Terms &below) {
      rrbsolver::AfterCycle{cg_.scalars().data(), sum_of(below), start}(0, 0);
    };
  }

  CG cg_;
  std::function<PetscErrorCode(rrb::Part)> solve_;
  RowFacts facts_;
};

template <class CG>
PetscErrorCode OnHost<CG>::RefreshFrom(const Csr &csr, const Grid &grid, const double *v, KSPRRBValues *values) {
  ReadResult result = ReadResult::refused;
  std::string why;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(say_, [&] {
    result = read_stencil(csr, grid, stencil_, facts_, why);
    if (!CG::scaled || !v || result != ReadResult::ok) return;
    stencil_.v.resize(stencil_.C.size()); /* the preconditioner's identity rows may be others */
    take_vector((index_t)stencil_.v.size(), stencil_.identity.data(), v, stencil_.v.data(), facts_);
  }));
  if (!v) stencil_.v.clear();
  *values = KSPRRBValuesOf(result, facts_.zero_rows);
  if (*values != KSP_RRB_VALUES_OK) PetscFunctionReturn(PETSC_SUCCESS);
  rrb::prepare(stencil_, grid, rounding, Positive::stays);
  Take(rrb::prepared(stencil_));
  if (!positive()) *values = KSP_RRB_VALUES_NOT_POSITIVE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnHost(const PCRRBParts &with, bool full) {
  using Core = KSPRRBSolver::Core;

  if (full) return std::make_unique<OnHost<rrbsolver::FullCG<Host, Core>>>(with);
  return std::make_unique<OnHost<rrbsolver::SchurCG<Host, Core>>>(with, with.black);
}
