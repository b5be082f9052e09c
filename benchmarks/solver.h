/* One of the solvers that a benchmark compares: how it is made and set up, and what it took in each phase and under each
   norm. */
#pragma once

#include "levels.h"
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
  PetscInt threads, levels, gather; /* gather: the most points of a grid that PCRRB has on every rank */
  PetscBool dmda;
  KSP ksp;
  PetscReal kappa;
  PetscReal megabytes; /* of the device's memory that its set-up takes, on the rank where that is most */
  Times times[SOLVE];
  Solves solves[MAX_NORMS];
} Solver;

static const char *const norms[] = {"natural", "preconditioned", "unpreconditioned", "Norm", "", NULL};
static const char *const backends[] = {"host", "cuda"};
static const KSPNormType norm_types[] = {KSP_NORM_NATURAL, KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED};

/* What all of them solve, and to which test. */
typedef struct {
  Problem problem;
  PetscEnum norm[MAX_NORMS];
  PetscReal rtol[MAX_NORMS];
  PetscInt norms, now; /* norm[now] and rtol[now] are in use */
  PetscInt batch;
  Vec x, y, guess; /* from which solves start, or NULL: from zero */
} Task;

/* Where the problem lies, and how far it is solved. */
static PetscErrorCode ReadTest(Task *task, PetscReal rtol) {
  PetscInt backend = 0, count = MAX_NORMS, tolerances = MAX_NORMS;
  PetscBool set, more;

  PetscFunctionBeginUser;
  for (int i = 0; i < MAX_NORMS; ++i) task->rtol[i] = rtol;
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-backend", backends, 2, &backend, NULL));
  PetscCall(PetscOptionsGetEnumArray(NULL, NULL, "-norm", norms, task->norm, &count, &set));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-rtol", task->rtol, &tolerances, &more));
  task->problem.device = (PetscBool)backend;
  task->norms = set ? count : 1;
  PetscCheck(!more || tolerances == 1 || task->norms == 1, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "Several norms or several tolerances, not both");
  for (PetscInt i = 1; i < (more ? task->norms : 1); ++i) task->rtol[i] = task->rtol[0];
  for (; more && task->norms < tolerances; ++task->norms) task->norm[task->norms] = task->norm[0];
  PetscFunctionReturn(0);
}

/* Only its grids and what leads from one to the next: the matrix stays ours. */
static PetscErrorCode SolverSetDMDA(const Task *task, KSP ksp) {
  const PetscInt *n = task->problem.n;
  const DMBoundaryType none = DM_BOUNDARY_NONE;
  MatType mat;
  VecType vec;
  DM da;
  PC pc;

  PetscFunctionBeginUser;
  PetscCheck(!task->problem.da, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-dmda is for one rank");
  PetscCall(MatGetType(task->problem.A, &mat));
  PetscCall(VecGetType(task->problem.b, &vec));
  if (task->problem.dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_SELF, none, none, DMDA_STENCIL_STAR, n[0], n[1], 1, 1, 1, 1, NULL, NULL, &da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_SELF, none, none, none, DMDA_STENCIL_STAR, n[0], n[1], n[2], 1, 1, 1, 1, 1, NULL,
                           NULL, NULL, &da));
  PetscCall(DMSetMatType(da, mat));
  PetscCall(DMSetVecType(da, vec));
  PetscCall(DMSetUp(da));
  PetscCall(DMKSPSetComputeOperators(da, FillCoarser, (void *)&task->problem)); /* without -pc_mg_galerkin */
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetDM(pc, da)); /* and not KSPSetDM(), which would let it make the matrix */
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverCreate(const Task *task, Solver *s) {
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)task->problem.A), &s->ksp));
  PetscCall(KSPSetOptionsPrefix(s->ksp, s->prefix));
  PetscCall(KSPSetType(s->ksp, KSPCG));
  PetscCall(KSPSetNormType(s->ksp, norm_types[task->norm[task->now]]));
  PetscCall(KSPSetTolerances(s->ksp, task->rtol[task->now], 1e-50, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetOperators(s->ksp, task->problem.A, task->problem.A));
  PetscCall(KSPSetApplicationContext(s->ksp, (void *)&task->problem));
  if (s->dmda) PetscCall(SolverSetDMDA(task, s->ksp));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscFunctionReturn(0);
}

/* The time when the device, too, has done all that it was given, on all ranks. */
static PetscErrorCode Clock(const Task *task, PetscLogDouble *seconds) {
  PetscFunctionBeginUser;
  if (task->problem.device) {
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  if (task->problem.da) PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
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
  if (rrb) PetscCall(PCRRBGetGatherSize(pc, &s->gather));
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
