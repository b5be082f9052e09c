static char help[] =
    "Solves the heat equation u_t = laplace u + f with several solvers and prints, as CSV, what each of them took.\n\
On the unit cube, u = 0 on its sides, from u = 3 sin(pi x) sin(pi y) sin(pi z), by Crank and Nicolson's scheme; each step is\n\
solved from the values of the step before it.\n\
  -grid <100,100,100>  cells along x, y and z; the unknowns are the points inside\n\
  -dt <1e-3> -t <0.1>  the time step, and until when\n\
  -source <0>          f is a normal random number at each point, so many times, the same all the time; or several,\n\
                       separated by commas: each solver is set up once, and solves with each of them\n\
  -backend <host>      host or cuda: where the matrix and the vectors are\n\
  -solver_<k>          \"name: options\", k = 0, 1, ...: options of KSP and PC, -threads <t>, and -dmda for a\n\
                       preconditioner that needs the grid from a DM\n\
  -norm <natural>      norm of the convergence test: natural, preconditioned or unpreconditioned\n\
  -rtol <1e-8>         relative to the right-hand side, in that norm\n";

#include "matrix.h"
#include "solvers.h"

#define HEIGHTS 5 /* z of the points (1/2, 1/2, z) where the error is taken: 0.1, 0.3 ... 0.9 */

#define MAX_SOURCES MAX_NORMS

typedef struct {
  PetscReal error[HEIGHTS];
} Errors;

typedef struct {
  Task task;
  PetscInt cells[3], steps;
  PetscReal t, dt, source[MAX_SOURCES];
  PetscInt sources, now; /* source[now] is the one in use */
  Vec start, f;          /* where a simulation starts, and dt times the random numbers */
  Solvers solvers;
  Errors errors[MAX_SOLVERS][MAX_SOURCES];
} Heat;

/* A is 1 + dt/2 times the negative Laplacian with seven points. */
static PetscErrorCode ReadProblem(Heat *heat) {
  Problem *p = &heat->task.problem;
  PetscInt *cells = heat->cells, sides = 3;
  PetscBool set;

  PetscFunctionBeginUser;
  cells[0] = cells[1] = cells[2] = 100;
  heat->dt = 1e-3;
  heat->t = 0.1;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-grid", cells, &sides, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dt", &heat->dt, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-t", &heat->t, NULL));
  heat->sources = MAX_SOURCES;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-source", heat->source, &heat->sources, &set));
  if (!set) heat->sources = 1;
  PetscCheck(heat->dt > 0 && heat->t >= heat->dt, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-dt must be in (0, t]");
  PetscCheck(
      cells[0] % 2 == 0 && cells[1] % 2 == 0 && cells[2] % 10 == 0 &&
          PetscMin(cells[0], PetscMin(cells[1], cells[2])) > 0,
      PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
      "-grid must have points at (1/2, 1/2, 1/10): an even number of cells along x and y, a multiple of 10 along z");
  heat->steps = (PetscInt)PetscFloorReal(heat->t / heat->dt + 0.5);
  heat->dt = heat->t / heat->steps;
  p->kind = POISSON;
  p->dim = 3;
  p->added = 1;
  for (int d = 0; d < 3; ++d) {
    p->n[d] = cells[d] - 1;
    p->scale[d] = heat->dt / 2 * cells[d] * cells[d];
  }
  PetscCall(CreateSystem(p));
  PetscCall(FillMatrix(p));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillStart(Heat *heat) {
  const PetscInt *n = heat->task.problem.n, *cells = heat->cells;
  PetscScalar *u;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(heat->start, &u));
#pragma omp parallel for
  for (PetscInt line = 0; line < n[1] * n[2]; ++line) {
    const PetscReal y = (PetscReal)(line % n[1] + 1) / cells[1], z = (PetscReal)(line / n[1] + 1) / cells[2];
    const PetscReal factor = 3 * PetscSinReal(PETSC_PI * y) * PetscSinReal(PETSC_PI * z);

    for (PetscInt i = 0; i < n[0]; ++i) u[line * n[0] + i] = factor * PetscSinReal(PETSC_PI * (i + 1) / cells[0]);
  }
  PetscCall(VecRestoreArrayWrite(heat->start, &u));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateVectors(Heat *heat) {
  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(heat->task.problem.b, &heat->task.x));
  PetscCall(VecDuplicate(heat->task.problem.b, &heat->start));
  PetscCall(FillStart(heat));
  PetscCall(VecDuplicate(heat->task.problem.b, &heat->f));
  PetscCall(FillNormal(heat->f));
  PetscCall(VecScale(heat->f, heat->dt));
  PetscFunctionReturn(0);
}

/* The right-hand side of the step from x: with A = 1 + dt/2 L it is (1 - dt/2 L) x + dt f = 2 x - A x + dt f. */
static PetscErrorCode BeginStep(Heat *heat) {
  const PetscReal source = heat->source[heat->now];
  const Vec x = heat->task.x, b = heat->task.problem.b;

  PetscFunctionBeginUser;
  PetscCall(MatMult(heat->task.problem.A, x, b));
  PetscCall(VecAXPBY(b, 2, -1, x));
  if (source != 0) PetscCall(VecAXPY(b, source, heat->f));
  PetscFunctionReturn(0);
}

/* Done twice, since the first time takes longer, unless it takes very long. */
static PetscErrorCode SetUp(void *context, Solver *s) {
  Heat *heat = (Heat *)context;
  Times *t = &s->times[SETUP];
  PetscLogDouble seconds = 0;

  PetscFunctionBeginUser;
  if (t->spent > 1) PetscFunctionReturn(0);
  PetscCall(SolverCreate(&heat->task, s));
  PetscCall(SolverSetUp(&heat->task, s, &seconds));
  t->seconds[t->count++] = seconds;
  t->spent += seconds;
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeErrors(const Heat *heat, Errors *errors) {
  const PetscInt *n = heat->task.problem.n, *cells = heat->cells;
  const PetscReal middle = 3 * PetscExpReal(-3 * PETSC_PI * PETSC_PI * heat->t);
  const PetscScalar *u;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(heat->task.x, &u));
  for (PetscInt h = 0; h < HEIGHTS; ++h) {
    const PetscInt i = cells[0] / 2 - 1, j = cells[1] / 2 - 1, k = (2 * h + 1) * cells[2] / 10 - 1;

    errors->error[h] = PetscAbsReal(u[(k * n[1] + j) * n[0] + i] - middle * PetscSinReal(PETSC_PI * (2 * h + 1) / 10));
  }
  PetscCall(VecRestoreArrayRead(heat->task.x, &u));
  PetscFunctionReturn(0);
}

/* All steps. */
static PetscErrorCode Simulate(void *context, Solver *s) {
  Heat *heat = (Heat *)context;
  Task *task = &heat->task;
  Solves *solves = &s->solves[heat->now];
  PetscLogDouble start, end;
  PetscInt iterations;

  PetscFunctionBeginUser;
  PetscCall(KSPSetInitialGuessNonzero(s->ksp, PETSC_TRUE));
  PetscCall(VecCopy(heat->start, task->x));
  PetscCall(Clock(task, &start));
  for (PetscInt step = 0; step < heat->steps && solves->reason >= 0; ++step) {
    PetscCall(BeginStep(heat));
    PetscCall(KSPSolve(s->ksp, task->problem.b, task->x));
    PetscCall(KSPGetIterationNumber(s->ksp, &iterations));
    PetscCall(KSPGetConvergedReason(s->ksp, &solves->reason));
    solves->iterations += iterations;
  }
  PetscCall(Clock(task, &end));
  solves->times.seconds[solves->times.count++] = end - start;
  PetscCall(TakeErrors(heat, &heat->errors[s - heat->solvers.solver][heat->now]));
  PetscFunctionReturn(0);
}

static PetscErrorCode MeasureAll(Heat *heat) {
  PetscFunctionBeginUser;
  for (int r = 0; r < 2; ++r) {
    PetscCall(VecCopy(heat->start, heat->task.x));
    PetscCall(BeginStep(heat));
    PetscCall(ForEach(&heat->solvers, 0, SetUp, heat));
  }
  for (; heat->now < heat->sources; ++heat->now) PetscCall(ForEach(&heat->solvers, heat->now, Simulate, heat));
  PetscFunctionReturn(0);
}

static PetscErrorCode Print(const Heat *heat, PetscInt index, PetscInt now) {
  const Solver *s = &heat->solvers.solver[index];
  const Solves *solves = &s->solves[now];
  const PetscBool known = (PetscBool)(heat->source[now] == 0 && solves->times.count && solves->reason >= 0);
  const PetscInt *cells = heat->cells;
  char source[32];

  PetscFunctionBeginUser;
  (void)snprintf(source, sizeof(source), "%g", (double)heat->source[now]); /* PETSc's would write "1." */
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "\"%s\",%" PetscInt_FMT "x%" PetscInt_FMT "x%" PetscInt_FMT ",%s,%s,%" PetscInt_FMT, s->name,
                        cells[0], cells[1], cells[2], source, norms[heat->task.norm[0]], s->threads));
  PetscCall(PrintStatus(s, now));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, ",%" PetscInt_FMT ",%" PetscInt_FMT, heat->steps, solves->iterations));
  PetscCall(PrintTime(&s->times[SETUP]));
  PetscCall(PrintTime(&solves->times));
  for (int h = 0; h < HEIGHTS; ++h) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ","));
    if (known) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%.4e", (double)heat->errors[index][now].error[h]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  char version[128];
  Heat *heat;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscNew(&heat));
  PetscCall(ReadTest(&heat->task, 1e-8));
  PetscCall(ReadSolvers(&heat->solvers));
  PetscCall(ReadProblem(heat));
  PetscCall(CreateVectors(heat));
  PetscCall(MeasureAll(heat));
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "# %s\nsolver,grid,source,norm,threads,status,reason,steps,iterations,setup_ms,solve_ms,"
                        "error_1,error_3,error_5,error_7,error_9\n",
                        version));
  for (PetscInt k = 0; k < heat->solvers.count; ++k)
    for (PetscInt now = 0; now < heat->sources; ++now) PetscCall(Print(heat, k, now));
  PetscCall(DestroySolvers(&heat->solvers));
  PetscCall(VecDestroy(&heat->task.x));
  PetscCall(VecDestroy(&heat->start));
  PetscCall(VecDestroy(&heat->f));
  PetscCall(DestroySystem(&heat->task.problem));
  PetscCall(PetscFree(heat));
  PetscCall(PetscFinalize());
  return 0;
}
