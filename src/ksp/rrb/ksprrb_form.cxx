/* Which form an iteration of KSPRRB takes, and the solver for it with the matrix's values. */
#include "ksp/rrb/ksprrb_impl.h"

/* The form that the matrices and the preconditioner's hierarchy allow, before any values are looked at. */
static PetscErrorCode ChooseForm(KSP ksp) {
  KSPRRBState *s = ((KSP_RRB *)ksp->data)->state;
  const PCRRBState *pc = ((PC_RRB *)ksp->pc->data)->state;
  PetscBool vectors, matrix;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  s->form = KSP_RRB_UNFUSED;
  PetscCall(PetscRRBVecOnDevice(ksp->vec_sol, &vectors));
  PetscCall(PetscRRBMatOnDevice(ksp->pc->mat, &matrix));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &ranks));
  if (!pc->core) {
    s->why = "the matrix has no rows";
  } else if (ksp->pc->mat != ksp->pc->pmat) {
    s->why = "the preconditioner is made from another matrix";
  } else if (ksp->transpose_solve) {
    s->why = "the system is transposed";
  } else if (matrix != pc->backend->on_device()) {
    s->why = "the matrix has moved since the preconditioner was set up";
  } else if (vectors != matrix) {
    s->why = "matrix and vectors are not both on the host or both on the device";
  } else {
    s->form = KSP_RRB_FULL;
    if (pc->grid.points != 5)
      s->why = "the matrix is no 5-point matrix";
    else if (pc->core->extent().x.odd_ring() || pc->core->extent().y.odd_ring())
      s->why = "red nodes couple around a periodic side with an odd number of points";
    else if (ranks > 1 && !pc->core->black_level().around)
      s->why = "the finest grid is on every rank";
    else if (ranks == 1 && pc->core->options().storage_grids < 1)
      s->why = "the finest grid is not in r1/r2/b1/b2 storage";
    else
      s->form = KSP_RRB_SCHUR;
    if (ranks > 1 && s->form == KSP_RRB_FULL) s->form = KSP_RRB_UNFUSED;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of one rank, or the matrix of several. */
static PetscErrorCode Refresh(KSP ksp, KSPRRBValues *values) {
  KSPRRBState *s = ((KSP_RRB *)ksp->data)->state;
  PCRRBState *pc = ((PC_RRB *)ksp->pc->data)->state;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &ranks));
  if (ranks > 1)
    PetscCall(PetscRRBMatrixOnRanks(ksp->pc, ksp->pc->mat, &s->rows, &pc->on_ranks));
  else
    PetscCall(PetscRRBMatrixGet(ksp->pc, ksp->pc->mat, &s->rows));
  const PetscErrorCode result = s->fused->Refresh(ksp->pc, s->rows.csr, pc->grid, pc->backend->scaling(), values);
  pc->on_ranks = nullptr;
  PetscCall(PetscRRBMatrixRestore(&s->rows));
  PetscCall(result);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix's values as they are now, whatever the preconditioner was made from. */
static PetscErrorCode ReadValues(KSP ksp) {
  KSPRRBState *s = ((KSP_RRB *)ksp->data)->state;
  const PCRRBState *pc = ((PC_RRB *)ksp->pc->data)->state;
  PetscRRBMatrixState now;
  KSPRRBValues values;

  PetscFunctionBegin;
  PetscCall(now.Take(ksp->pc->mat));
  if (now == s->values && pc->factored == s->factored) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Refresh(ksp, &values));
  s->values = {};
  if (values == KSP_RRB_VALUES_OK) {
    s->values = now;
    s->factored = pc->factored;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  s->form = KSP_RRB_UNFUSED;
  if (values == KSP_RRB_VALUES_NO_GRID)
    s->why = "the matrix has changed and is not on the preconditioner's grid any more";
  else if (values == KSP_RRB_VALUES_ZERO_ROWS)
    s->why = "the matrix has rows of zeros";
  else
    s->why = "a red node's diagonal is not positive";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver for the form and the hierarchy, with the matrix's values. */
PetscErrorCode KSPRRBPrepare(KSP ksp) {
  KSPRRBState *s = ((KSP_RRB *)ksp->data)->state;
  const PCRRBState *pc = ((PC_RRB *)ksp->pc->data)->state;

  PetscFunctionBegin;
  PetscCall(PetscRRBCheckAssembled(ksp->pc, ksp->pc->mat)); /* the state does not tell of values before they are */
  PetscCall(PetscRRBCallTogether(PetscObjectComm((PetscObject)ksp), PetscRRBSay("PCRRB"),
                                 [&] { return KSPRRBMakeRoom(ksp); }));
  PetscCall(ChooseForm(ksp));
  if (s->form != KSP_RRB_UNFUSED) {
    if (!s->fused || s->build != pc->build || s->fused_form != s->form) {
      s->fused = nullptr;
      PetscCall(pc->backend->CreateSolver(ksp->pc, *pc->core, (PetscBool)(s->form == KSP_RRB_FULL), &s->fused));
      s->build = pc->build;
      s->fused_form = s->form;
      s->values = {};
    }
    PetscCall(ReadValues(ksp));
  }
  if (s->form == KSP_RRB_UNFUSED)
    PetscCall(PetscRRBCallTogether(PetscObjectComm((PetscObject)ksp), PetscRRBSay("PCRRB"),
                                   [&] { return KSPRRBCreateUnfused(ksp, &s->unfused); }));
  s->solver = s->form == KSP_RRB_UNFUSED ? s->unfused.get() : s->fused.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}
