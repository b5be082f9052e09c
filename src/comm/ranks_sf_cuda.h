/* What the ranks of PCRRB do together with arrays on devices, by PetscSF: through the host, unless MPI is device-aware. */
#pragma once

#include "comm/ranks_mpi.h"

#include <memory>
#include <string>

namespace petscrrb {
class Cuda;
}

/* As PCRRBCreateRanksNccl(); possible wherever PETSc has CUDA. */
PetscErrorCode PCRRBCreateRanksSF(MPI_Comm comm, const petscrrb::Cuda &on, std::unique_ptr<petscrrb::rrb::Ranks> *ranks,
                                  std::string *why_not);
