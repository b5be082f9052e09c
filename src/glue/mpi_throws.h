/* Messages between ranks where an exception is the way out, as in what PETSc does not call. */
#pragma once

#include "glue/agree.h"

#include <numeric>
#include <stdexcept>
#include <vector>

inline void PetscRRBCheckMPI(int code) {
  if (code != MPI_SUCCESS) throw PetscRRBMPIError(code);
}
inline void PetscRRBCheckSent(PetscErrorCode code) {
  if (code != PETSC_SUCCESS) throw PetscRRBSendError(code);
}

/* What all ranks have, one after the other, on all of them. type: T's. Collective. */
template <class T> std::vector<T> PetscRRBAllGather(MPI_Comm comm, MPI_Datatype type, const std::vector<T> &mine) {
  int ranks, count = (int)mine.size();
  PetscRRBCheckMPI(MPI_Comm_size(comm, &ranks));
  std::vector<int> counts((std::size_t)ranks), starts((std::size_t)ranks);
  PetscRRBCheckMPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm));
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  std::vector<T> all((std::size_t)(starts.back() + counts.back()));
  PetscRRBCheckMPI(MPI_Allgatherv(mine.data(), count, type, all.data(), counts.data(), starts.data(), type, comm));
  return all;
}
