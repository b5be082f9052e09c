/* The two blocks of a MATMPIAIJ as RankRows, and what is between the ranks. */
#include "petsc/rank_rows.h"

#include "petsc/ghosts.h"
#include "petsc/matrix.h"
#include "petsc/mpi_throws.h"
#include "petsc/compat.h"

#include <algorithm>

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
  std::vector<PetscInt> all;
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    all.resize(3 * (std::size_t)ranks);
    ghost_places_.resize(ghosts_.size());
  }));
  PetscCallMPI(MPI_Allgather(mine, 3, MPIU_INT, all.data(), 3, MPIU_INT, comm));
  PetscCall(MatGetLayouts(P, &layout, NULL));
  PetscCall(PetscLayoutGetRanges(layout, &ranges));
  for (std::size_t g = 0; g < ghosts_.size(); ++g) {
    PetscCall(PetscLayoutFindOwner(layout, ghosts_[g], &owner));
    const PetscInt *of = &all[3 * (std::size_t)owner];
    ghost_places_[g] = petscrrb::BoxPlaces{of[0], of[1], of[2]}(ghosts_[g] - ranges[owner]);
  }
  places_ = places;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The row that has entry e, not before p. Most rows are empty where ranks have boxes: it skips ever more of them. */
static PetscInt RowOf(const petscrrb::Csr &rows, PetscInt e, PetscInt p) {
  PetscInt step = 1;

  for (; p + step < rows.n && rows.ia[p + step] <= e; step *= 2) p += step;
  return (PetscInt)(std::upper_bound(rows.ia + p, rows.ia + std::min(p + step, rows.n), e) - rows.ia) - 1;
}

/* Which entries of ghosts' rows are the transposed ones of own rows'. */
PetscErrorCode PetscRRBRankRows::ConnectTransposed(Mat P, Mat block) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  petscrrb::Csr others;
  PetscRRBGhostEntries theirs;
  PetscSF entries;
  std::vector<PetscInt> leaf;
  std::vector<PetscSFNode> root;

  PetscFunctionBegin;
  PetscCall(PetscRRBPatternGet(block, &others));
  other_entries_ = others.n ? others.ia[others.n] : 0;
  PetscCall(PetscRRBConnectEntries(P, ghosts_, rows_, others.ia, others.n, &theirs, &entries));
  std::vector<PetscInt> mine, columns; /* global columns */
  const PetscErrorCode code = PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    mine.resize((std::size_t)other_entries_);
    columns.resize(theirs.root.size());
    for (PetscInt e = 0; e < other_entries_; ++e) mine[(std::size_t)e] = ghosts_[(std::size_t)others.ja[e]];
  });
  if (!code) PetscCall(PetscRRBExchange(entries, PETSC_FALSE, MPIU_INT, mine.data(), columns.data()));
  PetscCall(PetscSFDestroy(&entries));
  PetscCall(code);
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    PetscInt p = 0;
    for (PetscInt e = 0; e < other_entries_; ++e) {
      const std::size_t g = (std::size_t)others.ja[e];
      p = RowOf(others, e, p);
      for (PetscInt t = theirs.start[g]; t < theirs.start[g + 1]; ++t)
        if (columns[(std::size_t)t] == first_ + p) {
          leaf.push_back(e);
          root.push_back(theirs.root[(std::size_t)t]);
        }
    }
  }));
  PetscCall(PetscRRBPatternRestore(block, &others));
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
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)P), PetscRRBSayOfRows,
                                [&] { ghosts_.assign(columns, columns + count); }));
  PetscCall(SetPlaces(P, places));
  PetscCall(PetscRRBConnectRows(P, ghosts_, &rows_));
  PetscCall(ConnectTransposed(P, others));
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

/* The blocks of own columns and of others; NULL: there is none */
static PetscErrorCode BlocksOf(Mat P, Mat block[2]) {
  PetscBool mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)P, MATMPIAIJ, &mpi));
  block[0] = P;
  block[1] = NULL;
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(P, &block[0], &block[1], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRankRowsGet(Mat P, PetscBool device, petscrrb::RankRows *rows) {
  Mat block[2];
  petscrrb::Csr *const csr[2] = {&rows->own, &rows->others};
  bool some = false;

  PetscFunctionBegin;
  *rows = petscrrb::RankRows();
  PetscCall(MatGetLocalSize(P, &rows->n, NULL));
  PetscCall(BlocksOf(P, block));
  for (int b = 0; b < 2; ++b) {
    if (block[b]) PetscCall(HasEntries(block[b], &some));
    if (block[b] && some) PetscCall(PetscRRBRowsGet(block[b], device, csr[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRankRowsRestore(Mat P, PetscBool device, petscrrb::RankRows *rows) {
  Mat block[2];
  petscrrb::Csr *const csr[2] = {&rows->own, &rows->others};

  PetscFunctionBegin;
  PetscCall(BlocksOf(P, block));
  for (int b = 0; b < 2; ++b)
    if (csr[b]->ia) PetscCall(PetscRRBRowsRestore(block[b], device, csr[b]));
  *rows = petscrrb::RankRows();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRankRows::Get(Mat P, PetscBool device, petscrrb::RankRows *rows) const {
  PetscFunctionBegin;
  PetscCall(PetscRRBRankRowsGet(P, device, rows));
  rows->places = places_;
  rows->ghost_places = ghost_places_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRankRows::Restore(Mat P, PetscBool device, petscrrb::RankRows *rows) const {
  return PetscRRBRankRowsRestore(P, device, rows);
}

PetscErrorCode PetscRRBRankRows::ExchangeTransposed(PetscBool device, const petscrrb::RankRows &rows,
                                                    PetscScalar *to) const {
  return PetscRRBExchange(transposed_, device, MPIU_SCALAR, rows.others.a, to);
}

PetscErrorCode PetscRRBRankRows::ExchangeRows(PetscBool device, MPI_Datatype type, const void *own,
                                              void *ghosts) const {
  return PetscRRBExchange(rows_, device, type, own, ghosts);
}

PetscErrorCode PetscRRBAgreeOnFacts(MPI_Comm comm, petscrrb::RowFacts *f) {
  const bool bad = f->bad_pivot != petscrrb::no_row;
  double sums[] = {(double)f->identity_rows, (double)f->zero_rows, (double)f->positive, f->weights[0], f->weights[1]};
  constexpr int flags = 7;
  double most[3 + flags + 1] = {f->asymmetry, f->norm, bad ? -(double)f->bad_pivot : -PETSC_INFINITY};
  const bool useless = f->useless_row != petscrrb::no_row;
  bool *const flag[flags] = {&f->not_finite, &f->foreign, &f->corners, &f->crosses[0],
                             &f->crosses[1], &f->varies,  &f->rounded};

  PetscFunctionBegin;
  if (f->not_finite) most[0] = most[1] = 0; /* a maximum with NaN is anything */
  for (int i = 0; i < flags; ++i) most[3 + i] = *flag[i];
  most[3 + flags] = useless;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 5, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 3 + flags + 1, MPI_DOUBLE, MPI_MAX, comm));
  f->identity_rows = (petscrrb::index_t)sums[0];
  f->zero_rows = (petscrrb::index_t)sums[1];
  f->positive = (petscrrb::index_t)sums[2];
  f->weights[0] = sums[3], f->weights[1] = sums[4];
  f->asymmetry = most[0], f->norm = most[1];
  f->bad_pivot = most[2] == -PETSC_INFINITY ? petscrrb::no_row : (petscrrb::index_t)-most[2];
  for (int i = 0; i < flags; ++i) *flag[i] = most[3 + i] > 0;
  if (most[3 + flags] > 0 && !useless) f->useless_row = 0; /* some */
  PetscFunctionReturn(PETSC_SUCCESS);
}
