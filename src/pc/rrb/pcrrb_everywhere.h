/* A matrix of several ranks, and vectors, on each of them: where PCRRB takes a graph, each rank factors all that one would. */
#pragma once

#include "exec/not_copied.hpp"
#include "exec/range.hpp"
#include "pc/rrb/host/rows_of_ranks.hpp"
#include "petsc/compat.h"

#include <petscpc.h>

#include <vector>

class PCRRBEverywhere : petscrrb::NotCopied {
public:
  ~PCRRBEverywhere();

  /* All rows of P, pc->pmat as a MATMPIAIJ, in the natural order of its DMDA if there is one. Once; then Refresh() takes new values of the
     same nonzeros. Collective, as all of these. */
  PetscErrorCode Build(PC, Mat P);
  PetscErrorCode Refresh(Mat P);
  Mat rows() const { return rows_; } /* a SEQAIJ, where P is */
  /* For who brings new values otherwise: how many nonzeros each rank has, and of each of rows(), its number among those, one rank's behind
     another's. A rank's are those of P's diagonal block, and then those of the other one. */
  const std::vector<petscrrb::index_t> &nonzeros() const { return nonzeros_; }
  const petscrrb::host::Buffer<petscrrb::rrb::node_t> &numbers() const { return all_.from; }

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
    PetscCall(VecScatterBegin(to, x, r_, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(to, x, r_, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(apply(r_, z_));
    PetscCall(VecScatterBegin(back, z_, y, INSERT_VALUES, mode));
    PetscCall(VecScatterEnd(back, z_, y, INSERT_VALUES, mode));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode FindOrder(PC, Mat P, IS *places);
  PetscErrorCode FindCuts(Mat P, const std::vector<PetscInt> &place);
  PetscErrorCode GatherRows(Mat P, IS places);
  PetscErrorCode MakeMatrix(Mat P);
  PetscErrorCode Connect(); /* with the rows of all, where that is needed: it takes long */

  IS order_ = nullptr; /* the row of P for each one of all */
  IS own_ = nullptr;   /* the places of own rows in that order */
  petscrrb::rrb::RowsTogether all_;
  petscrrb::host::Buffer<PetscScalar> values_;
  std::vector<petscrrb::index_t> nonzeros_;
  Mat rows_ = nullptr; /* of these arrays */
  Vec x_ = nullptr, r_ = nullptr, z_ = nullptr; /* x_: like the rows of P */
  VecScatter to_all_ = nullptr, to_own_ = nullptr, to_part_ = nullptr;
  std::vector<petscrrb::index_t> cuts_;
  PetscBool shared_ = PETSC_FALSE;
  petscrrb::index_t mine_ = 0;
};
