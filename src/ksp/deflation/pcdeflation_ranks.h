/* What the projections of several ranks do together, by MPI. An MPI that returns errors makes them exceptions. */
#pragma once

#include "ksp/deflation/core/deflation.hpp"
#include "petsc/agree.h"
#include "petsc/compat.h"
#include "petsc/mpi_throws.h"
#include "petsc/overlap.h"

#include <algorithm>

class PCDeflationRanks final : public petscrrb::deflation::Ranks {
public:
  /* comm: the PC's; say: what an exception of this rank means */
  PCDeflationRanks(MPI_Comm comm, const PetscRRBSay &say) : comm_(comm), say_(say) {}

  mutable PetscRRBOverlap overlap; /* with the rows of the matrix */

  bool alone() const override { return false; }
  PetscInt ghosts() const override { return overlap.ghosts(); }
  petscrrb::index_t point(PetscInt row) const override { return overlap.order()[(std::size_t)row]; }
  petscrrb::index_t number(PetscInt row) const override { return overlap.global(row); }
  void sum(double *x, std::size_t n) const override { PetscRRBCheckMPI(PetscRRBSum(comm_, x, (int)n)); }
  void exchange(double *values) const override { PetscRRBCheckSent(overlap.ExchangeRows(PETSC_FALSE, values)); }
  bool any(bool here) const override {
    PetscMPIInt all = here;
    PetscRRBCheckMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, comm_));
    return all;
  }
  std::vector<std::uint64_t> unite(std::vector<std::uint64_t> here) const override {
    std::vector<std::uint64_t> all = PetscRRBAllGather(comm_, MPI_UINT64_T, here);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  std::string first(const std::string &why) const override {
    PetscRRBTrouble trouble{why, PETSC_SUCCESS};
    PetscRRBCheckSent(PetscRRBFirstTrouble(comm_, &trouble));
    if (trouble.code) throw PetscRRBError(trouble.why, trouble.code, trouble.settled);
    return trouble.why;
  }
  void agree(const std::exception_ptr &here) const override {
    PetscRRBThrowTogether(comm_, say_, [&] {
      if (here) std::rethrow_exception(here);
    });
  }

private:
  MPI_Comm comm_;
  PetscRRBSay say_;
};
