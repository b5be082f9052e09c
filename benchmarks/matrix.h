/* Matrices of -div(k grad u) + c u with u = 0 on the boundary, or on one side of it or none: nx x ny unknowns and 5 points, or nx x ny x nz and 7, in
   natural order, or in that of boxes. */
#pragma once

#include "boxes.h"

/* Of this rank. */
static PetscInt Unknowns(const Problem *p) { return p->box[0] * p->box[1] * p->box[2]; }

/* From a point to its neighbour in k. */
static PetscInt Stride(const Problem *p, PetscInt d) {
  return d == 0 ? 1 : d == 1 ? p->n[0] + 2 : (p->n[0] + 2) * (p->n[1] + 2);
}

/* k on the face in direction d between two neighbouring points; the same from either of them. */
static PetscReal Face(const Problem *p, PetscInt here, PetscInt there, PetscInt d) {
  if (p->kind == POISSON) return p->scale[d];
  if (p->kind == STRETCHED && d == 1) return p->scale[d] * 2 / (p->k[here] + p->k[there]);
  if (p->k) return p->scale[d] * 2 / (1 / p->k[here] + 1 / p->k[there]);
  uint64_t face = (uint64_t)p->dim * (uint64_t)PetscMin(here, there) + (uint64_t)(p->dim - 1 - d);
  (void)Uniform(&face);
  return p->scale[d] * (Uniform(&face) < 0.5 ? 1 : 1e6);
}

static PetscBool IsOpen(const Problem *p, PetscInt d, PetscBool upper) {
  return (PetscBool)(p->open == ALL_SIDES || (p->open == ONE_SIDE && d == p->dim - 1 && upper));
}

/* The values of the row of a point, in the order of its columns: this rank's, and those of others. An identity row where nothing
   couples. */
static void FillRow(const Problem *p, const PetscInt x[3], PetscScalar *own, PetscScalar *other) {
  PetscReal lower[3], upper[3], diagonal = p->added;
  PetscInt here = 0;

  for (PetscInt d = 0; d < p->dim; ++d) here += (x[d] + 1) * Stride(p, d);
  for (PetscInt d = p->dim - 1; d >= 0; --d) {
    PetscScalar **const to = x[d] > p->at[d] ? &own : &other;

    lower[d] = x[d] > 0 || IsOpen(p, d, PETSC_FALSE) ? Face(p, here, here - Stride(p, d), d) : 0;
    diagonal += lower[d];
    if (x[d] > 0) *(*to)++ = -lower[d];
  }
  for (PetscInt d = 0; d < p->dim; ++d) {
    upper[d] = x[d] < p->n[d] - 1 || IsOpen(p, d, PETSC_TRUE) ? Face(p, here, here + Stride(p, d), d) : 0;
    diagonal += upper[d];
  }
  *own++ = diagonal > 0 ? diagonal : 1;
  for (PetscInt d = 0; d < p->dim; ++d) {
    PetscScalar **const to = x[d] < p->at[d] + p->box[d] - 1 ? &own : &other;

    if (x[d] < p->n[d] - 1) *(*to)++ = -upper[d];
  }
}

/* The values of A, again at every call, as an application does whose coefficients change. A product takes them to the
   device, as an application's assembly there would have left them. */
static PetscErrorCode FillMatrix(Problem *p) {
  const PetscInt lines = p->given ? 0 : p->box[1] * p->box[2];
  PetscScalar *values, *others = NULL;
  Mat own = p->A, other = NULL;

  PetscFunctionBeginUser;
  if (p->da) PetscCall(MatMPIAIJGetSeqAIJ(p->A, &own, &other, NULL));
  PetscCall(MatSeqAIJGetArrayWrite(own, &values));
  if (other) PetscCall(MatSeqAIJGetArrayWrite(other, &others));
  if (p->given) PetscCall(PetscArraycpy(values, p->given, p->rows[Unknowns(p)]));
#pragma omp parallel for
  for (PetscInt line = 0; line < lines; ++line) {
    PetscInt row = line * p->box[0];
    PetscInt x[3] = {p->at[0], p->at[1] + line % p->box[1], p->at[2] + line / p->box[1]};

    for (; x[0] < p->at[0] + p->box[0]; ++x[0], ++row)
      FillRow(p, x, values + p->rows[row], others ? others + p->other_rows[row] : NULL);
  }
  if (other) PetscCall(MatSeqAIJRestoreArrayWrite(other, &others));
  PetscCall(MatSeqAIJRestoreArrayWrite(own, &values));
  PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY)); /* says that they are new */
  PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
  if (p->device) PetscCall(MatMult(p->A, p->b, p->product));
  PetscFunctionReturn(0);
}

/* In the columns of this rank. */
static void FillPattern(Problem *p) {
  const PetscInt stride[3] = {1, p->box[0], p->box[0] * p->box[1]};
  PetscInt *column = p->columns;

  for (PetscInt row = 0; row < Unknowns(p); ++row) {
    const PetscInt x[3] = {row % p->box[0], row / stride[1] % p->box[1], row / stride[2]};

    p->rows[row] = (PetscInt)(column - p->columns);
    for (PetscInt d = p->dim - 1; d >= 0; --d)
      if (x[d] > 0) *column++ = row - stride[d];
    *column++ = row;
    for (PetscInt d = 0; d < p->dim; ++d)
      if (x[d] < p->box[d] - 1) *column++ = row + stride[d];
  }
  p->rows[Unknowns(p)] = (PetscInt)(column - p->columns);
}

static PetscErrorCode CreateSystem(Problem *p) {
  PetscInt n, count;

  PetscFunctionBeginUser;
  if (!p->da) PetscCall(PetscArraycpy(p->box, p->n, 3));
  count = n = Unknowns(p);
  for (PetscInt d = 0; d < p->dim; ++d) count += 2 * (n - n / p->box[d]);
  PetscCall(AllocateSystem(p, n, count));
  FillPattern(p);
  PetscCall(PetscArrayzero(p->values, count));
  if (p->da) PetscCall(FillOtherPattern(p));
  PetscCall(CreateMatrix(p, n));
  PetscFunctionReturn(0);
}

/* Normal; other numbers on each rank. */
static PetscErrorCode FillNormal(Vec v) {
  uint64_t state = 2013;
  PetscScalar *values;
  PetscMPIInt rank;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)v), &rank));
  state += (uint64_t)rank << 32;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &values));
  for (PetscInt i = 0; i < n; ++i) values[i] = Normal(&state);
  PetscCall(VecRestoreArrayWrite(v, &values));
  PetscFunctionReturn(0);
}
