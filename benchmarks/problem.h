/* The linear systems that poisson.c solves, h = 1/(n+1), both sides multiplied by h^2: -div(k grad u) = f on the unit square,
   u = 0 on its boundary; the pressure in two phases (Gupta, van Gijzen and Vuik): n x n cells, k = 1/density, u = 0 on the
   top side, no flow through the others, u given; and boxes of nx x ny x nz unknowns with a random right-hand side. */
#pragma once

#include "coefficients.h"

static PetscBool TwoPhases(const Problem *p) { return (PetscBool)(p->kind == TWO_PHASE || p->kind == BUBBLES); }

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

/* k = 1: f of u = x(x-1) y(y-1) e^(xy), the problem of de Jong et al. 2017. Else f = 1. */
static PetscErrorCode FillFunction(Problem *p) {
  const PetscInt n = p->n[0];
  const PetscReal h = 1.0 / (n + 1);
  PetscScalar *b;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(p->b, &b));
#pragma omp parallel for
  for (PetscInt j = 0; j < n; ++j) {
    for (PetscInt i = 0; i < n; ++i) {
      const PetscReal x = (i + 1) * h, y = (j + 1) * h, X = x * (x - 1), Y = y * (y - 1);
      /* u_xx = Y e^(xy) (2 + 2y(2x-1) + y^2 X), and the same with x and y exchanged */
      const PetscReal uxx = Y * (2 + 2 * y * (2 * x - 1) + y * y * X), uyy = X * (2 + 2 * x * (2 * y - 1) + x * x * Y);

      b[j * n + i] = h * h * (p->kind == POISSON ? -(p->scale[0] * uxx + uyy) * PetscExpReal(x * y) : 1);
    }
  }
  PetscCall(VecRestoreArrayWrite(p->b, &b));
  PetscFunctionReturn(0);
}

/* What the problem is, is filled in; the rest is made here. */
static PetscErrorCode CreateProblem(Problem *p) {
  PetscFunctionBeginUser;
  if (p->kind == VARIABLE) PetscCall(RandomCoefficients(p));
  if (TwoPhases(p)) PetscCall(PhaseCoefficients(p));
  PetscCall(CreateSystem(p));
  if (p->dim == 3)
    PetscCall(FillNormal(p->b));
  else if (!TwoPhases(p))
    PetscCall(FillFunction(p));
  PetscCall(FillMatrix(p));
  if (TwoPhases(p)) PetscCall(MultiplyCosine(p));
  PetscFunctionReturn(0);
}
