/* PCSetUp() of all types: whether anything is built anew, the rows, the backend, the values, and what ranks make of trouble. */
#pragma once

#include "pc/pc.h"
#include "stencil/facts.hpp"

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

/* A pivot is not positive: the KSP notices, or it is an error where the user wants that. type: for -info, where why does not
   begin with it */
inline PetscErrorCode PetscRRBFailed(PC pc, PetscErrorCode code, const char type[], const char why[]) {
  PetscFunctionBegin;
  PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), code, "%s", why);
  PetscCall(PetscInfo(pc, "%s%s%s\n", type, *type ? ": " : "", why));
  PetscCall(PCSetFailedReason(pc, PC_FACTOR_NUMERIC_ZEROPIVOT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *rebuild: nothing has been set up, or for another pattern. rows: of what has been, NULL if nothing has.
   From here on nothing is set up before all is: PETSc says that it is, after a set-up that ends well. After an error it
   would not set up again what has the same values. */
inline PetscErrorCode PetscRRBBeginSetUp(PC pc, const PetscRRBMatrix *rows, PetscBool *rebuild) {
  PetscRRBMatrixState now;

  PetscFunctionBegin;
  *rebuild = (PetscBool)(!rows || !pc->setupcalled || pc->flag == DIFFERENT_NONZERO_PATTERN);
  pc->setupcalled = PETSC_FALSE;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  if (*rebuild || !rows->source.id) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(now.TakePattern(pc->pmat));
  *rebuild = (PetscBool)(rows->source.id == now.id && !(rows->source == now)); /* rows may be of a diagonal block */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PCSetUp() does of all types. check() says what cannot be, on all ranks alike; get() fills state->rows, and
   set_up(rebuild, &trouble) uses them, which are restored whatever comes of it: they may be gone at the next call. Each rank does
   both for itself, and all make the same of what went wrong on one.
   comm: PETSC_COMM_SELF where get() and set_up() are collective and fail on all ranks. Collective. */
template <class Data, class Check, class Get, class SetUp>
PetscErrorCode PetscRRBSetUp(PC pc, MPI_Comm comm, const char type[], const Check &check, const Get &get,
                             const SetUp &set_up) {
  Data *data = (Data *)pc->data;
  const MPI_Comm all = PetscObjectComm((PetscObject)pc);
  const PetscRRBSay say(type);
  PetscRRBTrouble trouble, restored;
  PetscErrorCode raised = PETSC_SUCCESS;
  PetscMPIInt ranks, ready;
  PetscBool rebuild;

  PetscFunctionBegin;
  PetscCall(PetscRRBBeginSetUp(pc, data->state && data->state->ready ? &data->state->rows : nullptr, &rebuild));
  PetscCall(check());
  if (rebuild) PetscUseTypeMethod(pc, reset);
  if (!data->state)
    PetscCall(PetscRRBTryTogether(all, say, [&] { data->state = new std::decay_t<decltype(*data->state)>; }));
  auto *s = data->state;
  PetscRRBCatch(say, &trouble, [&] { return raised = get(); });
  if (!trouble) PetscRRBCatch(say, &trouble, [&] { return raised = set_up(&rebuild, &trouble); });
  PetscRRBCatch(say, &restored, [&] { return PetscRRBMatrixRestore(&s->rows); });
  if (!trouble) trouble = restored;
  PetscCall(PetscRRBFirstTrouble(comm, &trouble));
  s->failed = (PetscBool)(bool)trouble;
  if (!trouble || trouble.code == PETSC_ERR_MAT_LU_ZRPVT) PetscCall(s->factored.Take(pc->pmat));
  if (!s->failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks > 1) raised = PETSC_SUCCESS; /* all of them raise the same */
  const bool pivot = trouble.code == PETSC_ERR_MAT_LU_ZRPVT && !raised;
  ready = pivot && s->ready;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm)); /* they begin again together */
  s->ready = (PetscBool)ready;
  PetscCall(raised);
  PetscCheck(pivot, all, trouble.code, "%s", trouble.why.c_str());
  PetscCall(PetscRRBFailed(pc, trouble.code, type, trouble.why.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of Pmat for what backend->Create() has made, by refresh(); *rebuild where there is a coupling that it has no place for. */
template <class State, class Refresh>
PetscErrorCode PetscRRBReadValues(State *s, const char type[], PetscBool *rebuild, PetscRRBTrouble *trouble,
                                  const Refresh &refresh) {
  std::string why;

  PetscFunctionBegin;
  *trouble = refresh();
  if (*trouble) PetscFunctionReturn(PETSC_SUCCESS);
  const petscrrb::ReadResult result = s->found.read.result();
  *rebuild = (PetscBool)(result == petscrrb::ReadResult::rebuild);
  if (result != petscrrb::ReadResult::refused) PetscFunctionReturn(PETSC_SUCCESS);
  *trouble = s->backend->WhyRefused(s->rows.csr, &why);
  if (!*trouble) *trouble = {std::string(type) + " cannot use this matrix: " + why, PETSC_ERR_ARG_WRONG};
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class State>
PetscErrorCode PetscRRBReadValues(State *s, const char type[], PetscBool *rebuild, PetscRRBTrouble *trouble) {
  return PetscRRBReadValues(s, type, rebuild, trouble, [&] { return s->backend->Refresh(s->rows.csr, &s->found); });
}

/* New values into what there is, or all of it anew. build(): what does not depend on values. */
template <class State>
PetscErrorCode PetscRRBReadOrBuild(PC pc, State *s, PetscBool rebuild, PetscRRBTrouble *trouble,
                                   PetscErrorCode (*build)(PC, PetscRRBTrouble *),
                                   PetscErrorCode (*read_values)(PC, PetscBool *rebuild, PetscRRBTrouble *)) {
  PetscBool foreign = PETSC_FALSE;

  PetscFunctionBegin;
  if (!rebuild) {
    PetscCall(read_values(pc, &rebuild, trouble));
    if (rebuild) PetscCall(PetscInfo(pc, "The couplings of the matrix have changed: its grid is determined again\n"));
  }
  if (!rebuild) PetscFunctionReturn(PETSC_SUCCESS);
  s->ready = PETSC_FALSE;
  s->grid = petscrrb::Grid();
  PetscCall(build(pc, trouble));
  s->ready = (PetscBool) !*trouble;
  if (s->ready) PetscCall(read_values(pc, &foreign, trouble));
  PetscCheck(!foreign, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The matrix does not fit the grid that was found for it");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PCSetUp() does of types that work on each rank's own diagonal block; but for check_choices() each rank by itself. */
template <class Backend> struct PetscRRBSteps {
  const char *type;
  PetscErrorCode (*create)(PetscBool device, std::unique_ptr<Backend> *);
  PetscErrorCode (*check_choices)(PC);
  PetscErrorCode (*build)(PC, PetscRRBTrouble *);                           /* what does not depend on values */
  PetscErrorCode (*read_values)(PC, PetscBool *rebuild, PetscRRBTrouble *); /* *rebuild: a coupling has no place */
  PetscErrorCode (*check_values)(PC, PetscRRBTrouble *);                    /* a bad pivot is trouble */
};
template <class Data, class Backend>
PetscErrorCode PetscRRBSetUpDiagonalBlock(PC pc, const PetscRRBSteps<Backend> &steps) {
  Mat block;
  const auto check = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(steps.check_choices(pc));
    PetscCall(PetscRRBDiagonalBlock(pc, pc->pmat, &block));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const auto get = [&] { return PetscRRBMatrixGet(pc, block, &((Data *)pc->data)->state->rows); };
  const auto from_rows = [&](PetscBool *rebuild, PetscRRBTrouble *trouble) -> PetscErrorCode {
    auto *s = ((Data *)pc->data)->state;
    const auto forget = [&] { s->ready = PETSC_FALSE; };

    PetscFunctionBegin;
    PetscCall(PetscRRBChooseBackend(s, steps.create, forget, rebuild));
    if (s->rows.csr.n == 0) {
      s->ready = PETSC_TRUE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(PetscRRBReadOrBuild(pc, s, *rebuild, trouble, steps.build, steps.read_values));
    if (!*trouble) PetscCall(steps.check_values(pc, trouble));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCall(PetscRRBSetUp<Data>(pc, PetscObjectComm((PetscObject)pc), steps.type, check, get, from_rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
