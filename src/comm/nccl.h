/* NCCL between the ranks of an MPI communicator. */
#pragma once

#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES && defined(PETSCRRB_HAVE_NCCL)
  #define PETSCRRB_NCCL 1
#else
  #define PETSCRRB_NCCL 0
#endif

#if PETSCRRB_NCCL

  #include "comm/communicator_nccl.hpp"

  #include <memory>

/* The communicator of the ranks' current devices. The first call makes it, and comm keeps it. Where there can be none, it is
   NULL and why_not says why, in the same words on all ranks. Collective. */
PetscErrorCode PetscRRBGetNccl(MPI_Comm comm, std::shared_ptr<petscrrb::nccl::Communicator> *, std::string *why_not);

#endif
