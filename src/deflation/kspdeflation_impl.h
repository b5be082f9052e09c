/* Deflation's data: what is chosen belongs to the KSP, what is made of it to the PC that stands around the user's. */
#pragma once

#include <petsc/private/kspimpl.h>

#include "deflation/pcdeflation_backend.h"

#include <vector>

/* composed with a KSP; its destructor leaves the PC, which may live longer, without one */
struct KSPDeflation {
  explicit KSPDeflation(KSP owner) : ksp(owner) {}
  KSPDeflation(const KSPDeflation &) = delete;
  KSPDeflation &operator=(const KSPDeflation &) = delete;

  KSP ksp; /* borrowed; NULL once it is gone */
  KSPDeflationChoice choice;
  KSPDeflationVariant variant = KSP_DEFLATION_ADEF2;
  Vec phi = nullptr;
  Mat Z = nullptr;
  PetscInt64 version = 0; /* counts what was set */
};

/* What a solve has changed in its KSP, to be undone after it. */
struct PCDeflationSolve {
  KSP ksp = nullptr;
  PetscBool guess_zero = PETSC_TRUE, guess_knoll = PETSC_FALSE;
  PetscErrorCode (*converged)(KSP, PetscInt, PetscReal, KSPConvergedReason *, void *) = nullptr;
  PetscBool symmetric = PETSC_FALSE; /* the preconditioner must be */
  PetscBool fixed = PETSC_FALSE;     /* residuals are zero on identity rows from the start */
  PetscBool def1 = PETSC_FALSE;      /* A and b stand for the KSP's, which are P A and P b */
  Mat A = nullptr;
  Vec b = nullptr;
};

/* What a matrix or vector was like when we looked at it last. */
struct PCDeflationSeen {
  PetscObjectId id = 0;
  PetscObjectState state = 0, pattern = 0;
};

typedef struct {
  std::shared_ptr<KSPDeflation> deflation;
  PC inner;             /* the user's */
  PetscOptions nothing; /* no options: -pc_type is for the inner PC */
  std::unique_ptr<PCDeflationBackend> backend;
  petscrrb::deflation::Result result;
  PCDeflationSeen A, space;
  PetscInt64 version;
  PetscBool reference; /* the norm that residuals are compared with is being made: M^-1 alone */
  std::vector<PCDeflationSolve> solves;
  Vec work[4];     /* made when they are needed first */
  Vec free, fixed; /* NULL without identity rows; else 1 on the other rows, and the inverse diagonal on these */
  Mat PA;          /* a shell */
  PetscLogDouble seconds;
  PetscInt setups, refreshes;
} PC_SubdomainDeflation;

PETSC_INTERN PetscErrorCode PCCreate_SubdomainDeflation(PC);

/* From the KSP, or made for it; NULL where there is none and create is false. */
PetscErrorCode KSPDeflationFind(KSP, PetscBool create, std::shared_ptr<KSPDeflation> *);
/* As they were set, or in use: *choice without deflation has the defaults; *used: NULL where nothing is set up. */
PetscErrorCode KSPDeflationGetChoice(KSP, KSPDeflationChoice *choice, PCDeflationBackend **used);
/* A new value takes effect at the next solve. */
template <class T> PetscErrorCode KSPDeflationSetChoice(KSP ksp, T KSPDeflationChoice::*member, const T &value) {
  std::shared_ptr<KSPDeflation> deflation;

  PetscFunctionBegin;
  PetscCall(KSPDeflationFind(ksp, PETSC_TRUE, &deflation));
  if (deflation->choice.*member != value) ++deflation->version;
  deflation->choice.*member = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}
/* The wrapper around the KSP's PC there, or gone, as the chosen type wants it. */
PETSC_INTERN PetscErrorCode KSPDeflationWrap(KSP);
PETSC_INTERN PetscErrorCode KSPDeflationSetFromOptions(PetscObject, PetscRRBOptionItems, void *);
PETSC_INTERN PetscErrorCode KSPDeflationStartHook(void);
PETSC_INTERN PetscErrorCode KSPDeflationStopHook(void);

/* E and AZ for A as it is now, unless they are already. */
PETSC_INTERN PetscErrorCode PCDeflationUpdate(PC, Mat A);
/* Dirichlet rows that are kept in A, perhaps with their columns */
PETSC_INTERN PetscErrorCode PCDeflationFindIdentityRows(PC, Mat A);
PETSC_INTERN PetscErrorCode PCDeflationFix(PC, Vec r, Vec y); /* y = r / a_ii there */
PETSC_INTERN PetscErrorCode PCDeflationEliminate(PC, Mat A, Vec r,
                                                 Vec *rest); /* r less what their values give; 0 there */
PETSC_INTERN PetscErrorCode PCDeflationGetWork(PC, PetscInt, Vec *);
PETSC_INTERN PetscErrorCode PCPreSolve_SubdomainDeflation(PC, KSP, Vec, Vec);
PETSC_INTERN PetscErrorCode PCPostSolve_SubdomainDeflation(PC, KSP, Vec, Vec);
PETSC_INTERN PetscErrorCode PCDeflationForgetSolves(PC);
