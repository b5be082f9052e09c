/* The linear systems that poisson.c solves, h = 1/(n+1), both sides multiplied by h^2: -div(k grad u) = f on the unit square,
   u = 0 on its boundary; the pressure in two phases (Gupta, van Gijzen and Vuik): n x n cells, k = 1/density, u = 0 on the
   top side, no flow through the others, u given; and boxes of nx x ny x nz unknowns with a random right-hand side. Stretched
   cells are finite volumes, u = 0 on the outer faces. */
#pragma once

#include "coefficients.h"

static const char *const problems[] = {"poisson", "variable", "jumps",     "two_phase", "bubbles", "lognormal", "cells",
                                       "mask",    "channels", "stretched", "matrix",    "Kind",    "",          NULL};

static PetscBool TwoPhases(const Problem *p) {
  return (PetscBool)(p->dim == 2 && (p->kind == TWO_PHASE || p->kind == BUBBLES));
}

/* b = A u, u(i) = cos(i), in the order of the unknowns. */
static PetscErrorCode MultiplyCosine(Problem *p) {
  PetscScalar *u;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(p->product, &u));
#pragma omp parallel for
  for (PetscInt i = 0; i < Unknowns(p); ++i) u[i] = PetscCosReal(i);
  PetscCall(VecRestoreArrayWrite(p->product, &u));
  PetscCall(MatMult(p->A, p->product, p->b));
  PetscFunctionReturn(0);
}

/* k = 1: f of u = x(x-1) y(y-1) e^(xy), the problem of de Jong et al. 2017; on a rectangle of square cells, the same function
   of the square. Else f = 1, times the area of a cell where they are stretched. */
static PetscErrorCode FillFunction(Problem *p) {
  const PetscReal h = 1.0 / (p->n[0] + 1), height = 1.0 / (p->n[1] + 1);
  PetscScalar *b;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(p->b, &b));
#pragma omp parallel for
  for (PetscInt j = 0; j < p->box[1]; ++j) {
    for (PetscInt i = 0; i < p->box[0]; ++i) {
      const PetscReal x = (p->at[0] + i + 1) * h, y = (p->at[1] + j + 1) * height, X = x * (x - 1), Y = y * (y - 1);
      /* u_xx = Y e^(xy) (2 + 2y(2x-1) + y^2 X), and the same with x and y exchanged */
      const PetscReal uxx = Y * (2 + 2 * y * (2 * x - 1) + y * y * X), uyy = X * (2 + 2 * x * (2 * y - 1) + x * x * Y);

      const PetscReal area = p->kind == STRETCHED ? CellSize(p->n[0], i) * CellSize(p->n[1], j) : 1;

      b[j * p->box[0] + i] = h * h * (p->kind == POISSON ? -(p->scale[0] * uxx + uyy) * PetscExpReal(x * y) : area);
    }
  }
  PetscCall(VecRestoreArrayWrite(p->b, &b));
  PetscFunctionReturn(0);
}

/* Where there are several ranks. Boxes are as near to squares or cubes as the number of ranks allows, or as -da_processors_x,
   -da_processors_y and -da_processors_z say. */
static PetscErrorCode CreateBoxes(Problem *p) {
  const DMBoundaryType none = DM_BOUNDARY_NONE;
  const PetscInt any = PETSC_DECIDE;
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  if (ranks == 1) PetscFunctionReturn(0);
  PetscCheck(!TwoPhases(p) && p->kind != MASK && p->kind != STRETCHED, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "-problem %s is for one rank", problems[p->kind]);
  if (p->dim == 3)
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, none, none, none, DMDA_STENCIL_STAR, p->n[0], p->n[1], p->n[2], any, any,
                           any, 1, 1, NULL, NULL, NULL, &p->da));
  else
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, none, none, DMDA_STENCIL_STAR, p->n[0], p->n[1], any, any, 1, 1, NULL,
                           NULL, &p->da));
  PetscCall(DMSetFromOptions(p->da));
  PetscCall(DMSetUp(p->da));
  PetscCall(DMDAGetCorners(p->da, &p->at[0], &p->at[1], &p->at[2], &p->box[0], &p->box[1], &p->box[2]));
  PetscFunctionReturn(0);
}

/* Where u = 0 on no side a constant solves it, too. */
static PetscErrorCode RemoveConstant(Problem *p) {
  MatNullSpace constant;

  PetscFunctionBeginUser;
  if (p->open != NO_SIDE || p->added > 0) PetscFunctionReturn(0);
  PetscCall(MatSetOption(p->A, MAT_SPD, PETSC_FALSE));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)p->A), PETSC_TRUE, 0, NULL, &constant));
  PetscCall(MatSetNullSpace(p->A, constant));
  PetscCall(MatNullSpaceRemove(constant, p->b));
  PetscCall(MatNullSpaceDestroy(&constant));
  PetscFunctionReturn(0);
}

/* What the problem is, is filled in; the rest is made here. */
static PetscErrorCode CreateProblem(Problem *p) {
  const PetscBool given = (PetscBool)(TwoPhases(p) || p->kind == MASK); /* whose pockets are singular */

  PetscFunctionBeginUser;
  PetscCall(CreateBoxes(p));
  if (p->kind == VARIABLE) PetscCall(RandomCoefficients(p));
  if (p->kind == BUBBLES && p->dim == 3) PetscCall(SphereCoefficients(p));
  if (p->kind >= LOGNORMAL) PetscCall(HardCoefficients(p));
  PetscCheck(!TwoPhases(p) || p->n[0] == p->n[1], PETSC_COMM_SELF, PETSC_ERR_SUP, "Two phases are on a square");
  if (TwoPhases(p)) PetscCall(PhaseCoefficients(p));
  PetscCall(CreateSystem(p));
  if (p->dim == 3 || (p->open == NO_SIDE && !given))
    PetscCall(FillNormal(p->b));
  else if (!given)
    PetscCall(FillFunction(p));
  PetscCall(FillMatrix(p));
  if (given) PetscCall(MultiplyCosine(p));
  PetscCall(RemoveConstant(p));
  PetscFunctionReturn(0);
}

/* A symmetric matrix from a file in PETSc's format, on one rank, and a normal random right-hand side. */
static PetscErrorCode CreateGiven(Problem *p, const char file[]) {
  const PetscInt *rows, *columns;
  const PetscScalar *values;
  PetscMPIInt ranks;
  PetscViewer viewer;
  PetscBool done;
  PetscInt n;
  Mat A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCheck(ranks == 1, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-matrix is for one rank");
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, file, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatLoad(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows, &columns, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "MatGetRowIJ() did not return the rows of the matrix");
  PetscCall(MatSeqAIJGetArrayRead(A, &values));
  p->kind = GIVEN;
  p->dim = 1;
  p->n[0] = p->box[0] = n;
  p->n[1] = p->n[2] = p->box[1] = p->box[2] = 1;
  PetscCall(AllocateSystem(p, n, rows[n]));
  PetscCall(PetscMalloc1(rows[n], &p->given));
  PetscCall(PetscArraycpy(p->rows, rows, n + 1));
  PetscCall(PetscArraycpy(p->columns, columns, rows[n]));
  PetscCall(PetscArraycpy(p->given, values, rows[n]));
  PetscCall(PetscArraycpy(p->values, values, rows[n]));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows, &columns, &done));
  PetscCall(MatDestroy(&A));
  PetscCall(CreateMatrix(p, p->n[0]));
  PetscCall(FillNormal(p->b));
  PetscCall(FillMatrix(p));
  PetscFunctionReturn(0);
}
