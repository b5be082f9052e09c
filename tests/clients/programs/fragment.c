/* The program around a fragment of C that the documentation shows. -patches <nx,ny,nz,...>: grids that are not coupled. -neumann:
   row sums are 0. */
#include <petscksp.h>
#include <petscrrb.h>

static PetscErrorCode Patch(Mat A, PetscInt first, const PetscInt n[3], PetscBool neumann) {
  const PetscInt step[3] = {1, n[0], n[0] * n[1]};

  PetscFunctionBeginUser;
  for (PetscInt cell = 0; cell < step[2] * n[2]; ++cell) {
    const PetscInt row = first + cell;
    PetscInt neighbours = 0, sides = 0;

    for (int d = 0; d < 3; ++d) {
      const PetscInt at = cell / step[d] % n[d];

      if (n[d] > 1) sides += 2;
      if (at > 0) PetscCall(MatSetValue(A, row, row - step[d], -1, INSERT_VALUES));
      if (at < n[d] - 1) PetscCall(MatSetValue(A, row, row + step[d], -1, INSERT_VALUES));
      neighbours += (at > 0) + (at < n[d] - 1);
    }
    PetscCall(MatSetValue(A, row, row, neumann ? neighbours : sides, INSERT_VALUES));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  const MPI_Comm comm = PETSC_COMM_SELF;
  PetscInt n[9] = {128, 128, 1}, numbers = 9, rows = 0;
  PetscBool neumann = PETSC_FALSE, given;
  MatNullSpace space = NULL;
  Mat A;
  Vec b, x;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscRRBInitializePackage());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-neumann", &neumann, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-patches", n, &numbers, &given));
  if (!given) numbers = 3;
  for (PetscInt k = 0; k < numbers; k += 3) rows += n[k] * n[k + 1] * n[k + 2];
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, rows, rows, 7, NULL, &A));
  rows = 0;
  for (PetscInt k = 0; k < numbers; k += 3) {
    PetscCall(Patch(A, rows, n + k, neumann));
    rows += n[k] * n[k + 1] * n[k + 2];
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, b));
  PetscCall(KSPCreate(comm, &ksp));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  {
#include FRAGMENT
  } PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_SELF));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
