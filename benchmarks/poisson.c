static char help[] = "Solves one linear system with several solvers and prints, as CSV, what each of them took.\n\
  -n <511>             unknowns a side\n\
  -problem <poisson>   poisson, variable (random smooth coefficients, contrast 1e3), jumps (1 or 1e6 from face to face),\n\
                       two_phase (one above the other) or bubbles (16 circles)\n\
  -jump <1000>         of the densities of two phases\n\
  -anisotropy <1>      multiplies the coefficient in x\n\
  -backend <host>      host or cuda: where the matrix and the vectors are\n\
  -solver_<k>          \"name: options\", k = 0, 1, ...: options of KSP and PC, -threads <t>, and -dmda for a\n\
                       preconditioner that needs the grid from a DM\n\
  -norm <natural>      norm of the convergence test: natural, preconditioned or unpreconditioned; or several, separated by\n\
                       commas: each solver is set up once, and solves to each of them\n\
  -rtol <1e-6>         relative tolerance in that norm\n\
  -random_start        solve from random values between 0 and 1 instead of from zero\n\
  -setups <3> -refreshes <3> -solves <5> -applies <0>   how often each is measured\n\
  -batch <1>           applications that are measured together, one after the other\n\
  -copies <0>          how often the copy of a vector is measured\n\
  -seconds <30>        measure a thing no more often once it has taken a solver this long\n\
  -kappa               estimate the condition number too\n\
  -output <file>       write the first solver's solution as raw doubles\n";

/* Solvers take turns (A B C A B C ...), so that a machine that slows down slows all of them. */
#include "solver.h"
#if defined(_OPENMP)
  #include <omp.h>
#endif

#define MAX_SOLVERS 64

typedef struct {
  Task task;
  PetscBool kappa;
  PetscReal seconds;
  PetscInt repeats[PHASES], copies, solvers, threads;
  char output[PETSC_MAX_PATH_LEN];
  Solver solver[MAX_SOLVERS];
} Run;

static const char *const problems[] = {"poisson", "variable", "jumps", "two_phase", "bubbles", "Kind", "", NULL};
static const char *const backends[] = {"host", "cuda"};

static PetscErrorCode ReadCounts(Run *run) {
  const char *const counts[] = {"-setups", "-refreshes", "-applies", "-solves"};

  PetscFunctionBeginUser;
  run->seconds = 30;
  run->task.batch = 1;
  run->repeats[SETUP] = run->repeats[REFRESH] = 3;
  run->repeats[SOLVE] = 5;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-batch", &run->task.batch, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-copies", &run->copies, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &run->seconds, NULL));
  for (int phase = 0; phase < PHASES; ++phase) {
    PetscCall(PetscOptionsGetInt(NULL, NULL, counts[phase], &run->repeats[phase], NULL));
    PetscCheck(run->repeats[phase] < MAX_TIMES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must be below %d",
               counts[phase], MAX_TIMES);
  }
  PetscCheck(run->task.batch >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-batch must be at least 1");
  PetscCheck(run->copies < MAX_TIMES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-copies must be below %d", MAX_TIMES);
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadTask(Task *task) {
  PetscInt n = 511, kind = POISSON, backend = 0, count = MAX_NORMS;
  PetscReal anisotropy = 1, jump = 1000;
  PetscBool set, random = PETSC_FALSE;

  PetscFunctionBeginUser;
  task->rtol = 1e-6;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-problem", problems, 5, &kind, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-anisotropy", &anisotropy, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-jump", &jump, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-backend", backends, 2, &backend, NULL));
  PetscCall(PetscOptionsGetEnumArray(NULL, NULL, "-norm", norms, task->norm, &count, &set));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &task->rtol, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-random_start", &random, NULL));
  PetscCheck(n >= 1 && n <= 20000, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-n must be between 1 and 20000");
  task->norms = set ? count : 1;
  PetscCheck(jump > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-jump must be positive");
  PetscCall(ProblemCreate((Kind)kind, n, anisotropy, jump, (PetscBool)backend, &task->problem));
  PetscCall(VecDuplicate(task->problem.b, &task->x));
  PetscCall(VecDuplicate(task->problem.b, &task->y));
  if (random) {
    PetscCall(VecDuplicate(task->problem.b, &task->guess));
    PetscCall(VecSetRandom(task->guess, NULL));
  }
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
    s->threads = run->threads;
    PetscCall(PetscOptionsGetInt(NULL, s->prefix, "-threads", &s->threads, NULL));
    PetscCall(PetscOptionsHasName(NULL, s->prefix, "-dmda", &s->dmda));
    ++run->solvers;
  }
  PetscCheck(run->solvers, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "No solver: give -solver_0 \"name: options\"");
  PetscFunctionReturn(0);
}

static PetscErrorCode SetThreads(PetscInt threads) {
  PetscFunctionBeginUser;
#if defined(_OPENMP)
  omp_set_num_threads((int)threads);
#else
  PetscCheck(threads == 1, PETSC_COMM_SELF, PETSC_ERR_SUP, "-threads needs this program compiled with OpenMP");
#endif
  PetscFunctionReturn(0);
}

static PetscErrorCode Write(const Run *run) {
  const PetscInt n = run->task.problem.n;
  const PetscScalar *x;
  FILE *file;

  PetscFunctionBeginUser;
  PetscCall(PetscFOpen(PETSC_COMM_SELF, run->output, "wb", &file));
  PetscCall(VecGetArrayRead(run->task.x, &x));
  const size_t size = (size_t)n * n, written = fwrite(x, sizeof(*x), size, file);
  PetscCall(VecRestoreArrayRead(run->task.x, &x));
  PetscCall(PetscFClose(PETSC_COMM_SELF, file));
  PetscCheck(written == size, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", run->output);
  PetscFunctionReturn(0);
}

static PetscErrorCode Measure(Run *run, Solver *s, int phase) {
  Times *t = phase == SOLVE ? &s->solves[run->task.now].times : &s->times[phase];
  PetscLogDouble seconds = 0;

  PetscFunctionBeginUser;
  if (t->count && t->spent > run->seconds) PetscFunctionReturn(0);
  PetscCall(SolverDo(&run->task, s, phase, &seconds));
  t->seconds[t->count++] = seconds;
  t->spent += seconds;
  if (phase == SOLVE) PetscCall(SolverResult(&run->task, s));
  if (phase == SOLVE && s == run->solver && run->output[0]) PetscCall(Write(run));
  PetscFunctionReturn(0);
}

static PetscErrorCode Kappa(Run *run, Solver *s, int unused) {
  PetscFunctionBeginUser;
  (void)unused;
  PetscCall(SolverKappa(&run->task, s));
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

    if (s->error || s->solves[run->task.now].reason < 0) continue;
    PetscCall(SetThreads(s->threads));
    PetscCall(PetscPushErrorHandler(Remember, s));
    s->error = step(run, s, phase);
    PetscCall(PetscPopErrorHandler());
  }
  PetscCall(SetThreads(run->threads));
  PetscFunctionReturn(0);
}

static PetscErrorCode MeasureAll(Run *run) {
  PetscFunctionBeginUser;
  for (int phase = 0; phase < SOLVE; ++phase) {
    for (PetscInt r = 0; run->repeats[phase] && r <= run->repeats[phase]; ++r) {
      if (phase == REFRESH) PetscCall(FillMatrix(&run->task.problem));
      PetscCall(ForEach(run, Measure, phase));
    }
  }
  for (PetscInt now = 0; now < run->task.norms; ++now) {
    run->task.now = now;
    for (PetscInt r = 0; run->repeats[SOLVE] && r <= run->repeats[SOLVE]; ++r) PetscCall(ForEach(run, Measure, SOLVE));
  }
  run->task.now = 0;
  if (run->kappa) PetscCall(ForEach(run, Kappa, 0));
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
  PetscCall(VecGetType(run->task.problem.b, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &from));
  PetscCall(VecSetSizes(from, n, n));
  PetscCall(VecSetType(from, type));
  PetscCall(VecDuplicate(from, &to));
  PetscCall(VecSet(from, 1));
  for (PetscInt r = 0; r <= run->copies; ++r) {
    PetscCall(Clock(&run->task, &start));
    for (PetscInt i = 0; i < batch; ++i) PetscCall(VecCopy(from, to));
    PetscCall(Clock(&run->task, &end));
    times.seconds[times.count++] = (end - start) / batch;
  }
  PetscCall(Median(&times, &ms));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# copy: %.1f GB/s\n", (double)(2e-6 * sizeof(PetscScalar) * n / ms)));
  PetscCall(VecDestroy(&from));
  PetscCall(VecDestroy(&to));
  PetscFunctionReturn(0);
}

/* A cell of the table: empty where nothing was measured. */
static PetscErrorCode PrintTime(const Times *t) {
  PetscReal ms = 0;

  PetscFunctionBeginUser;
  if (t->count) PetscCall(Median(t, &ms));
  if (t->count)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ",%.4f", (double)ms));
  else
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ","));
  PetscFunctionReturn(0);
}

static PetscErrorCode Print(const Run *run, const Solver *s, PetscInt now) {
  const Solves *solves = &s->solves[now];
  const char *status = s->error == PETSC_ERR_ARG_UNKNOWN_TYPE ? "missing"
                       : s->error || solves->reason < 0       ? "failed"
                                                              : "ok";
  char why[512];

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(why, s->why, sizeof(why)));
  if (!s->error) PetscCall(PetscStrncpy(why, KSPConvergedReasons[solves->reason], sizeof(why)));
  for (char *c = why; *c; ++c)
    if (*c == '"' || *c == '\n') *c = ' ';
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\"%s\",%s,%" PetscInt_FMT ",%s,%" PetscInt_FMT ",%s,\"%s\"", s->name,
                        problems[run->task.problem.kind], run->task.problem.n, norms[run->task.norm[now]], s->threads,
                        status, why));
  if (s->levels)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ",%" PetscInt_FMT, s->levels));
  else
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ","));
  if (solves->times.count)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ",%" PetscInt_FMT ",%.3e", solves->iterations, (double)solves->residual));
  else
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ",,"));
  if (s->kappa > 0)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ",%.4f", (double)s->kappa));
  else
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ","));
  for (int phase = 0; phase < SOLVE; ++phase) PetscCall(PrintTime(&s->times[phase]));
  PetscCall(PrintTime(&solves->times));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintAll(const Run *run) {
  char version[128];

  PetscFunctionBeginUser;
  if (run->copies) PetscCall(PrintCopies(run));
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "# %s\nsolver,problem,n,norm,threads,status,reason,levels,iterations,residual,kappa,"
                        "setup_ms,refresh_ms,apply_ms,solve_ms\n",
                        version));
  for (PetscInt k = 0; k < run->solvers; ++k)
    for (PetscInt now = 0; now < run->task.norms; ++now) PetscCall(Print(run, &run->solver[k], now));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  Run *run;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscNew(&run));
  run->threads = 1;
#if defined(_OPENMP)
  run->threads = omp_get_max_threads();
#endif
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-kappa", &run->kappa, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-output", run->output, sizeof(run->output), NULL));
  PetscCall(ReadCounts(run));
  PetscCall(ReadTask(&run->task));
  PetscCall(ReadSolvers(run));
  PetscCall(MeasureAll(run));
  PetscCall(PrintAll(run));
  for (PetscInt k = 0; k < run->solvers; ++k)
    if (!run->solver[k].error) PetscCall(KSPDestroy(&run->solver[k].ksp));
  PetscCall(VecDestroy(&run->task.x));
  PetscCall(VecDestroy(&run->task.y));
  PetscCall(VecDestroy(&run->task.guess));
  PetscCall(ProblemDestroy(&run->task.problem));
  PetscCall(PetscFree(run));
  PetscCall(PetscFinalize());
  return 0;
}
