/* The papers behind the types, for -citations: each is printed once if an object of a type that implements it was made. */
#pragma once

#include <petscsys.h>

typedef enum {
  PETSCRRB_PAPER_RRB,
  PETSCRRB_PAPER_MIC,
  PETSCRRB_PAPER_BLOCK_RELAXATION,
  PETSCRRB_PAPER_TWO_LEVEL, /* truncated Neumann series, and deflation */
  PETSCRRB_PAPERS
} PetscRRBPaper;

PETSC_INTERN PetscErrorCode PetscRRBCite(PetscRRBPaper);
PETSC_INTERN PetscErrorCode PetscRRBForgetCitations(void);
