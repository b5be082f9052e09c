/* def1: during a solve P A stands for A, which the PC has, and P b for b, which the KSP has. */
#include "ksp/deflation/kspdeflation_data.h"

static const char key[] = "PetscRRBDeflated";

/* Known by what is composed with it, whoever hands it to the PC. */
Mat PCDeflationOperator(PC pc) {
  PetscObject A = nullptr;

  if (pc->mat) (void)PetscObjectQuery((PetscObject)pc->mat, key, &A);
  return A ? (Mat)A : pc->mat;
}

PetscErrorCode PCDeflationGetWork(PC pc, PetscInt k, Vec *w) {
  const Mat A = PCDeflationOperator(pc);
  PetscBool there;

  PetscFunctionBegin;
  PetscCall(PetscRRBMatOnDevice(A, &there));
  PetscCall(
      PetscRRBWorkVecOf(there ? A : pc->pmat, &Data(pc)->work[k])); /* a shell does not say where its vectors are */
  *w = Data(pc)->work[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply(Mat PA, Vec x, Vec y, PetscErrorCode (*multiply)(Mat, Vec, Vec)) {
  PetscObject A;
  PC pc;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(PA, &pc));
  PetscCheck(pc && Data(pc)->backend, PetscObjectComm((PetscObject)PA), PETSC_ERR_ARG_WRONGSTATE,
             "This is the operator P A of a solve with -ksp_deflation_variant def1 that has ended: call "
             "KSPSetOperators() with A");
  PetscCall(PetscObjectQuery((PetscObject)PA, key, &A));
  PetscCall((*multiply)((Mat)A, x, y));
  PetscCall(Data(pc)->backend->Project(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_PA(Mat PA, Vec x, Vec y) { return Multiply(PA, x, y, MatMult); }

/* P A is symmetric: it is P A^T, which is the one that takes identity rows whose columns are kept */
static PetscErrorCode MatMultTranspose_PA(Mat PA, Vec x, Vec y) { return Multiply(PA, x, y, MatMultTranspose); }

static PetscErrorCode CreateShell(PC pc, Mat A, Mat *PA) {
  PetscInt m, n, M, N;
  VecType type;
  MatNullSpace null;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)A), m, n, M, N, pc, PA));
  PetscCall(PetscObjectCompose((PetscObject)*PA, key, (PetscObject)A));
  PetscCall(MatShellSetOperation(*PA, MATOP_MULT, (void (*)(void))MatMult_PA));
  PetscCall(MatShellSetOperation(*PA, MATOP_MULT_TRANSPOSE, (void (*)(void))MatMultTranspose_PA));
  PetscCall(MatGetVecType(A, &type));
  PetscCall(MatShellSetVecType(*PA, type));
  PetscCall(MatSetOption(*PA, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatGetNullSpace(A, &null));
  PetscCall(MatSetNullSpace(*PA, null));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Not the vector that a solve around this one has. */
static PetscErrorCode GetRightHandSide(PC pc, Vec *Pb) {
  PetscFunctionBegin;
  PetscCall(PCDeflationGetWork(pc, 2, Pb));
  if (((PetscObject)*Pb)->refct == 1)
    PetscCall(PetscObjectReference((PetscObject)*Pb));
  else
    PetscCall(VecDuplicate(*Pb, Pb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationReplace(PC pc, KSP ksp, PCDeflationSolve *solve) {
  PetscFunctionBegin;
  PetscCall(GetRightHandSide(pc, &solve->Pb));
  PetscCall(VecCopy(ksp->vec_rhs, solve->Pb));
  PetscCall(Data(pc)->backend->Project(solve->Pb));
  PetscCall(CreateShell(pc, PCDeflationOperator(pc), &solve->PA));
  PetscCall(PetscObjectReference((PetscObject)solve->PA));
  PetscCall(PetscObjectReference((PetscObject)solve->Pb));
  solve->A = pc->mat; /* their references are the solve's now */
  solve->b = ksp->vec_rhs;
  pc->mat = solve->PA;
  ksp->vec_rhs = solve->Pb;
  PetscFunctionReturn(PETSC_SUCCESS);
}
