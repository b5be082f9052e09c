/* The first rank that is in trouble tells the others, and the first of all what a sum is. */
#include "agree.h"

#include "petsc_compat.h"

PetscErrorCode PetscRRBFirstTrouble(MPI_Comm comm, PetscRRBTrouble *trouble) {
  PetscMPIInt ranks, rank, mine, first, header[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  mine = trouble->why.empty() ? ranks : rank;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == ranks) PetscFunctionReturn(PETSC_SUCCESS);
  if (first == rank) trouble->why = "on rank " + std::to_string(rank) + ": " + trouble->why;
  header[0] = (PetscMPIInt)trouble->why.size();
  header[1] = (PetscMPIInt)trouble->code;
  PetscCallMPI(MPI_Bcast(header, 2, MPI_INT, first, comm));
  trouble->why.resize((std::size_t)header[0]);
  trouble->code = (PetscErrorCode)header[1];
  PetscCallMPI(MPI_Bcast(&trouble->why[0], header[0], MPI_CHAR, first, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MPI does not promise that all ranks get the same bits of an MPI_Allreduce(). */
int PetscRRBSum(MPI_Comm comm, PetscScalar *x, PetscMPIInt n) {
  PetscMPIInt rank;
  int code = MPI_Comm_rank(comm, &rank);
  if (code == MPI_SUCCESS) code = MPI_Reduce(rank ? x : MPI_IN_PLACE, x, n, MPIU_SCALAR, MPIU_SUM, 0, comm);
  return code == MPI_SUCCESS ? MPI_Bcast(x, n, MPIU_SCALAR, 0, comm) : code;
}
