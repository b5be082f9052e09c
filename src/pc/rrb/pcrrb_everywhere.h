/* A matrix of several ranks, and vectors, on each of them: where PCRRB takes a graph, each rank does all that one would. */
#pragma once

#include "exec/not_copied.hpp"
#include "petsc/compat.h"

#include <petscpc.h>

class PCRRBEverywhere : petscrrb::NotCopied {
public:
  ~PCRRBEverywhere();

  /* All rows of P, pc->pmat as a MATMPIAIJ, in the natural order of its DMDA if there is one. Once; then Refresh() takes new values of the
     same nonzeros. Collective, as all of these. */
  PetscErrorCode Build(PC, Mat P);
  PetscErrorCode Refresh(Mat P);
  Mat rows() const { return rows_[0]; } /* a SEQAIJ, where P is */

  /* x as all ranks have it, in that order; until the next call. */
  PetscErrorCode ToAll(Vec x, Vec *all);
  /* apply(r, z) with such vectors, which writes z. */
  template <class Apply> PetscErrorCode Use(Vec x, Vec y, const Apply &apply) {
    Vec r;

    PetscFunctionBegin;
    PetscCall(ToAll(x, &r));
    PetscCall(apply(r, z_));
    PetscCall(VecScatterBegin(to_own_, z_, y, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(to_own_, z_, y, INSERT_VALUES, SCATTER_FORWARD));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode FindOrder(PC, Mat P, IS *own);
  PetscErrorCode Connect(Mat P, IS own);

  IS order_ = nullptr; /* the row of P for each one of all */
  Mat *rows_ = nullptr;
  Vec r_ = nullptr, z_ = nullptr;
  VecScatter to_all_ = nullptr, to_own_ = nullptr;
};
