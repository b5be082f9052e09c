/* The wrapper around the PC of a KSP. */
#include "ksp/deflation/kspdeflation_data.h"

using Shared = std::shared_ptr<KSPDeflation>;

/* The user's PC goes inside. It keeps its prefix, options, operators and DM; KSP hands new ones to the wrapper, which hands
   them on. */
static PetscErrorCode Wrap(KSP ksp, PC inner, const Shared &deflation) {
  PC wrapper;
  const char *prefix;
  PetscBool rrb;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRRB, &rrb));
  PetscCheck(!rrb, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "-ksp_deflation is not for -ksp_type rrb, which iterates on the first Schur complement, not on A: use "
             "-ksp_type cg with -pc_type rrb");
  PetscCall(PCCreate(PetscObjectComm((PetscObject)ksp), &wrapper));
  PetscCall(PCGetOptionsPrefix(inner, &prefix));
  PetscCall(PCSetOptionsPrefix(wrapper, prefix));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)wrapper, (PetscObject)ksp, 1));
  PetscCall(PCSetType(wrapper, PCSUBDOMAINDEFLATION));
  PC_SubdomainDeflation *d = (PC_SubdomainDeflation *)wrapper->data;
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
  PC_SubdomainDeflation *d = wrapped ? (PC_SubdomainDeflation *)pc->data : nullptr;
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
