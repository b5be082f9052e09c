/* Exchanges between the boxes of several ranks: a PetscSF for each plan, whose roots and leaves are places of one array. */
#include "comm/ranks_mpi.h"

#include "petsc/agree.h"
#include "petsc/mpi_throws.h"
#include "petsc/compat.h"

#include <algorithm>
#include <numeric>

using petscrrb::rrb::Plan;

PetscRRBRanksOfComm::PetscRRBRanksOfComm(MPI_Comm comm) : comm_(comm) {
  PetscRRBCheckMPI(MPI_Comm_rank(comm, &rank_));
  PetscRRBCheckMPI(MPI_Comm_size(comm, &count_));
}

std::vector<double> PetscRRBRanksOfComm::gather_numbers(const std::vector<double> &mine) {
  const int n = (int)mine.size();
  std::vector<double> all;
  PetscRRBThrowTogether(comm_, PetscRRBSay("PCRRB"), [&] { all.resize(mine.size() * (std::size_t)count_); });
  PetscRRBCheckMPI(MPI_Allgather(mine.data(), n, MPI_DOUBLE, all.data(), n, MPI_DOUBLE, comm_));
  return all;
}

PetscRRBRanks::~PetscRRBRanks() {
  for (auto &exchange : exchanges_) (void)PetscSFDestroy(&exchange.second);
}

/* All ranks have room for theirs before they speak of it. */
PetscErrorCode PetscRRBRanks::Make(const Plan &plan) {
  std::vector<PetscInt> leaves;
  std::vector<PetscSFNode> roots;
  petscrrb::index_t size = 0, largest = 0;
  PetscSF *sf = nullptr, made;

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(comm(), PetscRRBSay("PCRRB", PETSC_ERR_ARG_OUTOFRANGE), [&] {
    for (const Plan::Peer &peer : plan.peers) {
      size = std::max(size, peer.send.largest() + 1);
      largest = std::max({largest, peer.fill.largest(), peer.from.largest()});
      for (const petscrrb::index_t to : peer.fill.listed()) leaves.push_back((PetscInt)to);
      for (const petscrrb::index_t from : peer.from.listed()) roots.push_back({(PetscInt)peer.rank, (PetscInt)from});
    }
    if (std::max(size, largest) >= PETSC_MAX_INT)
      throw std::length_error(
          "A box of this size needs a PETSc with 64-bit indices (--with-64-bit-indices), or more ranks");
    sf = &exchanges_[&plan];
  }));
  PetscCall(PetscSFCreate(comm(), &made));
  PetscCall(PetscSFSetGraph(made, (PetscInt)size, (PetscInt)leaves.size(), leaves.data(), PETSC_COPY_VALUES,
                            roots.data(), PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(made));
  *sf = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscSF PetscRRBRanks::Exchange(const Plan &plan) {
  const auto made = exchanges_.find(&plan);
  if (made != exchanges_.end() && made->second) return made->second;
  PetscRRBCheckSent(Make(plan));
  return exchanges_.at(&plan);
}

void PetscRRBRanks::start(const Plan &plan, double *array) {
  PetscRRBCheckSent(PetscSFBcastBegin(Exchange(plan), MPIU_REAL, array, array, MPI_REPLACE));
}

void PetscRRBRanks::finish(const Plan &plan, double *array) {
  PetscRRBCheckSent(PetscSFBcastEnd(Exchange(plan), MPIU_REAL, array, array, MPI_REPLACE));
}

void PetscRRBRanks::gather(const double *mine, const std::vector<petscrrb::index_t> &n, double *all) {
  std::copy(n.begin(), n.end(), counts_.begin());
  std::exclusive_scan(counts_.begin(), counts_.end(), starts_.begin(), 0);
  PetscRRBCheckMPI(MPI_Allgatherv(mine, counts_[(std::size_t)rank()], MPI_DOUBLE, all, counts_.data(), starts_.data(),
                                  MPI_DOUBLE, comm()));
}
