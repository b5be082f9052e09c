/* Ghosts and their entries, by PetscSF. */
#include "petsc/ghosts.h"

#include "grid/source.hpp"
#include "petsc/mpi_throws.h"
#include "petsc/compat.h"
#include "petsc/rank_rows.h"
#if PETSCRRB_ON_DEVICES
  #include "petsc/ghosts_cuda.hpp"
#endif

using petscrrb::Source;

PetscErrorCode PetscRRBExchange(PetscSF sf, PetscBool device, MPI_Datatype type, const void *roots, void *leaves) {
  const PetscMemType memory = device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  PetscCall(PetscSFBcastWithMemTypeBegin(sf, type, memory, roots, memory, leaves, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, type, roots, leaves, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBConnectRows(Mat P, const std::vector<PetscInt> &ghosts, PetscSF *rows) {
  PetscLayout layout;

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(P, &layout, NULL));
  PetscCall(PetscSFDestroy(rows));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)P), rows));
  PetscCall(PetscSFSetGraphLayout(*rows, layout, (PetscInt)ghosts.size(), NULL, PETSC_COPY_VALUES, ghosts.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBConnectEntries(Mat P, const std::vector<PetscInt> &ghosts, PetscSF rows, const PetscInt start[],
                                      PetscInt n, PetscRRBGhostEntries *of, PetscSF *entries) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  std::vector<PetscInt> begin, end; /* of each row, among its owner's entries */
  PetscLayout layout;
  PetscMPIInt owner;

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    begin.resize(ghosts.size());
    end.resize(ghosts.size());
  }));
  PetscCall(PetscRRBExchange(rows, PETSC_FALSE, MPIU_INT, start, begin.data()));
  PetscCall(PetscRRBExchange(rows, PETSC_FALSE, MPIU_INT, n ? start + 1 : NULL, end.data()));
  PetscCall(MatGetLayouts(P, &layout, NULL));
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    of->start.assign(1, 0);
    for (std::size_t g = 0; g < ghosts.size(); ++g) {
      PetscRRBCheckSent(PetscLayoutFindOwner(layout, ghosts[g], &owner));
      for (PetscInt e = begin[g]; e < end[g]; ++e) of->root.push_back({owner, e});
      of->start.push_back((PetscInt)of->root.size());
    }
  }));
  PetscCall(PetscSFCreate(comm, entries));
  PetscCall(PetscSFSetGraph(*entries, n ? start[n] : 0, (PetscInt)of->root.size(), NULL, PETSC_COPY_VALUES,
                            of->root.data(), PETSC_COPY_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRowValues::Reset() {
  PetscFunctionBegin;
  for (PetscSF &sf : from_) PetscCall(PetscSFDestroy(&sf));
  on_device_ = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRowValues::Connect(Mat P, const std::vector<PetscInt> &ghosts, const PetscInt start[],
                                          const PetscInt source[], const PetscInt to[]) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  PetscLayout layout;
  std::vector<PetscInt> leaf[2];
  std::vector<PetscSFNode> root[2];
  Mat block[2];

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(P, &layout, NULL));
  PetscCall(MatMPIAIJGetSeqAIJ(P, &block[0], &block[1], NULL));
  PetscCall(PetscRRBCallTogether(comm, say_, [&]() -> PetscErrorCode {
    for (std::size_t g = 0; g < ghosts.size(); ++g) {
      PetscMPIInt owner;
      PetscCall(PetscLayoutFindOwner(layout, ghosts[g], &owner));
      for (PetscInt e = start[g]; e < start[g + 1]; ++e) {
        const int b = Source::block(source[e]);
        leaf[b].push_back(to ? to[e] : e);
        root[b].push_back({owner, Source::place(source[e])});
      }
    }
    return PETSC_SUCCESS;
  }));
  PetscCall(Reset());
  for (int b = 0; b < 2; ++b) {
    MatInfo info;
    PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
    PetscCall(PetscSFCreate(comm, &from_[b]));
    PetscCall(PetscSFSetGraph(from_[b], (PetscInt)info.nz_used, (PetscInt)leaf[b].size(), leaf[b].data(),
                              PETSC_COPY_VALUES, root[b].data(), PETSC_COPY_VALUES));
    PetscCall(PetscSFSetUp(from_[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRowValues::Exchange(Mat P, PetscBool device, const PetscInt source[], PetscInt n,
                                           PetscScalar *a) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  const PetscMemType memory = device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
  petscrrb::RankRows rows;
  PetscRRBTrouble trouble;

  PetscFunctionBegin;
  PetscCall(PetscRRBCallTogether(comm, say_, [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(PetscRRBRankRowsGet(P, device, &rows));
#if PETSCRRB_ON_DEVICES
    if (device && !on_device_) on_device_ = std::make_shared<petscrrb::cuda::OwnValues>(source, (std::size_t)n);
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  const PetscScalar *const from[2] = {rows.own.a, rows.others.a};
  for (int b = 0; b < 2; ++b)
    PetscCall(PetscSFBcastWithMemTypeBegin(from_[b], MPIU_SCALAR, memory, from[b], memory, a, MPI_REPLACE));
#if PETSCRRB_ON_DEVICES
  if (device) trouble = PetscRRBTroubleOf(say_, [&] { on_device_->put(from, a); });
#endif
  if (!device)
#pragma omp parallel for schedule(static) if (n >= petscrrb::rows_for_threads)
    for (PetscInt e = 0; e < n; ++e) Source::put(from[0], from[1], source[e], a + e);
  for (int b = 0; b < 2; ++b) PetscCall(PetscSFBcastEnd(from_[b], MPIU_SCALAR, from[b], a, MPI_REPLACE));
  PetscCall(PetscRRBRankRowsRestore(P, device, &rows));
  PetscCall(PetscRRBFirstTrouble(comm, &trouble));
  PetscCheck(!trouble, comm, trouble.code, "%s", trouble.why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}
