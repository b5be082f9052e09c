static char help[] =
    "-laplace(u) = f on the unit square with CG and petscrrb's PCRRB, linked. -n <255> unknowns a side\n";

#include <petscksp.h>
#include <petscrrb.h>

static PetscReal Exact(PetscReal x, PetscReal y) { return x * (x - 1) * y * (y - 1) * PetscExpReal(x * y); }

/* f = -laplace(Exact) */
static PetscReal Source(PetscReal x, PetscReal y) {
  const PetscReal X = x * (x - 1), Y = y * (y - 1);

  return -(Y * (2 + 2 * y * (2 * x - 1) + y * y * X) + X * (2 + 2 * x * (2 * y - 1) + x * x * Y)) * PetscExpReal(x * y);
}

/* Five points, multiplied by h^2. Unknown j n + i is the point ((i+1) h, (j+1) h). */
static PetscErrorCode Assemble(PetscInt n, Mat A, Vec b, Vec exact) {
  const PetscReal h = 1.0 / (n + 1);
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt i = row % n, j = row / n;

    if (j > 0) PetscCall(MatSetValue(A, row, row - n, -1, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(A, row, row - 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(A, row, row, 4, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(A, row, row + 1, -1, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(A, row, row + n, -1, INSERT_VALUES));
    PetscCall(VecSetValue(b, row, h * h * Source((i + 1) * h, (j + 1) * h), INSERT_VALUES));
    PetscCall(VecSetValue(exact, row, Exact((i + 1) * h, (j + 1) * h), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall(VecAssemblyBegin(exact));
  PetscCall(VecAssemblyEnd(exact));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  PetscInt n = 255, its;
  PetscReal error;
  Mat A;
  Vec b, x, exact;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscRRBInitializePackage()); /* registers the types of petscrrb */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));

  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 2, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(Assemble(n, A, b, exact));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCRRB));
  PetscCall(PCRRBSetGrid(pc, n, n)); /* not needed here: the matrix tells */
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE)); /* a solve that fails ends the program */
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecAXPY(x, -1, exact));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations, largest error %.2e\n", its, (double)error));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
