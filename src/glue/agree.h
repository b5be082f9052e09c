/* What goes wrong on one rank, so that all of them hear of it and none waits for another. */
#pragma once

#include <petscsys.h>

#include <string>

struct PetscRRBTrouble {
  std::string why; /* empty: there is none */
  PetscErrorCode code{};
};

/* The trouble of the first rank that has any, on all ranks; with several, it says which rank it is. Collective. */
PetscErrorCode PetscRRBFirstTrouble(MPI_Comm, PetscRRBTrouble *);
