static char help[] = "Solves one linear system with several solvers and prints, as CSV, what each of them took.\n\
  -n <511>             unknowns a side, in 2D; or two numbers, along x and y. On several ranks, of which each has a box of\n\
                       them (-da_processors_x sets how many along x) and, where there are several devices, one of these;\n\
                       not two_phase, bubbles in 2D, mask and stretched\n\
  -grid <nx,ny,nz>     unknowns along x, y and z, in 3D: problems poisson, variable, jumps, bubbles, lognormal and\n\
                       cells, a normal random right-hand side\n\
  -open <all>          sides where u = 0: all, one (the upper one in the last direction) or none (in 2D, too, with a\n\
                       normal random right-hand side); nothing flows through the others\n\
  -problem <poisson>   poisson, variable (random smooth coefficients, contrast 1e3), jumps (1 or 1e6 from face to face),\n\
                       two_phase (one above the other), bubbles (16 circles, 27 spheres), lognormal (exp(sigma N(0,1))\n\
                       in each cell), cells (1e6 in a tenth of them, 1 in the others), mask (30 % of the cells are\n\
                       identity rows), channels (1e4 in 15 % of the rows and columns of cells) or stretched (cells that\n\
                       grow from all sides to the middle, aspects up to 1000)\n\
  -matrix <file>       instead of a problem a symmetric matrix in PETSc's binary format, on one rank, and a normal random\n\
                       right-hand side\n\
  -jump <1000>         of the densities of two phases\n\
  -sigma <3>           of lognormal\n\
  -anisotropy <1>      multiplies the coefficient in x\n\
  -r <0>               1/r is added to the diagonal; 0: nothing\n\
  -backend <host>      host or cuda: where the matrix and the vectors are\n\
  -solver_<k>          \"name: options\", k = 0, 1, ...: options of KSP and PC, -threads <t>, and -dmda for a\n\
                       preconditioner that needs the grid from a DM\n\
  -norm <natural>      norm of the convergence test: natural, preconditioned or unpreconditioned; or several, separated by\n\
                       commas: each solver is set up once, and solves to each of them\n\
  -rtol <1e-6>         relative tolerance in that norm; or several for one norm\n\
  -random_start        solve from random values between 0 and 1 instead of from zero\n\
  -setups <3> -refreshes <3> -solves <5> -applies <0>   how often each is measured, after a warm-up; -setups 0: once,\n\
                       without one\n\
  -batch <1>           applications that are measured together, one after the other\n\
  -copies <0>          how often the copy of a vector is measured\n\
  -seconds <30>        measure a thing no more often once it has taken a solver this long\n\
  -kappa               estimate the condition number too\n\
  -output <file>       write the first solver's solution as raw doubles\n";

#include "copies.h"
#include "pfmg.h"
#include "phases.h"
#include "problem.h"
#include "solvers.h"

typedef struct {
  Task task;
  PetscBool kappa;
  PetscReal seconds;
  PetscInt repeats[PHASES], copies;
  int phase; /* the one that is measured */
  char output[PETSC_MAX_PATH_LEN];
  Solvers solvers;
} Run;

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
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadProblem(Problem *p) {
  PetscInt n[2] = {511}, kind = POISSON, sides = 3, numbers = 2;
  const char *const open[] = {"all", "one", "none"};
  PetscInt sides_open = ALL_SIDES;
  PetscReal anisotropy = 1, r = 0;
  char file[PETSC_MAX_PATH_LEN];
  PetscBool solid, from_file;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", file, sizeof(file), &from_file));
  if (from_file) {
    PetscCall(CreateGiven(p, file));
    PetscFunctionReturn(0);
  }
  p->jump = 1000;
  p->sigma = 3;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", n, &numbers, NULL));
  if (numbers < 2) n[1] = n[0];
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-grid", p->n, &sides, &solid));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-problem", problems, STRETCHED + 1, &kind, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-open", open, NO_SIDE + 1, &sides_open, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-anisotropy", &anisotropy, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-jump", &p->jump, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-sigma", &p->sigma, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-r", &r, NULL));
  PetscCheck(n[0] >= 1 && n[1] >= 1 && n[1] <= PETSC_MAX_INT / n[0], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-n must be positive, with at most %" PetscInt_FMT " unknowns", PETSC_MAX_INT);
  PetscCheck(p->jump > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-jump must be positive");
  PetscCheck(r >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-r must not be negative");
  PetscCheck(!solid || (kind != TWO_PHASE && kind <= CELLS), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-grid: -problem %s is for 2D", problems[kind]);
  p->kind = (Kind)kind;
  p->open = (Open)sides_open;
  p->dim = solid ? 3 : 2;
  p->added = r > 0 ? 1 / r : 0;
  for (int d = 0; d < 3; ++d) {
    p->scale[d] = d == 0 ? anisotropy : 1;
    if (!solid) p->n[d] = d < 2 ? n[d] : 1;
  }
  PetscCheck(!solid || sides == 3, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-grid takes three numbers");
  PetscCall(CreateProblem(p));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadTask(Task *task) {
  PetscBool random = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(ReadTest(task, 1e-6));
  PetscCall(ReadProblem(&task->problem));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-random_start", &random, NULL));
  PetscCall(VecDuplicate(task->problem.b, &task->x));
  PetscCall(VecDuplicate(task->problem.b, &task->y));
  if (random) {
    PetscCall(VecDuplicate(task->problem.b, &task->guess));
    PetscCall(VecSetRandom(task->guess, NULL));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Write(const Run *run) {
  const PetscScalar *x;
  FILE *file;

  PetscFunctionBeginUser;
  PetscCall(PetscFOpen(PETSC_COMM_SELF, run->output, "wb", &file));
  PetscCall(VecGetArrayRead(run->task.x, &x));
  const size_t size = (size_t)Unknowns(&run->task.problem), written = fwrite(x, sizeof(*x), size, file);
  PetscCall(VecRestoreArrayRead(run->task.x, &x));
  PetscCall(PetscFClose(PETSC_COMM_SELF, file));
  PetscCheck(written == size, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", run->output);
  PetscFunctionReturn(0);
}

static PetscErrorCode Measure(void *context, Solver *s) {
  Run *run = (Run *)context;
  Times *t = run->phase == SOLVE ? &s->solves[run->task.now].times : &s->times[run->phase];
  PetscLogDouble seconds = 0;

  PetscFunctionBeginUser;
  if (t->count && t->spent > run->seconds) PetscFunctionReturn(0);
  PetscCall(SolverDo(&run->task, s, run->phase, &seconds));
  if (run->task.problem.da) /* all do the same */
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  t->seconds[t->count++] = seconds;
  t->spent += seconds;
  if (run->phase == SOLVE) PetscCall(SolverResult(&run->task, s));
  if (run->phase == SOLVE && s == run->solvers.solver && run->output[0]) PetscCall(Write(run));
  PetscFunctionReturn(0);
}

static PetscErrorCode Kappa(void *context, Solver *s) {
  PetscFunctionBeginUser;
  PetscCall(SolverKappa(&((Run *)context)->task, s));
  PetscFunctionReturn(0);
}

static PetscErrorCode MeasureAll(Run *run) {
  Solvers *solvers = &run->solvers;
  PetscInt *now = &run->task.now;

  PetscFunctionBeginUser;
  for (run->phase = 0; run->phase < SOLVE; ++run->phase) {
    const PetscInt repeats = run->repeats[run->phase];

    for (PetscInt r = 0; (repeats || run->phase == SETUP) && r <= repeats; ++r) {
      if (run->phase == REFRESH) PetscCall(FillMatrix(&run->task.problem));
      PetscCall(ForEach(solvers, *now, Measure, run));
    }
  }
  for (; *now < run->task.norms; ++*now)
    for (PetscInt r = 0; run->repeats[SOLVE] && r <= run->repeats[SOLVE]; ++r)
      PetscCall(ForEach(solvers, *now, Measure, run));
  *now = 0;
  if (run->kappa) PetscCall(ForEach(solvers, *now, Kappa, run));
  PetscFunctionReturn(0);
}

static PetscErrorCode Print(const Run *run, const Solver *s, PetscInt now) {
  const Solves *solves = &s->solves[now];
  const Problem *p = &run->task.problem;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\"%s\",%s,%" PetscInt_FMT, s->name, problems[p->kind], p->n[0]));
  if (p->dim == 2 && p->n[1] != p->n[0]) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "x%" PetscInt_FMT, p->n[1]));
  if (p->dim == 3) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "x%" PetscInt_FMT "x%" PetscInt_FMT, p->n[1], p->n[2]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ",%s,%g,%" PetscInt_FMT, norms[run->task.norm[now]],
                        (double)run->task.rtol[now], s->threads));
  PetscCall(PrintStatus(s, now));
  if (s->levels)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ",%" PetscInt_FMT, s->levels));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ","));
  if (solves->times.count)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ",%" PetscInt_FMT ",%.3e", solves->iterations, (double)solves->residual));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ",,"));
  if (s->kappa > 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ",%.4f", (double)s->kappa));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ","));
  for (int phase = 0; phase < SOLVE; ++phase) PetscCall(PrintTime(&s->times[phase]));
  PetscCall(PrintTime(&solves->times));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ","));
  if (p->device) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.0f", (double)s->megabytes));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ","));
  if (p->da && s->gather >= 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT, s->gather));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintAll(const Run *run) {
  char version[128];

  PetscFunctionBeginUser;
  if (run->copies) PetscCall(PrintCopies(&run->task, run->copies));
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "# %s\nsolver,problem,n,norm,rtol,threads,status,reason,levels,iterations,residual,kappa,"
                        "setup_ms,refresh_ms,apply_ms,solve_ms,device_mb,gather_size\n",
                        version));
  for (PetscInt k = 0; k < run->solvers.count; ++k)
    for (PetscInt now = 0; now < run->task.norms; ++now) PetscCall(Print(run, &run->solvers.solver[k], now));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  Run *run;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscNew(&run));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-kappa", &run->kappa, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-output", run->output, sizeof(run->output), NULL));
  PetscCall(ReadCounts(run));
  PetscCall(ReadTask(&run->task));
  PetscCheck(!run->output[0] || !run->task.problem.da, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-output is for one rank");
  PetscCall(RegisterPFMG());
  PetscCall(ReadSolvers(&run->solvers));
  PetscCall(MeasureAll(run));
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
