/* A linear system: what it is, its matrix on the host or on a device, whose arrays are our own, and vectors. */
#pragma once

#include "random.h"
#include <petscdmda.h>
#include <petscmat.h>

typedef enum {
  POISSON,   /* k = 1 */
  VARIABLE,  /* smooth and random, contrast 1e3 */
  JUMPS,     /* 1 or 1e6 at random from face to face */
  TWO_PHASE, /* the lower half is heavy, the upper one light */
  BUBBLES,   /* 16 light circles */
  LOGNORMAL, /* exp(sigma N(0,1)) in each cell */
  CELLS,     /* 1, and 1e6 in a tenth of the cells */
  MASK,      /* 1, and 0 in three tenths of the cells */
  CHANNELS,  /* 1, and 1e4 in 15 % of the rows and columns of cells */
  STRETCHED, /* 1 on cells that grow from the sides to the middle by 1000 */
  GIVEN      /* a matrix from a file */
} Kind;

typedef enum {
  ALL_SIDES,
  ONE_SIDE, /* the upper one in the last direction */
  NO_SIDE
} Open;

typedef struct {
  Kind kind;
  Open open;          /* where u = 0; nothing flows through the other sides */
  PetscInt dim, n[3]; /* 2 or 3; unknowns a side, 1 in z in 2D */
  PetscReal scale[3]; /* k in each direction is so many times what the kind says */
  PetscReal added;    /* c */
  PetscReal jump;     /* of the densities of two phases */
  PetscReal sigma;    /* of LOGNORMAL */
  PetscBool device;   /* A and b are on the device */
  PetscReal *k;       /* coefficient at the points with the boundary's, n + 2 a side, or NULL: it belongs to faces; of
                         stretched cells that in x, and 1/k in y */
  PetscInt at[3], box[3]; /* the rank's points: box[d] of them from at[d] on */
  DM da;                  /* whose boxes these are; NULL on one rank */
  PetscInt *rows, *columns, *other_rows, *other_columns;
  PetscScalar *values, *other_values; /* other: of columns that other ranks have */
  PetscScalar *given;                 /* values of a matrix from a file */
  Mat A;
  Vec b, product;
} Problem;

static PetscErrorCode AllocateSystem(Problem *p, PetscInt rows, PetscInt entries) {
  PetscFunctionBeginUser;
#if !defined(PETSC_HAVE_CUDA)
  PetscCheck(!p->device, PETSC_COMM_SELF, PETSC_ERR_SUP, "-backend cuda: this PETSc was configured without CUDA");
#endif
  PetscCall(PetscMalloc3(rows + 1, &p->rows, entries, &p->columns, entries, &p->values));
  p->rows[0] = 0;
  PetscFunctionReturn(0);
}

/* -point_blocks <s>: of so many rows, one after the other, for PETSc's relaxation by blocks. */
static PetscErrorCode SetPointBlocks(Mat A, PetscInt rows) {
  PetscInt size = 0, *sizes;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-point_blocks", &size, NULL));
  if (size < 1) PetscFunctionReturn(0);
  const PetscInt count = (rows + size - 1) / size;
  PetscCall(PetscMalloc1(count, &sizes));
  for (PetscInt i = 0; i < count; ++i) sizes[i] = PetscMin(size, rows - i * size);
  PetscCall(MatSetVariableBlockSizes(A, count, sizes));
  PetscCall(PetscFree(sizes));
  PetscFunctionReturn(0);
}

/* A of these arrays (to fill them takes a small part of what MatSetValues() takes), and the vectors. */
static PetscErrorCode CreateMatrix(Problem *p, PetscInt rows) {
  PetscFunctionBeginUser;
  if (p->da)
    PetscCall(MatCreateMPIAIJWithSplitArrays(PETSC_COMM_WORLD, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, p->rows,
                                             p->columns, p->values, p->other_rows, p->other_columns, p->other_values,
                                             &p->A));
  else
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, rows, rows, p->rows, p->columns, p->values, &p->A));
#if defined(PETSC_HAVE_CUDA)
  if (p->device) PetscCall(MatConvert(p->A, p->da ? MATMPIAIJCUSPARSE : MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &p->A));
#endif
  if (p->da) PetscCall(MatSetDM(p->A, p->da));
  PetscCall(MatSetOption(p->A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(p->A, MAT_SPD, PETSC_TRUE));
  PetscCall(SetPointBlocks(p->A, rows));
  PetscCall(MatCreateVecs(p->A, &p->product, &p->b));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroySystem(Problem *p) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree(p->k));
  PetscCall(PetscFree(p->given));
  PetscCall(VecDestroy(&p->b));
  PetscCall(VecDestroy(&p->product));
  PetscCall(MatDestroy(&p->A));
  PetscCall(DMDestroy(&p->da));
  PetscCall(PetscFree3(p->rows, p->columns, p->values));
  PetscCall(PetscFree3(p->other_rows, p->other_columns, p->other_values));
  PetscFunctionReturn(0);
}
