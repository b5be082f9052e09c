static char help[] = "Solves one linear system with several solvers and prints, as CSV, what each of them took.\n\
  -n <511>             unknowns a side\n\
  -problem <poisson>   poisson, variable (random smooth coefficients, contrast 1e3) or jumps (1 or 1e6 from face to face)\n\
  -anisotropy <1>      multiplies the coefficient in x\n\
  -backend <host>      host or cuda: where the matrix and the vectors are\n\
  -solver_<k>          \"name: options\", k = 0, 1, ...: options of KSP and PC, -threads <t>, and -dmda for a\n\
                       preconditioner that needs the grid from a DM\n\
  -norm <natural>      norm of the convergence test: natural, preconditioned or unpreconditioned\n\
  -rtol <1e-6>         relative tolerance in that norm\n\
  -setups <3> -refreshes <3> -solves <5> -applies <0>   how often each is measured\n\
  -batch <1>           applications that are measured together, one after the other\n\
  -copies <0>          how often the copy of a vector is measured\n\
  -seconds <30>        measure a thing no more often once it has taken a solver this long\n\
  -kappa               estimate the condition number too\n\
  -output <file>       write the first solver's solution as raw doubles\n";

/* Solvers take turns (A B C A B C ...), so that a machine that slows down slows all of them. */
#include "problem.h"
#include <petscdevice.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>
#if defined(_OPENMP)
  #include <omp.h>
#endif

#define MAX_SOLVERS 32
#define MAX_TIMES   64

enum {
  SETUP,
  REFRESH,
  SOLVE,
  APPLY,
  PHASES
};

typedef struct {
  int count;
  PetscReal seconds[MAX_TIMES], spent;
} Times;

typedef struct {
  char name[64], prefix[16], why[512];
  PetscErrorCode error;
  PetscInt threads, iterations;
  PetscBool dmda;
  KSP ksp;
  KSPConvergedReason reason;
  PetscReal residual, kappa;
  Times times[PHASES];
} Solver;

typedef struct {
  Problem problem;
  PetscBool kappa;
  KSPNormType norm;
  PetscReal rtol, seconds;
  PetscInt repeats[PHASES], batch, copies, solvers;
  char output[PETSC_MAX_PATH_LEN];
  Solver solver[MAX_SOLVERS];
  Vec x, y;
} Run;

static const char *const problems[] = {"poisson", "variable", "jumps"};

static PetscErrorCode ReadOptions(Run *run) {
  const char *const norms[] = {"natural", "preconditioned", "unpreconditioned"};
  const char *const counts[] = {"-setups", "-refreshes", "-solves", "-applies"};
  const char *const backends[] = {"host", "cuda"};
  const KSPNormType types[] = {KSP_NORM_NATURAL, KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED};
  PetscInt n = 511, kind = POISSON, norm = 0, backend = 0;
  PetscReal anisotropy = 1;

  PetscFunctionBeginUser;
  run->rtol = 1e-6;
  run->seconds = 30;
  run->batch = 1;
  run->repeats[SETUP] = run->repeats[REFRESH] = 3;
  run->repeats[SOLVE] = 5;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-problem", problems, 3, &kind, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-anisotropy", &anisotropy, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-norm", norms, 3, &norm, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-backend", backends, 2, &backend, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-batch", &run->batch, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-copies", &run->copies, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &run->rtol, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &run->seconds, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-kappa", &run->kappa, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-output", run->output, sizeof(run->output), NULL));
  for (int phase = 0; phase < PHASES; ++phase) {
    PetscCall(PetscOptionsGetInt(NULL, NULL, counts[phase], &run->repeats[phase], NULL));
    PetscCheck(run->repeats[phase] < MAX_TIMES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must be below %d",
               counts[phase], MAX_TIMES);
  }
  PetscCheck(n >= 1 && n <= 30000, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-n must be between 1 and 30000");
  PetscCheck(run->batch >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-batch must be at least 1");
  PetscCheck(run->copies < MAX_TIMES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-copies must be below %d", MAX_TIMES);
  run->norm = types[norm];
  PetscCall(ProblemCreate((Kind)kind, n, anisotropy, (PetscBool)backend, &run->problem));
  PetscCall(VecDuplicate(run->problem.b, &run->x));
  PetscCall(VecDuplicate(run->problem.b, &run->y));
  PetscFunctionReturn(0);
}

/* Each solver has an options prefix of its own, under which its options are put. */
static PetscErrorCode ReadSolvers(Run *run) {
  char key[16], text[2048], *options;

  PetscFunctionBeginUser;
  for (int k = 0; k < MAX_SOLVERS; ++k) {
    Solver *s = &run->solver[run->solvers];
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
#if defined(_OPENMP)
    s->threads = omp_get_max_threads();
#else
    s->threads = 1;
#endif
    PetscCall(PetscOptionsGetInt(NULL, s->prefix, "-threads", &s->threads, NULL));
    PetscCall(PetscOptionsHasName(NULL, s->prefix, "-dmda", &s->dmda));
    ++run->solvers;
  }
  PetscCheck(run->solvers, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "No solver: give -solver_0 \"name: options\"");
  PetscFunctionReturn(0);
}

/* Only its grids and what leads from one to the next: the matrix stays ours. */
static PetscErrorCode SetDMDA(Run *run, KSP ksp) {
  const PetscInt n = run->problem.n;
  MatType mat;
  VecType vec;
  DM da;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(run->problem.A, &mat));
  PetscCall(VecGetType(run->problem.b, &vec));
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

static PetscErrorCode Create(Run *run, Solver *s) {
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &s->ksp));
  PetscCall(KSPSetOptionsPrefix(s->ksp, s->prefix));
  PetscCall(KSPSetType(s->ksp, KSPCG));
  PetscCall(KSPSetNormType(s->ksp, run->norm));
  PetscCall(KSPSetTolerances(s->ksp, run->rtol, 1e-50, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetOperators(s->ksp, run->problem.A, run->problem.A));
  if (s->dmda) PetscCall(SetDMDA(run, s->ksp));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscFunctionReturn(0);
}

/* The time when the device, too, has done all that it was given. */
static PetscErrorCode Clock(const Run *run, PetscLogDouble *seconds) {
  PetscFunctionBeginUser;
  if (run->problem.device) {
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscCall(PetscTime(seconds));
  PetscFunctionReturn(0);
}

/* What is done once in a phase. The clock runs around the solver's own work only. */
static PetscErrorCode Once(Run *run, Solver *s, int phase, PetscLogDouble *seconds) {
  PetscLogDouble start, end;
  PC pc;

  PetscFunctionBeginUser;
  if (phase == SETUP) PetscCall(Create(run, s));
  PetscCall(KSPGetPC(s->ksp, &pc));
  PetscCall(Clock(run, &start));
  switch (phase) {
  case REFRESH: PetscCall(KSPSetOperators(s->ksp, run->problem.A, run->problem.A)); /* falls through */
  case SETUP:
    PetscCall(KSPSetUp(s->ksp));
    PetscCall(KSPSetUpOnBlocks(s->ksp));
    break;
  case SOLVE: PetscCall(KSPSolve(s->ksp, run->problem.b, run->x)); break;
  case APPLY:
    for (PetscInt i = 0; i < run->batch; ++i) PetscCall(PCApply(pc, run->problem.b, run->y));
    break;
  }
  PetscCall(Clock(run, &end));
  *seconds = (end - start) / (phase == APPLY ? run->batch : 1);
  PetscFunctionReturn(0);
}

static PetscErrorCode Residual(Run *run, Solver *s) {
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetConvergedReason(s->ksp, &s->reason));
  PetscCall(KSPGetIterationNumber(s->ksp, &s->iterations));
  PetscCall(MatMult(run->problem.A, run->x, run->y));
  PetscCall(VecAYPX(run->y, -1, run->problem.b));
  PetscCall(VecNorm(run->y, NORM_2, &s->residual));
  PetscCall(VecNorm(run->problem.b, NORM_2, &norm));
  s->residual /= norm;
  PetscFunctionReturn(0);
}

static PetscErrorCode Write(Run *run) {
  const PetscScalar *x;
  FILE *file;

  PetscFunctionBeginUser;
  PetscCall(PetscFOpen(PETSC_COMM_SELF, run->output, "wb", &file));
  PetscCall(VecGetArrayRead(run->x, &x));
  const size_t n = (size_t)run->problem.n * run->problem.n, written = fwrite(x, sizeof(*x), n, file);
  PetscCall(VecRestoreArrayRead(run->x, &x));
  PetscCall(PetscFClose(PETSC_COMM_SELF, file));
  PetscCheck(written == n, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", run->output);
  PetscFunctionReturn(0);
}

static PetscErrorCode Measure(Run *run, Solver *s, int phase) {
  Times *t = &s->times[phase];
  PetscLogDouble seconds = 0;

  PetscFunctionBeginUser;
  if (t->count && t->spent > run->seconds) PetscFunctionReturn(0);
  PetscCall(Once(run, s, phase, &seconds));
  t->seconds[t->count++] = seconds;
  t->spent += seconds;
  if (phase == SOLVE) PetscCall(Residual(run, s));
  if (phase == SOLVE && s == run->solver && run->output[0]) PetscCall(Write(run));
  PetscFunctionReturn(0);
}

/* The extreme eigenvalues as CG sees them with a random right-hand side. They converge after the solution has: CG goes on. */
static PetscErrorCode Kappa(Run *run, Solver *s, int unused) {
  PetscReal high, low;
  PetscRandom random;

  PetscFunctionBeginUser;
  (void)unused;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(VecSetRandom(run->y, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(Create(run, s));
  PetscCall(KSPSetComputeSingularValues(s->ksp, PETSC_TRUE));
  PetscCall(KSPSetTolerances(s->ksp, 1e-30, 1e-200, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSolve(s->ksp, run->y, run->x));
  PetscCall(KSPComputeExtremeSingularValues(s->ksp, &high, &low));
  s->kappa = high / low;
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

static PetscErrorCode ForEach(Run *run, PetscErrorCode (*step)(Run *, Solver *, int), int phase) {
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < run->solvers; ++k) {
    Solver *s = &run->solver[k];

    if (s->error || s->reason < 0) continue;
#if defined(_OPENMP)
    omp_set_num_threads((int)s->threads);
#else
    PetscCheck(s->threads == 1, PETSC_COMM_SELF, PETSC_ERR_SUP, "-threads needs this program compiled with OpenMP");
#endif
    PetscCall(PetscPushErrorHandler(Remember, s));
    s->error = step(run, s, phase);
    PetscCall(PetscPopErrorHandler());
  }
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

/* Copies of vectors that no cache holds, ten together: the bandwidth that anything bound by memory can reach. */
static PetscErrorCode PrintCopies(const Run *run) {
  const PetscInt n = 1 << 26, batch = 10;
  PetscLogDouble start, end;
  PetscReal ms;
  VecType type;
  Vec from, to;
  Times times;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(&times, sizeof(times)));
  PetscCall(VecGetType(run->problem.b, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &from));
  PetscCall(VecSetSizes(from, n, n));
  PetscCall(VecSetType(from, type));
  PetscCall(VecDuplicate(from, &to));
  PetscCall(VecSet(from, 1));
  for (PetscInt r = 0; r <= run->copies; ++r) {
    PetscCall(Clock(run, &start));
    for (PetscInt i = 0; i < batch; ++i) PetscCall(VecCopy(from, to));
    PetscCall(Clock(run, &end));
    times.seconds[times.count++] = (end - start) / batch;
  }
  PetscCall(Median(&times, &ms));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# copy: %.1f GB/s\n", (double)(2e-6 * sizeof(PetscScalar) * n / ms)));
  PetscCall(VecDestroy(&from));
  PetscCall(VecDestroy(&to));
  PetscFunctionReturn(0);
}

static PetscErrorCode Print(Run *run, const Solver *s) {
  const char *status = s->error == PETSC_ERR_ARG_UNKNOWN_TYPE ? "missing" : s->error || s->reason < 0 ? "failed" : "ok";
  char why[512];

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(why, s->why, sizeof(why)));
  if (!s->error) PetscCall(PetscStrncpy(why, KSPConvergedReasons[s->reason], sizeof(why)));
  for (char *c = why; *c; ++c)
    if (*c == '"' || *c == '\n') *c = ' ';
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\"%s\",%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%s,\"%s\"", s->name,
                        problems[run->problem.kind], run->problem.n, s->threads, status, why));
  if (s->times[SOLVE].count)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ",%" PetscInt_FMT ",%.3e", s->iterations, (double)s->residual));
  else
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ",,"));
  if (s->kappa > 0)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ",%.4f", (double)s->kappa));
  else
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ","));
  for (int phase = 0; phase < PHASES; ++phase) {
    PetscReal ms = 0;

    if (s->times[phase].count) PetscCall(Median(&s->times[phase], &ms));
    if (s->times[phase].count)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, ",%.4f", (double)ms));
    else
      PetscCall(PetscPrintf(PETSC_COMM_SELF, ","));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  char version[128];
  Run *run;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscNew(&run));
  PetscCall(ReadOptions(run));
  PetscCall(ReadSolvers(run));
  for (int phase = 0; phase < PHASES; ++phase) {
    for (PetscInt r = 0; run->repeats[phase] && r <= run->repeats[phase]; ++r) {
      if (phase == REFRESH) PetscCall(FillMatrix(&run->problem));
      PetscCall(ForEach(run, Measure, phase));
    }
  }
  if (run->kappa) PetscCall(ForEach(run, Kappa, 0));
  if (run->copies) PetscCall(PrintCopies(run));
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(PetscPrintf(
      PETSC_COMM_SELF,
      "# %s\nsolver,problem,n,threads,status,reason,iterations,residual,kappa,setup_ms,refresh_ms,solve_ms,apply_ms\n",
      version));
  for (PetscInt k = 0; k < run->solvers; ++k) PetscCall(Print(run, &run->solver[k]));
  for (PetscInt k = 0; k < run->solvers; ++k)
    if (!run->solver[k].error) PetscCall(KSPDestroy(&run->solver[k].ksp));
  PetscCall(VecDestroy(&run->x));
  PetscCall(VecDestroy(&run->y));
  PetscCall(ProblemDestroy(&run->problem));
  PetscCall(PetscFree(run));
  PetscCall(PetscFinalize());
  return 0;
}
