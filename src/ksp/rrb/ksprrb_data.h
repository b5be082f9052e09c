/* The data of KSPRRB, shared by ksprrb.cxx (the KSP's methods) and ksprrb_solve.cxx (its solve). */
#pragma once

#include <petsc/private/kspimpl.h>

#include "petsc/compat.h"
#include "petsc/ksp_manner.h"
#include "pc/vectors.h"
#include "petscrrb.h"
#include "ksp/rrb/ksprrb_solver.h"

PETSC_INTERN PetscErrorCode KSPCreate_RRB(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_FusedCG(KSP);
PETSC_INTERN PetscErrorCode KSPSolve_RRB(KSP);
/* PCRRB or PCGRIDMG, unless somebody chose a preconditioner. */
PETSC_INTERN PetscErrorCode KSPRRBChoosePC(KSP);
PETSC_INTERN PetscErrorCode KSPRRBPrepare(KSP);
PETSC_INTERN PetscErrorCode KSPRRBCorrect(KSP, Vec);

/* Of the preconditioner as it is now, before its set-up: its type, and that S1 is wanted. Error: PETSC_ERR_SUP for a type that KSPRRB does
   not iterate on. */
PETSC_INTERN PetscErrorCode KSPRRBTakePC(KSP);

/* What a solve makes and the next one may use. */
struct KSPRRBState {
  std::unique_ptr<KSPRRBSolver> fused, unfused; /* fused refers to the preconditioner's factorization */
  KSPRRBSolver *solver = nullptr;               /* one of them */
  KSPRRBForm form = KSP_RRB_UNFUSED;
  const char *why = "not set up yet";       /* the form is not the Schur complement's */
  const KSPRRBInside *inside = nullptr;     /* the preconditioner's type */
  PetscInt64 build = 0;                     /* its hierarchy */
  KSPRRBForm fused_form = KSP_RRB_UNFUSED;  /* of fused */
  std::shared_ptr<const void> schur_wanted; /* of the preconditioner: fused refers to it */
  PetscRRBStateOfAll others;                /* in the place of the state of a preconditioner that has none */
  PetscRRBMatrixState values, factored;     /* the matrix when fused read it, and that of the factorization then */
  PetscRRBMatrix rows = {};
  Vec copy = nullptr;     /* of right-hand sides that are in another memory than solutions */
  Vec solution = nullptr; /* where the matrix is, of solutions that are not */

  /* of the current solve */
  Vec b = nullptr;                          /* borrowed: the right-hand side, in the solution's memory */
  Vec r0 = nullptr;                         /* borrowed: the residual that is corrected */
  PetscBool add = PETSC_FALSE;              /* the correction goes on top of x */
  PetscBool started = PETSC_FALSE;          /* there is a correction */
  PetscInt64 uses = 0;                      /* of the preconditioner, by its own last step */
  std::vector<KSPRRBSolver::Numbers> ahead; /* of steps that are taken, */
  std::size_t seen = 0;                     /* so many of which are tested */

  /* of the last one */
  std::vector<PetscReal> d, e, work; /* the Lanczos matrix, as KSPCG keeps it, */
  PetscInt kept = 0;                 /* of so many iterations */
};
inline KSPRRBState *KSPRRBStateOf(KSP ksp) { return (KSPRRBState *)ksp->data; }

/* of the preconditioner */
PetscRRBStateOfAll *KSPRRBStateOfPC(KSP);

PetscErrorCode KSPRRBCreateUnfused(KSP, std::unique_ptr<KSPRRBSolver> *);
