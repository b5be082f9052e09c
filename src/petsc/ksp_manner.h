/* What is special about a KSP's type: what it needs of the operator and of the preconditioner, and where it starts. */
#pragma once

#include <petscksp.h>

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
