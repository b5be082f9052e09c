/*
   Rows of other ranks that own rows are coupled with: ghosts, by their global numbers in order. What comes from their owners.
*/
#pragma once

#include <petscmat.h>
#include <petscsf.h>

#include <vector>

/* From the roots to the leaves; arrays are on the device, or on the host. Collective. */
PetscErrorCode PetscRRBExchange(PetscSF, PetscBool device, MPI_Datatype, const void *roots, void *leaves);

/* Own rows of P to the ghosts; replaces *rows. Collective. */
PetscErrorCode PetscRRBConnectRows(Mat P, const std::vector<PetscInt> &ghosts, PetscSF *rows);

/* The entries of the ghosts' rows, one row after the other. */
struct PetscRRBGhostEntries {
  std::vector<PetscInt> start;   /* of each row; one more for the end */
  std::vector<PetscSFNode> root; /* where each is among its owner's */
};
/* start: of this rank's n rows among its entries, and the end; not looked at without rows. *entries: own ones to those of
   the ghosts. Collective. */
PetscErrorCode PetscRRBConnectEntries(Mat P, const std::vector<PetscInt> &ghosts, PetscSF rows, const PetscInt start[],
                                      PetscInt n, PetscRRBGhostEntries *of, PetscSF *entries);
