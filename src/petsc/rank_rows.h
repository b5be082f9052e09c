/*
   The rows of a matrix on several ranks as each rank has them, without a copy (grid/rank_rows.hpp): where its ghosts are, and
   what comes from their owners.
*/
#pragma once

#include <petscmat.h>
#include <petscsf.h>

#include "exec/not_copied.hpp"
#include "grid/rank_rows.hpp"
#include "stencil/facts.hpp"

#include <vector>

/* The arrays of an AIJ on this rank, on the device, where it is there, or on the host; their places are in the order of rows. */
PetscErrorCode PetscRRBRankRowsGet(Mat, PetscBool device, petscrrb::RankRows *);
PetscErrorCode PetscRRBRankRowsRestore(Mat, PetscBool device, petscrrb::RankRows *);

/* What all ranks together have found, each of its rows, which it has numbered globally. Collective. */
PetscErrorCode PetscRRBAgreeOnFacts(MPI_Comm, petscrrb::RowFacts *);

class PetscRRBRankRows : petscrrb::NotCopied {
public:
  ~PetscRRBRankRows();

  /* For the pattern of P, a MATMPIAIJ, and the places of this rank's rows. Ghosts are other ranks' rows that own ones are
     coupled with. Collective. */
  PetscErrorCode Build(Mat P, const petscrrb::BoxPlaces &);
  /* P's arrays, of that pattern, where P is or on the host; ghost_places are the host's. */
  PetscErrorCode Get(Mat P, PetscBool device, petscrrb::RankRows *) const;
  PetscErrorCode Restore(Mat P, PetscBool device, petscrrb::RankRows *) const;

  /* Of each entry of `others`, from its ghost's owner: the transposed entry; what has none is left as it is. All arrays
     are on the device, or on the host. Collective. */
  PetscErrorCode ExchangeTransposed(PetscBool device, const petscrrb::RankRows &, PetscScalar *to) const;
  /* Own rows' values to the ghosts, behind them. type: MPIU_SCALAR or MPI_UNSIGNED_CHAR. Collective. */
  PetscErrorCode ExchangeRows(PetscBool device, MPI_Datatype type, const void *own, void *ghosts) const;

  PetscInt own() const { return own_; }
  PetscInt ghosts() const { return (PetscInt)ghosts_.size(); }
  PetscInt global(PetscInt row) const { return row < own_ ? first_ + row : ghosts_[(std::size_t)(row - own_)]; }
  PetscInt other_entries() const { return other_entries_; }
  const std::vector<PetscInt> &ghost_places() const { return ghost_places_; }

private:
  PetscErrorCode SetPlaces(Mat P, const petscrrb::BoxPlaces &);
  PetscErrorCode ConnectTransposed(Mat P, Mat others);

  PetscInt own_ = 0, first_ = 0, other_entries_ = 0;
  petscrrb::BoxPlaces places_;
  std::vector<PetscInt> ghosts_, ghost_places_; /* ghosts_: global, sorted */
  PetscSF rows_ = nullptr;                      /* own rows to ghosts */
  PetscSF transposed_ = nullptr;                /* others' entries to others' */
};
