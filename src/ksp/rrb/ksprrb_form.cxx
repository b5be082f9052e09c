/* What a solve of KSPRRB needs: room, the form that its iteration takes, and the solver for it with the matrix's values. */
#include "ksp/rrb/ksprrb_data.h"

PetscErrorCode KSPRRBFindInside(PC pc, const KSPRRBInside **inside) {
  PetscBool is;

  PetscFunctionBegin;
  *inside = nullptr;
  for (const KSPRRBInside *one : {&KSPRRBOnRRB, &KSPRRBOnGridMG}) {
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, one->type, &is));
    if (is) *inside = one;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscRRBStateOfAll *KSPRRBStateOfPC(KSP ksp) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  PetscRRBStateOfAll *of = s->inside->state(ksp->pc);

  return of ? of : &s->others;
}

PetscErrorCode KSPRRBTakePC(KSP ksp) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  PCType type;
  PetscBool any;

  PetscFunctionBegin;
  PetscCall(PCGetType(ksp->pc, &type));
  PetscCall(KSPRRBFindInside(ksp->pc, &s->inside));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPFUSEDCG, &any));
  if (any && (!s->inside || ksp->pc->mat != ksp->pc->pmat)) s->inside = &KSPRRBOnAnyPC;
  PetscCheck(s->inside, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "KSPRRB works with the preconditioners rrb and gridmg only, not with %s. Use -pc_type rrb or gridmg, omit "
             "-pc_type, or use -ksp_type fusedcg or cg",
             type ? type : "another one");
  const auto wanted = s->inside->want_schur ? s->inside->want_schur(ksp->pc) : nullptr;
  if (s->schur_wanted && wanted != s->schur_wanted) /* fused may refer to what another one has made */
    s->fused = nullptr, s->solver = nullptr;
  s->schur_wanted = wanted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InSameMemory(Vec a, Vec b, PetscBool *same) {
  PetscBool of_a, of_b;

  PetscFunctionBegin;
  PetscCall(PetscRRBVecOnDevice(a, &of_a));
  PetscCall(PetscRRBVecOnDevice(b, &of_b));
  *same = (PetscBool)(of_a == of_b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual at first, a temporary one, what KSPBuildSolution() returns: where the solution is. */
static PetscErrorCode MakeWorkVectors(KSP ksp) {
  PetscBool fit = PETSC_FALSE;

  PetscFunctionBegin;
  if (ksp->nwork == 3 && ksp->work && ksp->vec_sol) PetscCall(InSameMemory(ksp->vec_sol, ksp->work[0], &fit));
  if (!fit) PetscCall(KSPSetWorkVecs(ksp, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPRRBState's b. */
static PetscErrorCode FindRightHandSide(KSP ksp) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  PetscBool same = PETSC_TRUE;

  PetscFunctionBegin;
  s->b = ksp->vec_rhs;
  PetscCall(InSameMemory(ksp->vec_sol, ksp->vec_rhs, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBWorkVec(ksp->vec_sol, &s->copy));
  PetscCall(VecCopy(ksp->vec_rhs, s->copy));
  s->b = s->copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a solve needs, whatever has become of vectors and options since the set-up; each rank by itself. */
static PetscErrorCode MakeRoom(KSP ksp) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  const std::size_t most = (std::size_t)ksp->max_it + 1;

  PetscFunctionBegin;
  s->kept = 0;
  PetscCall(PetscRRBTry("KSPRRB", [&] {
    s->ahead.reserve(64); /* a step adds to it */
    if (ksp->calc_sings && s->d.size() < most) s->d.resize(most), s->e.resize(most), s->work.resize(most);
  }));
  PetscCall(MakeWorkVectors(ksp));
  PetscCall(FindRightHandSide(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of PETSc's own types of vectors, which the iteration's are, too */
static PetscErrorCode IsPlain(Vec x, PetscBool *is) {
  return PetscObjectTypeCompareAny((PetscObject)x, is, VECSEQ, VECMPI, VECSEQCUDA, VECMPICUDA, "");
}

/* The form that the matrices and the preconditioner's hierarchy allow, before any values are looked at. */
static PetscErrorCode ChooseForm(KSP ksp) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  PetscBool vectors, matrix, plain;
  KSPRRBForm form;

  PetscFunctionBegin;
  s->form = KSP_RRB_UNFUSED;
  s->why = "the matrix has no rows";
  if (!s->inside->build(ksp->pc)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(s->inside->choose(ksp->pc, &form, &s->why));
  if (form == KSP_RRB_UNFUSED) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBVecOnDevice(ksp->vec_sol, &vectors));
  PetscCall(PetscRRBMatOnDevice(ksp->pc->mat, &matrix));
  PetscCall(IsPlain(ksp->vec_sol, &plain));
  if (ksp->pc->mat != ksp->pc->pmat && s->inside != &KSPRRBOnAnyPC)
    s->why = "the preconditioner is built from another matrix";
  else if (ksp->transpose_solve)
    s->why = "the system is transposed";
  else if (s->inside->masked(ksp->pc))
    s->why = "the preconditioner was built from other values and does not decouple the known ones";
  else if (matrix != s->inside->on_device(ksp->pc))
    s->why = "the matrix has moved between host and device since the preconditioner was set up";
  else if (vectors != matrix)
    s->why = "the vectors and the matrix are not both on the device";
  else if (!plain && s->inside == &KSPRRBOnAnyPC)
    s->why = "the vectors are not of PETSc's standard types";
  else
    s->form = form;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix's values as they are now, whatever the preconditioner was made from. */
static PetscErrorCode ReadValues(KSP ksp) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  const PetscRRBStateOfAll *pc = KSPRRBStateOfPC(ksp);
  PetscRRBMatrixState now;
  KSPRRBValues values;

  PetscFunctionBegin;
  PetscCall(now.Take(ksp->pc->mat));
  if (!s->fused->borrows() && now == s->values && pc->factored == s->factored) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBMatrixGet(ksp->pc, ksp->pc->mat, &s->rows));
  const PetscErrorCode refreshed = s->fused->Refresh(ksp->pc, s->rows, now, &values);
  PetscCall(PetscRRBMatrixRestore(&s->rows));
  PetscCall(refreshed);
  s->values = {};
  if (values == KSP_RRB_VALUES_OK) {
    s->values = now;
    s->factored = pc->factored;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  s->form = KSP_RRB_UNFUSED;
  if (values == KSP_RRB_VALUES_NO_GRID)
    s->why = "the matrix has changed and is no longer on the preconditioner's grid";
  else if (values == KSP_RRB_VALUES_ZERO_ROWS)
    s->why = "the matrix has zero rows";
  else
    s->why = "a red node's diagonal is not positive";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver for the form and the hierarchy, with the matrix's values. */
PetscErrorCode KSPRRBPrepare(KSP ksp) {
  KSPRRBState *s = KSPRRBStateOf(ksp);

  PetscFunctionBegin;
  PetscCall(PetscRRBCheckAssembled(ksp->pc, ksp->pc->mat)); /* the state does not tell of values before they are */
  PetscCall(PetscRRBCallTogether(PetscObjectComm((PetscObject)ksp), "PCRRB", [&] { return MakeRoom(ksp); }));
  PetscCall(ChooseForm(ksp));
  if (s->form != KSP_RRB_UNFUSED) {
    const PetscInt64 build = s->inside->build(ksp->pc);
    if (!s->fused || s->build != build || s->fused_form != s->form) {
      s->fused = nullptr;
      PetscCall(s->inside->create(ksp, s->form, &s->fused));
      s->build = build;
      s->fused_form = s->form;
      s->values = {};
    }
    PetscCall(ReadValues(ksp));
  }
  if (s->form == KSP_RRB_UNFUSED)
    PetscCall(PetscRRBCallTogether(PetscObjectComm((PetscObject)ksp), "PCRRB",
                                   [&] { return KSPRRBCreateUnfused(ksp, &s->unfused); }));
  s->solver = s->form == KSP_RRB_UNFUSED ? s->unfused.get() : s->fused.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}
