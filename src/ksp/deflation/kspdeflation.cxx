/* What is composed with a KSP that has ever had deflation, the wrapper around its PC, and how -ksp_deflation is seen. */
#include "ksp/deflation/kspdeflation_data.h"

using Shared = std::shared_ptr<KSPDeflation>;

static const char key[] = "PetscRRBDeflation";

static PetscErrorCode Forget(void *contents) {
  Shared *shared = (Shared *)PetscRRBContents(contents);

  PetscFunctionBegin;
  (*shared)->ksp = nullptr;
  delete shared;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDeflationFind(KSP ksp, PetscBool create, Shared *found) {
  PetscContainer container;
  void *contents;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)ksp, key, (PetscObject *)&container));
  if (container) {
    PetscCall(PetscContainerGetPointer(container, &contents));
    *found = *(Shared *)contents;
  } else if (create) {
    std::unique_ptr<Shared> made;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)ksp), PetscRRBSay("deflation"),
                                  [&] { made = std::make_unique<Shared>(std::make_shared<KSPDeflation>(ksp)); }));
    *found = *made;
    PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)ksp), &container));
    PetscCall(PetscContainerSetPointer(container, made.release()));
    PetscCall(PetscRRBContainerSetDestroy(container, Forget));
    PetscCall(PetscObjectCompose((PetscObject)ksp, key, (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
  } else
    found->reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The user's PC goes inside. It keeps its prefix, options, operators and DM; KSP hands new ones to the wrapper, which hands
   them on. */
static PetscErrorCode Wrap(KSP ksp, PC inner, const Shared &deflation) {
  PC wrapper;
  const char *prefix;
  PetscBool rrb;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRRB, &rrb));
  PetscCheck(
      !rrb, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
      "-ksp_deflation does not work with -ksp_type rrb, which iterates on the first Schur complement, not on A: use "
      "-ksp_type fusedcg or cg with -pc_type rrb");
  PetscCall(PCCreate(PetscObjectComm((PetscObject)ksp), &wrapper));
  PetscCall(PCGetOptionsPrefix(inner, &prefix));
  PetscCall(PCSetOptionsPrefix(wrapper, prefix));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)wrapper, (PetscObject)ksp, 1));
  PetscCall(PCSetType(wrapper, PCSUBDOMAINDEFLATION));
  PC_SubdomainDeflation *d = Data(wrapper);
  d->deflation = deflation;
  d->inner = inner;
  d->dm = inner->dm;
  PetscCall(PetscObjectReference((PetscObject)inner));
  PetscCall(PetscObjectSetOptions((PetscObject)wrapper, d->nothing));
  if (inner->dm) PetscCall(PCSetDM(wrapper, inner->dm));
  if (inner->pmat) PetscCall(PCSetOperators(wrapper, inner->mat, inner->pmat));
  PetscCall(PCSetReusePreconditioner(wrapper, inner->reusepreconditioner));
  PetscCall(KSPSetPC(ksp, wrapper));
  PetscCall(PCDestroy(&wrapper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A KSP may have got the PC of another one, which stands around that one's: its own choice counts, once it has one. */
PetscErrorCode KSPDeflationWrap(KSP ksp) {
  Shared deflation;
  PetscBool wrapped;
  PC pc, inner;

  PetscFunctionBegin;
  PetscCall(KSPDeflationFind(ksp, PETSC_FALSE, &deflation));
  if (!deflation) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSUBDOMAINDEFLATION, &wrapped));
  PC_SubdomainDeflation *d = wrapped ? Data(pc) : nullptr;
  const bool wanted = deflation->type != KSP_DEFLATION_NONE;
  if (wanted ? d && d->deflation == deflation : !d || !d->inner) PetscFunctionReturn(PETSC_SUCCESS);
  inner = d && d->inner ? d->inner : pc;
  PetscCall(PetscObjectReference((PetscObject)inner));
  if (d) {
    PetscCall(PCDeflationForgetSolves(pc));
    if (pc->pmat) PetscCall(PCSetOperators(inner, PCDeflationOperator(pc), pc->pmat));
    PetscCall(PCSetReusePreconditioner(inner, pc->reusepreconditioner));
  }
  const PetscErrorCode code = wanted ? Wrap(ksp, inner, deflation) : KSPSetPC(ksp, inner);
  PetscCall(PCDestroy(&inner));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDeflationGetPC - Gets the preconditioner that deflation wraps

   Not Collective

   Input Parameter:
.  ksp - the Krylov solver

   Output Parameter:
.  pc - the preconditioner M^-1; without deflation that of `KSPGetPC()`

   Level: intermediate

   Note:
   `KSPGetPC()` returns the preconditioner with deflation. Setting its type sets the type of M^-1, too, but functions
   for a particular type, such as `PCGAMGSetThreshold()`, must be given M^-1 itself.

.seealso: `KSPSetDeflation()`, `KSPGetPC()`
@*/
PetscErrorCode KSPDeflationGetPC(KSP ksp, PC *pc) {
  PetscBool wrapped;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscCall(KSPGetPC(ksp, pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)*pc, PCSUBDOMAINDEFLATION, &wrapped));
  if (wrapped) *pc = Data(*pc)->inner;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- the hook: each KSP that is created gets our options handler --- */

static PetscErrorCode (*before)(PetscObject) = nullptr; /* who heard of new objects, where only one can */

static PetscErrorCode Created(PetscObject object) {
  PetscFunctionBegin;
  if (before) PetscCall((*before)(object));
  if (object->classid == KSP_CLASSID)
    PetscCall(PetscObjectAddOptionsHandler(object, KSPDeflationSetFromOptions, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDeflationStartHook(void) {
  PetscFunctionBegin;
#if PETSCRRB_LOG_HANDLERS
  PetscCall(PetscLogLegacyCallbacksBegin(nullptr, nullptr, Created, nullptr)); /* PetscFinalize() takes it away */
#elif defined(PETSC_USE_LOG)
  before = PetscLogPHC == Created ? nullptr : PetscLogPHC;
  PetscLogPHC = Created;
#else
  (void)Created;
  PetscCall(PetscInfo(
      nullptr, "This PETSc was built without logging: -ksp_deflation has no effect, but KSPSetDeflation() does\n"));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDeflationStopHook(void) {
  PetscFunctionBegin;
#if defined(PETSC_USE_LOG) && !PETSCRRB_LOG_HANDLERS
  if (PetscLogPHC == Created) PetscLogPHC = before;
#endif
  before = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
