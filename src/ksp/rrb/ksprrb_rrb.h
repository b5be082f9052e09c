/* KSPRRB on PCRRB: what is the same on the host (ksprrb_host.cxx) and on a device (ksprrb_cuda.cxx), on one rank and on the boxes
   of several. */
#pragma once

#include "ksp/rrb/ksprrb_fused.h"
#include "pc/rrb/pcrrb_data.h"
#include "pc/rrb/pcrrb_on_ranks.h"

/* Why what the preconditioner has read is not what would be read here; NULL: it is. */
inline const char *KSPRRBWhyOtherValues(const PCRRBValues &v) {
  if (v.rounded) return "the preconditioner takes small row sums for 0, since there is a null space";
  if (v.positive) return "the preconditioner has moved positive off-diagonal entries";
  return v.zero_rows ? "the matrix has zero rows" : nullptr;
}

/* f(backend): where the factorization is */
template <class F> auto KSPRRBOnBackend(const PCRRBParts &with, const F &f) {
#if PETSCRRB_ON_DEVICES
  if (with.stream) return f(with.stream->cuda);
#endif
  return f(*with.host);
}
inline petscrrb::rrbsolver::Iteration::Solve KSPRRBSolveOf(const PCRRBParts &with) {
  return [solve = with.solve_last_block](petscrrb::rrb::Part part) { return (int)solve(part); };
}
/* Made: of an array of such memory. May throw. */
template <template <class> class Made> std::unique_ptr<KSPRRBSolver> KSPRRBMakeSolver(const PCRRBParts &with) {
  std::unique_ptr<KSPRRBSolver> solver;

#if PETSCRRB_ON_DEVICES
  if (with.stream) with.stream->Do([&] { solver = std::make_unique<Made<petscrrb::cuda::Buffer<double>>>(with); });
#endif
  if (!with.stream) solver = std::make_unique<Made<std::vector<double>>>(with);
  return solver;
}

/* Kept: Stencil or cuda::DeviceStencil; Array: an array of such memory */
template <class Kept, class Array> class KSPRRBOnFactorization : public KSPRRBFused<Array> {
public:
  PetscErrorCode Refresh(PC pc, const PetscRRBMatrix &A, const PetscRRBMatrixState &now,
                         KSPRRBValues *values) override {
    const PCRRBState *s = ((PC_RRB *)pc->data)->state;

    PetscFunctionBegin;
    if (with_.matrix)
      PetscCall(RefreshOnRanks(pc, A.on_ranks, s->grid, values));
    else if (takes_lent_ && now == s->factored && s->core->keeps_matrix() && !KSPRRBWhyOtherValues(s->values))
      PetscCall(RefreshByFactored(*s, values));
    else
      PetscCall(RefreshFrom(A.csr, s->grid, s->backend->scaling(), values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const char *schur() const override { return "in r1/r2/b1/b2 storage"; }
  double bytes() const override { return KSPRRBFused<Array>::bytes() + stencil_.bytes(); }

protected:
  /* takes_lent: the matrix where the preconditioner has it, to make its own of it */
  KSPRRBOnFactorization(const PCRRBParts &with, bool takes_lent)
      : KSPRRBFused<Array>(
            with.matrix ? "RRB on several ranks" : "KSPRRB", with.stream, with.captured, KSPRRBSolveOf(with),
            {with.ranks, with.matrix ? &with.matrix->vectors() : nullptr, (std::size_t)with.core->extent().nodes()}),
        with_(with), takes_lent_(takes_lent) {}

  petscrrb::rrbsolver::RrbIteration &iteration() const override { return *iteration_; }
  /* v: of the preconditioner's V A V, where the matrix is; NULL: V = I. Of rows that have become identity rows it is 1, whatever
     it was. */
  virtual PetscErrorCode RefreshFrom(const petscrrb::Csr &, const petscrrb::Grid &, const double *v,
                                     KSPRRBValues *) = 0;
  /* the iteration's matrix, as it was read; may throw */
  virtual void Take(const petscrrb::rrb::PreparedStencil &A, const petscrrb::rrb::FirstSchur *made = nullptr) {
    iteration_->refresh(A, made);
  }

  using KSPRRBSolver::rounding;
  using KSPRRBFused<Array>::say_, KSPRRBFused<Array>::stream_;

  const PCRRBParts with_;
  const bool takes_lent_;
  Kept stencil_; /* of the matrix */
  std::unique_ptr<petscrrb::rrbsolver::RrbIteration> iteration_;

private:
  PetscErrorCode RefreshByFactored(const PCRRBState &s, KSPRRBValues *values) {
    const bool lends = s.core->schur() && !s.outcome.unscaled;
    petscrrb::rrb::FirstSchur made;
    if (lends) made = *s.core->schur();
    if (!s.outcome.few_kinds) made.kind = nullptr;
    return this->Compute([&] {
      Take(s.backend->prepared(), lends ? &made : nullptr);
      *values = iteration_->refreshed() ? KSP_RRB_VALUES_OK : KSP_RRB_VALUES_NOT_POSITIVE;
      return 0;
    });
  }
  PetscErrorCode RefreshOnRanks(PC pc, Mat A, const petscrrb::Grid &grid, KSPRRBValues *values) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
    PCRRBStencilArrays read;
    petscrrb::RowFacts facts;
    petscrrb::ReadResult result;
    PetscBool ok = PETSC_FALSE;

    PetscFunctionBegin;
    PetscCall(with_.matrix->ReadForSolver(pc, A, grid, rounding, PCRRBRoomIn(stencil_), &read, &facts, &result));
    *values = KSPRRBValuesOf(result, facts.zero_rows);
    if (*values != KSP_RRB_VALUES_OK) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscRRBTryTogether(comm, say_, [&] {
      read.of.v = read.v;
      Take(read.of);
      ok = (PetscBool)iteration_->refreshed();
    }));
    PetscCall(PCRRBAgree(comm, &ok));
    if (!ok) *values = KSP_RRB_VALUES_NOT_POSITIVE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* full: on all nodes, where there is no Schur complement to iterate on. They refer to what PCRRB lends them. May throw. */
std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnHost(const PCRRBParts &, bool full);
std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnDevice(const PCRRBParts &, bool full);
/* of a matrix on no grid */
std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnGraph(const PCRRBParts &);
