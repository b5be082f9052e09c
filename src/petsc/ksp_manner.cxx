/* The table of types. */
#include "petsc/ksp_manner.h"

#include "petsc/compat.h"
#include "petscrrb.h"

static const PetscRRBKSPManner manners[] = {
    {KSPCG, PETSCRRB_PC_ON_RESIDUALS, PETSC_TRUE, PETSC_FALSE},
    {KSPGROPPCG, PETSCRRB_PC_ON_RESIDUALS, PETSC_TRUE, PETSC_FALSE},
    {KSPPIPECG, PETSCRRB_PC_ON_RESIDUALS, PETSC_TRUE, PETSC_FALSE},
    {KSPPIPECGRR, PETSCRRB_PC_ON_RESIDUALS, PETSC_TRUE, PETSC_FALSE},
    {KSPPIPELCG, PETSCRRB_PC_ON_RESIDUALS, PETSC_TRUE, PETSC_FALSE},
    {KSPPIPEPRCG, PETSCRRB_PC_ON_RESIDUALS, PETSC_TRUE, PETSC_FALSE},
    {KSPPIPECG2, PETSCRRB_PC_ON_RESIDUALS, PETSC_TRUE, PETSC_FALSE},
    {KSPRRB, PETSCRRB_PC_ON_RESIDUALS, PETSC_TRUE, PETSC_FALSE},
    {KSPFCG, PETSCRRB_PC_ANY, PETSC_TRUE, PETSC_FALSE},
    {KSPPIPEFCG, PETSCRRB_PC_ANY, PETSC_TRUE, PETSC_FALSE},
    {KSPMINRES, PETSCRRB_PC_SYMMETRIC, PETSC_TRUE, PETSC_FALSE},
    {KSPSYMMLQ, PETSCRRB_PC_SYMMETRIC, PETSC_TRUE, PETSC_FALSE},
    {KSPCR, PETSCRRB_PC_SYMMETRIC, PETSC_TRUE, PETSC_FALSE},
    {KSPPIPECR, PETSCRRB_PC_SYMMETRIC, PETSC_TRUE, PETSC_FALSE},
    {KSPNASH, PETSCRRB_PC_SYMMETRIC, PETSC_TRUE, PETSC_TRUE},
    {KSPSTCG, PETSCRRB_PC_SYMMETRIC, PETSC_TRUE, PETSC_TRUE},
    {KSPGLTR, PETSCRRB_PC_SYMMETRIC, PETSC_TRUE, PETSC_TRUE},
    {KSPQCG, PETSCRRB_PC_SYMMETRIC, PETSC_TRUE, PETSC_TRUE},
    {KSPPREONLY, PETSCRRB_PC_ANY, PETSC_FALSE, PETSC_TRUE},
};

/* With the preconditioner on the right these multiply their initial guess by it. */
static PetscErrorCode LosesGuess(KSP ksp, PetscBool *loses) {
  PCSide side;

  PetscFunctionBegin;
  PetscCall(KSPGetPCSide(ksp, &side));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, loses, KSPCGS, KSPTFQMR, KSPTCQMR, KSPIBCGS, ""));
  *loses = (PetscBool)(*loses && side == PC_RIGHT);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBGetKSPManner(KSP ksp, PetscRRBKSPManner *manner) {
  PetscBool loses;

  PetscFunctionBegin;
  *manner = {nullptr, PETSCRRB_PC_ANY, PETSC_FALSE, PETSC_FALSE};
  for (const PetscRRBKSPManner &m : manners) {
    PetscBool is;
    PetscCall(PetscObjectTypeCompare((PetscObject)ksp, m.type, &is));
    if (is) *manner = m;
  }
  PetscCall(LosesGuess(ksp, &loses));
  if (loses) manner->from_zero = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
