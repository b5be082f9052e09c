/* What all our preconditioners do in the same way. */
#pragma once

#include <petsc/private/pcimpl.h>

#include "pc/known_values.h"
#include "petsc/agree.h"
#include "petsc/matrix.h"
#include "petsc/compat.h"

#include <exception>
#include <limits>
#include <memory>

/* What a failed set-up applies: a KSP notices it and asks for the reason. PETSC_INFINITY is a finite number, which it does not
   notice where it has no square. */
inline PetscErrorCode PetscRRBSetInfinite(Vec y) {
  PetscFunctionBegin;
  PetscCall(VecSet(y, std::numeric_limits<PetscReal>::infinity()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* apply(x, y) for each column of dense matrices. */
template <class Apply> PetscErrorCode PetscRRBMatApply(Mat X, Mat Y, const Apply &apply) {
  PetscInt columns;
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, nullptr, &columns));
  for (PetscInt j = 0; j < columns; ++j) {
    PetscCall(MatDenseGetColumnVecRead(X, j, &x));
    PetscCall(MatDenseGetColumnVecWrite(Y, j, &y));
    PetscCall(apply(x, y));
    PetscCall(MatDenseRestoreColumnVecWrite(Y, j, &y));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The backend for where the matrix is now: another one than before starts from nothing. forget(): what the old one made goes. */
template <class State, class Create, class Forget>
PetscErrorCode PetscRRBChooseBackend(State *s, const Create &create, const Forget &forget, PetscBool *rebuild) {
  PetscFunctionBegin;
  if (s->backend && s->backend->on_device() == s->rows.on_device) PetscFunctionReturn(PETSC_SUCCESS);
  forget();
  s->backend = nullptr;
  PetscCall(create(s->rows.on_device, &s->backend));
  *rebuild = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What all ranks do about the trouble of one; a zero pivot is for the KSP to notice. method: for -info */
template <class State>
PetscErrorCode PetscRRBReport(PC pc, State *s, const PetscRRBTrouble &trouble, const char method[]) {
  const bool pivot = trouble.code == PETSC_ERR_MAT_LU_ZRPVT;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt ready = pivot && s->ready;

  PetscFunctionBegin;
  s->failed = (PetscBool)(bool)trouble;
  if (!s->failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm)); /* they begin again together */
  s->ready = (PetscBool)ready;
  PetscCheck(pivot && !pc->erroriffailure, comm, trouble.code, "%s", trouble.why.c_str());
  PetscCall(PetscInfo(pc, "%s: %s\n", method, trouble.why.c_str()));
  PetscCall(PCSetFailedReason(pc, PC_FACTOR_NUMERIC_ZEROPIVOT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *rebuild: nothing has been set up, or for another pattern. rows: of what has been, NULL if nothing has.
   From here on nothing is set up before all is: PETSc says that it is, after a set-up that ends well. After an error it
   would not set up again what has the same values. */
inline PetscErrorCode PetscRRBBeginSetUp(PC pc, const PetscRRBMatrix *rows, PetscBool *rebuild) {
  PetscObjectId id;
  PetscObjectState pattern;

  PetscFunctionBegin;
  *rebuild = (PetscBool)(!rows || !pc->setupcalled || pc->flag == DIFFERENT_NONZERO_PATTERN);
  pc->setupcalled = PETSC_FALSE;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  if (*rebuild || !rows->converted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id));
  PetscCall(PetscRRBNonzeroState(pc->pmat, &pattern));
  *rebuild = (PetscBool)(rows->source == id && rows->pattern != pattern); /* rows may be of a diagonal block */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PCSetUp() does of all types: get() fills (*s)->rows, and set_up(&trouble) uses them, which are restored whatever comes of
   it: they may be gone at the next call. Each rank does both for itself, and all make the same of what went wrong on one.
   comm: PETSC_COMM_SELF where get() and set_up() are collective and fail on all ranks. Collective. */
template <class State, class Get, class SetUp>
PetscErrorCode PetscRRBSetUp(PC pc, MPI_Comm comm, State **s, const char type[], const Get &get, const SetUp &set_up) {
  const PetscRRBSay say(type);
  PetscRRBTrouble trouble, restored;

  PetscFunctionBegin;
  if (!*s) PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), say, [&] { *s = new State; }));
  PetscRRBCatch(say, &trouble, get);
  if (!trouble) PetscRRBCatch(say, &trouble, [&] { return set_up(&trouble); });
  PetscRRBCatch(say, &restored, [&] { return PetscRRBMatrixRestore(&(*s)->rows); });
  if (!trouble) trouble = restored;
  PetscCall(PetscRRBFirstTrouble(comm, &trouble));
  PetscCall(PetscRRBReport(pc, *s, trouble, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new value takes effect at the next PCSetUp(), even where the operator has not changed. */
inline PetscErrorCode PetscRRBRebuild(PC pc) {
  PetscFunctionBegin;
  PetscUseTypeMethod(pc, reset);
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on: the public function of this name finds its method; off: it does not any more */
template <class Method> PetscErrorCode PetscRRBCompose(PetscObject o, PetscBool on, const char name[], Method *method) {
  void (*any)(void) = on ? (void (*)(void))method : nullptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, name, any));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- the methods that types have in common whose data has `known` and `state`, which has `rows`, `ready` and `failed` --- */

/* What PCSetUp() made goes. */
template <class Data> PetscErrorCode PetscRRBReset(PC pc) {
  Data *data = (Data *)pc->data;

  PetscFunctionBegin;
  PetscCall(data->known->Reset());
  if (data->state) PetscCall(PetscRRBMatrixReset(&data->state->rows));
  delete data->state;
  data->state = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* compose: PetscRRBParameters::Compose() */
template <class Data, PetscErrorCode (*compose)(PC, PetscBool)> PetscErrorCode PetscRRBDestroy(PC pc) {
  PetscFunctionBegin;
  PetscUseTypeMethod(pc, reset);
  PetscCall(compose(pc, PETSC_FALSE));
  delete ((Data *)pc->data)->known;
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a failed set-up y is infinite: that is how a KSP notices, and then it looks at the failed reason. */
template <class Data, PetscErrorCode (*apply)(PC, Vec, Vec)> PetscErrorCode PetscRRBApply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  if (((Data *)pc->data)->state->failed)
    PetscCall(PetscRRBSetInfinite(y));
  else
    PetscCall(apply(pc, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* brief(): what a string viewer gets. choices(): what was chosen. state(): what PCSetUp() made, or PetscRRBViewNotSetUp(). */
template <class Brief, class Choices, class State>
PetscErrorCode PetscRRBView(PetscViewer viewer, const Brief &brief, const Choices &choices, const State &state) {
  PetscBool ascii, string;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &string));
  if (string) PetscCall(brief());
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(choices());
  PetscCall(state());
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode PetscRRBViewNotSetUp(PetscViewer viewer) {
  return PetscViewerASCIIPrintf(viewer, "not set up yet\n");
}

/* What differs between types of what a PC has at the least; M is symmetric. */
struct PetscRRBOperations {
  PetscErrorCode (*setup)(PC), (*apply)(PC, Vec, Vec);
  PetscErrorCode (*mat_apply)(PC, Mat, Mat); /* NULL: column by column, by PETSc */
  PetscErrorCode (*set_from_options)(PC, PetscRRBOptionItems);
  PetscErrorCode (*view)(PC, PetscViewer);
  PetscBool (*may_have_identity_rows)(PC); /* by its last PCSetUp(), this rank */
};

/* What PCCreate() of all types does: zeroed data, and the ops. Without memory the PC has neither data nor a type. */
template <class Data, PetscErrorCode (*compose)(PC, PetscBool)>
PetscErrorCode PetscRRBCreate(PC pc, const PetscRRBOperations &ops, Data **data) {
  const auto keep_known_values = [&] { (*data)->known = new PetscRRBKnownValues(ops.may_have_identity_rows); };

  PetscFunctionBegin;
  PetscCall(PetscNew(data));
  const PetscErrorCode code =
      PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), PetscRRBSay("known values"), keep_known_values);
  if (code) {
    PetscCall(PetscFree(*data));
    PetscCall(
        PetscObjectChangeTypeName((PetscObject)pc, nullptr)); /* PETSc has set it; a type without methods would crash */
  }
  PetscCall(code);
  pc->data = (void *)*data;
  pc->ops->presolve = [](PC of, KSP ksp, Vec b, Vec x) { return ((Data *)of->data)->known->PreSolve(of, ksp, b, x); };
  pc->ops->postsolve = [](PC of, KSP ksp, Vec, Vec) { return ((Data *)of->data)->known->PostSolve(ksp); };
  pc->ops->setup = ops.setup;
  pc->ops->apply = pc->ops->applytranspose = ops.apply;
  pc->ops->matapply = ops.mat_apply;
  pc->ops->setfromoptions = ops.set_from_options;
  pc->ops->view = ops.view;
  pc->ops->reset = PetscRRBReset<Data>;
  pc->ops->destroy = PetscRRBDestroy<Data, compose>;
  PetscCall(compose(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PCSetUp() does of types that work on each rank's own diagonal block; but for check_choices() each rank by itself. */
template <class Backend> struct PetscRRBSteps {
  const char *type;
  PetscErrorCode (*create)(PetscBool device, std::unique_ptr<Backend> *);
  PetscErrorCode (*check_choices)(PC);
  PetscErrorCode (*read_values)(PC, PetscBool *rebuild, PetscRRBTrouble *); /* *rebuild: a coupling has no place */
  PetscErrorCode (*build_and_read)(PC, PetscRRBTrouble *);                  /* what does not depend on values, too */
  PetscErrorCode (*say_bad_pivot)(PC, PetscRRBTrouble *);                   /* where there is one */
};
template <class Data, class Backend>
PetscErrorCode PetscRRBSetUpDiagonalBlock(PC pc, const PetscRRBSteps<Backend> &steps) {
  Data *data = (Data *)pc->data;
  PetscBool rebuild;
  Mat block;
  const auto from_rows = [&](PetscRRBTrouble *trouble) -> PetscErrorCode {
    auto *s = data->state;

    PetscFunctionBegin;
    PetscCall(PetscRRBChooseBackend(
        s, steps.create, [&] { s->ready = PETSC_FALSE; }, &rebuild));
    if (s->rows.csr.n == 0) {
      s->ready = PETSC_TRUE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (!rebuild) {
      PetscCall(steps.read_values(pc, &rebuild, trouble));
      if (rebuild)
        PetscCall(PetscInfo(pc, "The matrix has other couplings than before: its grid is looked for again\n"));
    }
    if (rebuild) PetscCall(steps.build_and_read(pc, trouble));
    if (!*trouble) PetscCall(steps.say_bad_pivot(pc, trouble));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCall(PetscRRBBeginSetUp(pc, data->state && data->state->ready ? &data->state->rows : nullptr, &rebuild));
  PetscCall(steps.check_choices(pc));
  if (rebuild) PetscCall(PetscRRBReset<Data>(pc));
  PetscCall(PetscRRBDiagonalBlock(pc, pc->pmat, &block));
  PetscCall(PetscRRBSetUp(
      pc, PetscObjectComm((PetscObject)pc), &data->state, steps.type,
      [&] { return PetscRRBMatrixGet(pc, block, &data->state->rows); }, from_rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
