/* Matrices of -div(k grad u) + c u with u = 0 on the boundary: nx x ny unknowns and 5 points, or nx x ny x nz and 7, in
   natural order; on the host or on a device. */
#pragma once

#include "random.h"
#include <petscmat.h>

typedef enum {
  POISSON,   /* k = 1 */
  VARIABLE,  /* smooth and random, contrast 1e3 */
  JUMPS,     /* 1 or 1e6 at random from face to face */
  TWO_PHASE, /* the lower half is heavy, the upper one light */
  BUBBLES    /* 16 light circles */
} Kind;

typedef struct {
  Kind kind;
  PetscInt dim, n[3]; /* 2 or 3; unknowns a side, 1 in z in 2D */
  PetscReal scale[3]; /* k in each direction is so many times what the kind says */
  PetscReal added;    /* c */
  PetscReal jump;     /* of the densities of two phases */
  PetscBool device;   /* A and b are on the device */
  PetscReal *k;       /* coefficient at the points with the boundary's, n + 2 a side, or NULL: it belongs to faces */
  PetscInt *rows, *columns;
  PetscScalar *values;
  Mat A;
  Vec b, product;
} Problem;

static PetscInt Unknowns(const Problem *p) { return p->n[0] * p->n[1] * p->n[2]; }

/* From a point to its neighbour in k. */
static PetscInt Stride(const Problem *p, PetscInt d) {
  return d == 0 ? 1 : d == 1 ? p->n[0] + 2 : (p->n[0] + 2) * (p->n[1] + 2);
}

/* k on the face in direction d between two neighbouring points; the same from either of them. */
static PetscReal Face(const Problem *p, PetscInt here, PetscInt there, PetscInt d) {
  if (p->kind == POISSON) return p->scale[d];
  if (p->k) return p->scale[d] * 2 / (1 / p->k[here] + 1 / p->k[there]);
  uint64_t face = 2 * (uint64_t)PetscMin(here, there) + (d == 0 ? 1 : 0);
  (void)Uniform(&face);
  return p->scale[d] * (Uniform(&face) < 0.5 ? 1 : 1e6);
}

/* The values of the row of a point, in the order of its columns. */
static void FillRow(const Problem *p, const PetscInt x[3], PetscScalar *values) {
  PetscReal lower[3], upper[3], diagonal = p->added;
  PetscInt here = 0;

  for (PetscInt d = 0; d < p->dim; ++d) here += (x[d] + 1) * Stride(p, d);
  for (PetscInt d = p->dim - 1; d >= 0; --d) {
    lower[d] = Face(p, here, here - Stride(p, d), d);
    diagonal += lower[d];
    if (x[d] > 0) *values++ = -lower[d];
  }
  for (PetscInt d = 0; d < p->dim; ++d) {
    upper[d] = Face(p, here, here + Stride(p, d), d);
    diagonal += upper[d];
  }
  *values++ = diagonal;
  for (PetscInt d = 0; d < p->dim; ++d)
    if (x[d] < p->n[d] - 1) *values++ = -upper[d];
}

/* The values of A, again at every call, as an application does whose coefficients change. A product takes them to the
   device, as an application's assembly there would have left them. */
static PetscErrorCode FillMatrix(Problem *p) {
  const PetscInt lines = p->n[1] * p->n[2];
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJGetArrayWrite(p->A, &values));
#pragma omp parallel for
  for (PetscInt line = 0; line < lines; ++line) {
    PetscInt x[3] = {0, line % p->n[1], line / p->n[1]};

    for (; x[0] < p->n[0]; ++x[0]) FillRow(p, x, values + p->rows[line * p->n[0] + x[0]]);
  }
  PetscCall(MatSeqAIJRestoreArrayWrite(p->A, &values));
  PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY)); /* says that they are new */
  PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
  if (p->device) PetscCall(MatMult(p->A, p->b, p->product));
  PetscFunctionReturn(0);
}

static void FillPattern(Problem *p) {
  const PetscInt stride[3] = {1, p->n[0], p->n[0] * p->n[1]};
  PetscInt *column = p->columns;

  for (PetscInt row = 0; row < Unknowns(p); ++row) {
    const PetscInt x[3] = {row % p->n[0], row / stride[1] % p->n[1], row / stride[2]};

    p->rows[row] = (PetscInt)(column - p->columns);
    for (PetscInt d = p->dim - 1; d >= 0; --d)
      if (x[d] > 0) *column++ = row - stride[d];
    *column++ = row;
    for (PetscInt d = 0; d < p->dim; ++d)
      if (x[d] < p->n[d] - 1) *column++ = row + stride[d];
  }
  p->rows[Unknowns(p)] = (PetscInt)(column - p->columns);
}

/* A, whose arrays are our own (to fill them takes a small part of what MatSetValues() takes), and the vectors. */
static PetscErrorCode CreateSystem(Problem *p) {
  const PetscInt n = Unknowns(p);
  PetscInt count = n;

  PetscFunctionBeginUser;
#if !defined(PETSC_HAVE_CUDA)
  PetscCheck(!p->device, PETSC_COMM_SELF, PETSC_ERR_SUP, "-backend cuda: this PETSc was configured without CUDA");
#endif
  for (PetscInt d = 0; d < p->dim; ++d) count += 2 * (n - n / p->n[d]);
  PetscCall(PetscMalloc3(n + 1, &p->rows, count, &p->columns, count, &p->values));
  FillPattern(p);
  PetscCall(PetscArrayzero(p->values, count));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, p->rows, p->columns, p->values, &p->A));
#if defined(PETSC_HAVE_CUDA)
  if (p->device) PetscCall(MatConvert(p->A, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &p->A));
#endif
  PetscCall(MatSetOption(p->A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(p->A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatCreateVecs(p->A, &p->product, &p->b));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroySystem(Problem *p) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree(p->k));
  PetscCall(VecDestroy(&p->b));
  PetscCall(VecDestroy(&p->product));
  PetscCall(MatDestroy(&p->A));
  PetscCall(PetscFree3(p->rows, p->columns, p->values));
  PetscFunctionReturn(0);
}
