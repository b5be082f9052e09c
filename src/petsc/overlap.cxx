/* The own rows of a MATMPIAIJ and the ghosts: their pattern, and where the values stand. */
#include "petsc/overlap.h"

#include "petsc/matrix.h"
#include "petsc/mpi_throws.h"
#include "grid/source.hpp"
#include "petsc/compat.h"

#include <algorithm>
#include <limits>

using petscrrb::rows_for_threads;
using petscrrb::Source;

struct PetscRRBOverlap::Entries { /* of rows, one after the other: global columns, and Source on the owner */
  std::vector<PetscInt> start, column, source;

  void Truncate(PetscInt rows) {
    start.resize((std::size_t)rows + 1);
    column.resize((std::size_t)start.back());
    source.resize((std::size_t)start.back());
  }
};

PetscInt PetscRRBOverlap::LocalOf(PetscInt global) const {
  if (global >= first_ && global < first_ + own_) return global - first_;
  const auto at = std::lower_bound(ghosts_.begin(), ghosts_.end(), global);
  return own_ + (PetscInt)((at != ghosts_.end() && *at == global ? at : ghosts_.end()) - ghosts_.begin());
}

/* Columns in order. */
PetscErrorCode PetscRRBOverlap::TakeOwn(Mat own, Mat other, const PetscInt columns[], Entries *out) {
  const Mat block[2] = {own, other};
  petscrrb::Csr of[2];

  PetscFunctionBegin;
  for (int b = 0; b < 2; ++b) PetscCall(PetscRRBPatternGet(block[b], &of[b]));
  out->start.resize((std::size_t)own_ + 1);
  for (PetscInt p = 0; p <= own_; ++p) out->start[(std::size_t)p] = of[0].ia[p] + of[1].ia[p];
  out->column.resize((std::size_t)out->start.back());
  out->source.resize((std::size_t)out->start.back());
#pragma omp parallel for schedule(static) if (own_ >= rows_for_threads)
  for (PetscInt p = 0; p < own_; ++p) {
    PetscInt e[2] = {of[0].ia[p], of[1].ia[p]};
    for (PetscInt to = out->start[(std::size_t)p]; to < out->start[(std::size_t)p + 1]; ++to) {
      /* those of a block's row are in order */
      const auto column = [&](int b) {
        if (e[b] == of[b].ia[p + 1]) return std::numeric_limits<PetscInt>::max();
        return b ? columns[of[b].ja[e[b]]] : first_ + of[b].ja[e[b]];
      };
      const int b = column(1) < column(0);
      out->column[(std::size_t)to] = column(b);
      out->source[(std::size_t)to] = Source::of(b, e[b]++);
    }
  }
  for (int b = 0; b < 2; ++b) PetscCall(PetscRRBPatternRestore(block[b], &of[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the ghosts, from their owners, after the own ones. */
PetscErrorCode PetscRRBOverlap::TakeGhosts(Mat P, Entries *all) {
  const PetscInt own_entries = all->start.back();
  PetscRRBGhostEntries theirs;
  PetscSF entries;

  PetscFunctionBegin;
  PetscCall(PetscRRBConnectEntries(P, ghosts_, rows_, all->start.data(), own_, &theirs, &entries));
  const PetscErrorCode code = PetscRRBTryTogether(PetscObjectComm((PetscObject)P), PetscRRBSayOfRows, [&] {
    for (std::size_t g = 1; g < theirs.start.size(); ++g) all->start.push_back(own_entries + theirs.start[g]);
    all->column.resize((std::size_t)all->start.back());
    all->source.resize((std::size_t)all->start.back());
  });
  for (std::vector<PetscInt> *of : {&all->column, &all->source})
    if (!code) PetscCall(PetscRRBExchange(entries, PETSC_FALSE, MPIU_INT, of->data(), of->data() + own_entries));
  PetscCall(PetscSFDestroy(&entries));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBOverlap::ExchangeOrder(PC pc, Mat A) {
  std::vector<PetscInt> mine;

  PetscFunctionBegin;
  PetscCall(PetscRRBNaturalOrder(pc, A, &mine, &source_));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)A), PetscRRBSayOfRows, [&] {
    order_.assign((std::size_t)(own_ + ghosts()), std::numeric_limits<PetscInt>::max());
    std::copy(mine.begin(), mine.end(), order_.begin());
  }));
  PetscCall(PetscRRBExchange(rows_, PETSC_FALSE, MPIU_INT, mine.data(), order_.data() + own_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Local rows and columns. */
void PetscRRBOverlap::SetPattern(Entries &all) {
  ja_.resize(all.column.size());
#pragma omp parallel for schedule(static) if (own_ >= rows_for_threads)
  for (std::size_t e = 0; e < ja_.size(); ++e) ja_[e] = LocalOf(all.column[e]);
  ia_ = std::move(all.start);
  ia_.push_back(ia_.back());
  place_ = std::move(all.source);
}

/* What a rank does between what all do together may throw: there is not enough memory, perhaps on it alone. */
PetscErrorCode PetscRRBOverlap::Build(PC pc, Mat A, Mat P, int layers) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  const PetscInt *columns;
  PetscInt count, last;
  Mat own, other;
  Entries all;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(P, &first_, &last));
  own_ = last - first_;
  PetscCall(MatMPIAIJGetSeqAIJ(P, &own, &other, &columns));
  PetscCall(MatGetSize(other, NULL, &count));
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    all.start.assign(1, 0);
    ghosts_.assign(columns, columns + count);
    std::sort(ghosts_.begin(), ghosts_.end());
    PetscRRBCheckSent(TakeOwn(own, other, columns, &all));
  }));
  for (int layer = 1; layer <= layers; ++layer) {
    if (layer > 1)
      PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
        for (PetscInt q : all.column)
          if (q < first_ || q >= last) ghosts_.push_back(q);
        std::sort(ghosts_.begin(), ghosts_.end());
        ghosts_.erase(std::unique(ghosts_.begin(), ghosts_.end()), ghosts_.end());
        all.Truncate(own_);
      }));
    PetscCall(PetscRRBConnectRows(P, ghosts_, &rows_));
    PetscCall(TakeGhosts(P, &all));
  }
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] { SetPattern(all); }));
  PetscCall(values_.Reset());
  PetscCall(ExchangeOrder(pc, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- values --- */

PetscErrorCode PetscRRBOverlap::ExchangeRows(PetscBool device, PetscScalar *values) {
  return PetscRRBExchange(rows_, device, MPIU_SCALAR, values, values + own_);
}

PetscErrorCode PetscRRBOverlap::Exchange(Mat P, PetscBool device, PetscScalar *a) {
  PetscFunctionBegin;
  if (!values_.connected()) PetscCall(values_.Connect(P, ghosts_, ia_.data() + own_, place_.data(), nullptr));
  PetscCall(values_.Exchange(P, device, place_.data(), ia_[(std::size_t)own_], a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
