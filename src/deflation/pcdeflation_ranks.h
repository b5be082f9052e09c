/* Deflation of a matrix on several ranks: what the projections of all of them do together, by MPI. */
#pragma once

#include "deflation/deflation.hpp"
#include "glue/overlap.h"

class PCDeflationRanks final : public petscrrb::deflation::Ranks {
public:
  explicit PCDeflationRanks(MPI_Comm comm) : comm_(comm) {}

  /* The rows of A, of which P is the MATMPIAIJ. Collective. */
  PetscErrorCode Build(PC pc, Mat A, Mat P) { return overlap_.Build(pc, A, P, 1); }
  PetscRRBOverlap &overlap() { return overlap_; }

  PetscInt ghosts() const override { return overlap_.ghosts(); }
  petscrrb::index_t point(PetscInt row) const override { return overlap_.order()[(std::size_t)row]; }
  petscrrb::index_t number(PetscInt row) const override { return overlap_.global(row); }
  void sum(double *, std::size_t) const override;
  void bring(double *) const override;
  double largest(double) const override;
  std::vector<std::uint64_t> unite(const std::vector<std::uint64_t> &) const override;
  std::string first(const std::string &why) const override;

private:
  MPI_Comm comm_; /* the PC's */
  mutable PetscRRBOverlap overlap_;
};
