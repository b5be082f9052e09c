/* Where the devices of ranks are. */
#pragma once

#include "petsc/agree.h"
#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

/* The first rank of those on the same machine. Collective. */
PetscErrorCode PetscRRBFirstRankOfMachine(MPI_Comm, int *first);
/* Which ranks have the same current device, in words, the same on all of them; empty: none. Collective. */
PetscErrorCode PetscRRBFindSharedDevice(MPI_Comm, std::string *which);

/* Calls f(), which may throw, on all ranks: what the first of them threw, in the same words on all; empty: none did.
   An MPI that fails is an error. f is as for PetscRRBCallTogether(). Collective. */
template <class F> PetscErrorCode PetscRRBWhyNot(MPI_Comm comm, std::string *why_not, const F &f) {
  PetscRRBTrouble trouble;

  PetscFunctionBegin;
  try {
    f();
  } catch (const PetscRRBError &e) {
    trouble = {e.what(), e.code, e.settled};
  } catch (const std::exception &e) {
    trouble.why = e.what();
  }
  PetscCall(PetscRRBFirstTrouble(comm, &trouble));
  PetscCheck(trouble.code != PETSC_ERR_MPI, comm, trouble.code, "%s", trouble.why.c_str());
  *why_not = std::move(trouble.why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
