/* What poisson.c measures of a solver: set-up, refresh, applications and solves; and its condition number. */
#pragma once

#include "memory.h"

static PetscErrorCode SolverApply(const Task *task, Solver *s, PetscLogDouble *seconds) {
  PetscLogDouble start, end;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(s->ksp, &pc));
  PetscCall(Clock(task, &start));
  for (PetscInt i = 0; i < task->batch; ++i) PetscCall(PCApply(pc, task->problem.b, task->y));
  PetscCall(Clock(task, &end));
  *seconds = (end - start) / task->batch;
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverSolve(const Task *task, Solver *s, PetscLogDouble *seconds) {
  PetscLogDouble start, end;

  PetscFunctionBeginUser;
  PetscCall(KSPSetNormType(s->ksp, norm_types[task->norm[task->now]]));
  PetscCall(KSPSetTolerances(s->ksp, task->rtol[task->now], PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  if (task->guess) {
    PetscCall(VecCopy(task->guess, task->x));
    PetscCall(KSPSetInitialGuessNonzero(s->ksp, PETSC_TRUE));
  }
  PetscCall(Clock(task, &start));
  PetscCall(KSPSolve(s->ksp, task->problem.b, task->x));
  PetscCall(Clock(task, &end));
  *seconds = end - start;
  PetscFunctionReturn(0);
}

/* A new solver. The first one of a kind takes libraries' memory, too. */
static PetscErrorCode SolverStart(const Task *task, Solver *s, PetscLogDouble *seconds) {
  PetscReal before, after;

  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(DeviceMegabytes(task, &before));
  PetscCall(SolverCreate(task, s));
  PetscCall(SolverSetUp(task, s, seconds));
  PetscCall(DeviceMegabytes(task, &after));
  s->megabytes = PetscMax(s->megabytes, after - before);
  if (task->problem.da)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s->megabytes, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* What is done once in a phase. The clock runs around the solver's own work only. */
static PetscErrorCode SolverDo(const Task *task, Solver *s, int phase, PetscLogDouble *seconds) {
  PetscFunctionBeginUser;
  switch (phase) {
  case SETUP: PetscCall(SolverStart(task, s, seconds)); break;
  case REFRESH:
    PetscCall(KSPSetOperators(s->ksp, task->problem.A, task->problem.A));
    PetscCall(SolverSetUp(task, s, seconds));
    break;
  case APPLY: PetscCall(SolverApply(task, s, seconds)); break;
  case SOLVE: PetscCall(SolverSolve(task, s, seconds)); break;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverResult(const Task *task, Solver *s) {
  Solves *solves = &s->solves[task->now];
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetConvergedReason(s->ksp, &solves->reason));
  PetscCall(KSPGetIterationNumber(s->ksp, &solves->iterations));
  PetscCall(MatMult(task->problem.A, task->x, task->y));
  PetscCall(VecAYPX(task->y, -1, task->problem.b));
  PetscCall(VecNorm(task->y, NORM_2, &solves->residual));
  PetscCall(VecNorm(task->problem.b, NORM_2, &norm));
  solves->residual /= norm;
  PetscFunctionReturn(0);
}

/* The extreme eigenvalues as CG sees them with a random right-hand side. They converge after the solution has: CG goes on. */
static PetscErrorCode SolverKappa(const Task *task, Solver *s) {
  PetscReal high, low;
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(VecSetRandom(task->y, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(SolverCreate(task, s));
  PetscCall(KSPSetComputeSingularValues(s->ksp, PETSC_TRUE));
  PetscCall(KSPSetTolerances(s->ksp, 1e-30, 1e-200, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSolve(s->ksp, task->y, task->x));
  PetscCall(KSPComputeExtremeSingularValues(s->ksp, &high, &low));
  s->kappa = high / low;
  PetscFunctionReturn(0);
}
