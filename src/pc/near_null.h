/* The vector that a preconditioner shares with the matrix: A v = 0, or nearly so, and M keeps it. */
#pragma once

#include "exec/not_copied.hpp"
#include "stencil/facts.hpp"

#include <petscpc.h>

#include <initializer_list>

struct PetscRRBNearNull : petscrrb::NotCopied {
  ~PetscRRBNearNull() {
    for (Vec *v : {&vector, &work_}) (void)VecDestroy(v);
  }
  /* Of Pmat: of its near null space the first vector, else the sum of those of its null space. */
  PetscErrorCode Take(PC);

  Vec vector = nullptr;                 /* where Pmat is; NULL: the constant one */
  double rounding = petscrrb::zero_sum; /* of a row's magnitudes: below it a row's sum is 0 */

private:
  Vec work_ = nullptr;
};
