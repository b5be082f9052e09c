/* The solvers that the options name. They take turns (A B C A B C ...), so that a machine that slows down slows all of them;
   one that fails says why, and the others go on. */
#pragma once

#include "solver.h"
#if defined(_OPENMP)
  #include <omp.h>
#endif

#define MAX_SOLVERS 64

typedef struct {
  PetscInt count, threads;
  Solver solver[MAX_SOLVERS];
} Solvers;

static PetscErrorCode SetThreads(PetscInt threads) {
  PetscFunctionBeginUser;
#if defined(_OPENMP)
  omp_set_num_threads((int)threads);
#else
  PetscCheck(threads == 1, PETSC_COMM_SELF, PETSC_ERR_SUP, "-threads needs this program compiled with OpenMP");
#endif
  PetscFunctionReturn(0);
}

/* Reads -solver_<k> "name: options". Each has an options prefix of its own, under which its options are put. */
static PetscErrorCode ReadSolvers(Solvers *all) {
  char key[16], text[2048], *options;

  PetscFunctionBeginUser;
  all->threads = 1;
#if defined(_OPENMP)
  all->threads = omp_get_max_threads();
#endif
  for (int k = 0; k < MAX_SOLVERS; ++k) {
    Solver *s = &all->solver[all->count];
    PetscBool set;

    PetscCall(PetscSNPrintf(key, sizeof(key), "-solver_%d", k));
    PetscCall(PetscOptionsGetString(NULL, NULL, key, text, sizeof(text), &set));
    if (!set) continue;
    PetscCall(PetscStrchr(text, ':', &options));
    PetscCheck(options, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s must be \"name: options\"", key);
    *options++ = 0;
    PetscCall(PetscStrncpy(s->name, text, sizeof(s->name)));
    PetscCall(PetscSNPrintf(s->prefix, sizeof(s->prefix), "s%d_", k));
    PetscCall(PetscOptionsPrefixPush(NULL, s->prefix));
    PetscCall(PetscOptionsInsertString(NULL, options));
    PetscCall(PetscOptionsPrefixPop(NULL));
    s->threads = all->threads;
    s->gather = -1;
    PetscCall(PetscOptionsGetInt(NULL, s->prefix, "-threads", &s->threads, NULL));
    PetscCall(PetscOptionsHasName(NULL, s->prefix, "-dmda", &s->dmda));
    ++all->count;
  }
  PetscCheck(all->count, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "No solver: give -solver_0 \"name: options\"");
  PetscFunctionReturn(0);
}

/* Keeps the first message instead of printing a traceback: one solver's error must not end the comparison. */
static PetscErrorCode Remember(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode error,
                               PetscErrorType type, const char *message, void *context) {
  Solver *s = (Solver *)context;

  (void)comm, (void)line, (void)function, (void)file;
  if (type == PETSC_ERROR_INITIAL) (void)PetscStrncpy(s->why, message ? message : "", sizeof(s->why));
  return error;
}

/* One turn. A solver that failed under norm[now] is left out. */
static PetscErrorCode ForEach(Solvers *all, PetscInt now, PetscErrorCode (*step)(void *, Solver *), void *context) {
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < all->count; ++k) {
    Solver *s = &all->solver[k];

    if (s->error || s->solves[now].reason < 0) continue;
    PetscCall(SetThreads(s->threads));
    PetscCall(PetscPushErrorHandler(Remember, s));
    s->error = step(context, s);
    PetscCall(PetscPopErrorHandler());
  }
  PetscCall(SetThreads(all->threads));
  PetscFunctionReturn(0);
}

/* Two cells of a table: ok, missing (PETSc has no such type) or failed, and why. */
static PetscErrorCode PrintStatus(const Solver *s, PetscInt now) {
  const KSPConvergedReason reason = s->solves[now].reason;
  const char *status = s->error == PETSC_ERR_ARG_UNKNOWN_TYPE ? "missing" : s->error || reason < 0 ? "failed" : "ok";
  char why[512];

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(why, s->error ? s->why : KSPConvergedReasons[reason], sizeof(why)));
  for (char *c = why; *c; ++c)
    if (*c == '"' || *c == '\n') *c = ' ';
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ",%s,\"%s\"", status, why));
  PetscFunctionReturn(0);
}

/* A cell of a table: the median in milliseconds; empty where nothing was measured. */
static PetscErrorCode PrintTime(const Times *t) {
  PetscReal ms = 0;

  PetscFunctionBeginUser;
  if (t->count) PetscCall(Median(t, &ms));
  if (t->count)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ",%.4f", (double)ms));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ","));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroySolvers(Solvers *all) {
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < all->count; ++k)
    if (!all->solver[k].error) PetscCall(KSPDestroy(&all->solver[k].ksp));
  PetscFunctionReturn(0);
}
