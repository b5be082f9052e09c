/* What the ranks of PCRRB do together, on devices, by NCCL. */
#pragma once

#include "comm/ranks_mpi.h"

#include <memory>
#include <string>

namespace petscrrb {
class Cuda;
}

/* Its messages are enqueued on the stream of `on`, which it must not outlive. Where ranks cannot use NCCL, *ranks is NULL and why_not
   says why, in the same words on all of them. Collective. Graphs that have its messages must be destroyed before it. */
PetscErrorCode PCRRBCreateRanksNccl(MPI_Comm comm, const petscrrb::Cuda &on,
                                    std::unique_ptr<petscrrb::rrb::Ranks> *ranks, std::string *why_not);
