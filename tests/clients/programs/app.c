/* An application that knows nothing of petscrrb: what the documentation's command lines call ./app. */
#include <petscdmda.h>
#include <petscksp.h>

/* -laplace(u) times h^2 on the unit square, u = 0 outside the grid */
static PetscErrorCode Matrix(KSP ksp, Mat unused, Mat A, void *context) {
  DM dm;
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  (void)unused, (void)context;
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(DMDAGetLocalInfo(dm, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
      const MatStencil row = {.i = i, .j = j};
      const MatStencil columns[5] = {
          row, {.i = i - 1, .j = j}, {.i = i + 1, .j = j}, {.i = i, .j = j - 1}, {.i = i, .j = j + 1}};
      const PetscBool there[5] = {PETSC_TRUE, i > 0, i<info.mx - 1, j> 0, j < info.my - 1};

      for (int k = 0; k < 5; ++k) {
        const PetscScalar value = k ? -1 : 4;

        if (there[k]) PetscCall(MatSetValuesStencil(A, 1, &row, 1, &columns[k], &value, INSERT_VALUES));
      }
    }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode RightHandSide(KSP ksp, Vec b, void *context) {
  PetscFunctionBeginUser;
  (void)ksp, (void)context;
  PetscCall(VecSet(b, 1));
  PetscFunctionReturn(0);
}

/* ||b - A x|| / ||b|| */
static PetscErrorCode TrueResidual(KSP ksp, PetscReal *relative) {
  Mat A;
  Vec b, x, r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, relative));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *relative /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  PetscBool given;
  PetscReal residual;
  DM dm;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-da_refine", &given));
  if (!given) PetscCall(PetscOptionsSetValue(NULL, "-da_refine", "6"));
  PetscCall(PetscOptionsSetValue(NULL, "-options_left", NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 3, 3, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, &dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(DMDestroy(&dm));
  PetscCall(KSPSetComputeOperators(ksp, Matrix, NULL));
  PetscCall(KSPSetComputeRHS(ksp, RightHandSide, NULL));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(TrueResidual(ksp, &residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "true relative residual %.1e\n", (double)residual));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscFinalize());
  return 0;
}
