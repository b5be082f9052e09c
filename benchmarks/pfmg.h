/* hypre's conjugate gradients with PFMG as a KSP, -ksp_type pfmg, of the problem that is the KSP's application context. Where
   PETSc has no hypre there is no such type.
     -ksp_pfmg_rap <nongalerkin>     coarser matrices, of 5 or 7 points; or galerkin, not with red and black
     -ksp_pfmg_relax <red_black>     and black and red after the coarser grid; or jacobi, weighted_jacobi, nonsymmetric
     -ksp_pfmg_skip_relax <yes>      relax only where a direction is coarsened again
     -ksp_pfmg_sweeps <2>            before the coarser grid, and after it */
#pragma once

#include <petscksp.h>

#if defined(PETSC_HAVE_HYPRE)
  #include "hypre_box.h"
  #include <petsc/private/kspimpl.h>

typedef struct {
  HypreBox box;
  HYPRE_StructSolver pcg, cycle;
} PFMG;

static PetscErrorCode DestroySolversOfPFMG(PFMG *s) {
  PetscFunctionBegin;
  if (s->pcg) PetscCallExternal(HYPRE_StructPCGDestroy, s->pcg);
  if (s->cycle) PetscCallExternal(HYPRE_StructPFMGDestroy, s->cycle);
  s->pcg = s->cycle = NULL;
  PetscFunctionReturn(0);
}

/* One V cycle from zero, as hypre's manual has it for a preconditioner. */
static PetscErrorCode CreateCycle(KSP ksp, HYPRE_StructSolver *cycle) {
  static const char *const raps[] = {"galerkin", "nongalerkin"};
  static const char *const relaxations[] = {"jacobi", "weighted_jacobi", "red_black", "nonsymmetric"};
  const char *prefix = ((PetscObject)ksp)->prefix;
  PetscInt rap = 1, relaxation = 2, sweeps = 2;
  PetscBool skip = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetEList(NULL, prefix, "-ksp_pfmg_rap", raps, 2, &rap, NULL));
  PetscCall(PetscOptionsGetEList(NULL, prefix, "-ksp_pfmg_relax", relaxations, 4, &relaxation, NULL));
  PetscCall(PetscOptionsGetBool(NULL, prefix, "-ksp_pfmg_skip_relax", &skip, NULL));
  PetscCall(PetscOptionsGetInt(NULL, prefix, "-ksp_pfmg_sweeps", &sweeps, NULL));
  PetscCallExternal(HYPRE_StructPFMGCreate, PETSC_COMM_SELF, cycle);
  PetscCallExternal(HYPRE_StructPFMGSetMaxIter, *cycle, 1);
  PetscCallExternal(HYPRE_StructPFMGSetTol, *cycle, 0);
  PetscCallExternal(HYPRE_StructPFMGSetZeroGuess, *cycle);
  PetscCallExternal(HYPRE_StructPFMGSetRAPType, *cycle, (HYPRE_Int)rap);
  PetscCallExternal(HYPRE_StructPFMGSetRelaxType, *cycle, (HYPRE_Int)relaxation);
  PetscCallExternal(HYPRE_StructPFMGSetNumPreRelax, *cycle, (HYPRE_Int)sweeps);
  PetscCallExternal(HYPRE_StructPFMGSetNumPostRelax, *cycle, (HYPRE_Int)sweeps);
  PetscCallExternal(HYPRE_StructPFMGSetSkipRelax, *cycle, skip ? 1 : 0);
  PetscFunctionReturn(0);
}

/* The PC is the cycle alone. */
static PetscErrorCode ApplyCycle(PC pc, Vec b, Vec x) {
  HypreBox *box;
  PFMG *s;
  KSP ksp;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &ksp));
  s = (PFMG *)ksp->data;
  box = &s->box;
  PetscCall(HypreEnter(box));
  PetscCall(HypreSetVector(box, b, box->b));
  PetscCallExternal(HYPRE_StructVectorSetConstantValues, box->x, 0);
  PetscCallExternal(HYPRE_StructPFMGSolve, s->cycle, box->A, box->b, box->x);
  PetscCall(HypreGetVector(box, box->x, x));
  PetscCall(HypreLeave(box));
  PetscFunctionReturn(0);
}

/* Again with new values: hypre's matrix and vectors stay, and its solvers are made anew. */
static PetscErrorCode KSPSetUp_PFMG(KSP ksp) {
  PFMG *s = (PFMG *)ksp->data;
  HypreBox *box = &s->box;
  Problem *p = NULL;

  PetscFunctionBegin;
  PetscCall(KSPGetApplicationContext(ksp, &p));
  PetscCheck(p && !p->da, PETSC_COMM_SELF, PETSC_ERR_SUP, "-ksp_type pfmg is for one rank");
  PetscCheck(!ksp->calc_sings, PETSC_COMM_SELF, PETSC_ERR_SUP, "-ksp_type pfmg knows no condition number");
  PetscCall(PCSetType(ksp->pc, PCSHELL));
  PetscCall(PCShellSetContext(ksp->pc, ksp));
  PetscCall(PCShellSetApply(ksp->pc, ApplyCycle));
  if (!box->grid) PetscCall(HypreCreate(p, box));
  PetscCall(HypreEnter(box));
  PetscCall(HypreSetMatrix(p, box));
  PetscCall(DestroySolversOfPFMG(s));
  PetscCall(CreateCycle(ksp, &s->cycle));
  PetscCallExternal(HYPRE_StructPCGCreate, PETSC_COMM_SELF, &s->pcg);
  PetscCallExternal(HYPRE_StructPCGSetPrecond, s->pcg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, s->cycle);
  PetscCallExternal(HYPRE_StructPCGSetup, s->pcg, box->A, box->b, box->x);
  PetscCall(HypreLeave(box));
  PetscFunctionReturn(0);
}

/* hypre's test is relative to the right-hand side, as PETSc's is. */
static PetscErrorCode Judge(KSP ksp) {
  const PFMG *s = (const PFMG *)ksp->data;
  HYPRE_Int iterations;
  HYPRE_Real norm;

  PetscFunctionBegin;
  PetscCallExternal(HYPRE_StructPCGGetNumIterations, s->pcg, &iterations);
  PetscCallExternal(HYPRE_StructPCGGetFinalRelativeResidualNorm, s->pcg, &norm);
  ksp->its = iterations;
  if (PetscIsInfOrNanReal(norm))
    ksp->reason = KSP_DIVERGED_NANORINF;
  else if (norm <= ksp->rtol * (1 + PETSC_SQRT_MACHINE_EPSILON)) /* the squares were compared */
    ksp->reason = KSP_CONVERGED_RTOL;
  else
    ksp->reason = ksp->its < ksp->max_it ? KSP_DIVERGED_BREAKDOWN : KSP_DIVERGED_ITS;
  PetscFunctionReturn(0);
}

static PetscErrorCode KSPSolve_PFMG(KSP ksp) {
  const PFMG *s = (const PFMG *)ksp->data;
  HypreBox *box = &((PFMG *)ksp->data)->box;

  PetscFunctionBegin;
  PetscCall(HypreEnter(box));
  PetscCallExternal(HYPRE_StructPCGSetTwoNorm, s->pcg, ksp->normtype == KSP_NORM_UNPRECONDITIONED);
  PetscCallExternal(HYPRE_StructPCGSetTol, s->pcg, ksp->rtol);
  PetscCallExternal(HYPRE_StructPCGSetMaxIter, s->pcg, (HYPRE_Int)ksp->max_it);
  PetscCall(HypreSetVector(box, ksp->vec_rhs, box->b));
  if (ksp->guess_zero)
    PetscCallExternal(HYPRE_StructVectorSetConstantValues, box->x, 0);
  else
    PetscCall(HypreSetVector(box, ksp->vec_sol, box->x));
  (void)HYPRE_StructPCGSolve(s->pcg, box->A, box->b, box->x); /* an error where it did not converge */
  (void)HYPRE_ClearAllErrors();
  PetscCall(Judge(ksp));
  PetscCall(HypreGetVector(box, box->x, ksp->vec_sol));
  PetscCall(HypreLeave(box));
  PetscFunctionReturn(0);
}

static PetscErrorCode KSPDestroy_PFMG(KSP ksp) {
  PFMG *s = (PFMG *)ksp->data;

  PetscFunctionBegin;
  if (s->box.grid) {
    PetscCall(HypreEnter(&s->box));
    PetscCall(DestroySolversOfPFMG(s));
    PetscCall(HypreDestroy(&s->box));
    PetscCall(HypreLeave(&s->box));
  }
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode KSPCreate_PFMG(KSP ksp) {
  PFMG *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  ksp->data = s;
  ksp->setupnewmatrix = PETSC_TRUE;
  ksp->ops->setup = KSPSetUp_PFMG;
  ksp->ops->solve = KSPSolve_PFMG;
  ksp->ops->destroy = KSPDestroy_PFMG;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscFunctionReturn(0);
}
#endif

static PetscErrorCode RegisterPFMG(void) {
  PetscFunctionBegin;
#if defined(PETSC_HAVE_HYPRE)
  PetscCall(KSPRegister("pfmg", KSPCreate_PFMG));
#endif
  PetscFunctionReturn(0);
}
