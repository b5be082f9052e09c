/* Ghosts and their entries, by PetscSF. */
#include "petsc/ghosts.h"

#include "petsc/mpi_throws.h"
#include "petsc/compat.h"

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
