/*
   The rows of a matrix on several ranks that one rank works with: its own, then ghosts, which are other ranks' rows that
   own ones are coupled with.
*/
#pragma once

#include <petscpc.h>

#include "grid/csr.hpp"
#include "petsc/ghosts.h"
#include "grid/pattern.hpp"
#include "grid/grid.hpp"

#include <string>
#include <vector>

class PetscRRBOverlap : petscrrb::NotCopied {
public:
  ~PetscRRBOverlap() { (void)PetscSFDestroy(&rows_); }

  /* The pattern of A, of which P is the MATMPIAIJ, on the host. layers: 1: rows that own ones are coupled with; 2: and those that these are.
     Collective. */
  PetscErrorCode Build(PC, Mat A, Mat P, int layers);
  /* The values of P, of the same pattern, in the order of ja(): to the device, if P is there, or to the host. Collective. */
  PetscErrorCode Exchange(Mat P, PetscBool device, PetscScalar *a);

  /* Values of own rows, on the device or on the host, to the ghosts that follow them. Collective. */
  PetscErrorCode ExchangeRows(PetscBool device, PetscScalar *values);

  PetscInt own() const { return own_; }
  PetscInt ghosts() const {
    return (PetscInt)ghosts_.size() + 1;
  } /* the last one is for all that are not here; empty */
  PetscInt entries() const { return ia_.back(); }
  petscrrb::Csr rows(const PetscScalar *a) const { return {own_, ia_.data(), ja_.data(), a}; } /* ghosts follow */
  const std::vector<PetscInt> &ia() const { return ia_; }
  const std::vector<PetscInt> &ja() const { return ja_; }
  PetscInt global(PetscInt row) const { return row < own_ ? first_ + row : ghosts_[(std::size_t)(row - own_)]; }
  /* The place of each row in the natural order of the grid; "PC's DMDA", "Mat's DMDA" or "numbering of the rows" */
  const std::vector<PetscInt> &order() const { return order_; }
  const std::string &source() const { return source_; }

private:
  struct Entries; /* rows by global columns, and where each value stands on its owner */

  PetscErrorCode TakeOwn(Mat own, Mat other, const PetscInt columns[], Entries *);
  PetscErrorCode TakeGhosts(Mat P, Entries *);
  void SetPattern(Entries &);
  PetscErrorCode ExchangeOrder(PC, Mat A);
  PetscInt LocalOf(PetscInt global) const;

  PetscInt own_ = 0, first_ = 0;
  std::vector<PetscInt> ghosts_; /* global, sorted */
  std::vector<PetscInt> ia_, ja_, order_;
  std::string source_;
  std::vector<PetscInt> place_; /* petscrrb::Source of each entry, on the owner of its row */
  PetscSF rows_ = nullptr;      /* own rows to ghosts */
  PetscRRBRowValues values_{"rows with ghosts"};
};

/* The natural number of each own row: that of its grid point where the PC's or the matrix's DM is a DMDA of that many
   points, else its own. Collective. */
PetscErrorCode PetscRRBNaturalOrder(PC, Mat P, std::vector<PetscInt> *, std::string *source);

/* Trouble with a DMDA of dof unknowns a point and of n points, or a part of it. flat: the PC is for 2D grids */
PetscErrorCode PetscRRBRefuseDMDA(PC, PetscInt dof, const PetscInt n[3], PetscBool flat, PetscRRBTrouble *);

/* The grid of all ranks, whose natural order that is: n, the sizes that a user gave, zeros for none; else those of that
   DMDA. option: its name with the PC's prefix left out. Raises the reason where nobody tells. */
PetscErrorCode PetscRRBFindGridOfAllRanks(PC, Mat, const PetscInt n[3], const char *option, petscrrb::Grid *);

/* The boxes of points that the ranks have: rank (k * rows + j) * columns + i has x[i] <= a < x[i + 1], and so in y and z. */
struct PetscRRBCuts {
  std::vector<petscrrb::index_t> x, y, z;
};

/* Of the DMDA whose natural order that is, with the sizes of its grid; *found: there is one. Sides of one point go last. Raises the
   reason where it has several unknowns a point, or is not as flat as the PC wants it. Collective. */
PetscErrorCode PetscRRBCutsOfDMDA(PC, Mat, PetscBool flat, petscrrb::Grid *, PetscRRBCuts *, PetscBool *found);

/* Where rows are numbered in natural order: lines, each of which goes to the rank that has its first point. *whole: no rank
   begins within a line. Collective. */
PetscErrorCode PetscRRBCutsOfRows(Mat, const petscrrb::Grid &, PetscRRBCuts *, PetscBool *whole);

/* The words of the first rank that has some: explain(rows, identity), with the values of P. From a copy of all rows that matter,
   on the host. Collective. */
template <class Explain>
PetscErrorCode PetscRRBExplain(const PetscRRBSay &say, PetscRRBOverlap &overlap, Mat P, PetscRRBTrouble *trouble,
                               const Explain &explain) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  std::vector<PetscScalar> a;

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(comm, say, [&] { a.resize((std::size_t)overlap.entries()); }));
  PetscCall(overlap.Exchange(P, PETSC_FALSE, a.data()));
  PetscRRBCatch(say, trouble, [&] {
    const petscrrb::Csr rows = overlap.rows(a.data());
    petscrrb::Csr all = rows;
    all.n += overlap.ghosts();
    petscrrb::Flags identity((std::size_t)all.n);
    (void)petscrrb::mark_identity(petscrrb::RankRows(all), identity.data());
    *trouble = {explain(rows, identity), PETSC_ERR_ARG_WRONG};
    return PETSC_SUCCESS;
  });
  PetscCall(PetscRRBFirstTrouble(comm, trouble));
  PetscFunctionReturn(PETSC_SUCCESS);
}
