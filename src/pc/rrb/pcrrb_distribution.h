/* How the grid of a matrix is dealt out to several ranks, and what they read of their rows. A Mat is Pmat as a MATMPIAIJ. */
#pragma once

#include "exec/not_copied.hpp"
#include "petsc/box_vectors.h"
#include "petsc/overlap.h"
#include "petsc/rank_rows.h"
#include "pc/rrb/ranks/distributed.hpp"
#include "pc/rrb/ranks/graph_on_ranks.hpp"
#include "pc/rrb/pcrrb_data.h"
#include "pc/rrb/pcrrb_row_values.h"

/* Whether it is so on all ranks: they may differ where their processors do. Collective. */
inline PetscErrorCode PCRRBAgree(MPI_Comm comm, PetscBool *yes) {
  PetscMPIInt all = *yes;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
  *yes = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

class PCRRBDistribution : petscrrb::NotCopied {
public:
  explicit PCRRBDistribution(std::unique_ptr<PCRRBRowValues> values)
      : values_(std::move(values)), vectors_(values_->on_device) {}

  PetscErrorCode FindGrid(PC, Mat, petscrrb::Grid *);
  /* The stencil of the rank's box. */
  PetscErrorCode Read(PC, Mat, const petscrrb::Grid &, Vec near_null, double rounding, petscrrb::Positive,
                      PCRRBStencil *, PCRRBValues *);
  /* The same of a matrix as it is now, which the preconditioner need not have seen, with its V, but for rows that have become
     identity rows. Positive couplings stay.
     Where Read() has found just that, its arrays are shown again, and nothing is put into the stencil. */
  PetscErrorCode ReadForSolver(PC, Mat, const petscrrb::Grid &, double rounding, PCRRBStencil *, PCRRBStencilArrays *,
                               petscrrb::RowFacts *, petscrrb::ReadResult *);

  /* The boxes of a grid of all ranks, and its grid that all of them have; may throw. */
  void SetBoxes(PC, const petscrrb::rrb::Extent &all, int levels);
  const petscrrb::rrb::Boxes &boxes() const { return *boxes_; }
  int gathered() const { return gathered_; }
  bool corners() const { return corners_; } /* of what was read: the grid has 9 points */

  /* Boxes are not what the rows are where parts of lines are on another rank than their line. */
  const PetscRRBBoxVectors &vectors() const { return vectors_; }
  PetscErrorCode View(PetscViewer) const;
  double bytes() const;

private:
  PetscErrorCode FollowPattern(PC, Mat);
  PetscErrorCode ExchangeRows(PC, Mat, const petscrrb::Grid &);
  PetscErrorCode LookAtPattern(PC, Mat, bool told, const char *option, petscrrb::Grid *, std::string *why);
  PetscErrorCode FindCuts(PC, petscrrb::Grid *);
  PetscErrorCode Connect(Mat);
  PetscErrorCode ReadNearNullVector(PC, Vec);
  PetscErrorCode ExchangeVector();
  PetscErrorCode ReadRows(PC, Mat, const petscrrb::Grid &, double rounding, petscrrb::Positive, PCRRBStencil *,
                          PCRRBStencilArrays *, petscrrb::RowFacts *, petscrrb::ReadResult *);
  PetscErrorCode WhyRefused(PC, Mat, const petscrrb::Grid &, PCRRBValues *);
  PetscErrorCode MoveToBoxes(const PCRRBStencilArrays &) const;

  PetscRRBRankRows rows_;
  PetscRRBMatrixState pattern_;            /* of the matrix that they are of */
  petscrrb::RankRows got_;                 /* the matrix's arrays, while they are read */
  std::unique_ptr<PCRRBRowValues> values_; /* of these rows */
  bool prepared_ = false;                  /* they are for their pattern and for the grid */
  petscrrb::RowFacts facts_;
  PetscRRBCuts cuts_;
  petscrrb::BoxPlaces places_;
  PetscRRBBoxVectors vectors_;
  PCRRBStencilArrays own_; /* of own rows: the box's, or others where the box has other rows */
  PCRRBStencilArrays box_; /* of the last Read(), with what was read, unless others were read since */
  PetscRRBMatrixState read_;
  bool corners_ = false;

  std::unique_ptr<petscrrb::rrb::Boxes> boxes_;
  int gathered_ = 0;
};
