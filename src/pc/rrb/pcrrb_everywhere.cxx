/* The rows of all ranks. */
#include "pc/rrb/pcrrb_everywhere.h"

#include "petsc/agree.h"
#include "petsc/matrix.h"
#include "petsc/overlap.h"

#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

using petscrrb::index_t;
using petscrrb::rrb::node_t;

PCRRBEverywhere::~PCRRBEverywhere() {
  (void)VecScatterDestroy(&to_all_);
  (void)VecScatterDestroy(&to_own_);
  (void)VecScatterDestroy(&to_part_);
  (void)VecDestroy(&x_);
  (void)VecDestroy(&r_);
  (void)VecDestroy(&z_);
  (void)MatDestroy(&rows_);
  (void)ISDestroy(&order_);
  (void)ISDestroy(&own_);
}

/* place: of own rows in that order. Equal parts, where own rows do not follow one another in it. */
PetscErrorCode PCRRBEverywhere::FindCuts(Mat P, const std::vector<PetscInt> &place) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  const PetscInt *first;
  PetscInt rows;
  PetscMPIInt rank, ranks, follow = 1;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(MatGetOwnershipRanges(P, &first));
  PetscCall(MatGetSize(P, &rows, nullptr));
  for (std::size_t i = 0; i < place.size(); ++i) follow = follow && place[i] == first[rank] + (PetscInt)i;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &follow, 1, MPI_INT, MPI_MIN, comm));
  PetscCall(PetscRRBTryTogether(comm, "PCRRB", [&] {
    cuts_.clear();
    for (PetscMPIInt r = 0; r <= ranks; ++r) cuts_.push_back(follow ? first[r] : (petscrrb::index_t)rows * r / ranks);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *places: of the rows of all ranks */
PetscErrorCode PCRRBEverywhere::FindOrder(PC pc, Mat P, IS *places) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  std::vector<PetscInt> place;
  std::string source;
  const PetscInt *of_all;
  PetscInt *order, n;

  PetscFunctionBegin;
  PetscCall(PetscRRBNaturalOrder(pc, pc->pmat, &place, &source));
  PetscCall(FindCuts(P, place));
  PetscCall(ISCreateGeneral(comm, (PetscInt)place.size(), place.data(), PETSC_COPY_VALUES, &own_));
  PetscCall(ISAllGather(own_, places));
  PetscCall(ISGetLocalSize(*places, &n));
  PetscCall(PetscMalloc1(n, &order));
  PetscCall(ISGetIndices(*places, &of_all));
  for (PetscInt row = 0; row < n; ++row) order[of_all[row]] = row;
  PetscCall(ISRestoreIndices(*places, &of_all));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order, PETSC_OWN_POINTER, &order_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::Connect() {
  PetscInt first, last;
  IS rows;

  PetscFunctionBegin;
  if (to_all_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetOwnershipRange(x_, &first, &last));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, last - first, first, 1, &rows));
  PetscCall(VecScatterCreate(z_, own_, x_, rows, &to_own_));
  PetscCall(ISDestroy(&rows));
  PetscCall(VecScatterCreate(x_, order_, r_, nullptr, &to_all_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all: what each rank r has n[r] of */
template <class T>
static PetscErrorCode Gather(MPI_Comm comm, MPI_Datatype type, const std::vector<index_t> &n, const T *mine, T *all) {
  std::vector<PetscMPIInt> count, first;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscRRBTryTogether(comm, "PCRRB", [&] {
    for (const index_t of_rank : n) {
      first.push_back(first.empty() ? 0 : first.back() + count.back());
      count.push_back((PetscMPIInt)of_rank);
    }
  }));
  PetscCallMPI(
      MPI_Allgatherv(mine, count[(std::size_t)rank], type, all, count.data(), first.data(), type, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::GatherRows(Mat P, IS places) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  const PetscInt *first, *ghosts, *place;
  petscrrb::host::Buffer<node_t> counts, columns;
  petscrrb::rrb::RowsOfRanks all;
  std::vector<index_t> blocks; /* of the rows of each rank */
  petscrrb::Csr part[2];
  PetscMPIInt rank, ranks;
  Mat parts[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(MatGetOwnershipRanges(P, &first));
  PetscCall(MatMPIAIJGetSeqAIJ(P, &parts[0], &parts[1], &ghosts));
  for (int b = 0; b < 2; ++b) PetscCall(PetscRRBPatternGet(parts[b], &part[b]));
  const PetscInt own = part[0].n;
  const index_t mine = part[0].ia[own] + part[1].ia[own];
  PetscCall(PetscRRBTryTogether(comm, "PCRRB", [&] {
    nonzeros_.assign((std::size_t)ranks, 0);
    counts.resize(2 * (std::size_t)own);
    for (int r = 0; r < ranks; ++r) all.rows.push_back(first[r + 1] - first[r]), blocks.push_back(2 * all.rows.back());
  }));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPIU_INT64, nonzeros_.data(), 1, MPIU_INT64, comm));
  const index_t total = std::accumulate(nonzeros_.begin(), nonzeros_.end(), index_t(0));
  PetscCheck(total <= std::numeric_limits<node_t>::max(), comm, PETSC_ERR_SUP,
             "PCRRB on no 2D grid has all rows on each rank, and %g nonzeros are too many", (double)total);
  PetscCall(PetscRRBTryTogether(comm, "PCRRB", [&] {
    columns.resize((std::size_t)mine);
    all.counts.resize(2 * (std::size_t)first[ranks]);
    all.columns.resize((std::size_t)total);
    node_t *to = columns.data();
    for (PetscInt e = 0; e < part[0].ia[own]; ++e) *to++ = (node_t)(first[rank] + part[0].ja[e]);
    for (PetscInt e = 0; e < part[1].ia[own]; ++e) *to++ = (node_t)ghosts[part[1].ja[e]];
    for (PetscInt i = 0; i < own; ++i)
      for (int b = 0; b < 2; ++b) counts.data()[2 * i + b] = (node_t)(part[b].ia[i + 1] - part[b].ia[i]);
  }));
  for (int b = 0; b < 2; ++b) PetscCall(PetscRRBPatternRestore(parts[b], &part[b]));
  PetscCall(Gather(comm, MPI_INT32_T, blocks, counts.data(), all.counts.data()));
  PetscCall(Gather(comm, MPI_INT32_T, nonzeros_, columns.data(), all.columns.data()));
  PetscCall(ISGetIndices(places, &place));
  PetscCall(PetscRRBTryTogether(comm, "PCRRB", [&] { petscrrb::rrb::put_together(all, place, &all_); }));
  PetscCall(ISRestoreIndices(places, &place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::MakeMatrix(Mat P) {
  const PetscInt n = (PetscInt)cuts_.back();
  MatType type;
  Mat own;

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)P), "PCRRB", [&] { values_.resize(all_.ja.size()); }));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, all_.ia.data(), all_.ja.data(), values_.data(), &rows_));
  PetscCall(MatMPIAIJGetSeqAIJ(P, &own, nullptr, nullptr));
  PetscCall(MatGetType(own, &type));
  PetscCall(MatConvert(rows_, type, MAT_INPLACE_MATRIX, &rows_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::Build(PC pc, Mat P) {
  IS places;

  PetscFunctionBegin;
  PetscCall(FindOrder(pc, P, &places));
  PetscCall(GatherRows(P, places));
  PetscCall(ISDestroy(&places));
  PetscCall(MakeMatrix(P));
  PetscCall(MatCreateVecs(rows_, &r_, &z_));
  PetscCall(MatCreateVecs(P, &x_, nullptr));
  PetscCall(Refresh(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::Refresh(Mat P) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  petscrrb::host::Buffer<PetscScalar> mine, all;
  PetscMPIInt rank;
  MatInfo info;
  Mat parts[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscRRBTryTogether(comm, "PCRRB", [&] {
    mine.resize((std::size_t)nonzeros_[(std::size_t)rank]);
    all.resize(numbers().size());
  }));
  PetscScalar *to = mine.data();
  PetscCall(MatMPIAIJGetSeqAIJ(P, &parts[0], &parts[1], nullptr));
  for (Mat part : parts) {
    PetscCall(MatGetInfo(part, MAT_LOCAL, &info));
    const auto n = (std::size_t)info.nz_used;
    PetscCall(PetscRRBReadValues(part, PETSC_FALSE, [&](const PetscScalar *a) { to = std::copy_n(a, n, to); }));
  }
  PetscCall(Gather(comm, MPIU_SCALAR, nonzeros_, mine.data(), all.data()));
  PetscCall(PetscRRBWriteValues(rows_, PETSC_FALSE, [&](PetscScalar *a) {
    petscrrb::rrb::take_in_order(all, numbers(), a);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::ToAll(Vec x, Vec *all) {
  PetscFunctionBegin;
  PetscCall(Connect());
  PetscCall(VecScatterBegin(to_all_, x, r_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(to_all_, x, r_, INSERT_VALUES, SCATTER_FORWARD));
  *all = r_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::Share(PetscBool shared) {
  const PetscInt *order;
  PetscMPIInt rank;
  IS rows, part;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)x_), &rank));
  const PetscInt from = (PetscInt)cuts_[(std::size_t)rank], n = (PetscInt)cuts_[(std::size_t)rank + 1] - from;
  shared_ = shared;
  mine_ = shared ? n : cuts_.back();
  if (!shared || to_part_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetIndices(order_, &order));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order + from, PETSC_COPY_VALUES, &rows));
  PetscCall(ISRestoreIndices(order_, &order));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, from, 1, &part));
  PetscCall(VecScatterCreate(x_, rows, r_, part, &to_part_));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&part));
  PetscFunctionReturn(PETSC_SUCCESS);
}
