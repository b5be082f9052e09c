// What only NCCL's headers for devices know of a window.
#pragma once

#include "comm/communicator_nccl.hpp"

#if NCCL_VERSION_CODE >= 22800
  #define PETSCRRB_NCCL_WINDOWS 1
#else
  #define PETSCRRB_NCCL_WINDOWS 0
#endif

#if PETSCRRB_NCCL_WINDOWS

namespace petscrrb::nccl {

// Where each rank's part of it begins, as this device reaches it. All ranks must be in one team that loads and stores.
std::vector<char *> parts_of(ncclWindow_t, int ranks, cudaStream_t);

} // namespace petscrrb::nccl

#endif
