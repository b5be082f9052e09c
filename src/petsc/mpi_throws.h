/* Messages between ranks where an exception is the way out, as in what PETSc does not call. */
#pragma once

#include "petsc/agree.h"

#include <numeric>
#include <stdexcept>
#include <vector>

inline void PetscRRBCheckMPI(int code) {
  if (code != MPI_SUCCESS) throw PetscRRBError("MPI error " + std::to_string(code), PETSC_ERR_MPI, true);
}
/* of a call of PETSc's, which has said more */
inline void PetscRRBCheckSent(PetscErrorCode code) {
  if (code != PETSC_SUCCESS) throw PetscRRBError("PETSc error " + std::to_string((int)code), code);
}

/* What all ranks have, one after the other, on all of them. type: T's. Collective. */
template <class T> std::vector<T> PetscRRBAllGather(MPI_Comm comm, MPI_Datatype type, const std::vector<T> &mine) {
  int ranks, count = (int)mine.size();
  PetscRRBCheckMPI(MPI_Comm_size(comm, &ranks));
  std::vector<int> counts, starts;
  std::vector<T> all;
  PetscRRBThrowTogether(comm, PetscRRBSayOfRows, [&] {
    counts.resize((std::size_t)ranks);
    starts.resize((std::size_t)ranks);
  });
  PetscRRBCheckMPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm));
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  PetscRRBThrowTogether(comm, PetscRRBSayOfRows, [&] { all.resize((std::size_t)(starts.back() + counts.back())); });
  PetscRRBCheckMPI(MPI_Allgatherv(mine.data(), count, type, all.data(), counts.data(), starts.data(), type, comm));
  return all;
}
