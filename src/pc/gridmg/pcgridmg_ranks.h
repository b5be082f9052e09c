/* How the grid of a matrix is dealt out to several ranks, and what comes to a rank's box: rows of the matrix, and vectors. A Mat is
   Pmat as a MATMPIAIJ. */
#pragma once

#include "petsc/box_rows.h"
#include "petsc/overlap.h"
#include "pc/gridmg/core/cuts.hpp"
#include "stencil/facts.hpp"

class PCGridMGDistribution {
public:
  PCGridMGDistribution() = default;
  PCGridMGDistribution(const PCGridMGDistribution &) = delete;
  PCGridMGDistribution &operator=(const PCGridMGDistribution &) = delete;
  ~PCGridMGDistribution() {
    for (PetscSF *sf : {&vectors_, &around_}) (void)PetscSFDestroy(sf);
    (void)PetscLayoutDestroy(&layout_);
  }

  /* The grid of all ranks, told by a DMDA, the user or the nonzeros, and whose points the rows are. Collective. */
  PetscErrorCode FindGrid(PC, Mat, petscrrb::Grid *);
  /* Boxes of it that are coarsened until a grid has `gather` points, and the rows that this rank's box needs. Collective. */
  PetscErrorCode Build(PC, Mat, const petscrrb::Grid &, petscrrb::index_t gather);

  const petscrrb::gridmg::Cuts &cuts() const { return boxes_; } /* of the boxes */
  PetscRRBBoxRows &rows() { return rows_; }
  /* The global number of a row that Rows has of this rank's box. */
  petscrrb::index_t global(petscrrb::index_t row) const { return wanted_[(std::size_t)row]; }
  /* Row r of all is the point (i, j, k): "row r at (i, j, k)"; may throw. */
  std::string words(petscrrb::index_t row) const;

  /* Vectors of rows to boxes and back, where the arrays are; whether boxes have just the rows that are here. Collective. */
  bool as_rows() const { return !vectors_; }
  PetscErrorCode ToBoxes(PetscBool device, const PetscScalar *rows, PetscScalar *box) const;
  PetscErrorCode ToWanted(PetscBool device, const PetscScalar *rows,
                          PetscScalar *wanted); /* with what is around the box */
  PetscErrorCode ToRows(PetscBool device, const PetscScalar *box, PetscScalar *rows) const;

  /* The first row that has a coupling which the grid has no place for; an empty string where there is none. Collective. */
  PetscErrorCode WhyForeign(PC, Mat, std::string *why) const;
  PetscErrorCode View(PetscViewer) const;
  double bytes() const { return rows_.bytes(); }

private:
  struct Point {
    petscrrb::index_t at[3];
  };
  PetscErrorCode TakeCutsOfRows(Mat);
  PetscErrorCode FindRings(PC, Mat, petscrrb::Grid *) const;
  PetscErrorCode AskPattern(PC, Mat, bool told, petscrrb::Grid *) const;
  void CutBoxes(petscrrb::index_t gather);
  Point point(petscrrb::index_t row) const;
  PetscInt row(const Point &) const;

  petscrrb::gridmg::Cuts rows_of_,
      boxes_;            /* rows_of_: where the rows' ranks are, to the next line or plane where these are not boxes */
  bool natural_ = false; /* rows are numbered in natural order; else by ranks' boxes */
  std::vector<PetscInt> ranges_; /* of the ranks' rows */
  std::vector<PetscInt> wanted_;
  PetscRRBBoxRows rows_;
  PetscLayout layout_ = nullptr; /* of the rows */
  PetscSF around_ = nullptr;     /* made when it is needed */
  PetscSF vectors_ = nullptr;    /* NULL: boxes have just the rows of their ranks */
};
