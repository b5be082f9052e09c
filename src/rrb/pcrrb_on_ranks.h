/* What the backends of PCRRB on several ranks share, on hosts and on devices. */
#pragma once

#include "rrb/pcrrb_distribution.h"

/* work() is done with other ranks; what goes wrong with the messages comes as an exception. */
template <class Work> PetscErrorCode PCRRBTogether(const Work &work) {
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  try {
    code = work();
  } catch (const std::exception &e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "RRB on several ranks: %s", e.what());
  }
  PetscFunctionReturn(code);
}

/* Whether the last block, which every rank has, is positive definite on all of them, as far as their processors are alike. */
inline void PCRRBAgree(petscrrb::rrb::Ranks &ranks, PetscBool *spd) {
  for (const double of_rank : ranks.tell({(double)*spd}))
    if (of_rank == 0) *spd = PETSC_FALSE;
}
