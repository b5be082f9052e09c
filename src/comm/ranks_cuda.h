/* What ranks do together with arrays on devices: three ways in which values travel. */
#pragma once

#include "comm/ranks_mpi.h"
#include "petscrrb.h"

#include <memory>
#include <string>

namespace petscrrb {
class Cuda;
}

/* Messages are enqueued on the stream of `on`, which the ranks must not outlive. Where they cannot travel so, *ranks is NULL and
   why_not says why, in the same words on all ranks. Collective. Graphs that have its messages must be destroyed before it. */
using PetscRRBCreateRanks = PetscErrorCode(MPI_Comm comm, const petscrrb::Cuda &on,
                                           std::unique_ptr<petscrrb::rrb::Ranks> *ranks, std::string *why_not);

/* Stores into one another's memory, an exchange is one kernel: shared by handles of CUDA between the processes of one machine, or
   by windows of NCCL. Exchanges wait on the device: where ranks share one, they do not use it. */
PetscRRBCreateRanks PetscRRBCreateRanksStores, PetscRRBCreateRanksStoresNccl;
PetscRRBCreateRanks PetscRRBCreateRanksNccl; /* messages of NCCL */
PetscRRBCreateRanks PetscRRBCreateRanksSF;   /* PetscSF: through the host, unless MPI is device-aware */

/* What is in use of these. */
struct PetscRRBTransport {
  std::unique_ptr<petscrrb::rrb::Ranks> ranks;
  const char *words = nullptr;
  std::string why_not_faster; /* why it is not the one before it; empty: it is the first */

  PetscErrorCode View(PetscViewer) const;
};
/* The first one that is possible of those that the user allows, the fastest first. of: whose they are; option: "-pc_rrb_transport".
   Error: PETSC_ERR_SUP where the only one that is allowed is not possible. Collective. */
PetscErrorCode PetscRRBChooseTransport(PetscObject of, const char option[], PCRRBTransport wanted,
                                       const petscrrb::Cuda &on, PetscRRBTransport *);
