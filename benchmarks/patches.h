/* Matrices of seven points on patches of cells, u = 0 outside: 6 and -1, or with coefficients of the faces at random between
   0.5 and 1.5. Patches are decoupled, or neighbours in a box of them. */
#pragma once

#include "system.h"

#define MAX_PATCHES 4096

/* Unknowns patch after patch, in a patch x fastest. */
typedef struct {
  PetscInt count, sizes[3 * MAX_PATCHES], first[MAX_PATCHES + 1];
  PetscInt box[3]; /* of equal patches that are coupled; zero: none are */
  PetscBool variable;
} Patches;

/* -patches nx,ny,nz,...: each of these -repeat times; -box px,py,pz: so many of the first one, coupled. */
static PetscErrorCode ReadPatches(Patches *p) {
  PetscInt kinds = 3 * MAX_PATCHES, repeat = 1, sides = 3;
  PetscBool set, box;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-patches", p->sizes, &kinds, &set));
  if (!set) kinds = 3, p->sizes[0] = p->sizes[1] = p->sizes[2] = 64;
  PetscCheck(kinds % 3 == 0, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-patches takes three numbers a patch");
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-box", p->box, &sides, &box));
  if (box) kinds = 3, repeat = p->box[0] * p->box[1] * p->box[2];
  p->count = kinds / 3 * repeat;
  PetscCheck(p->count >= 1 && p->count <= MAX_PATCHES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "There must be 1 to %d patches", MAX_PATCHES);
  for (PetscInt i = kinds; i < 3 * p->count; ++i) p->sizes[i] = p->sizes[i - kinds];
  for (PetscInt i = 0; i < p->count; ++i) {
    const PetscInt *n = p->sizes + 3 * i;

    PetscCheck(n[0] > 0 && n[1] > 0 && n[2] > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Sides must be positive");
    p->first[i + 1] = p->first[i] + n[0] * n[1] * n[2];
  }
  PetscFunctionReturn(0);
}

/* The cell on the other side of face f (0, 1, 2: the lower ones along x, y, z; 3, 4, 5: the upper ones) of cell x of a
   patch, or -1. */
static PetscInt Beyond(const Patches *p, PetscInt patch, const PetscInt x[3], PetscInt f) {
  const PetscInt d = f % 3, *n = p->sizes + 3 * patch, *box = p->box;
  PetscInt y[3] = {x[0], x[1], x[2]}, at[3];

  y[d] += f < 3 ? -1 : 1;
  if (y[d] < 0 || y[d] >= n[d]) {
    if (!box[0]) return -1;
    at[0] = patch % box[0], at[1] = patch / box[0] % box[1], at[2] = patch / box[0] / box[1];
    at[d] += f < 3 ? -1 : 1;
    if (at[d] < 0 || at[d] >= box[d]) return -1;
    patch = at[0] + box[0] * (at[1] + box[1] * at[2]);
    y[d] = f < 3 ? n[d] - 1 : 0;
  }
  return p->first[patch] + y[0] + n[0] * (y[1] + n[1] * y[2]);
}

static PetscReal CoefficientOf(const Patches *p, PetscInt row, PetscInt other, PetscInt f) {
  uint64_t face = 16 * (uint64_t)(other < 0 ? row : PetscMin(row, other)) + (uint64_t)(other < 0 ? 8 + f : f % 3);

  if (!p->variable) return 1;
  (void)Uniform(&face);
  return 0.5 + Uniform(&face);
}

/* One row, in the order of its columns. Returns how many entries it has; columns is NULL where only these are wanted. */
static PetscInt RowOfPatch(const Patches *p, PetscInt patch, const PetscInt x[3], PetscInt *columns,
                           PetscScalar *values) {
  const PetscInt *n = p->sizes + 3 * patch, row = p->first[patch] + x[0] + n[0] * (x[1] + n[1] * x[2]);
  PetscReal diagonal = 0;
  PetscInt count = 1;

  for (PetscInt f = 0; f < 6; ++f) {
    const PetscInt other = Beyond(p, patch, x, f);
    const PetscReal k = columns ? CoefficientOf(p, row, other, f) : 0;
    PetscInt at = count;

    diagonal += k;
    if (other < 0) continue;
    ++count;
    if (!columns) continue;
    for (; at > 1 && columns[at - 1] > other; --at) columns[at] = columns[at - 1], values[at] = values[at - 1];
    columns[at] = other, values[at] = -k;
  }
  if (!columns) return count;
  PetscInt at = 0;
  for (; at < count - 1 && columns[at + 1] < row; ++at) columns[at] = columns[at + 1], values[at] = values[at + 1];
  columns[at] = row, values[at] = diagonal;
  return count;
}

static PetscInt CellsOf(const Patches *p) { return p->first[p->count]; }

/* Into the arrays of A; rows[0] is 0. columns and values are NULL where only the rows' ends are wanted. */
static void FillPatches(const Patches *p, PetscInt *rows, PetscInt *columns, PetscScalar *values) {
#pragma omp parallel for schedule(dynamic)
  for (PetscInt patch = 0; patch < p->count; ++patch) {
    const PetscInt *n = p->sizes + 3 * patch;

    for (PetscInt row = p->first[patch]; row < p->first[patch + 1]; ++row) {
      const PetscInt q = row - p->first[patch], x[3] = {q % n[0], q / n[0] % n[1], q / n[0] / n[1]};

      if (columns)
        (void)RowOfPatch(p, patch, x, columns + rows[row], values + rows[row]);
      else
        rows[row + 1] = RowOfPatch(p, patch, x, NULL, NULL);
    }
  }
}

static PetscErrorCode CreateSystemOfPatches(const Patches *p, Problem *problem) {
  const PetscInt n = CellsOf(p);

  PetscFunctionBeginUser;
  PetscCall(AllocateSystem(problem, n, 7 * n));
  FillPatches(p, problem->rows, NULL, NULL);
  for (PetscInt row = 0; row < n; ++row) problem->rows[row + 1] += problem->rows[row];
  FillPatches(p, problem->rows, problem->columns, problem->values);
  PetscCall(CreateMatrix(problem, n));
  PetscFunctionReturn(0);
}
