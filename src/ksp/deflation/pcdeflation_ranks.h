/* Deflation of a matrix on several ranks: what the projections of all of them do together, by MPI. */
#pragma once

#include "ksp/deflation/core/deflation.hpp"
#include "petsc/agree.h"
#include "petsc/overlap.h"

class PCDeflationRanks final : public petscrrb::deflation::Ranks {
public:
  /* say: what an exception of this rank means */
  PCDeflationRanks(MPI_Comm comm, const PetscRRBSay &say) : comm_(comm), say_(say) {}

  /* The rows of A, of which P is the MATMPIAIJ. Collective. */
  PetscErrorCode Build(PC pc, Mat A, Mat P) { return overlap_.Build(pc, A, P, 1); }
  PetscRRBOverlap &overlap() { return overlap_; }

  PetscInt ghosts() const override { return overlap_.ghosts(); }
  petscrrb::index_t point(PetscInt row) const override { return overlap_.order()[(std::size_t)row]; }
  petscrrb::index_t number(PetscInt row) const override { return overlap_.global(row); }
  void sum(double *, std::size_t) const override;
  void exchange(double *) const override;
  double largest(double) const override;
  std::vector<std::uint64_t> unite(const std::vector<std::uint64_t> &) const override;
  std::string first(const std::string &why) const override;
  void agree(const std::exception_ptr &) const override;

private:
  MPI_Comm comm_; /* the PC's */
  PetscRRBSay say_;
  mutable PetscRRBOverlap overlap_;
};
