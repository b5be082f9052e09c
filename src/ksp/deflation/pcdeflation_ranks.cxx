/* What the projections of all ranks do together. An MPI that returns errors makes them exceptions. */
#include "ksp/deflation/pcdeflation_ranks.h"

#include "petsc/mpi_throws.h"
#include "petsc/compat.h"

#include <algorithm>

void PCDeflationRanks::sum(double *x, std::size_t n) const { PetscRRBCheckMPI(PetscRRBSum(comm_, x, (int)n)); }

void PCDeflationRanks::exchange(double *values) const { PetscRRBCheckSent(overlap_.ExchangeRows(PETSC_FALSE, values)); }

double PCDeflationRanks::largest(double x) const {
  PetscRRBCheckMPI(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, comm_));
  return x;
}

std::vector<std::uint64_t> PCDeflationRanks::unite(const std::vector<std::uint64_t> &mine) const {
  std::vector<std::uint64_t> all = PetscRRBAllGather(comm_, MPI_UINT64_T, mine);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string PCDeflationRanks::first(const std::string &why) const {
  PetscRRBTrouble trouble{why, PETSC_SUCCESS};
  PetscRRBCheckSent(PetscRRBFirstTrouble(comm_, &trouble));
  if (trouble.code) throw PetscRRBError(trouble.why, trouble.code, trouble.settled);
  return trouble.why;
}

void PCDeflationRanks::agree(const std::exception_ptr &mine) const {
  PetscRRBThrowTogether(comm_, say_, [&] {
    if (mine) std::rethrow_exception(mine);
  });
}
