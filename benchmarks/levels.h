/* The matrices of PCMG's coarser grids, discretized on these: seven points on all of them, where Galerkin's have 27. */
#pragma once

#include "system.h"
#include <petscdmda.h>
#include <petscksp.h>

/* k = 1. The first points of all grids are the same, one width of the finest grid from the side; so are the last ones. */
static PetscErrorCode FillCoarser(KSP ksp, Mat A, Mat P, void *context) {
  const Problem *p = (const Problem *)context;
  PetscInt n[3], width;
  DM da;

  PetscFunctionBeginUser;
  (void)A;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  width = n[0] > 1 ? (p->n[0] - 1) / (n[0] - 1) : 1; /* in those of the finest grid */
  for (PetscInt k = 0; k < n[2]; ++k)
    for (PetscInt j = 0; j < n[1]; ++j)
      for (PetscInt i = 0; i < n[0]; ++i) {
        const PetscInt x[3] = {i, j, k};
        const MatStencil row = {.i = i, .j = j, .k = k};
        MatStencil columns[7] = {row};
        PetscScalar values[7] = {0};
        PetscInt count = 1;

        for (PetscInt side = 0; side < 2 * p->dim; ++side) {
          const PetscInt d = side / 2, y = x[d] + (side % 2 ? 1 : -1);
          const PetscBool inside = (PetscBool)(y >= 0 && y < n[d]);
          const PetscReal weight = p->scale[d] * (p->dim == 3 ? width : 1) * (inside ? 1 : width);

          values[0] += weight;
          if (!inside) continue;
          columns[count] = row;
          *(d == 0 ? &columns[count].i : d == 1 ? &columns[count].j : &columns[count].k) = y;
          values[count++] = -weight;
        }
        PetscCall(MatSetValuesStencil(P, 1, &row, count, columns, values, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}
