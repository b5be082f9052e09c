static char help[] =
    "Relaxes on patches of cells, f = 0, from random values between 0 and 1, and prints, as CSV, what it took.\n\
  -patches <64,64,64>  cells of the patches along x, y and z; 7 points, 6 and -1, u = 0 outside\n\
  -repeat <1>          each of these patches so many times\n\
  -box <px,py,pz>      so many of the first one instead, coupled with their neighbours\n\
  -coefficients <constant>   constant or variable: those of the faces at random between 0.5 and 1.5\n\
  -backend <host>      host or cuda: where the matrix and the vectors are\n\
  -solver_<k>          \"name: options\", k = 0, 1, ...: options of KSPRICHARDSON or another KSP and its PC, -threads <t>\n\
  -sweeps <3>          print how the residual has fallen after so many\n\
  -from <0> -window <0>   and the factor of a sweep, from so many sweeps on, the mean of so many\n\
  -times <9> -batch <10>  how often a number of sweeps in one call is timed, and how many\n\
  -setups <1>          how often the set-up and the refresh are timed\n\
  -seconds <5>         time a thing no more often once it has taken a solver this long\n\
  -copies <0>          how often the copy of a vector is measured\n";

#include "copies.h"
#include "patches.h"
#include "solvers.h"

typedef struct {
  PetscReal residual, factor; /* after the sweeps; of one, in the end */
} Fall;

typedef struct {
  Task task;
  Patches patches;
  PetscInt sweeps, from, window, times, setups, copies;
  PetscReal seconds;
  Solvers solvers;
  Fall fall[MAX_SOLVERS];
} Run;

static const char *const coefficients[] = {"constant", "variable"};

static PetscErrorCode ReadCounts(Run *run) {
  PetscFunctionBeginUser;
  run->sweeps = 3, run->times = 9, run->task.batch = 10, run->setups = 1, run->seconds = 5;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sweeps", &run->sweeps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-from", &run->from, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-window", &run->window, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-times", &run->times, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-batch", &run->task.batch, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-setups", &run->setups, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-copies", &run->copies, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &run->seconds, NULL));
  PetscCheck(run->times < MAX_TIMES && run->setups < MAX_TIMES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-times and -setups must be below %d", MAX_TIMES);
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadRun(Run *run) {
  Task *task = &run->task;
  uint64_t state = 2014;
  PetscScalar *u;
  PetscInt kind = 0, n;

  PetscFunctionBeginUser;
  PetscCall(ReadTest(task, 0));
  PetscCall(ReadCounts(run));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-coefficients", coefficients, 2, &kind, NULL));
  run->patches.variable = (PetscBool)kind;
  PetscCall(ReadPatches(&run->patches));
  PetscCall(CreateSystemOfPatches(&run->patches, &task->problem));
  PetscCall(VecDuplicate(task->problem.b, &task->x));
  PetscCall(VecDuplicate(task->problem.b, &task->y));
  PetscCall(VecDuplicate(task->problem.b, &task->guess));
  PetscCall(VecSet(task->problem.b, 0));
  PetscCall(VecGetLocalSize(task->guess, &n));
  PetscCall(VecGetArrayWrite(task->guess, &u));
  for (PetscInt i = 0; i < n; ++i) u[i] = Uniform(&state);
  PetscCall(VecRestoreArrayWrite(task->guess, &u));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Run *run, Solver *s) {
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(SolverCreate(&run->task, s));
  PetscCall(KSPSetNormType(s->ksp, KSP_NORM_NONE));
  PetscCall(KSPSetInitialGuessNonzero(s->ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(s->ksp, &pc));
  PetscCall(PCBlockRelaxSetPatches(pc, run->patches.count, run->patches.sizes));
  PetscFunctionReturn(0);
}

/* So many sweeps of x. */
static PetscErrorCode Relax(Run *run, Solver *s, PetscInt sweeps) {
  PetscFunctionBeginUser;
  PetscCall(KSPSetTolerances(s->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, sweeps));
  PetscCall(KSPSolve(s->ksp, run->task.problem.b, run->task.x));
  PetscFunctionReturn(0);
}

static PetscErrorCode Residual(Run *run, PetscReal *norm) {
  PetscFunctionBeginUser;
  PetscCall(MatMult(run->task.problem.A, run->task.x, run->task.y));
  PetscCall(VecNorm(run->task.y, NORM_2, norm));
  PetscFunctionReturn(0);
}

/* Appends to the times, of this many parts. */
static void Add(PetscLogDouble seconds, PetscReal parts, Times *t) {
  t->spent += seconds;
  t->seconds[t->count++] = seconds / parts;
}

static PetscErrorCode SetUp(void *context, Solver *s) {
  Run *run = (Run *)context;
  const Problem *p = &run->task.problem;
  PetscLogDouble seconds;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r <= run->setups && (r < 2 || s->times[SETUP].spent < run->seconds); ++r) {
    PetscCall(Create(run, s));
    PetscCall(SolverSetUp(&run->task, s, &seconds));
    Add(seconds, 1, &s->times[SETUP]);
    PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY)); /* says that values are new */
    PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
    PetscCall(SolverSetUp(&run->task, s, &seconds));
    Add(seconds, 1, &s->times[REFRESH]);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode MeasureFall(void *context, Solver *s) {
  Run *run = (Run *)context;
  Fall *fall = &run->fall[s - run->solvers.solver];
  PetscReal first, last;

  PetscFunctionBeginUser;
  PetscCall(VecCopy(run->task.guess, run->task.x));
  PetscCall(Residual(run, &first));
  PetscCall(Relax(run, s, run->sweeps));
  PetscCall(Residual(run, &last));
  fall->residual = last / first;
  if (!run->window) PetscFunctionReturn(0);
  PetscCall(Relax(run, s, run->from));
  PetscCall(Residual(run, &first));
  PetscCall(Relax(run, s, run->window));
  PetscCall(Residual(run, &last));
  fall->factor = PetscPowReal(last / first, 1 / (PetscReal)run->window);
  PetscFunctionReturn(0);
}

static PetscErrorCode MeasureTime(void *context, Solver *s) {
  Run *run = (Run *)context;
  Times *t = &s->times[APPLY];
  PetscLogDouble start, end;

  PetscFunctionBeginUser;
  if (t->count > 1 && t->spent > run->seconds) PetscFunctionReturn(0);
  PetscCall(VecCopy(run->task.guess, run->task.x));
  PetscCall(Clock(&run->task, &start));
  PetscCall(Relax(run, s, run->task.batch));
  PetscCall(Clock(&run->task, &end));
  Add(end - start, run->task.batch, t);
  PetscFunctionReturn(0);
}

static PetscErrorCode Print(const Run *run, const Solver *s) {
  const Fall *fall = &run->fall[s - run->solvers.solver];
  PetscReal ms = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\"%s\",%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT, s->name,
                        coefficients[run->patches.variable], run->patches.count, CellsOf(&run->patches), s->threads));
  PetscCall(PrintStatus(s, 0));
  for (int phase = 0; phase < SOLVE; ++phase) PetscCall(PrintTime(&s->times[phase]));
  if (s->times[APPLY].count) PetscCall(Median(&s->times[APPLY], &ms));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, ",%.2f", ms > 0 ? (double)(1e-3 * CellsOf(&run->patches) / ms) : 0));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, ",%" PetscInt_FMT ",%.5e,%.6f\n", run->sweeps, (double)fall->residual,
                        (double)fall->factor));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintAll(const Run *run) {
  char version[128];

  PetscFunctionBeginUser;
  if (run->copies) PetscCall(PrintCopies(&run->task, run->copies));
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "# %s\nsolver,coefficients,patches,cells,threads,status,reason,setup_ms,refresh_ms,sweep_ms,"
                        "mcells_per_s,sweeps,residual,factor\n",
                        version));
  for (PetscInt k = 0; k < run->solvers.count; ++k) PetscCall(Print(run, &run->solvers.solver[k]));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  Run *run;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscNew(&run));
  PetscCall(ReadRun(run));
  PetscCall(ReadSolvers(&run->solvers));
  PetscCall(ForEach(&run->solvers, 0, SetUp, run));
  PetscCall(ForEach(&run->solvers, 0, MeasureFall, run));
  for (PetscInt r = 0; run->times && r <= run->times; ++r) PetscCall(ForEach(&run->solvers, 0, MeasureTime, run));
  PetscCall(PrintAll(run));
  PetscCall(DestroySolvers(&run->solvers));
  PetscCall(VecDestroy(&run->task.x));
  PetscCall(VecDestroy(&run->task.y));
  PetscCall(VecDestroy(&run->task.guess));
  PetscCall(DestroySystem(&run->task.problem));
  PetscCall(PetscFree(run));
  PetscCall(PetscFinalize());
  return 0;
}
