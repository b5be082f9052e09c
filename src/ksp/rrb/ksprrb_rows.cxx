/* KSPRRB on PCRRB where the matrix is on no grid, wherever it is: on one rank, with the rows where PETSc has them. */
#include "ksp/rrb/core/rrb_iteration.hpp"
#include "ksp/rrb/ksprrb_rrb.h"

using namespace petscrrb;

namespace {

template <class Array> class OnRows final : public KSPRRBFused<Array> {
public:
  explicit OnRows(const PCRRBParts &with)
      : KSPRRBFused<Array>("KSPRRB", with.stream, with.captured,
                           [solve = with.solve_last_block](rrb::Part part) { return (int)solve(part); }, {}) {
#if PETSCRRB_ON_DEVICES
    if (with.stream) iteration_ = rrbsolver::make_rows_iteration(with.stream->cuda, *with.core);
#endif
    if (!with.stream) iteration_ = rrbsolver::make_rows_iteration(*with.host, *with.core);
  }

  bool borrows() const override { return true; }
  PetscErrorCode Refresh(PC, const PetscRRBMatrix &A, const PetscRRBMatrixState &, KSPRRBValues *values) override {
    PetscFunctionBegin;
    *values = KSP_RRB_VALUES_ZERO_ROWS; /* no others are on the host while the factorization is on the device */
    if ((A.on_device != PETSC_FALSE) != (this->stream_ != nullptr)) PetscFunctionReturn(PETSC_SUCCESS);
    iteration_->refresh(A.csr);
    *values = KSP_RRB_VALUES_OK;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  rrbsolver::Iteration &iteration() const override { return *iteration_; }

  std::unique_ptr<rrbsolver::RowsIteration> iteration_;
};

} // namespace

std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnRows(const PCRRBParts &with) {
  std::unique_ptr<KSPRRBSolver> solver;

#if PETSCRRB_ON_DEVICES
  if (with.stream) with.stream->Do([&] { solver = std::make_unique<OnRows<cuda::Buffer<double>>>(with); });
#endif
  if (!with.stream) solver = std::make_unique<OnRows<std::vector<double>>>(with);
  return solver;
}
