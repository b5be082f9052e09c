/* What the ranks of PCRRB do together with arrays on devices, by PetscSF: through the host, unless MPI is device-aware. */
#pragma once

#include "backend/cuda.hpp"
#include "rrb/pcrrb_ranks.h"

#include <memory>

class PCRRBRanksCuda final : public PCRRBRanks {
public:
  /* on: whose stream all is in order with */
  PCRRBRanksCuda(MPI_Comm comm, const petscrrb::Cuda &on) : PCRRBRanks(comm), on_(on) {}

  void start(const petscrrb::rrb::Plan &, double *array) override;
  void finish(const petscrrb::rrb::Plan &, double *array) override;
  void gather(const double *mine, const std::vector<petscrrb::index_t> &n, double *all) override;

private:
  const petscrrb::Cuda &on_;
  petscrrb::cuda::Event before_, after_;
  std::unique_ptr<petscrrb::cuda::Pinned<double>> mine_, all_; /* of gather() */
  std::size_t room_ = 0;
};
