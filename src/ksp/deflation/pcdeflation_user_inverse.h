/* E of a user's vectors, of which each rank has a summand, inverted for all ranks. */
#pragma once

#include "ksp/deflation/core/user_inverse.hpp"

#include <petscmat.h>

/* E: this rank's summand, n x n, NULL where it has none. e and made: of invert_user(), the same on all ranks to the last bit.
   Collective. */
PetscErrorCode PCDeflationInvertUser(MPI_Comm comm, Mat E, PetscInt n, PetscReal floor,
                                     petscrrb::deflation::Inverse wanted, std::vector<PetscScalar> *e,
                                     petscrrb::deflation::UserInverse *made);
