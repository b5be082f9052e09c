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

/* What a rank does between what all do together may throw: there is not enough memory, perhaps on it alone. Rows of this rank, nearly all that
   are wanted, are not sent to it. */
PetscErrorCode PetscRRBBoxRows::Build(Mat P, const std::vector<PetscInt> &rows, const Number &number) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  std::vector<PetscInt> others; /* wanted rows of other ranks */
  PetscRRBGhostEntries wanted;
  PetscSF of_rows = nullptr, of_entries = nullptr;
  PetscInt end;
  Entries own, theirs;

  PetscFunctionBegin;
  on_device_ = nullptr;
  PetscCall(MatGetOwnershipRange(P, &first_, &end));
  own_rows_ = end - first_;
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    PetscRRBCheckSent(TakeOwn(P, &own));
    for (const PetscInt row : rows)
      if (!is_own(row)) others.push_back(row);
  }));
  PetscCall(PetscRRBConnectRows(P, others, &of_rows));
  PetscCall(PetscRRBConnectEntries(P, others, of_rows, own.start.data(), own_rows_, &wanted, &of_entries));
  PetscCall(PetscSFDestroy(&of_rows));
  const PetscErrorCode code = PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    theirs.start = wanted.start;
    theirs.column.resize(wanted.root.size());
    theirs.place.resize(wanted.root.size());
  });
  if (!code) {
    PetscCall(PetscRRBExchange(of_entries, PETSC_FALSE, MPIU_INT, own.column.data(), theirs.column.data()));
    PetscCall(PetscRRBExchange(of_entries, PETSC_FALSE, MPIU_INT, own.place.data(), theirs.place.data()));
  }
  PetscCall(PetscSFDestroy(&of_entries));
  PetscCall(code);
  std::vector<PetscInt> to; /* where those of other ranks go */
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] { PutInOrder(rows, number, own, &theirs, &to); }));
  own = {};
  PetscCall(Connect(P, others, theirs, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of rows in the order of the box's columns. */
void PetscRRBBoxRows::PutInOrder(const std::vector<PetscInt> &rows, const Number &number, const Entries &own,
                                 Entries *theirs, std::vector<PetscInt> *to) {
  constexpr PetscInt few = 32; /* entries of a row on a grid; others' rows are put in order by one thread */
  const PetscInt n = (PetscInt)rows.size();
  std::vector<PetscInt> which((std::size_t)n),
      own_before((std::size_t)n + 1); /* row of its owner's; own entries before it */
  std::vector<PetscInt> longer, order, key;
  const auto size_of = [&](PetscInt p) { return ia_[(std::size_t)p + 1] - ia_[(std::size_t)p]; };
  PetscInt others = 0;

  ia_.assign((std::size_t)n + 2, 0);
  for (PetscInt p = 0; p < n; ++p) {
    const bool mine = is_own(rows[(std::size_t)p]);
    const std::vector<PetscInt> &start = mine ? own.start : theirs->start;
    const PetscInt row = which[(std::size_t)p] = mine ? rows[(std::size_t)p] - first_ : others++;
    const PetscInt size = start[(std::size_t)row + 1] - start[(std::size_t)row];
    ia_[(std::size_t)p + 1] = ia_[(std::size_t)p] + size;
    own_before[(std::size_t)p + 1] = own_before[(std::size_t)p] + (mine ? size : 0);
    if (size > few) longer.push_back(p);
  }
  ia_.back() = ia_[(std::size_t)n] + 1;
  ja_.assign((std::size_t)ia_.back(), 0);
  own_.to.resize((std::size_t)own_before.back());
  own_.place.resize(own_.to.size());
  own_.block.resize(own_.to.size());
  to->resize(theirs->column.size());
  const Entries unordered = *theirs;
  const auto put = [&](PetscInt p, PetscInt *by, PetscInt *in) {
    const bool mine = is_own(rows[(std::size_t)p]);
    const Entries &of = mine ? own : unordered;
    const std::size_t begin = (std::size_t)of.start[(std::size_t)which[(std::size_t)p]];
    const PetscInt size = size_of(p), at = ia_[(std::size_t)p];
    for (PetscInt i = 0; i < size; ++i) {
      const PetscInt here = number(of.column[begin + (std::size_t)i]);
      in[i] = i, by[i] = here < 0 ? n : here;
    }
    std::sort(in, in + size, [&](PetscInt a, PetscInt b) { return by[a] < by[b]; });
    for (PetscInt i = 0; i < size; ++i) {
      const std::size_t from = begin + (std::size_t)in[i], mine_at = (std::size_t)(own_before[(std::size_t)p] + i);
      ja_[(std::size_t)(at + i)] = by[in[i]];
      if (mine) {
        own_.to[mine_at] = at + i, own_.place[mine_at] = own.place[from];
        own_.block[mine_at] = !is_own(own.column[from]);
      } else {
        theirs->column[begin + (std::size_t)i] = unordered.column[from];
        theirs->place[begin + (std::size_t)i] = unordered.place[from];
        (*to)[begin + (std::size_t)i] = at + i;
      }
    }
  };
#pragma omp parallel for schedule(static) if (n >= petscrrb::rows_for_threads)
  for (PetscInt p = 0; p < n; ++p) {
    PetscInt by[few], in[few];
    if (size_of(p) <= few) put(p, by, in);
  }
  for (const PetscInt p : longer) {
    key.resize((std::size_t)size_of(p)), order.resize(key.size());
    put(p, key.data(), order.data());
  }
}

/* The values of other ranks' rows come from their blocks. */
PetscErrorCode PetscRRBBoxRows::Connect(Mat P, const std::vector<PetscInt> &others, const Entries &theirs,
                                        const std::vector<PetscInt> &to) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  PetscLayout layout;
  const PetscInt *ranges;
  std::vector<PetscInt> leaf[2];
  std::vector<PetscSFNode> root[2];
  Mat block[2];

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(P, &layout, nullptr));
  PetscCall(PetscLayoutGetRanges(layout, &ranges));
  PetscCall(MatMPIAIJGetSeqAIJ(P, &block[0], &block[1], nullptr));
  PetscCall(PetscRRBCallTogether(comm, PetscRRBSayOfRows, [&]() -> PetscErrorCode {
    for (std::size_t g = 0; g < others.size(); ++g) {
      PetscMPIInt owner;
      PetscCall(PetscLayoutFindOwner(layout, others[g], &owner));
      for (PetscInt e = theirs.start[g]; e < theirs.start[g + 1]; ++e) {
        const PetscInt q = theirs.column[(std::size_t)e];
        const int b = q < ranges[owner] || q >= ranges[owner + 1];
        leaf[b].push_back(to[(std::size_t)e]);
        root[b].push_back({owner, theirs.place[(std::size_t)e]});
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
