/* One of the solvers that poisson.c compares: how it is made, and what it took in each phase and under each norm. */
#pragma once

#include "problem.h"
#include <petscdevice.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <petscrrb.h>
#include <petsctime.h>

#define MAX_TIMES 64
#define MAX_NORMS 3

enum {
  SETUP,
  REFRESH,
  APPLY,
  SOLVE,
  PHASES
};

typedef struct {
  int count;
  PetscReal seconds[MAX_TIMES], spent;
} Times;

/* Of the solves under one norm. */
typedef struct {
  PetscInt iterations;
  KSPConvergedReason reason;
  PetscReal residual;
  Times times;
} Solves;

typedef struct {
  char name[64], prefix[16], why[512];
  PetscErrorCode error;
  PetscInt threads, levels;
  PetscBool dmda;
  KSP ksp;
  PetscReal kappa;
  Times times[SOLVE];
  Solves solves[MAX_NORMS];
} Solver;

static const char *const norms[] = {"natural", "preconditioned", "unpreconditioned", "Norm", "", NULL};
static const KSPNormType norm_types[] = {KSP_NORM_NATURAL, KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED};

/* What all of them solve, and to which test. */
typedef struct {
  Problem problem;
  PetscEnum norm[MAX_NORMS];
  PetscInt norms, now; /* norm[now] is the one in use */
  PetscReal rtol;
  PetscInt batch;
  Vec x, y, guess; /* from which solves start, or NULL: from zero */
} Task;

/* Only its grids and what leads from one to the next: the matrix stays ours. */
static PetscErrorCode SolverSetDMDA(const Task *task, KSP ksp) {
  const PetscInt n = task->problem.n;
  MatType mat;
  VecType vec;
  DM da;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(task->problem.A, &mat));
  PetscCall(VecGetType(task->problem.b, &vec));
  PetscCall(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, 1, 1, 1, 1, NULL,
                         NULL, &da));
  PetscCall(DMSetMatType(da, mat));
  PetscCall(DMSetVecType(da, vec));
  PetscCall(DMSetUp(da));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetDM(pc, da)); /* and not KSPSetDM(), which would let it make the matrix */
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverCreate(const Task *task, Solver *s) {
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &s->ksp));
  PetscCall(KSPSetOptionsPrefix(s->ksp, s->prefix));
  PetscCall(KSPSetType(s->ksp, KSPCG));
  PetscCall(KSPSetNormType(s->ksp, norm_types[task->norm[task->now]]));
  PetscCall(KSPSetTolerances(s->ksp, task->rtol, 1e-50, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetOperators(s->ksp, task->problem.A, task->problem.A));
  if (s->dmda) PetscCall(SolverSetDMDA(task, s->ksp));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscFunctionReturn(0);
}

/* The time when the device, too, has done all that it was given. */
static PetscErrorCode Clock(const Task *task, PetscLogDouble *seconds) {
  PetscFunctionBeginUser;
  if (task->problem.device) {
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscCall(PetscTime(seconds));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverGetLevels(Solver *s) {
  PC pc;
  PetscBool rrb, mg, gamg;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(s->ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCRRB, &rrb));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCMG, &mg));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGAMG, &gamg));
  if (rrb)
    PetscCall(PCRRBGetLevels(pc, &s->levels));
  else if (mg || gamg)
    PetscCall(PCMGGetLevels(pc, &s->levels));
  PetscFunctionReturn(0);
}

/* Whatever has to be done once: KSPSetUp(), and what the first solve does that a second one does not. */
static PetscErrorCode SolverSetUp(const Task *task, Solver *s, PetscLogDouble *seconds) {
  PetscLogDouble start, first, second;
  PetscInt most;

  PetscFunctionBeginUser;
  PetscCall(KSPGetTolerances(s->ksp, NULL, NULL, NULL, &most));
  PetscCall(KSPSetTolerances(s->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 1));
  PetscCall(Clock(task, &start));
  PetscCall(KSPSetUp(s->ksp));
  PetscCall(KSPSetUpOnBlocks(s->ksp));
  PetscCall(KSPSolve(s->ksp, task->problem.b, task->x));
  PetscCall(Clock(task, &first));
  PetscCall(KSPSolve(s->ksp, task->problem.b, task->x));
  PetscCall(Clock(task, &second));
  PetscCall(KSPSetTolerances(s->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, most));
  PetscCall(SolverGetLevels(s));
  *seconds = PetscMax(0, (first - start) - (second - first));
  PetscFunctionReturn(0);
}

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

/* What is done once in a phase. The clock runs around the solver's own work only. */
static PetscErrorCode SolverDo(const Task *task, Solver *s, int phase, PetscLogDouble *seconds) {
  PetscFunctionBeginUser;
  switch (phase) {
  case SETUP:
    PetscCall(SolverCreate(task, s));
    PetscCall(SolverSetUp(task, s, seconds));
    break;
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

/* The median in milliseconds; the first of several is a warm-up and does not count. */
static PetscErrorCode Median(const Times *t, PetscReal *ms) {
  PetscReal sorted[MAX_TIMES];
  const PetscInt skip = t->count > 1, n = t->count - skip;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i) sorted[i] = t->seconds[skip + i];
  PetscCall(PetscSortReal(n, sorted));
  *ms = 500 * (sorted[(n - 1) / 2] + sorted[n / 2]);
  PetscFunctionReturn(0);
}
