/* KSPRRB where the matrix is on several ranks of hosts: the iteration on the ranks' boxes. */
#include "pc/rrb/pcrrb_on_ranks.h"
#include "ksp/rrb/ksprrb_host.h"
#include "ksp/rrb/host/schur_loops.hpp"

using namespace petscrrb;

namespace {

class OnRanks final : public KSPRRBHostSolver<rrbsolver::SchurCG<Host, KSPRRBSolver::Core>> {
public:
  OnRanks(const Host &host, Core &core, rrb::BlackRanks &black, PCRRBDistribution &matrix, const SolveLastBlock &solve)
      : KSPRRBHostSolver(host, core, solve, &black), matrix_(matrix),
        r0_(matrix.lines() ? (std::size_t)core.extent().nodes() : 0), x_(r0_.size()) {}

  PetscErrorCode Refresh(PC, const Csr &, const Grid &, const double *, KSPRRBValues *) override;
  PetscErrorCode Start(Vec, Norm, Numbers *) override;
  PetscErrorCode Steps(Norm norm, const Limits &limits, std::vector<Numbers> *steps) override {
    return PCRRBTogether([&] { return KSPRRBHostSolver::Steps(norm, limits, steps); });
  }
  PetscErrorCode Resume() override {
    return PCRRBTogether([&] { return KSPRRBHostSolver::Resume(); });
  }
  PetscErrorCode Solution(Vec, Vec, PetscBool) override;
  double bytes() const override { return KSPRRBHostSolver::bytes() + 8.0 * (double)(r0_.size() + x_.size()); }

private:
  PCRRBDistribution &matrix_;
  std::vector<double> r0_, x_; /* of the box, where vectors are not what it has */
};

PetscErrorCode OnRanks::Refresh(PC pc, const Csr &, const Grid &grid, const double *, KSPRRBValues *values) {
  PCRRBStencilArrays read;
  rrb::RowFacts facts;
  ReadResult result;
  PetscBool positive = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(matrix_.ReadForSolver(pc, grid, rounding, PCRRBRoomIn(stencil_), &read, &facts, &result));
  *values = KSPRRBValuesOf(result, (index_t)facts.zero_rows);
  if (*values != KSP_RRB_VALUES_OK) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCRRBTogether([&] {
    read.of.v = read.v;
    cg_.refresh(read.of);
    positive = (PetscBool)cg_.positive();
    return PETSC_SUCCESS;
  }));
  PetscCall(PCRRBAgree(PetscObjectComm((PetscObject)pc), &positive));
  if (!positive) *values = KSP_RRB_VALUES_NOT_POSITIVE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnRanks::Start(Vec r0, Norm norm, Numbers *numbers) {
  const PetscScalar *r;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(r0, &r));
  if (matrix_.lines()) PetscCall(matrix_.ToBoxes(r, r0_.data()));
  PetscCall(PCRRBTogether([&] { return StartFrom(matrix_.lines() ? r0_.data() : r, norm, numbers); }));
  PetscCall(VecRestoreArrayRead(r0, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnRanks::Solution(Vec r0, Vec x, PetscBool add) {
  const PetscBool lines = (PetscBool)(matrix_.lines() != nullptr);
  const PetscScalar *r;
  PetscScalar *to;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(r0, &r));
  PetscCall(add ? VecGetArray(x, &to) : VecGetArrayWrite(x, &to));
  if (lines && add) PetscCall(matrix_.ToBoxes(to, x_.data()));
  cg_.solution(lines ? r0_.data() : r, lines ? x_.data() : to, add != PETSC_FALSE);
  if (lines) PetscCall(matrix_.ToRows(x_.data(), to));
  PetscCall(add ? VecRestoreArray(x, &to) : VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(r0, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode KSPRRBCreateOnRanks(PC pc, const Host &host, KSPRRBSolver::Core &core, rrb::BlackRanks &black,
                                   rrb::Ranks &, PCRRBDistribution &matrix, const KSPRRBSolver::SolveLastBlock &solve,
                                   std::unique_ptr<KSPRRBSolver> *solver) {
  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), PetscRRBSay("KSPRRB"),
                                [&] { *solver = std::make_unique<OnRanks>(host, core, black, matrix, solve); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
