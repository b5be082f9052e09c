/* Rows of a MATMPIAIJ for a box: their pattern by their owners, then where each value comes from. */
#include "petsc/box_rows.h"

#include "grid/csr.hpp"
#include "petsc/agree.h"
#include "petsc/compat.h"
#include "petsc/ghosts.h"
#include "petsc/matrix.h"
#include "petsc/mpi_throws.h"
#include "petsc/rank_rows.h"

#if PETSCRRB_ON_DEVICES
  #include "petsc/overlap_cuda.hpp"
  #include "petsc/stream_cuda.h"
#endif

#include <algorithm>
#include <numeric>

static const PetscRRBSay say("rows of a box", PETSC_ERR_GPU); /* on the host there may be no memory, only */

PetscRRBBoxRows::~PetscRRBBoxRows() {
  for (PetscSF &sf : from_) (void)PetscSFDestroy(&sf);
}

/* First those of the diagonal block, then those of the other one. */
PetscErrorCode PetscRRBBoxRows::TakeOwn(Mat P, Entries *own) const {
  const PetscInt *columns;
  petscrrb::Csr of[2];
  PetscInt first;
  Mat block[2];

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(P, &first, nullptr));
  PetscCall(MatMPIAIJGetSeqAIJ(P, &block[0], &block[1], &columns));
  for (int b = 0; b < 2; ++b) PetscCall(PetscRRBPatternGet(block[b], &of[b]));
  const PetscInt n = of[0].n;
  own->start.resize((std::size_t)n + 1);
  for (PetscInt p = 0; p <= n; ++p) own->start[(std::size_t)p] = of[0].ia[p] + of[1].ia[p];
  own->column.resize((std::size_t)own->start.back());
  own->place.resize((std::size_t)own->start.back());
#pragma omp parallel for schedule(static) if (n >= petscrrb::rows_for_threads)
  for (PetscInt p = 0; p < n; ++p) {
    std::size_t to = (std::size_t)own->start[(std::size_t)p];
    for (int b = 0; b < 2; ++b)
      for (PetscInt e = of[b].ia[p]; e < of[b].ia[p + 1]; ++e, ++to) {
        own->column[to] = b ? columns[of[b].ja[e]] : first + of[b].ja[e];
        own->place[to] = e;
      }
  }
  for (int b = 0; b < 2; ++b) PetscCall(PetscRRBPatternRestore(block[b], &of[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a rank does between what all do together may throw: there is not enough memory, perhaps on it alone. */
PetscErrorCode PetscRRBBoxRows::Build(Mat P, const std::vector<PetscInt> &rows,
                                      const std::function<PetscInt(PetscInt)> &number) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  PetscRRBGhostEntries wanted;
  PetscSF of_rows = nullptr, of_entries = nullptr;
  PetscInt n;
  Entries own, all;

  PetscFunctionBegin;
  on_device_ = nullptr;
  PetscCall(MatGetLocalSize(P, &n, nullptr));
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] { PetscRRBCheckSent(TakeOwn(P, &own)); }));
  PetscCall(PetscRRBConnectRows(P, rows, &of_rows));
  PetscCall(PetscRRBConnectEntries(P, rows, of_rows, own.start.data(), n, &wanted, &of_entries));
  PetscCall(PetscSFDestroy(&of_rows));
  const PetscErrorCode code = PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    all.start = wanted.start;
    all.column.resize(wanted.root.size());
    all.place.resize(wanted.root.size());
  });
  if (!code) {
    PetscCall(PetscRRBExchange(of_entries, PETSC_FALSE, MPIU_INT, own.column.data(), all.column.data()));
    PetscCall(PetscRRBExchange(of_entries, PETSC_FALSE, MPIU_INT, own.place.data(), all.place.data()));
  }
  PetscCall(PetscSFDestroy(&of_entries));
  PetscCall(code);
  own = {};
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    const PetscInt rest = (PetscInt)rows.size();
    std::vector<PetscInt> order, to(all.column.size());
    ia_ = all.start;
    ja_.resize(all.column.size());
    for (std::size_t e = 0; e < to.size(); ++e) {
      const PetscInt here = number(all.column[e]);
      to[e] = here < 0 ? rest : here;
    }
    Entries sorted = all;
    for (PetscInt p = 0; p < rest; ++p) {
      const PetscInt begin = ia_[(std::size_t)p], end = ia_[(std::size_t)p + 1];
      order.resize((std::size_t)(end - begin));
      std::iota(order.begin(), order.end(), begin);
      std::sort(order.begin(), order.end(),
                [&](PetscInt a, PetscInt b) { return to[(std::size_t)a] < to[(std::size_t)b]; });
      for (PetscInt e = begin; e < end; ++e) {
        const std::size_t from = (std::size_t)order[(std::size_t)(e - begin)];
        ja_[(std::size_t)e] = to[from];
        sorted.column[(std::size_t)e] = all.column[from], sorted.place[(std::size_t)e] = all.place[from];
      }
    }
    all = std::move(sorted);
    ja_.push_back(0);
    ia_.push_back(ia_.back() + 1);
  }));
  PetscCall(Connect(P, rows, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of other ranks' rows come from their blocks. */
PetscErrorCode PetscRRBBoxRows::Connect(Mat P, const std::vector<PetscInt> &rows, const Entries &all) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  PetscLayout layout;
  const PetscInt *ranges;
  PetscMPIInt rank;
  std::vector<PetscInt> leaf[2];
  std::vector<PetscSFNode> root[2];
  Mat block[2];

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(P, &layout, nullptr));
  PetscCall(PetscLayoutGetRanges(layout, &ranges));
  PetscCall(MatMPIAIJGetSeqAIJ(P, &block[0], &block[1], nullptr));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  own_ = {};
  PetscCall(PetscRRBCallTogether(comm, PetscRRBSayOfRows, [&]() -> PetscErrorCode {
    for (std::size_t p = 0; p < rows.size(); ++p) {
      PetscMPIInt owner;
      PetscCall(PetscLayoutFindOwner(layout, rows[p], &owner));
      for (PetscInt e = all.start[p]; e < all.start[p + 1]; ++e) {
        const PetscInt q = all.column[(std::size_t)e], place = all.place[(std::size_t)e];
        const int b = q < ranges[owner] || q >= ranges[owner + 1];
        if (owner == rank) {
          own_.to.push_back(e), own_.place.push_back(place), own_.block.push_back((unsigned char)b);
        } else {
          leaf[b].push_back(e);
          root[b].push_back({owner, place});
        }
      }
    }
    return PETSC_SUCCESS;
  }));
  for (int b = 0; b < 2; ++b) {
    MatInfo info;
    PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
    PetscCall(PetscSFDestroy(&from_[b]));
    PetscCall(PetscSFCreate(comm, &from_[b]));
    PetscCall(PetscSFSetGraph(from_[b], (PetscInt)info.nz_used, (PetscInt)leaf[b].size(), leaf[b].data(),
                              PETSC_COPY_VALUES, root[b].data(), PETSC_COPY_VALUES));
    PetscCall(PetscSFSetUp(from_[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<PetscScalar> PetscRRBBoxRows::values_at_first() const {
  std::vector<PetscScalar> a(ja_.size());
  a.back() = 1.0;
  return a;
}

PetscErrorCode PetscRRBBoxRows::Exchange(Mat P, PetscBool device, PetscScalar *a) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  const PetscMemType memory = device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
  petscrrb::RankRows rows;
  PetscRRBTrouble trouble;

  PetscFunctionBegin;
  PetscCall(PetscRRBCallTogether(comm, say, [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(PetscRRBRankRowsGet(P, device, &rows));
#if PETSCRRB_ON_DEVICES
    if (device && !on_device_)
      on_device_ = std::make_shared<petscrrb::cuda::OwnValues>(own_.place, own_.block, own_.to);
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  const PetscScalar *const from[2] = {rows.own.a, rows.others.a};
  for (int b = 0; b < 2; ++b)
    PetscCall(PetscSFBcastWithMemTypeBegin(from_[b], MPIU_SCALAR, memory, from[b], memory, a, MPI_REPLACE));
#if PETSCRRB_ON_DEVICES
  if (device) trouble = PetscRRBTroubleOf(say, [&] { on_device_->put(from, a); });
#endif
  if (!device)
#pragma omp parallel for schedule(static) if ((PetscInt)own_.to.size() >= petscrrb::rows_for_threads)
    for (std::size_t i = 0; i < own_.to.size(); ++i) a[own_.to[i]] = from[own_.block[i]][own_.place[i]];
  for (int b = 0; b < 2; ++b) PetscCall(PetscSFBcastEnd(from_[b], MPIU_SCALAR, from[b], a, MPI_REPLACE));
  PetscCall(PetscRRBRankRowsRestore(P, device, &rows));
  PetscCall(PetscRRBFirstTrouble(comm, &trouble));
  PetscCheck(!trouble, comm, trouble.code, "%s", trouble.why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}
