#include "comm/devices_of_ranks.h"

#if PETSCRRB_ON_DEVICES

  #include "exec/cuda/cuda.hpp"
  #include "petsc/mpi_throws.h"

  #include <map>

/* Where a rank's device is: its machine, named by the first rank that is there, and its place on the PCI bus. */
static std::vector<int> PlaceOfDevice(int first_here) {
  using petscrrb::cuda::attribute;
  return {first_here, attribute(cudaDevAttrPciDomainId), attribute(cudaDevAttrPciBusId),
          attribute(cudaDevAttrPciDeviceId)};
}

PetscErrorCode PetscRRBFirstRankOfMachine(MPI_Comm comm, int *first) {
  MPI_Comm machine;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, first));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, *first, MPI_INFO_NULL, &machine));
  PetscCallMPI(MPI_Bcast(first, 1, MPI_INT, 0, machine));
  PetscCallMPI(MPI_Comm_free(&machine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBFindSharedDevice(MPI_Comm comm, std::string *why_not) {
  int first;
  std::string which;

  PetscFunctionBegin;
  PetscCall(PetscRRBFirstRankOfMachine(comm, &first));
  PetscCall(PetscRRBWhyNot(comm, why_not, [&] {
    const std::vector<int> place = PlaceOfDevice(first), all = PetscRRBAllGather(comm, MPI_INT, place);
    std::map<std::vector<int>, std::size_t> rank_with;
    for (std::size_t p = 0; p < all.size() && which.empty(); p += place.size()) {
      const std::size_t rank = p / place.size();
      const auto [other, alone] = rank_with.try_emplace({&all[p], &all[p] + place.size()}, rank);
      if (!alone) which = "ranks " + std::to_string(other->second) + " and " + std::to_string(rank) + " share a GPU";
    }
  }));
  if (why_not->empty()) *why_not = std::move(which);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
