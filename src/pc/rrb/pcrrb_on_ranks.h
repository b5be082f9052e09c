/* What the backends of PCRRB on several ranks share, on hosts and on devices. */
#pragma once

#include "petsc/mpi_throws.h"
#include "pc/rrb/pcrrb_distribution.h"

/* work() is done with other ranks; what goes wrong with the messages comes as an exception. */
template <class Work> PetscErrorCode PCRRBTogether(const Work &work) {
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  const PetscRRBTrouble trouble = PetscRRBTroubleOf(PetscRRBSay("RRB on several ranks"), [&] { code = work(); });
  PetscCheck(!trouble, PETSC_COMM_SELF, trouble.code, "%s", trouble.why.c_str());
  PetscFunctionReturn(code);
}

/* Whether the last block, which every rank has, is positive definite on all of them, as far as their processors are alike. */
inline PetscErrorCode PCRRBAgree(MPI_Comm comm, PetscBool *spd) {
  PetscMPIInt all = *spd;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
  *spd = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}
