/* The natural order of the rows of a matrix on several ranks. */
#include "overlap.h"

#include "petsc_compat.h"

#include <petscdmda.h>

#include <numeric>

/* *answers: dm is a DMDA whose points on each rank are its rows. All unknowns of a point follow one another. */
static PetscErrorCode AskDMDA(DM dm, Mat P, std::vector<PetscInt> *order, PetscBool *answers) {
  PetscInt sides, dof, rows, n[3], all[3], at[3];
  PetscBool da = PETSC_FALSE;
  PetscMPIInt mine, everyone;

  PetscFunctionBegin;
  *answers = PETSC_FALSE;
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &da));
  if (!da) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(P, &rows, NULL));
  PetscCall(DMDAGetInfo(dm, &sides, &all[0], &all[1], &all[2], NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(dm, &at[0], &at[1], &at[2], &n[0], &n[1], &n[2]));
  for (PetscInt d = sides; d < 3; ++d) {
    at[d] = 0;
    n[d] = all[d] = 1;
  }
  mine = (PetscInt64)n[0] * n[1] * n[2] * dof == rows;
  PetscCallMPI(MPI_Allreduce(&mine, &everyone, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)P)));
  if (!everyone) PetscFunctionReturn(PETSC_SUCCESS);
  order->clear();
  for (PetscInt k = at[2]; k < at[2] + n[2]; ++k)
    for (PetscInt j = at[1]; j < at[1] + n[1]; ++j)
      for (PetscInt i = at[0] * dof; i < (at[0] + n[0]) * dof; ++i)
        order->push_back((k * all[1] + j) * all[0] * dof + i);
  *answers = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBNaturalOrder(PC pc, Mat P, std::vector<PetscInt> *order, std::string *source) {
  PetscInt first, last;
  PetscBool found;
  DM dm;

  PetscFunctionBegin;
  PetscCall(PCGetDM(pc, &dm));
  *source = "PC's DMDA";
  PetscCall(AskDMDA(dm, P, order, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDM(P, &dm));
  *source = "Mat's DMDA";
  PetscCall(AskDMDA(dm, P, order, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  *source = "numbering of the rows";
  PetscCall(MatGetOwnershipRange(P, &first, &last));
  order->resize((std::size_t)(last - first));
  std::iota(order->begin(), order->end(), first);
  PetscFunctionReturn(PETSC_SUCCESS);
}
