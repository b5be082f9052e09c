/* On several ranks each has a box of the grid, as a DMDA cuts it; this is what its rows have in the columns of others. */
#pragma once

#include "system.h"

/* How many of the grid's points are next to the box. */
static PetscInt PointsAround(const Problem *p) {
  PetscInt count = 0;

  for (PetscInt d = 0; d < p->dim; ++d) {
    const PetscInt side = p->box[0] * p->box[1] * p->box[2] / p->box[d];

    if (p->at[d] > 0) count += side;
    if (p->at[d] + p->box[d] < p->n[d]) count += side;
  }
  return count;
}

/* Columns of a row ascend with the ranks that have them, whose boxes are in natural order, too. */
static PetscErrorCode FillOtherPattern(Problem *p) {
  const PetscInt n = p->box[0] * p->box[1] * p->box[2], count = PointsAround(p);
  const PetscInt *number;
  PetscInt from[3], size[3], *column;
  ISLocalToGlobalMapping numbers;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(n + 1, &p->other_rows, count, &p->other_columns, count, &p->other_values));
  PetscCall(PetscArrayzero(p->other_values, count));
  PetscCall(DMDAGetGhostCorners(p->da, &from[0], &from[1], &from[2], &size[0], &size[1], &size[2]));
  PetscCall(DMGetLocalToGlobalMapping(p->da, &numbers));
  PetscCall(ISLocalToGlobalMappingGetIndices(numbers, &number));
  const PetscInt stride[3] = {1, size[0], size[0] * size[1]};
  column = p->other_columns;
  for (PetscInt row = 0; row < n; ++row) {
    const PetscInt x[3] = {row % p->box[0], row / p->box[0] % p->box[1], row / (p->box[0] * p->box[1])};
    PetscInt here = 0;

    p->other_rows[row] = (PetscInt)(column - p->other_columns);
    for (PetscInt d = 0; d < 3; ++d) here += (p->at[d] + x[d] - from[d]) * stride[d];
    for (PetscInt d = p->dim - 1; d >= 0; --d)
      if (x[d] == 0 && p->at[d] > 0) *column++ = number[here - stride[d]];
    for (PetscInt d = 0; d < p->dim; ++d)
      if (x[d] == p->box[d] - 1 && p->at[d] + p->box[d] < p->n[d]) *column++ = number[here + stride[d]];
  }
  p->other_rows[n] = (PetscInt)(column - p->other_columns);
  PetscCall(ISLocalToGlobalMappingRestoreIndices(numbers, &number));
  PetscFunctionReturn(0);
}
