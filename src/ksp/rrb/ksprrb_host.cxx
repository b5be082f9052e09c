/* KSPRRB on PCRRB where the matrix is on the host. */
#include "ksp/rrb/ksprrb_rrb.h"
#include "pc/rrb/core/prepare.hpp"

using namespace petscrrb;

namespace {

class OnHost final : public KSPRRBOnFactorization<Stencil, std::vector<double>> {
public:
  OnHost(const PCRRBParts &with, bool full) : KSPRRBOnFactorization(with, !full), full_(full) {
    iteration_ = rrbsolver::make_rrb_iteration(*with.host, *with.core, full, with.black);
  }

private:
  PetscErrorCode RefreshFrom(const Csr &, const Grid &, const double *, KSPRRBValues *) override;

  const bool full_; /* which is of A itself, whatever V is in the preconditioner */
  RowFacts facts_;
};

PetscErrorCode OnHost::RefreshFrom(const Csr &csr, const Grid &grid, const double *v, KSPRRBValues *values) {
  ReadResult result = ReadResult::refused;
  std::string why;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(say_, [&] {
    result = read_stencil(csr, grid, stencil_, facts_, why);
    if (full_ || !v || result != ReadResult::ok) return;
    stencil_.v.resize(stencil_.C.size()); /* the preconditioner's identity rows may be others */
    take_vector((index_t)stencil_.v.size(), stencil_.identity.data(), v, stencil_.v.data(), facts_);
  }));
  if (!v) stencil_.v.clear();
  *values = KSPRRBValuesOf(result, facts_.zero_rows);
  if (*values != KSP_RRB_VALUES_OK) PetscFunctionReturn(PETSC_SUCCESS);
  rrb::prepare(stencil_, grid, rounding, Positive::stays, facts_);
  Take(rrb::prepared(stencil_));
  if (!iteration_->refreshed()) *values = KSP_RRB_VALUES_NOT_POSITIVE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnHost(const PCRRBParts &with, bool full) {
  return std::make_unique<OnHost>(with, full);
}
