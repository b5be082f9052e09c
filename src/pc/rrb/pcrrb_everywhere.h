/* A matrix of several ranks, and vectors, on each of them: where PCRRB takes a graph, each rank factors all that one would. */
#pragma once

#include "exec/not_copied.hpp"
#include "exec/range.hpp"
#include "petsc/compat.h"

#include <petscpc.h>

#include <vector>

class PCRRBEverywhere : petscrrb::NotCopied {
public:
  ~PCRRBEverywhere();

  /* The order of all rows of P, pc->pmat as a MATMPIAIJ: the natural one of its DMDA if there is one. Once. Collective, as all of these.
     places: of each row of P in that order. on_device: where P is */
  PetscErrorCode Build(PC, Mat P, PetscBool on_device, std::vector<PetscInt> *places);

  /* x as all ranks have it, in that order; until the next call. */
  PetscErrorCode ToAll(Vec x, Vec *all);

  /* Where ranks share an application, rank r has what stands from cuts()[r] to cuts()[r + 1] in that order. */
  const std::vector<petscrrb::index_t> &cuts() const { return cuts_; }
  /* Whether they do, from now on. */
  PetscErrorCode Share(PetscBool);
  PetscBool shared() const { return shared_; }
  petscrrb::index_t mine() const { return mine_; } /* rows of which this rank computes an application */
  /* apply(r, z) with vectors in that order, which writes z: all of them, or the part between the cuts. */
  template <class Apply> PetscErrorCode Use(Vec x, Vec y, const Apply &apply) {
    PetscFunctionBegin;
    if (!shared_) PetscCall(Connect());
    const VecScatter to = shared_ ? to_part_ : to_all_, back = shared_ ? to_part_ : to_own_;
    const ScatterMode mode = shared_ ? SCATTER_REVERSE : SCATTER_FORWARD;
    PetscCall(Move(to, x, r_, SCATTER_FORWARD));
    PetscCall(apply(r_, z_));
    PetscCall(Move(back, z_, y, mode));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static PetscErrorCode Move(VecScatter how, Vec from, Vec to, ScatterMode mode) {
    PetscFunctionBegin;
    PetscCall(VecScatterBegin(how, from, to, INSERT_VALUES, mode));
    PetscCall(VecScatterEnd(how, from, to, INSERT_VALUES, mode));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode FindOrder(PC, Mat P, std::vector<PetscInt> *places);
  PetscErrorCode FindCuts(Mat P, const std::vector<PetscInt> &place);
  PetscErrorCode Connect(); /* with the rows of all, where that is needed: it takes long */

  IS order_ = nullptr;                          /* the row of P for each one of all */
  IS own_ = nullptr;                            /* the places of own rows in that order */
  Vec x_ = nullptr, r_ = nullptr, z_ = nullptr; /* x_: like the rows of P */
  VecScatter to_all_ = nullptr, to_own_ = nullptr, to_part_ = nullptr;
  std::vector<petscrrb::index_t> cuts_;
  PetscBool shared_ = PETSC_FALSE;
  petscrrb::index_t mine_ = 0;
};
