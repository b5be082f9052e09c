/* What the ranks of PCRRB do together, on devices that store into one another's memory: an exchange is one kernel. */
#pragma once

#include "comm/ranks_mpi.h"

#include <memory>
#include <string>

namespace petscrrb {
class Cuda;
}

/* As PCRRBCreateRanksNccl(), with memory that is shared by windows of NCCL, or by handles of CUDA between the processes of one
   machine. Exchanges wait on the device: where ranks share one, they do not use it. */
PetscErrorCode PCRRBCreateRanksStoresNccl(MPI_Comm comm, const petscrrb::Cuda &on,
                                          std::unique_ptr<petscrrb::rrb::Ranks> *ranks, std::string *why_not);
PetscErrorCode PCRRBCreateRanksStores(MPI_Comm comm, const petscrrb::Cuda &on,
                                      std::unique_ptr<petscrrb::rrb::Ranks> *ranks, std::string *why_not);
