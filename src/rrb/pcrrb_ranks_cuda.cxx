#include "glue/petsc_compat.h"

#if PETSCRRB_ON_DEVICES

  #include "rrb/pcrrb_ranks_cuda.h"

  #include "glue/mpi_throws.h"

  #include <numeric>

using petscrrb::rrb::Plan;
using namespace petscrrb;

/* PetscSF works on the default stream. */
void PCRRBRanksCuda::start(const Plan &plan, double *array) {
  if (on_.stream) before_.let_wait(nullptr, on_.stream);
  PetscRRBCheckSent(PetscSFBcastWithMemTypeBegin(Exchange(plan), MPIU_REAL, PETSC_MEMTYPE_CUDA, array,
                                                 PETSC_MEMTYPE_CUDA, array, MPI_REPLACE));
}

void PCRRBRanksCuda::finish(const Plan &plan, double *array) {
  PetscRRBCheckSent(PetscSFBcastEnd(Exchange(plan), MPIU_REAL, array, array, MPI_REPLACE));
  if (on_.stream) after_.let_wait(on_.stream, nullptr);
}

void PCRRBRanksCuda::gather(const double *mine, const std::vector<index_t> &n, double *all) {
  const std::size_t own = (std::size_t)n[(std::size_t)rank()],
                    sum = (std::size_t)std::accumulate(n.begin(), n.end(), index_t(0));
  if (!sum) return;
  if (room_ < sum) {
    mine_ = std::make_unique<cuda::Pinned<double>>(sum);
    all_ = std::make_unique<cuda::Pinned<double>>(sum);
    room_ = sum;
  }
  cuda::check(cudaMemcpyAsync(mine_->data(), mine, own * sizeof(double), cudaMemcpyDeviceToHost, on_.stream),
              "cudaMemcpyAsync");
  cuda::check(cudaStreamSynchronize(on_.stream), "cudaStreamSynchronize");
  PCRRBRanks::gather(mine_->data(), n, all_->data());
  cuda::check(cudaMemcpyAsync(all, all_->data(), sum * sizeof(double), cudaMemcpyHostToDevice, on_.stream),
              "cudaMemcpyAsync");
}

#endif
