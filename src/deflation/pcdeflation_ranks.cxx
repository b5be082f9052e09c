/* What the projections of all ranks do together. An MPI that returns errors makes them exceptions. */
#include "deflation/pcdeflation_ranks.h"

#include "glue/agree.h"
#include "glue/petsc_compat.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

static void Check(int code) {
  if (code != MPI_SUCCESS) throw std::runtime_error("MPI error " + std::to_string(code));
}

/* MPI does not promise that all ranks get the same bits of a sum: the first one's are taken. */
void PCDeflationRanks::sum(double *x, std::size_t n) const {
  int rank;
  Check(MPI_Comm_rank(comm_, &rank));
  Check(MPI_Reduce(rank ? x : MPI_IN_PLACE, x, (int)n, MPI_DOUBLE, MPI_SUM, 0, comm_));
  Check(MPI_Bcast(x, (int)n, MPI_DOUBLE, 0, comm_));
}

void PCDeflationRanks::bring(double *values) const {
  if (overlap_.BringRows(values) != PETSC_SUCCESS)
    throw std::runtime_error("PETSc could not send values to other ranks");
}

double PCDeflationRanks::largest(double x) const {
  Check(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, comm_));
  return x;
}

std::vector<std::uint64_t> PCDeflationRanks::unite(const std::vector<std::uint64_t> &mine) const {
  int ranks, count = (int)mine.size();
  Check(MPI_Comm_size(comm_, &ranks));
  std::vector<int> counts((std::size_t)ranks), starts((std::size_t)ranks);
  Check(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_));
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  std::vector<std::uint64_t> all((std::size_t)(starts.back() + counts.back()));
  Check(
      MPI_Allgatherv(mine.data(), count, MPI_UINT64_T, all.data(), counts.data(), starts.data(), MPI_UINT64_T, comm_));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string PCDeflationRanks::first(const std::string &why) const {
  PetscRRBTrouble trouble{why, PETSC_SUCCESS};
  if (PetscRRBFirstTrouble(comm_, &trouble) != PETSC_SUCCESS) throw std::runtime_error("MPI error");
  return trouble.why;
}
