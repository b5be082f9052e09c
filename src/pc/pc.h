/* What all our preconditioners do in the same way, but for their set-up (set_up.h). */
#pragma once

#include <petsc/private/pcimpl.h>

#include "exec/range.hpp"
#include "pc/findgrid.h"
#include "pc/known_values.h"
#include "petsc/about/version.h"
#include "petsc/agree.h"
#include "petsc/matrix.h"
#include "petsc/compat.h"

#include <algorithm>
#include <exception>
#include <functional>
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

namespace petscrrb {
class Cuda;
}

/* An application of M^-1 that only enqueues work on a stream, so that a graph can have it. */
struct PetscRRBEnqueued {
  /* empty: there is none. terms: room for the terms of (r, z), so many as `terms` says. May throw */
  std::function<void(const petscrrb::Cuda &on, const PetscScalar *r, PetscScalar *z, double *terms)> apply;
  std::function<void()> check;   /* throws why z is no number, where the preconditioner knows; or empty */
  std::function<long()> version; /* another one where what is enqueued would not be the same; empty: it always is */
  PetscInt64 build = 0;          /* other arrays have another number */
  petscrrb::index_t terms = 0;   /* of (r, z) that it leaves; 0: none */
};
constexpr char PetscRRBEnqueuedKey[] = "PetscRRBGetEnqueued_C"; /* what PetscRRBGetEnqueued() is composed as */

/* A number for what a PCSetUp() has built, of all types: who refers to it can tell it from whatever comes in its place. */
inline PetscInt64 PetscRRBNewBuild() {
  static PetscInt64 builds = 0;
  return ++builds;
}

/* What PCSetUp() makes of all types; all of it goes with PCReset(). */
struct PetscRRBStateOfAll {
  PetscBool ready = PETSC_FALSE;  /* there is all that does not depend on values */
  PetscBool failed = PETSC_FALSE; /* there is no factorization, on some rank */
  petscrrb::Grid grid;            /* of no points where there is none, or no rows */
  PetscRRBMatrix rows = {};
  PetscInt64 uses = 0; /* counts who has written to what an application works in: applications, KSPRRB's steps */
  PetscRRBMatrixState factored; /* the matrix at the last factorization */
};
template <class Backend> struct PetscRRBState : PetscRRBStateOfAll { std::unique_ptr<Backend> backend; };

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
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PetscRRBEnqueuedKey, nullptr));
  delete ((Data *)pc->data)->known;
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a failed set-up y is infinite: that is how a KSP notices, and then it looks at the failed reason. whole: apply is not one of
   two halves */
template <class Data, PetscErrorCode (*apply)(PC, Vec, Vec), bool whole = true>
PetscErrorCode PetscRRBApply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  ++((Data *)pc->data)->state->uses;
  if (((Data *)pc->data)->state->failed)
    PetscCall(PetscRRBSetInfinite(y));
  else
    PetscCall(apply(pc, x, y));
  if (whole) PetscCall(((Data *)pc->data)->known->Mask(y));
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
  PetscCall(PetscRRBViewVersion(viewer));
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
  PetscBool (*may_have_identity_rows)(PC);                      /* by its last PCSetUp(), this rank */
  PetscErrorCode (*enqueued)(PC, PetscRRBEnqueued *) = nullptr; /* see PetscRRBGetEnqueued(); NULL: never */
};

/* As things are after the set-up; of(state) where nothing stands between it and PCApply(). */
template <class Data, class State, PetscRRBEnqueued (*of)(State *)>
PetscErrorCode PetscRRBGetEnqueued(PC pc, PetscRRBEnqueued *enqueued) {
  Data *data = (Data *)pc->data;

  PetscFunctionBegin;
  *enqueued = {};
  if (data->state && data->state->ready && !data->state->failed && !data->known->masks()) *enqueued = of(data->state);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PCCreate() of all types does: zeroed data, and the ops. Without memory the PC has neither data nor a type. */
template <class Data, PetscErrorCode (*compose)(PC, PetscBool)>
PetscErrorCode PetscRRBCreate(PC pc, const PetscRRBOperations &ops, Data **data) {
  const auto factored = [](PC of) -> const PetscRRBMatrixState & { return ((Data *)of->data)->state->factored; };
  const auto keep_known_values = [&] {
    (*data)->known = new PetscRRBKnownValues(ops.may_have_identity_rows, factored);
  };

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
  if (ops.enqueued) PetscCall(PetscRRBCompose((PetscObject)pc, PETSC_TRUE, PetscRRBEnqueuedKey, ops.enqueued));
  PetscFunctionReturn(PETSC_SUCCESS);
}
