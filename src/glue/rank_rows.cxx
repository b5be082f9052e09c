/* The two blocks of a MATMPIAIJ as RankRows, and what is between the ranks. */
#include "rank_rows.h"

#include "matrix.h"
#include "petsc_compat.h"

PetscRRBRankRows::~PetscRRBRankRows() {
  for (PetscSF *sf : {&rows_, &transposed_}) (void)PetscSFDestroy(sf);
}

/* From the places of their owners' rows. */
PetscErrorCode PetscRRBRankRows::SetPlaces(Mat P, const petscrrb::BoxPlaces &places) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  const PetscInt mine[] = {places.first, places.width, places.stride};
  const PetscInt *ranges;
  PetscLayout layout;
  PetscMPIInt ranks, owner;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  std::vector<PetscInt> all(3 * (std::size_t)ranks);
  PetscCallMPI(MPI_Allgather(mine, 3, MPIU_INT, all.data(), 3, MPIU_INT, comm));
  PetscCall(MatGetLayouts(P, &layout, NULL));
  PetscCall(PetscLayoutGetRanges(layout, &ranges));
  ghost_places_.resize(ghosts_.size());
  for (std::size_t g = 0; g < ghosts_.size(); ++g) {
    PetscCall(PetscLayoutFindOwner(layout, ghosts_[g], &owner));
    const PetscInt *of = &all[3 * (std::size_t)owner];
    ghost_places_[g] = petscrrb::BoxPlaces{of[0], of[1], of[2]}(ghosts_[g] - ranges[owner]);
  }
  places_ = places;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRankRows::ConnectRows(Mat P) {
  PetscLayout layout;

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(P, &layout, NULL));
  PetscCall(PetscSFDestroy(&rows_));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)P), &rows_));
  PetscCall(PetscSFSetGraphLayout(rows_, layout, ghosts(), NULL, PETSC_COPY_VALUES, ghosts_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {
/* The entries of the ghosts' rows that are among their owners' `others`, row by row. */
struct GhostEntries {
  std::vector<std::size_t> start{0};
  std::vector<PetscSFNode> root;
  std::vector<PetscInt> column; /* global */
};
} // namespace

static PetscErrorCode BringInts(PetscSF sf, const PetscInt *from, PetscInt *to) {
  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, from, to, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, from, to, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* others: this rank's block, of the host; rows: own ones to ghosts */
static PetscErrorCode BringGhostEntries(Mat P, const petscrrb::Csr &others, PetscSF rows,
                                        const std::vector<PetscInt> &ghosts, GhostEntries *of) {
  const PetscInt n = others.n, entries = n ? others.ia[n] : 0;
  std::vector<PetscInt> begin(ghosts.size()), end(ghosts.size()), columns((std::size_t)entries);
  PetscLayout layout;
  PetscMPIInt owner;
  PetscSF sf;

  PetscFunctionBegin;
  PetscCall(BringInts(rows, others.ia, begin.data()));
  PetscCall(BringInts(rows, n ? others.ia + 1 : NULL, end.data()));
  PetscCall(MatGetLayouts(P, &layout, NULL));
  for (std::size_t g = 0; g < ghosts.size(); ++g) {
    PetscCall(PetscLayoutFindOwner(layout, ghosts[g], &owner));
    for (PetscInt e = begin[g]; e < end[g]; ++e) of->root.push_back({owner, e});
    of->start.push_back(of->root.size());
  }
  of->column.resize(of->root.size());
  for (PetscInt e = 0; e < entries; ++e) columns[(std::size_t)e] = ghosts[(std::size_t)others.ja[e]];
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)P), &sf));
  PetscCall(PetscSFSetGraph(sf, entries, (PetscInt)of->root.size(), NULL, PETSC_COPY_VALUES, of->root.data(),
                            PETSC_COPY_VALUES));
  PetscCall(BringInts(sf, columns.data(), of->column.data()));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which entries of ghosts' rows are the transposed ones of own rows'. */
PetscErrorCode PetscRRBRankRows::ConnectEntries(Mat P, Mat block) {
  petscrrb::Csr others;
  PetscBool done;
  GhostEntries theirs;
  std::vector<PetscInt> leaf;
  std::vector<PetscSFNode> root;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &others.n, &others.ia, &others.ja, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "MatGetRowIJ() gave no rows of the matrix");
  other_entries_ = others.n ? others.ia[others.n] : 0;
  PetscCall(BringGhostEntries(P, others, rows_, ghosts_, &theirs));
  for (PetscInt p = 0; p < others.n; ++p)
    for (PetscInt e = others.ia[p]; e < others.ia[p + 1]; ++e) {
      const std::size_t g = (std::size_t)others.ja[e];
      for (std::size_t t = theirs.start[g]; t < theirs.start[g + 1]; ++t)
        if (theirs.column[t] == first_ + p) {
          leaf.push_back(e);
          root.push_back(theirs.root[t]);
        }
    }
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &others.n, &others.ia, &others.ja, &done));
  PetscCall(PetscSFDestroy(&transposed_));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)P), &transposed_));
  PetscCall(PetscSFSetGraph(transposed_, other_entries_, (PetscInt)leaf.size(), leaf.data(), PETSC_COPY_VALUES,
                            root.data(), PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(transposed_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRankRows::Build(Mat P, const petscrrb::BoxPlaces &places) {
  const PetscInt *columns;
  PetscInt count;
  Mat own, others;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(P, &own_, NULL));
  PetscCall(MatGetOwnershipRange(P, &first_, NULL));
  PetscCall(MatMPIAIJGetSeqAIJ(P, &own, &others, &columns));
  PetscCall(MatGetSize(others, NULL, &count));
  ghosts_.assign(columns, columns + count);
  PetscCall(SetPlaces(P, places));
  PetscCall(ConnectRows(P));
  PetscCall(ConnectEntries(P, others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc has no arrays on the device where there are no entries. */
static PetscErrorCode HasEntries(Mat block, bool *some) {
  MatInfo info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  *some = info.nz_used > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRankRows::Get(Mat P, PetscBool device, petscrrb::RankRows *rows) const {
  Mat block[2];
  petscrrb::Csr *const csr[2] = {&rows->own, &rows->others};
  bool some = false;

  PetscFunctionBegin;
  *rows = petscrrb::RankRows();
  rows->n = own_;
  rows->places = places_;
  rows->ghost_places = ghost_places_.data();
  PetscCall(MatMPIAIJGetSeqAIJ(P, &block[0], &block[1], NULL));
  for (int b = 0; b < 2; ++b) {
    PetscCall(HasEntries(block[b], &some));
    if (some) PetscCall(PetscRRBRowsGet(block[b], device, csr[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRankRows::Restore(Mat P, PetscBool device, petscrrb::RankRows *rows) const {
  Mat block[2];
  petscrrb::Csr *const csr[2] = {&rows->own, &rows->others};

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(P, &block[0], &block[1], NULL));
  for (int b = 0; b < 2; ++b)
    if (csr[b]->ia) PetscCall(PetscRRBRowsRestore(block[b], device, csr[b]));
  *rows = petscrrb::RankRows();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bring(PetscSF sf, PetscBool device, MPI_Datatype type, const void *from, void *to) {
  const PetscMemType memory = device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  PetscCall(PetscSFBcastWithMemTypeBegin(sf, type, memory, from, memory, to, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, type, from, to, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRankRows::BringTransposed(PetscBool device, const petscrrb::RankRows &rows,
                                                 PetscScalar *to) const {
  return Bring(transposed_, device, MPIU_SCALAR, rows.others.a, to);
}

PetscErrorCode PetscRRBRankRows::BringRows(PetscBool device, MPI_Datatype type, const void *own, void *ghosts) const {
  return Bring(rows_, device, type, own, ghosts);
}
