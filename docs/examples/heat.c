static char help[] =
    "The heat equation u_t = laplace u on the unit cube with PETSc's TS and DMDA, on any number of ranks: heat.py in C.\n\
  -n <40>   cells along each side; u = 0 on the sides, from u = 3 sin(pi x) sin(pi y) sin(pi z)\n\
  -t <0.1>  until when\n\
For a GPU: -dm_mat_type aijcusparse -dm_vec_type cuda. -u_view vtk:heat.vts writes u at the end.\n";

#include <petscdmda.h>
#include <petscrrb.h>
#include <petscts.h>

/* The Laplacian with seven points of the n - 1 points inside along each side; the DMDA numbers the rows. */
static PetscErrorCode Assemble(DM da, PetscInt n, Mat A) {
  const PetscReal square = (PetscReal)n * n;
  DMDALocalInfo at;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &at));
  for (PetscInt k = at.zs; k < at.zs + at.zm; ++k)
    for (PetscInt j = at.ys; j < at.ys + at.ym; ++j)
      for (PetscInt i = at.xs; i < at.xs + at.xm; ++i) {
        const MatStencil row = {k, j, i, 0};
        const MatStencil near[] = {row,
                                   {k, j, i - 1, 0},
                                   {k, j, i + 1, 0},
                                   {k, j - 1, i, 0},
                                   {k, j + 1, i, 0},
                                   {k - 1, j, i, 0},
                                   {k + 1, j, i, 0}};
        MatStencil columns[7];
        PetscScalar values[7];
        PetscInt count = 0;

        for (int e = 0; e < 7; ++e) {
          if (PetscMin(near[e].i, PetscMin(near[e].j, near[e].k)) < 0) continue;
          if (PetscMax(near[e].i, PetscMax(near[e].j, near[e].k)) > n - 2) continue;
          columns[count] = near[e];
          values[count++] = e == 0 ? -6 * square : square;
        }
        PetscCall(MatSetValuesStencil(A, 1, &row, count, columns, values, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Start(DM da, PetscInt n, Vec u) {
  DMDALocalInfo at;
  PetscScalar ***values;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &at));
  PetscCall(DMDAVecGetArrayWrite(da, u, &values));
  for (PetscInt k = at.zs; k < at.zs + at.zm; ++k)
    for (PetscInt j = at.ys; j < at.ys + at.ym; ++j)
      for (PetscInt i = at.xs; i < at.xs + at.xm; ++i)
        values[k][j][i] = 3 * PetscSinReal(PETSC_PI * (i + 1) / n) * PetscSinReal(PETSC_PI * (j + 1) / n) *
                          PetscSinReal(PETSC_PI * (k + 1) / n);
  PetscCall(DMDAVecRestoreArrayWrite(da, u, &values));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  PetscInt n = 40, steps, its;
  PetscReal t = 0.1, start, end, error;
  DM da;
  Mat A;
  Vec u, exact;
  TS ts;
  SNES snes;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscRRBInitializePackage()); /* registers the types of petscrrb */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-t", &t, NULL));

  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                         n - 1, n - 1, n - 1, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(Assemble(da, n, A));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(Start(da, n, u));
  PetscCall(VecDuplicate(u, &exact));
  PetscCall(VecCopy(u, exact));
  PetscCall(VecNorm(u, NORM_INFINITY, &start));

  /* u_t = A u. A step of any implicit method solves with (shift I - A), which TS makes of A. */
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetType(ts, TSBDF));
  PetscCall(TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(ts, A, A, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetTimeStep(ts, 1e-4));
  PetscCall(TSSetMaxTime(ts, t));
  PetscCall(TSSetMaxSteps(ts, 10000));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetTolerances(ts, 1e-5, NULL, 1e-5, NULL));
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCMIC));
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, u));
  PetscCall(VecViewFromOptions(u, NULL, "-u_view"));

  PetscCall(TSGetTime(ts, &t));
  PetscCall(TSGetStepNumber(ts, &steps));
  PetscCall(TSGetKSPIterations(ts, &its));
  PetscCall(VecNorm(u, NORM_INFINITY, &end));
  PetscCall(VecAXPY(u, -PetscExpReal(-3 * PETSC_PI * PETSC_PI * t), exact));
  PetscCall(VecNorm(u, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "t %.4f steps %" PetscInt_FMT " iterations %" PetscInt_FMT " decay %.7f error %.2e\n",
                        (double)t, steps, its, (double)(PetscLogReal(start / end) / t), (double)(error / start)));

  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
