/*
   Rows of other ranks that own rows are coupled with: ghosts, by their global numbers in order. What comes from their owners.
*/
#pragma once

#include "exec/not_copied.hpp"
#include "petsc/agree.h"

#include <petscmat.h>
#include <petscsf.h>

#include <memory>
#include <vector>

namespace petscrrb::cuda {
class OwnValues;
}

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

/* The values of rows that a rank works with, its own and those of ghosts, whose owners have the entries in two blocks. */
class PetscRRBRowValues : petscrrb::NotCopied {
public:
  explicit PetscRRBRowValues(const char rows[])
      : say_(rows, PETSC_ERR_GPU) {} /* on the host there may be no memory, only */
  ~PetscRRBRowValues() { (void)Reset(); }

  /* source: petscrrb::Source of each entry on its owner, those of ghost g from start[g] to start[g + 1]; to: the places for these, NULL
     where entry e is for place e. Collective. */
  PetscErrorCode Connect(Mat P, const std::vector<PetscInt> &ghosts, const PetscInt start[], const PetscInt source[],
                         const PetscInt to[]);
  PetscErrorCode Reset();
  PetscBool connected() const { return (PetscBool)(from_[0] != nullptr); }
  /* All of them to a, on the device, where P is there, or on the host. source: of n places, Source::elsewhere for those of ghosts; the
     same ones each time. Collective. */
  PetscErrorCode Exchange(Mat P, PetscBool device, const PetscInt source[], PetscInt n, PetscScalar *a);

private:
  PetscRRBSay say_;
  PetscSF from_[2] = {}; /* each block's values, to the ghosts' */
  std::shared_ptr<petscrrb::cuda::OwnValues> on_device_;
};
