#include "comm/ranks_cuda.h"

#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

  #include "petsc/agree.h"
  #include "petsc/mpi_throws.h"
  #include "petsc/stream_cuda.h"

  #include <algorithm>
  #include <numeric>

using namespace petscrrb;
using rrb::Plan;

namespace {

class RanksSF final : public PetscRRBRanks {
public:
  /* on: whose stream all is in order with */
  RanksSF(MPI_Comm comm, const Cuda &on) : PetscRRBRanks(comm), on_(on) {}

  void start(const Plan &, double *array) override;
  void finish(const Plan &, double *array) override;
  void gather(const double *mine, const std::vector<index_t> &n, double *all) override;

private:
  const Cuda &on_;
  cuda::Event before_, after_;
  std::unique_ptr<cuda::Pinned<double>> mine_, all_; /* of gather() */
  std::size_t room_ = 0;
};

/* PetscSF works on the default stream. */
void RanksSF::start(const Plan &plan, double *array) {
  if (on_.stream) before_.let_wait(nullptr, on_.stream);
  PetscRRBCheckSent(PetscSFBcastWithMemTypeBegin(Exchange(plan), MPIU_REAL, PETSC_MEMTYPE_CUDA, array,
                                                 PETSC_MEMTYPE_CUDA, array, MPI_REPLACE));
}

void RanksSF::finish(const Plan &plan, double *array) {
  PetscRRBCheckSent(PetscSFBcastEnd(Exchange(plan), MPIU_REAL, array, array, MPI_REPLACE));
  if (on_.stream) after_.let_wait(on_.stream, nullptr);
}

void RanksSF::gather(const double *mine, const std::vector<index_t> &n, double *all) {
  const std::size_t own = (std::size_t)n[(std::size_t)rank()],
                    sum = (std::size_t)std::accumulate(n.begin(), n.end(), index_t(0));
  if (!sum) return;
  if (room_ < sum)
    PetscRRBCheckSent(PetscRRBTryTogether(comm(), PetscRRBSay("PCRRB", PETSC_ERR_GPU), [&] {
      mine_ = std::make_unique<cuda::Pinned<double>>(sum);
      all_ = std::make_unique<cuda::Pinned<double>>(sum);
    }));
  room_ = std::max(room_, sum);
  cuda::check(cudaMemcpyAsync(mine_->data(), mine, own * sizeof(double), cudaMemcpyDeviceToHost, on_.stream),
              "cudaMemcpyAsync");
  cuda::check(cudaStreamSynchronize(on_.stream), "cudaStreamSynchronize");
  PetscRRBRanks::gather(mine_->data(), n, all_->data());
  cuda::check(cudaMemcpyAsync(all, all_->data(), sum * sizeof(double), cudaMemcpyHostToDevice, on_.stream),
              "cudaMemcpyAsync");
}

} // namespace

PetscErrorCode PetscRRBCreateRanksSF(MPI_Comm comm, const Cuda &on, std::unique_ptr<rrb::Ranks> *ranks,
                                     std::string *why_not) {
  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSay("PCRRB", PETSC_ERR_GPU),
                                [&] { *ranks = std::make_unique<RanksSF>(comm, on); }));
  why_not->clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
