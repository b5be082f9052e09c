/* How the grid of a matrix is dealt out to several ranks, and the values of their rows. */
#pragma once

#include "glue/overlap.h"
#include "glue/pattern_ranks.h"
#include "rrb/distributed.hpp"
#include "rrb/pcrrb_impl.h"
#include "rrb/read_rows.hpp"

class PCRRBDistribution {
public:
  PCRRBDistribution() = default;
  PCRRBDistribution(const PCRRBDistribution &) = delete;
  PCRRBDistribution &operator=(const PCRRBDistribution &) = delete;
  ~PCRRBDistribution();

  PetscErrorCode FindGrid(PC, petscrrb::Grid *);
  /* The stencil of the rank's box, on the host, prepared. */
  PetscErrorCode Read(PC, const petscrrb::Grid &, Vec near_null, double rounding, petscrrb::Stencil &, PCRRBValues *);
  /* The same of the matrix that on_ranks is now, which need not be what the preconditioner is made from, with its V.
     Positive couplings stay. known: own rows without couplings. */
  struct KnownRow {
    PetscInt row;
    PetscScalar diagonal;
  };
  PetscErrorCode ReadForSolver(PC, const petscrrb::Grid &, double rounding, petscrrb::Stencil &,
                               std::vector<KnownRow> *known, petscrrb::rrb::RowFacts *, petscrrb::ReadResult *);
  void weights(double *x, double *y) const { *x = facts_.weights[0], *y = facts_.weights[1]; }

  /* The boxes of a grid of all ranks, and its grid that all of them have; may throw. */
  void SetBoxes(PC, const petscrrb::rrb::Extent &all, int levels);
  const petscrrb::rrb::Boxes &boxes() const { return *boxes_; }
  int gathered() const { return gathered_; }

  /* Rows to points of the box, where parts of lines are on another rank than their line: own rows are the roots, points
     of the box the leaves. NULL where vectors are what the boxes have. */
  PetscSF lines() const { return lines_; }
  PetscErrorCode ToBoxes(const PetscScalar *rows, PetscScalar *box) const; /* on the host */
  PetscErrorCode ToRows(const PetscScalar *box, PetscScalar *rows) const;
  PetscErrorCode View(PetscViewer) const;
  double bytes() const;

private:
  PetscErrorCode BringRows(PC, const petscrrb::Grid *);
  PetscErrorCode FindCuts(PC, petscrrb::Grid *);
  PetscErrorCode Connect(Mat);
  PetscErrorCode ReadNearNullVector(PC, Vec);
  PetscErrorCode ReadRows(PC, const petscrrb::Grid &, double rounding, petscrrb::Positive, petscrrb::Stencil &,
                          petscrrb::rrb::RowFacts *, petscrrb::ReadResult *);
  PetscErrorCode WhyRefused(PC, const petscrrb::Grid &, PCRRBValues *);
  PetscErrorCode MoveToBoxes(petscrrb::Stencil &) const;

  PetscRRBOverlap overlap_;
  PetscObjectId source_ = 0; /* the matrix that the overlap is made for, and its pattern then */
  PetscObjectState pattern_ = -1;
  std::vector<PetscScalar> a_; /* the values of the overlap's rows */
  petscrrb::Flags identity_;   /* of the same */
  std::vector<double> v_;      /* likewise; empty: 1 */
  petscrrb::rrb::RowPlaces places_;
  petscrrb::rrb::RowFacts facts_;
  PetscRRBCuts cuts_;
  PetscSF lines_ = nullptr;
  petscrrb::Stencil rows_; /* of own rows, where there are lines() */
  bool corners_ = false;   /* the grid has 9 points */

  std::unique_ptr<petscrrb::rrb::Boxes> boxes_;
  int gathered_ = 0;
};
