/* KSPRRB where the matrix is on several ranks of devices: the iteration on the ranks' boxes. */
#include "pc/rrb/pcrrb_on_ranks.h"

#if PETSCRRB_ON_DEVICES

  #include "ksp/rrb/ksprrb_cuda.h"

using namespace petscrrb;

namespace {

class OnRanks final : public KSPRRBCudaSolver {
public:
  OnRanks(PetscRRBStream &stream, Core &core, rrb::BlackRanks &black, rrb::Ranks &ranks, PCRRBDistribution &matrix,
          PetscBool captured, const SolveLastBlock &solve)
      : KSPRRBCudaSolver(stream,
                         rrbsolver::make_device_iteration(stream.cuda, core, black,
                                                          ranks.only_kernels() ? Iteration::Loop::automatic
                                                                               : Iteration::Loop::launches),
                         captured, solve),
        ranks_(ranks), matrix_(matrix), r0_(matrix.lines() ? (std::size_t)core.extent().nodes() : 0), x_(r0_.size()) {}

  PetscErrorCode Refresh(PC, const Csr &, const Grid &, const double *, KSPRRBValues *) override;
  PetscErrorCode Start(Vec, Norm, Numbers *) override;
  PetscErrorCode Steps(Norm, const Limits &, std::vector<Numbers> *) override;
  PetscErrorCode Solution(Vec, Vec, PetscBool) override;
  double bytes() const override { return KSPRRBCudaSolver::bytes() + (double)(r0_.bytes() + x_.bytes()); }

private:
  PetscErrorCode CheckMessages(const Numbers &);

  rrb::Ranks &ranks_;
  PCRRBDistribution &matrix_;
  cuda::Buffer<double> r0_, x_; /* of the box, where vectors are not what it has */
};

PetscErrorCode OnRanks::Refresh(PC pc, const Csr &, const Grid &grid, const double *, KSPRRBValues *values) {
  PCRRBStencilArrays read;
  rrb::RowFacts facts;
  ReadResult result;
  PetscBool positive = PETSC_FALSE;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(matrix_.ReadForSolver(pc, grid, rounding, PCRRBRoomIn(stencil_), &read, &facts, &result));
  *values = KSPRRBValuesOf(result, (index_t)facts.zero_rows);
  if (*values != KSP_RRB_VALUES_OK) PetscFunctionReturn(PETSC_SUCCESS);
  const auto refresh = [&] {
    (void)stream_.Ready();
    read.of.v = read.v;
    iteration_->refresh(read.of);
    positive = (PetscBool)iteration_->positive();
  };
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSay("KSPRRB", PETSC_ERR_GPU), refresh));
  PetscCall(PCRRBAgree(comm, &positive));
  if (!positive) *values = KSP_RRB_VALUES_NOT_POSITIVE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnRanks::Start(Vec r0, Norm norm, Numbers *numbers) {
  const PetscScalar *r;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(r0, &r, nullptr));
  if (matrix_.lines()) PetscCall(matrix_.ToBoxes(r, r0_.data()));
  PetscCall(StartFrom(matrix_.lines() ? r0_.data() : r, norm, numbers));
  PetscCall(VecRestoreArrayReadAndMemType(r0, &r));
  PetscCall(CheckMessages(*numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums of all ranks are NaN where a message did not come to one of them: which has told the others before that. */
PetscErrorCode OnRanks::CheckMessages(const Numbers &n) {
  const bool finite = std::isfinite(n.rho) && std::isfinite(n.curvature) && std::isfinite(n.norm);

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBSay("KSPRRB", PETSC_ERR_GPU), [&] { ranks_.check(!finite); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnRanks::Steps(Norm norm, const Limits &limits, std::vector<Numbers> *steps) {
  PetscFunctionBegin;
  PetscCall(KSPRRBCudaSolver::Steps(norm, limits, steps));
  if (!steps->empty()) PetscCall(CheckMessages(steps->back()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnRanks::Solution(Vec r0, Vec x, PetscBool add) {
  const PetscBool lines = (PetscBool)(matrix_.lines() != nullptr);
  const PetscScalar *r;
  PetscScalar *to;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(r0, &r, nullptr));
  PetscCall(add ? VecGetArrayAndMemType(x, &to, nullptr) : VecGetArrayWriteAndMemType(x, &to, nullptr));
  if (lines && add) PetscCall(matrix_.ToBoxes(to, x_.data()));
  PetscCall(PutSolution(lines ? r0_.data() : r, lines ? x_.data() : to, add));
  if (lines) PetscCall(matrix_.ToRows(x_.data(), to));
  PetscCall(add ? VecRestoreArrayAndMemType(x, &to) : VecRestoreArrayWriteAndMemType(x, &to));
  PetscCall(VecRestoreArrayReadAndMemType(r0, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode KSPRRBCreateOnRanksCuda(PC pc, PetscRRBStream &stream, KSPRRBSolver::Core &core, rrb::BlackRanks &black,
                                       rrb::Ranks &ranks, PCRRBDistribution &matrix, PetscBool captured,
                                       const KSPRRBSolver::SolveLastBlock &solve,
                                       std::unique_ptr<KSPRRBSolver> *solver) {
  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), PetscRRBSay("KSPRRB", PETSC_ERR_GPU), [&] {
    (void)stream.Ready();
    *solver = std::make_unique<OnRanks>(stream, core, black, ranks, matrix, captured, solve);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
