/* How the grid of a matrix is dealt out to several ranks, and what comes to a rank's box: rows of the matrix, and vectors. A Mat is
   Pmat as a MATMPIAIJ. */
#pragma once

#include "exec/not_copied.hpp"
#include "petsc/box_rows.h"
#include "petsc/box_vectors.h"
#include "petsc/matrix.h"
#include "petsc/overlap.h"
#include "pc/gridmg/core/cuts.hpp"
#include "stencil/facts.hpp"

class PCGridMGDistribution : petscrrb::NotCopied {
public:
  explicit PCGridMGDistribution(PetscBool device) : device_(device), vectors_(device) {} /* where the matrix is */
  ~PCGridMGDistribution() {
    (void)PetscSFDestroy(&around_);
    (void)PetscLayoutDestroy(&layout_);
  }

  /* The grid of all ranks, told by a DMDA, the user or the nonzeros, and whose points the rows are. Collective. */
  PetscErrorCode FindGrid(PC, Mat, petscrrb::Grid *);
  /* Boxes of it that are coarsened until a grid has `gather` points, and the rows that this rank's box needs. Collective. */
  PetscErrorCode Build(PC, Mat, const petscrrb::Grid &, petscrrb::index_t gather);

  const petscrrb::gridmg::Cuts &cuts() const { return boxes_; } /* of the boxes */
  petscrrb::gridmg::Shape box() const { return boxes_.box(rank_); }
  /* Of P as it is now. The pattern, which may have changed: *changed. Collective. */
  PetscErrorCode FollowPattern(PC, Mat, bool *changed);
  PetscRRBBoxRows &rows() { return rows_; }
  /* The global number of a row that Rows has of this rank's box. */
  petscrrb::index_t global(petscrrb::index_t row) const { return wanted_[(std::size_t)row]; }
  /* Row r of all is the point (i, j, k): "row r at (i, j, k)"; may throw. */
  std::string words(petscrrb::index_t row) const;

  const PetscRRBBoxVectors &vectors() const { return vectors_; }
  /* Of rows, to the box and what is around it. Collective. */
  PetscErrorCode ToWanted(const PetscScalar *rows, PetscScalar *wanted);

  /* The first row that has a coupling which the grid has no place for; an empty string where there is none. Collective. */
  PetscErrorCode WhyForeign(PC, Mat, std::string *why) const;
  PetscErrorCode View(PetscViewer) const;
  double bytes() const { return rows_.bytes(); }

private:
  using Point = petscrrb::gridmg::Sizes;

  PetscRRBBoxRows::Number NumberInBox() const;
  PetscErrorCode TakeCutsOfRows(Mat);
  std::array<int, 3> RingsOf(const petscrrb::Csr &, const PetscInt others[], const petscrrb::Grid &) const;
  PetscErrorCode FindRings(PC, Mat, petscrrb::Grid *) const;
  PetscErrorCode AskPattern(PC, Mat, bool told, petscrrb::Grid *) const;
  void CutBoxes(petscrrb::index_t gather);
  void TakeBox(const petscrrb::Grid &, std::vector<PetscInt> *own);
  Point point(petscrrb::index_t row) const;
  PetscInt row(const Point &) const;

  const PetscBool device_;
  PetscMPIInt rank_ = 0;
  petscrrb::gridmg::Cuts rows_of_; /* where the rows' ranks are, to the next line or plane where these are not boxes */
  petscrrb::gridmg::Cuts boxes_;
  bool natural_ = false;         /* rows are numbered in natural order; else by ranks' boxes */
  std::vector<PetscInt> ranges_; /* of the ranks' rows */
  std::vector<PetscInt> wanted_;
  PetscRRBBoxRows rows_;
  PetscRRBMatrixState pattern_; /* of the matrix that they are of */
  PetscRRBBoxVectors vectors_;
  PetscLayout layout_ = nullptr; /* of the rows */
  PetscSF around_ = nullptr;     /* made when it is needed */
};
