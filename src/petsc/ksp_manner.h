/* What is special about a KSP's type: what it needs of the operator and of the preconditioner, and where it starts. And its limit of
   divergence. */
#pragma once

#include <petsc/private/kspimpl.h>

typedef enum {
  PETSCRRB_PC_ANY,          /* that the operator allows */
  PETSCRRB_PC_ON_RESIDUALS, /* one that acts like a symmetric one on the residuals that there are will do */
  PETSCRRB_PC_SYMMETRIC     /* on any vector */
} PetscRRBKSPNeeds;

typedef struct {
  const char *type;
  PetscRRBKSPNeeds needs;
  PetscBool symmetric; /* it needs a symmetric operator */
  PetscBool from_zero; /* it starts from zero, or does not iterate */
  /* with the preconditioner on the right, by which it multiplies it: from_zero then */
  PetscBool loses_guess = PETSC_FALSE;
} PetscRRBKSPManner;

/* Types that are not known take any preconditioner, operator and initial guess. */
PetscErrorCode PetscRRBGetKSPManner(KSP, PetscRRBKSPManner *);

/* A KSP's convergence test: one that stands before it, and counts at the first residual alone, is composed with the preconditioner. */
typedef decltype(_p_KSP::converged) PetscRRBTest;
constexpr char PetscRRBTestKey[] = "PetscRRBTestBehind_C"; /* PetscErrorCode (*)(KSP, PetscRRBTest *) */
PetscErrorCode PetscRRBGetTest(KSP, PetscRRBTest *);

/* A KSP's limit of divergence while known values are in its guess: the residual may be as much larger than b, which has no part
   in their columns. */
class PetscRRBDivergenceLimit {
public:
  void Raise(KSP ksp, PetscReal residual_by_b) {
    users_ = ksp->divtol;
    ksp->divtol = raised_ = users_ * (residual_by_b < PETSC_MAX_REAL ? 1 + residual_by_b : PETSC_INFINITY);
  }
  void Restore(KSP ksp) { /* unless somebody has set it since */
    if (raised_ > 0 && ksp->divtol == raised_) ksp->divtol = users_;
    raised_ = 0;
  }

private:
  PetscReal users_ = 0, raised_ = 0;
};
