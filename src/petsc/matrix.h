/*
   The rows of a Mat on one rank, or of one rank's diagonal block, whatever its type: AIJ as it is, BAIJ and SBAIJ converted, others refused by name.
*/
#pragma once

#include <petscpc.h>

#include "grid/csr.hpp"

#include <functional>

/* The type of the PC that deflation puts around another one. PETSc's own PCDEFLATION has the name that it would have, and
   the options -pc_deflation_... */
#define PCSUBDOMAINDEFLATION "subdomaindeflation"

/* How a user asks for what a PC of ours does, for messages. */
typedef struct {
  const char *option, *value; /* "-pc_type rrb" in two parts, or an option alone */
  const char *matrix;         /* how another matrix is given to it */
} PetscRRBUse;
PetscErrorCode PetscRRBNameUse(PC, PetscRRBUse *);

/* Another one after any change of the pattern. Collective. */
PetscErrorCode PetscRRBNonzeroState(Mat, PetscObjectState *);

/* Which matrix, with which values or which pattern. Of two matrices the states may be the same. */
struct PetscRRBMatrixState {
  PetscObjectId id = 0;
  PetscObjectState state = -1;

  PetscErrorCode Take(Mat);
  PetscErrorCode TakePattern(Mat);
  bool operator==(const PetscRRBMatrixState &o) const { return id == o.id && state == o.state; }
};

struct PetscRRBMatrix {
  petscrrb::Csr csr;                 /* valid between Get and Restore */
  PetscBool on_device = PETSC_FALSE; /* where its arrays are */
  Mat rows = nullptr;                /* the SeqAIJ whose arrays csr shows; borrowed */
  Mat on_ranks = nullptr;            /* instead of them, of several ranks: P as a MATMPIAIJ; borrowed */
  Mat converted = nullptr;           /* P as AIJ, kept for the next Get; NULL if P is AIJ itself */
  PetscRRBMatrixState source;        /* the pattern that it was converted from, or that of on_ranks */
};

/* Errors: PETSC_ERR_SUP for other types, PETSC_ERR_ARG_SIZ for a rectangle. The arrays of an aijcusparse
   that is not bound to the host are the device's, those of all others the host's. */
PetscErrorCode PetscRRBMatrixGet(PC, Mat, PetscRRBMatrix *);
PetscErrorCode PetscRRBMatrixRestore(PetscRRBMatrix *);
PetscErrorCode PetscRRBMatrixReset(PetscRRBMatrix *);

/* Whether there are entries to read, all ranks agree. Error: PETSC_ERR_ARG_WRONGSTATE. Collective. */
PetscErrorCode PetscRRBCheckAssembled(PC, Mat P);

/* The nonzeros of a SeqAIJ on the host, without values. */
PetscErrorCode PetscRRBPatternGet(Mat, petscrrb::Csr *);
PetscErrorCode PetscRRBPatternRestore(Mat, petscrrb::Csr *);

/* The arrays of a SeqAIJ, on the device, where it is there, or on the host, to read. */
PetscErrorCode PetscRRBRowsGet(Mat, PetscBool device, petscrrb::Csr *);
PetscErrorCode PetscRRBRowsRestore(Mat, PetscBool device, petscrrb::Csr *);
/* Its values alone, with which read() is called. */
PetscErrorCode PetscRRBReadValues(Mat, PetscBool device, const std::function<void(const PetscScalar *)> &read);

/* The rows and columns of P that are this rank's own; borrowed. P itself on one rank. */
PetscErrorCode PetscRRBDiagonalBlock(PC, Mat P, Mat *block);

/* Whether a vector's values are the device's business: PETSc copies them for whoever asks for them on the host. */
PetscErrorCode PetscRRBVecOnDevice(Vec, PetscBool *);
/* Likewise for an AIJ, of one rank or of several; others are taken for ones of the host. */
PetscErrorCode PetscRRBMatOnDevice(Mat, PetscBool *);
