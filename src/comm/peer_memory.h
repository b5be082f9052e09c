/* Memory of each rank's device that the other ranks' kernels write to. */
#pragma once

#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

  #include <cstddef>
  #include <functional>
  #include <memory>
  #include <string>
  #include <vector>

/* The same number of bytes on each rank, zeroed. Its making and its destruction are collective. */
struct PetscRRBSharedPiece {
  virtual ~PetscRRBSharedPiece() = default;
  std::vector<char *> of_rank; /* as this rank's device reaches them */
};

/* How a piece is made. Where it cannot be, it is NULL and why_not says why, in the same words on all ranks. Collective. */
using PetscRRBShare =
    std::function<PetscErrorCode(std::size_t bytes, std::unique_ptr<PetscRRBSharedPiece> *, std::string *why_not)>;

/* By handles of CUDA that the processes of one machine send to one another. */
PetscRRBShare PetscRRBShareOnOneMachine(MPI_Comm);
/* By windows of NCCL (2.28), where all ranks can load from and store to one another. */
PetscErrorCode PetscRRBShareByNccl(MPI_Comm, PetscRRBShare *, std::string *why_not);

/* Hands out parts of such pieces, which live as long as this. */
class PetscRRBPeerMemory {
public:
  PetscRRBPeerMemory(PetscRRBShare share) : share_(std::move(share)) {}
  /* for what Take() needs on the host; not collective */
  void Reserve() { pieces_.reserve(pieces_.size() + 1); }
  /* The same number of bytes on all ranks; *of_rank has room for the ranks. Collective. */
  PetscErrorCode Take(std::size_t bytes, std::vector<char *> *of_rank, std::string *why_not);

private:
  PetscRRBShare share_;
  std::vector<std::unique_ptr<PetscRRBSharedPiece>> pieces_;
  std::size_t left_ = 0, taken_ = 0; /* of the last one */
};

#endif
