/* What all our preconditioners do in the same way. */
#pragma once

#include <petsc/private/pcimpl.h>

#include "pc/findgrid.h"
#include "pc/known_values.h"
#include "petsc/agree.h"
#include "petsc/matrix.h"
#include "petsc/compat.h"
#include "stencil/couplings.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>

/* What a failed set-up applies: a KSP notices it and asks for the reason. PETSC_INFINITY is a finite number, which it does not
   notice where it has no square. */
inline PetscErrorCode PetscRRBSetInfinite(Vec y) {
  PetscFunctionBegin;
  PetscCall(VecSet(y, std::numeric_limits<PetscReal>::infinity()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What of a type depends on where the matrix is. */
class PetscRRBBackend {
public:
  virtual ~PetscRRBBackend() = default;
  virtual PetscBool on_device() const = 0;
  virtual PetscRRBRows rows(const petscrrb::Csr &) = 0; /* for finding their grid */
  virtual PetscRRBTrouble WhyRefused(const petscrrb::Csr &, std::string *) = 0;
};

/* What PCSetUp() makes of all types; all of it goes with PCReset(). */
template <class Backend> struct PetscRRBState {
  std::unique_ptr<Backend> backend;
  PetscBool ready = PETSC_FALSE;  /* there is all that does not depend on values */
  PetscBool failed = PETSC_FALSE; /* there is no factorization, on some rank */
  petscrrb::Grid grid;            /* of no points where there is none, or no rows */
  PetscRRBMatrix rows = {};
};

/* for PetscRRBSizes: what PCSetUp() has found */
template <class Data> PetscBool PetscRRBGridInUse(const Data &data, PetscInt n[]) {
  const bool used = data.state && data.state->ready && data.state->grid.n[0] > 0;
  if (used) std::copy_n(data.state->grid.n, std::size(data.grid), n);
  return (PetscBool)used;
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

/* --- set-up --- */

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

/* A pivot is not positive: the KSP notices, or it is an error where the user wants that. label: before it, in -info */
inline PetscErrorCode PetscRRBFailed(PC pc, PetscErrorCode code, const char label[], const char why[]) {
  PetscFunctionBegin;
  PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), code, "%s", why);
  PetscCall(PetscInfo(pc, "%s%s\n", label, why));
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
  if (*rebuild || !rows->converted) PetscFunctionReturn(PETSC_SUCCESS);
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
  if (!s->failed) PetscFunctionReturn(PETSC_SUCCESS);
  const bool pivot = trouble.code == PETSC_ERR_MAT_LU_ZRPVT && !raised;
  ready = pivot && s->ready;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm)); /* they begin again together */
  s->ready = (PetscBool)ready;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) PetscCall(raised);
  PetscCheck(pivot, all, trouble.code, "%s", trouble.why.c_str());
  PetscCall(PetscRRBFailed(pc, trouble.code, (std::string(type) + ": ").c_str(), trouble.why.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of Pmat for what backend->Create() has made; *rebuild where there is a coupling that it has no place for. */
template <class State>
PetscErrorCode PetscRRBReadValues(State *s, const char type[], PetscBool *rebuild, PetscRRBTrouble *trouble) {
  std::string why;

  PetscFunctionBegin;
  *trouble = s->backend->Refresh(s->rows.csr, &s->found);
  if (*trouble) PetscFunctionReturn(PETSC_SUCCESS);
  const petscrrb::ReadResult result = s->found.read.result();
  *rebuild = (PetscBool)(result == petscrrb::ReadResult::rebuild);
  if (result != petscrrb::ReadResult::refused) PetscFunctionReturn(PETSC_SUCCESS);
  *trouble = s->backend->WhyRefused(s->rows.csr, &why);
  if (!*trouble) *trouble = {std::string(type) + " cannot use this matrix: " + why, PETSC_ERR_ARG_WRONG};
  PetscFunctionReturn(PETSC_SUCCESS);
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
    if (rebuild) PetscCall(PetscInfo(pc, "The matrix has other couplings than before: its grid is looked for again\n"));
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

/* --- the methods of a PC whose data has `known` and `state`, a PetscRRBState --- */

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

/* Column by column. */
template <PetscErrorCode (*apply)(PC, Vec, Vec)> PetscErrorCode PetscRRBMatApply(PC pc, Mat X, Mat Y) {
  PetscInt columns;
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, nullptr, &columns));
  for (PetscInt j = 0; j < columns; ++j) {
    PetscCall(MatDenseGetColumnVecRead(X, j, &x));
    PetscCall(MatDenseGetColumnVecWrite(Y, j, &y));
    PetscCall(apply(pc, x, y));
    PetscCall(MatDenseRestoreColumnVecWrite(Y, j, &y));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* brief: what a string viewer gets. choices: what was chosen. state: what PCSetUp() made. */
template <class Data, PetscErrorCode (*brief)(const Data *, PetscViewer),
          PetscErrorCode (*choices)(const Data *, PetscViewer), PetscErrorCode (*state)(PC, PetscViewer)>
PetscErrorCode PetscRRBView(PC pc, PetscViewer viewer) {
  const Data *data = (const Data *)pc->data;
  PetscBool ascii, string;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &string));
  if (string) PetscCall(brief(data, viewer));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(choices(data, viewer));
  if (data->state && data->state->ready)
    PetscCall(state(pc, viewer));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "not set up yet\n"));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of: "" or " of the first rank"; around(d): what is said of the side that is periodic */
template <class Around>
PetscErrorCode PetscRRBViewGrid(PetscViewer viewer, const char of[], const petscrrb::Grid &g, const Around &around) {
  char third[32] = "";

  PetscFunctionBegin;
  if (g.dim == 3) PetscCall(PetscSNPrintf(third, sizeof(third), " x %lld", (long long)g.n[2]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "grid%s: %lld x %lld%s, %d-point, from the %s\n", of, (long long)g.n[0],
                                   (long long)g.n[1], third, g.points, g.source.c_str()));
  for (int d = 0; d < 3; ++d)
    if (g.periodic[d]) PetscCall(PetscViewerASCIIPrintf(viewer, "periodic in %c%s\n", "xyz"[d], around(d)));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  const PetscErrorCode code = PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), "known values", keep_known_values);
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
