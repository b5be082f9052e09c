/* What ranks must agree on: what goes wrong on one of them, so that none waits for another, and the bits of a sum. */
#pragma once

#include <petscsys.h>

#include <exception>
#include <string>

struct PetscRRBTrouble {
  std::string why; /* empty: there is none */
  PetscErrorCode code{};
};

/* The trouble of the first rank that has any, on all ranks; with several, it says which rank it is. Collective. */
PetscErrorCode PetscRRBFirstTrouble(MPI_Comm, PetscRRBTrouble *);

/* x summed over all ranks; all get the same bits. Returns what MPI does. Collective. */
int PetscRRBSum(MPI_Comm, PetscScalar *x, PetscMPIInt n);

/* Calls f(), which may throw, on all ranks: they raise the same error if it did on one. say: what an exception means. */
template <class F>
PetscErrorCode PetscRRBTryTogether(MPI_Comm comm, PetscRRBTrouble (*say)(const std::exception &), const F &f) {
  PetscRRBTrouble trouble;
  PetscErrorCode code;

  try {
    f();
  } catch (const std::exception &e) {
    trouble = say(e);
  }
  code = PetscRRBFirstTrouble(comm, &trouble);
  if (!code && !trouble.why.empty()) SETERRQ(comm, trouble.code, "%s", trouble.why.c_str());
  return code;
}
