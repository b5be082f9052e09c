/* Which vector M shares with A. */
#include "pc/near_null.h"

#include "pc/vectors.h"
#include "petsc/compat.h"

#include <petscmat.h>

/* The near null space's first one, else any of the null space; NULL for the constant one. A null space of several vectors is one
   of a matrix in several parts, and each of them may be zero on most parts: what we take must be zero on none. */
PetscErrorCode PetscRRBNearNull::Take(PC pc) {
  MatNullSpace near, null;
  PetscBool has_constant;
  PetscInt vectors, size, rows;
  const Vec *basis;
  Mat P;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, nullptr, &P));
  PetscCall(MatGetNearNullSpace(P, &near));
  PetscCall(MatGetNullSpace(P, &null));
  rounding = null ? 1e-10 : petscrrb::zero_sum; /* where the application says that A v = 0, small row sums are errors */
  const MatNullSpace space = near ? near : null;
  if (space) PetscCall(MatNullSpaceGetVecs(space, &has_constant, &vectors, &basis));
  if (!space || has_constant || vectors < 1) {
    PetscCall(VecDestroy(&vector));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscRRBWorkVecOf(P, &vector));
  PetscCall(PetscRRBWorkVec(vector, &work_));
  PetscCall(VecSet(vector, 0.0));
  PetscCall(VecGetLocalSize(vector, &rows));
  for (PetscInt k = 0; k < (near ? 1 : vectors); ++k) {
    PetscCall(VecGetLocalSize(basis[k], &size));
    PetscCheck(size == rows, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
               "The near null space has vectors of length %" PetscInt_FMT ", but the matrix has %" PetscInt_FMT " rows",
               size, rows);
    PetscCall(VecCopy(basis[k], work_));                       /* which may be of another type */
    PetscCall(VecAXPY(vector, 1.0 + 0.6180339887 * k, work_)); /* uneven, so that hardly a sum vanishes */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
