/* The linear systems that poisson.c solves: -div(k grad u) = f on the unit square, u = 0 on its boundary,
   n x n unknowns, h = 1/(n+1), five points, both sides multiplied by h^2. And those of the pressure in two phases (Gupta,
   van Gijzen and Vuik): n x n cells, k = 1/density, u = 0 on the top side, no flow through the others, u given. */
#pragma once

#include <petscmat.h>

#define MODES 24

typedef enum {
  POISSON,   /* k = 1 */
  VARIABLE,  /* smooth and random, contrast 1e3 */
  JUMPS,     /* 1 or 1e6 at random from face to face */
  TWO_PHASE, /* the lower half is heavy, the upper one light */
  BUBBLES    /* 16 light circles */
} Kind;

typedef struct {
  Kind kind;
  PetscInt n;           /* unknowns a side */
  PetscReal anisotropy; /* k in x is this many times k in y */
  PetscReal jump;       /* of the densities of two phases */
  PetscReal *k;         /* coefficient at the (n+2)^2 points with the boundary's, or NULL: it belongs to faces */
  PetscBool device;     /* A and b are on the device */
  PetscInt *rows, *columns;
  PetscScalar *values;
  Mat A;
  Vec b, product;
} Problem;

/* Uniform in [0, 1), the same on every machine. */
static PetscReal Uniform(uint64_t *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (PetscReal)(*state >> 11) / 9007199254740992.0;
}

/* Sum of plane waves of random direction and phase at the (m+1)^2 points (i/m, j/m). Long waves are the strongest. */
static PetscErrorCode Waves(PetscInt m, PetscReal *s) {
  uint64_t state = 20170815;
  PetscReal *cx, *sx;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(m + 1, &cx, m + 1, &sx));
  PetscCall(PetscArrayzero(s, (m + 1) * (m + 1)));
  for (int w = 0; w < MODES; ++w) {
    const PetscReal a = PETSC_PI * (16 * Uniform(&state) - 8), b = PETSC_PI * (16 * Uniform(&state) - 8);
    const PetscReal phase = 2 * PETSC_PI * Uniform(&state), strength = 1 / (1 + PetscSqrtReal(a * a + b * b));

    for (PetscInt i = 0; i <= m; ++i) {
      cx[i] = strength * PetscCosReal(a * i / m + phase);
      sx[i] = strength * PetscSinReal(a * i / m + phase);
    }
#pragma omp parallel for
    for (PetscInt j = 0; j <= m; ++j) {
      const PetscReal cy = PetscCosReal(b * j / m), sy = PetscSinReal(b * j / m);
      for (PetscInt i = 0; i <= m; ++i) s[j * (m + 1) + i] += cx[i] * cy - sx[i] * sy;
    }
  }
  PetscCall(PetscFree2(cx, sx));
  PetscFunctionReturn(0);
}

/* Smooth random coefficients between 10^-1.5 and 10^1.5; the field is the same for every n. */
static PetscErrorCode RandomCoefficients(Problem *p) {
  const PetscInt sample = 256, points = (p->n + 2) * (p->n + 2);
  PetscReal *s, low = PETSC_MAX_REAL, high = PETSC_MIN_REAL;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((sample + 1) * (sample + 1), &s));
  PetscCall(Waves(sample, s));
  for (PetscInt i = 0; i < (sample + 1) * (sample + 1); ++i) {
    low = PetscMin(low, s[i]);
    high = PetscMax(high, s[i]);
  }
  PetscCall(PetscFree(s));
  PetscCall(PetscMalloc1(points, &p->k));
  PetscCall(Waves(p->n + 1, p->k));
#pragma omp parallel for
  for (PetscInt i = 0; i < points; ++i) p->k[i] = PetscPowReal(10, 3 * (p->k[i] - low) / (high - low) - 1.5);
  PetscFunctionReturn(0);
}

/* One circle in each of 4 x 4 squares, near its middle, 0.5 to 0.7 of it wide. */
static PetscBool InBubble(const Problem *p, PetscInt i, PetscInt j) {
  const PetscReal x = 4 * (i + 0.5) / p->n, y = 4 * (j + 0.5) / p->n;
  uint64_t state = (uint64_t)(4 * (int)y + (int)x);
  const PetscReal cx = (int)x + 0.4 + 0.2 * Uniform(&state), cy = (int)y + 0.4 + 0.2 * Uniform(&state);
  const PetscReal radius = 0.25 + 0.1 * Uniform(&state);

  return (PetscBool)((x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius);
}

/* 1 in light cells and 1/jump in heavy ones. The harmonic mean with 0 is a wall without flow, that with the cell's own
   coefficient is the wall at the top. */
static PetscErrorCode PhaseCoefficients(Problem *p) {
  const PetscInt n = p->n, line = n + 2;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(line * line, &p->k));
#pragma omp parallel for
  for (PetscInt j = 0; j < n; ++j) {
    for (PetscInt i = 0; i < n; ++i) {
      const PetscBool light = p->kind == BUBBLES ? InBubble(p, i, j) : (PetscBool)(j >= n / 2);

      p->k[(j + 1) * line + i + 1] = light ? 1 : 1 / p->jump;
    }
  }
  PetscCall(PetscArraycpy(p->k + (n + 1) * line, p->k + n * line, line));
  PetscFunctionReturn(0);
}

/* k on the face between two neighbouring points; the same from either of them. */
static PetscReal Face(const Problem *p, PetscInt here, PetscInt there, PetscBool in_x) {
  const PetscReal scale = in_x ? p->anisotropy : 1;

  if (p->kind == POISSON) return scale;
  if (p->k) return scale * 2 / (1 / p->k[here] + 1 / p->k[there]);
  uint64_t face = 2 * (uint64_t)PetscMin(here, there) + (in_x ? 1 : 0);
  (void)Uniform(&face);
  return scale * (Uniform(&face) < 0.5 ? 1 : 1e6);
}

/* One row, in the order of its columns. */
static void FillRow(const Problem *p, PetscInt i, PetscInt j, PetscScalar *values) {
  const PetscInt n = p->n, here = (j + 1) * (n + 2) + i + 1;
  const PetscReal south = Face(p, here, here - n - 2, PETSC_FALSE), west = Face(p, here, here - 1, PETSC_TRUE);
  const PetscReal east = Face(p, here, here + 1, PETSC_TRUE), north = Face(p, here, here + n + 2, PETSC_FALSE);

  if (j > 0) *values++ = -south;
  if (i > 0) *values++ = -west;
  *values++ = south + west + east + north;
  if (i < n - 1) *values++ = -east;
  if (j < n - 1) *values++ = -north;
}

/* The values of A, again at every call, as an application does whose coefficients change. A product takes them to the
   device, as an application's assembly there would have left them. */
static PetscErrorCode FillMatrix(Problem *p) {
  const PetscInt n = p->n;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJGetArrayWrite(p->A, &values));
#pragma omp parallel for
  for (PetscInt j = 0; j < n; ++j)
    for (PetscInt i = 0; i < n; ++i) FillRow(p, i, j, values + p->rows[j * n + i]);
  PetscCall(MatSeqAIJRestoreArrayWrite(p->A, &values));
  PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY)); /* says that they are new */
  PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
  if (p->device) PetscCall(MatMult(p->A, p->b, p->product));
  PetscFunctionReturn(0);
}

/* Its pattern, in arrays of our own: to fill them takes a small part of what MatSetValues() takes. */
static PetscErrorCode CreateMatrix(Problem *p) {
  const PetscInt n = p->n, count = 5 * n * n - 4 * n;
  PetscInt *column;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(n * n + 1, &p->rows, count, &p->columns, count, &p->values));
  column = p->columns;
  for (PetscInt j = 0; j < n; ++j) {
    for (PetscInt i = 0; i < n; ++i) {
      const PetscInt row = j * n + i;

      p->rows[row] = (PetscInt)(column - p->columns);
      if (j > 0) *column++ = row - n;
      if (i > 0) *column++ = row - 1;
      *column++ = row;
      if (i < n - 1) *column++ = row + 1;
      if (j < n - 1) *column++ = row + n;
    }
  }
  p->rows[n * n] = count;
  PetscCall(PetscArrayzero(p->values, count));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n * n, n * n, p->rows, p->columns, p->values, &p->A));
#if defined(PETSC_HAVE_CUDA)
  if (p->device) PetscCall(MatConvert(p->A, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &p->A));
#endif
  PetscCall(MatSetOption(p->A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(p->A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* b = A u, u(i) = cos(i), in the order of the unknowns. */
static PetscErrorCode MultiplyCosine(Problem *p) {
  PetscScalar *u;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(p->product, &u));
#pragma omp parallel for
  for (PetscInt i = 0; i < p->n * p->n; ++i) u[i] = PetscCosReal(i);
  PetscCall(VecRestoreArrayWrite(p->product, &u));
  PetscCall(MatMult(p->A, p->product, p->b));
  PetscFunctionReturn(0);
}

/* k = 1: f of u = x(x-1) y(y-1) e^(xy), the problem of de Jong et al. 2017. Else f = 1. */
static PetscErrorCode FillRightHandSide(Problem *p) {
  const PetscReal h = 1.0 / (p->n + 1);
  PetscScalar *b;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(p->b, &b));
#pragma omp parallel for
  for (PetscInt j = 0; j < p->n; ++j) {
    for (PetscInt i = 0; i < p->n; ++i) {
      const PetscReal x = (i + 1) * h, y = (j + 1) * h, X = x * (x - 1), Y = y * (y - 1);
      /* u_xx = Y e^(xy) (2 + 2y(2x-1) + y^2 X), and the same with x and y exchanged */
      const PetscReal uxx = Y * (2 + 2 * y * (2 * x - 1) + y * y * X), uyy = X * (2 + 2 * x * (2 * y - 1) + x * x * Y);

      b[j * p->n + i] = h * h * (p->kind == POISSON ? -(p->anisotropy * uxx + uyy) * PetscExpReal(x * y) : 1);
    }
  }
  PetscCall(VecRestoreArrayWrite(p->b, &b));
  PetscFunctionReturn(0);
}

static PetscErrorCode ProblemCreate(Kind kind, PetscInt n, PetscReal anisotropy, PetscReal jump, PetscBool device,
                                    Problem *p) {
  PetscFunctionBeginUser;
#if !defined(PETSC_HAVE_CUDA)
  PetscCheck(!device, PETSC_COMM_SELF, PETSC_ERR_SUP, "-backend cuda: this PETSc was configured without CUDA");
#endif
  p->kind = kind;
  p->n = n;
  p->anisotropy = anisotropy;
  p->jump = jump;
  p->device = device;
  p->k = NULL;
  if (kind == VARIABLE) PetscCall(RandomCoefficients(p));
  if (kind == TWO_PHASE || kind == BUBBLES) PetscCall(PhaseCoefficients(p));
  PetscCall(CreateMatrix(p));
  PetscCall(MatCreateVecs(p->A, &p->product, &p->b));
  if (kind == TWO_PHASE || kind == BUBBLES) {
    PetscCall(FillMatrix(p));
    PetscCall(MultiplyCosine(p));
  } else {
    PetscCall(FillRightHandSide(p));
    PetscCall(FillMatrix(p));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ProblemDestroy(Problem *p) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree(p->k));
  PetscCall(VecDestroy(&p->b));
  PetscCall(VecDestroy(&p->product));
  PetscCall(MatDestroy(&p->A));
  PetscCall(PetscFree3(p->rows, p->columns, p->values));
  PetscFunctionReturn(0);
}
