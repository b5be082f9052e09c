/* What deflation does before and after a solve: the initial guess, the norm that residuals are compared with and, for def1,
   the operator and the right-hand side. Everything that a KSP had is there again after it. */
#include "ksp/deflation/kspdeflation_data.h"
#include "pc/known_values.h"
#include "petsc/ksp_manner.h"

#include <utility>

using petscrrb::deflation::Result;
using Shared = std::shared_ptr<KSPDeflation>;

/* --- def1: during a solve P A stands for A, which the PC has, and P b for b, which the KSP has --- */

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

static PetscErrorCode Replace(PC pc, KSP ksp, PCDeflationSolve *solve) {
  Vec Pb;

  PetscFunctionBegin;
  PetscCall(PCDeflationGetWork(pc, 2, &Pb));
  if (((PetscObject)Pb)->refct == 1)
    PetscCall(PetscObjectReference((PetscObject)Pb));
  else
    PetscCall(VecDuplicate(Pb, &Pb)); /* a solve around this one has that */
  solve->Pb = Pb;
  PetscCall(VecCopy(ksp->vec_rhs, Pb));
  PetscCall(Data(pc)->backend->Project(Pb));
  PetscCall(CreateShell(pc, PCDeflationOperator(pc), &solve->PA));
  PetscCall(PetscObjectReference((PetscObject)solve->PA));
  PetscCall(PetscObjectReference((PetscObject)Pb));
  solve->A = pc->mat; /* their references are the solve's now */
  solve->b = ksp->vec_rhs;
  pc->mat = solve->PA;
  ksp->vec_rhs = Pb;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- the solves that a PC is in. An error ends one without PCPostSolve(): it is recognized as over once its KSP begins another
   one, or goes, or once the PC is reset --- */

/* PETSc's own one compares with the norm of M^-1 b where the initial guess is not zero, and makes that in its first call.
   It is to be that of the user's M and b, whatever guess and right-hand side the iteration is given. */
static PetscErrorCode Converged(KSP ksp, PetscInt n, PetscReal rnorm, KSPConvergedReason *reason, void *ctx) {
  Shared k;
  Vec b;

  PetscFunctionBegin;
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &k));
  const PCDeflationSolve &s = k->solve;
  if (n || s.pc != ksp->pc) {
    PetscCall((*s.converged)(ksp, n, rnorm, reason, ctx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PC_SubdomainDeflation *d = Data(ksp->pc);
  const PetscBool guess_zero = ksp->guess_zero;
  const Vec rhs = ksp->vec_rhs;
  d->reference = PETSC_TRUE;
  ksp->guess_zero = PETSC_FALSE;
  if (s.PA) {
    MatNullSpace null;
    PetscCall(PCDeflationGetWork(ksp->pc, 1, &b));
    PetscCall(VecCopy(s.b, b));
    PetscCall(MatGetTransposeNullSpace(PCDeflationOperator(ksp->pc), &null));
    if (null) PetscCall(MatNullSpaceRemove(null, b));
    ksp->vec_rhs = b;
  }
  const PetscErrorCode code = (*s.converged)(ksp, n, rnorm, reason, ctx);
  ksp->vec_rhs = rhs;
  ksp->guess_zero = guess_zero;
  d->reference = PETSC_FALSE;
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationTestBehind(KSP ksp, PetscRRBTest *test) {
  Shared k;

  PetscFunctionBegin;
  if (ksp->converged != Converged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &k));
  *test = k->solve.converged;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What somebody has set since stays. */
static PetscErrorCode Restore(PC pc, KSPDeflation *k) {
  PCDeflationSolve s = std::exchange(k->solve, PCDeflationSolve());
  KSP ksp = k->ksp;

  PetscFunctionBegin;
  k->solve.converged = s.converged;
  if (ksp) {
    s.limit.Restore(ksp);
    if (!ksp->guess_zero) ksp->guess_zero = s.guess_zero;
    if (!ksp->guess_knoll) ksp->guess_knoll = s.guess_knoll;
    if (ksp->converged == Converged) ksp->converged = s.converged;
    if (s.Pb && ksp->vec_rhs == s.Pb) std::swap(ksp->vec_rhs, s.b);
  }
  if (s.PA) {
    if (pc->mat == s.PA) std::swap(pc->mat, s.A);
    PetscCall(MatShellSetContext(s.PA, nullptr)); /* who keeps it cannot multiply with it any more */
  }
  for (Mat *A : {&s.A, &s.PA}) PetscCall(MatDestroy(A));
  for (Vec *b : {&s.b, &s.Pb}) PetscCall(VecDestroy(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationForgetSolves(PC pc, std::size_t from) {
  PC_SubdomainDeflation *d = Data(pc);

  PetscFunctionBegin;
  while (d->solves.size() > from) {
    const Shared k = std::move(d->solves.back());
    d->solves.pop_back();
    if (d->inner) d->inner->presolvedone = k->solve.presolves;
    PetscCall(VecDestroy(&d->work[2])); /* an error may have left the lock of a right-hand side */
    PetscCall(Restore(pc, k.get()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first solve that is over: k's own, or that of a KSP that is gone. Those after it were inside of it. */
static std::size_t FirstOver(PC pc, const KSPDeflation *k) {
  const auto &solves = Data(pc)->solves;
  std::size_t i = 0;

  while (i < solves.size() && solves[i].get() != k && solves[i]->ksp) ++i;
  return i;
}

/* *solve is to know what it changes, before it does. */
static PetscErrorCode Begin(PC pc, KSP ksp, PCDeflationSolve **solve) {
  PC_SubdomainDeflation *d = Data(pc);
  Shared k;

  PetscFunctionBegin;
  PetscCall(KSPDeflationFind(ksp, PETSC_TRUE, &k));
  PCDeflationSolve &s = k->solve;
  if (s.pc && s.pc != pc) PetscCall(PCDeflationForgetSolves(s.pc, FirstOver(s.pc, k.get())));
  PetscCall(PCDeflationForgetSolves(pc, FirstOver(pc, k.get())));
  s.pc = pc;
  s.guess_zero = ksp->guess_zero;
  s.guess_knoll = ksp->guess_knoll;
  s.converged = ksp->converged;
  s.presolves = d->inner->presolvedone;
  d->solves.push_back(k);
  *solve = &s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- before and after --- */

/* An inner PC that changes the system for itself would change it below our feet. */
static PetscErrorCode CheckTypes(KSP ksp, PC inner) {
  MPI_Comm comm = PetscObjectComm((PetscObject)ksp);
  PetscBool normal, halves, changes;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &normal, KSPLSQR, KSPCGLS, KSPCGNE, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPQCG, &halves));
  PetscCheck(!normal && !halves, comm, PETSC_ERR_SUP,
             "-ksp_deflation does not work with -ksp_type %s, which %s: use -ksp_type cg, or -ksp_deflation none",
             ((PetscObject)ksp)->type_name,
             normal ? "solves normal equations, whose small eigenvalues are not those of A"
                    : "splits the preconditioner into two halves, which deflation does not have");
  PetscCheck(
      ksp->pc_side != PC_SYMMETRIC, comm, PETSC_ERR_SUP,
      "-ksp_deflation does not work with -ksp_pc_side symmetric: it does not split into two halves. Use left or right");
  PetscCall(PetscObjectTypeCompareAny((PetscObject)inner, &changes, PCEISENSTAT, PCBDDC, PCDEFLATION, PCHPDDM, ""));
  PetscCheck(!changes, comm, PETSC_ERR_SUP,
             "-ksp_deflation cannot wrap -pc_type %s, which itself changes the system before a solve: use another one, "
             "for example sor or icc instead of eisenstat",
             ((PetscObject)inner)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x + Q (b - A x) */
static PetscErrorCode Correct(PC pc, PetscBool transposed, Vec b, Vec x) {
  const Mat A = PCDeflationOperator(pc);
  Vec r;

  PetscFunctionBegin;
  PetscCall(PCDeflationGetWork(pc, 0, &r));
  PetscCall(transposed ? MatMultTranspose(A, x, r) : MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(Data(pc)->backend->Correct(r, x, x));
  if (transposed) PetscCall(PCDeflationFix(pc, transposed, b, x)); /* these follow from the others */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The guess, with what identity rows say. */
static PetscErrorCode Guess(PC pc, KSP ksp, PCDeflationSolve *solve, Vec b, Vec x) {
  PC_SubdomainDeflation *d = Data(pc);

  PetscFunctionBegin;
  PetscCall(PetscRRBKnollGuess(ksp, d->inner, b, x)); /* the user's M, not ours */
  if (!d->free) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->guess_zero) PetscCall(VecSet(x, 0.0));
  PetscCall(PCDeflationFix(pc, ksp->transpose_solve, b, x));
  ksp->guess_zero = PETSC_FALSE;
  solve->limit.Raise(ksp, d->residual_by_b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CorrectGuess(PC pc, KSP ksp, PCDeflationSolve *solve, Vec b, Vec x) {
  PetscFunctionBegin;
  if (ksp->guess_zero)
    PetscCall(Data(pc)->backend->Correct(b, nullptr, x));
  else
    PetscCall(Correct(pc, ksp->transpose_solve, b, x));
  ksp->guess_zero = PETSC_FALSE;
  solve->fixed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The eigenvalue estimates of Chebyshev run a KSP of their own on the same PC while that is in a solve. It is deflated like
   any other one. */
PetscErrorCode PCPreSolve_SubdomainDeflation(PC pc, KSP ksp, Vec b, Vec x) {
  PC_SubdomainDeflation *d = Data(pc);
  PCDeflationSolve *solve = nullptr;
  PetscRRBKSPManner manner;

  PetscFunctionBegin;
  pc->presolvedone = 0; /* PETSc's limit is for PCs that change a system twice, and errors leave it at that */
  PetscCall(Begin(pc, ksp, &solve));
  PetscCall(CheckTypes(ksp, d->inner));
  PetscCall(PetscRRBGetKSPManner(ksp, &manner));
  PetscCall(PetscRRBSetUpForSolve(ksp, pc));
  PetscCall(PCDeflationUpdate(pc)); /* also where the preconditioner is reused */
  PetscCall(PCPreSolve(d->inner, ksp));
  solve->symmetric = (PetscBool)(manner.needs == PETSCRRB_PC_SYMMETRIC);
  solve->transposed = ksp->transpose_solve;
  if (!d->backend || d->result != Result::ok) PetscFunctionReturn(PETSC_SUCCESS);
  const bool def1 = d->deflation->variant == KSP_DEFLATION_DEF1;
  if (manner.from_zero && !def1) PetscFunctionReturn(PETSC_SUCCESS);
  if (!manner.from_zero) PetscCall(Guess(pc, ksp, solve, b, x));
  PetscCall(def1 ? Replace(pc, ksp, solve) : CorrectGuess(pc, ksp, solve, b, x));
  ksp->converged = Converged;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPostSolve_SubdomainDeflation(PC pc, KSP ksp, Vec, Vec x) {
  auto &solves = Data(pc)->solves;
  Shared k;

  PetscFunctionBegin;
  pc->presolvedone = 0;
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &k));
  if (k && k->solve.pc == pc) {
    const bool def1 = k->solve.PA != nullptr;
    const PetscBool transposed = k->solve.transposed;
    while (solves.back() != k) /* an error in them did not end this one */
      PetscCall(PCDeflationForgetSolves(pc, solves.size() - 1));
    solves.pop_back();
    PetscCall(Restore(pc, k.get()));
    if (def1) PetscCall(Correct(pc, transposed, ksp->vec_rhs, x)); /* x = Q b + P^T x */
  }
  PetscCall(PCPostSolve(Data(pc)->inner, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
