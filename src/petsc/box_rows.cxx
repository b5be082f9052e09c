/* Rows of a MATMPIAIJ for a box: their pattern by their owners, then where each value comes from. */
#include "petsc/box_rows.h"

#include "grid/csr.hpp"
#include "petsc/agree.h"
#include "petsc/compat.h"
#include "petsc/ghosts.h"
#include "petsc/matrix.h"
#include "petsc/mpi_throws.h"
#include "grid/source.hpp"

#include <algorithm>

using petscrrb::Source;

/* The two blocks of a rank's rows, as long as this lives. */
class PetscRRBBoxRows::Blocks : petscrrb::NotCopied {
public:
  ~Blocks() {
    for (int b = 0; b < 2; ++b)
      if (of_[b].ia) (void)PetscRRBPatternRestore(block_[b], &of_[b]);
  }
  PetscErrorCode Get(Mat P) {
    PetscFunctionBegin;
    PetscCall(MatGetOwnershipRange(P, &first_, nullptr));
    PetscCall(MatMPIAIJGetSeqAIJ(P, &block_[0], &block_[1], &columns_));
    for (int b = 0; b < 2; ++b) PetscCall(PetscRRBPatternGet(block_[b], &of_[b]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt rows() const { return of_[0].n; }
  PetscInt size(PetscInt row) const { return size_in(0, row) + size_in(1, row); }
  /* f(global column, block, place in it) */
  template <class F> void each(PetscInt row, const F &f) const {
    for (int b = 0; b < 2; ++b)
      for (PetscInt e = of_[b].ia[row]; e < of_[b].ia[row + 1]; ++e)
        f(b ? columns_[of_[b].ja[e]] : first_ + of_[b].ja[e], b, e);
  }

private:
  PetscInt size_in(int b, PetscInt row) const { return of_[b].ia[row + 1] - of_[b].ia[row]; }

  PetscInt first_ = 0;
  const PetscInt *columns_ = nullptr;
  Mat block_[2] = {};
  petscrrb::Csr of_[2];
};

/* The entries of own rows that other ranks want. */
PetscErrorCode PetscRRBBoxRows::TakeWanted(const Blocks &blocks, PetscSF of_rows, Entries *own) const {
  const MPI_Comm comm = PetscObjectComm((PetscObject)of_rows);
  const PetscInt *wanted;

  PetscFunctionBegin;
  PetscCall(PetscSFComputeDegreeBegin(of_rows, &wanted));
  PetscCall(PetscSFComputeDegreeEnd(of_rows, &wanted));
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    const PetscInt n = blocks.rows();
    own->start.resize((std::size_t)n + 1);
    for (PetscInt p = 0; p < n; ++p)
      own->start[(std::size_t)p + 1] = own->start[(std::size_t)p] + (wanted[p] ? blocks.size(p) : 0);
    own->column.reserve((std::size_t)own->start.back());
    own->source.reserve((std::size_t)own->start.back());
    for (PetscInt p = 0; p < n; ++p)
      if (wanted[p])
        blocks.each(p, [&](PetscInt column, int b, PetscInt place) {
          own->column.push_back(column), own->source.push_back(Source::of(b, place));
        });
  }));
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
  Blocks blocks;
  Entries own, theirs;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(P, &first_, &end));
  own_rows_ = end - first_;
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    PetscRRBCheckSent(blocks.Get(P));
    for (const PetscInt row : rows)
      if (!is_own(row)) others.push_back(row);
  }));
  PetscCall(PetscRRBConnectRows(P, others, &of_rows));
  PetscCall(TakeWanted(blocks, of_rows, &own));
  PetscCall(PetscRRBConnectEntries(P, others, of_rows, own.start.data(), own_rows_, &wanted, &of_entries));
  PetscCall(PetscSFDestroy(&of_rows));
  const PetscErrorCode code = PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    theirs.start = wanted.start;
    theirs.column.resize(wanted.root.size());
    theirs.source.resize(wanted.root.size());
  });
  if (!code) {
    PetscCall(PetscRRBExchange(of_entries, PETSC_FALSE, MPIU_INT, own.column.data(), theirs.column.data()));
    PetscCall(PetscRRBExchange(of_entries, PETSC_FALSE, MPIU_INT, own.source.data(), theirs.source.data()));
  }
  PetscCall(PetscSFDestroy(&of_entries));
  PetscCall(code);
  std::vector<PetscInt> to; /* where those of other ranks go */
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] { PutInOrder(rows, number, blocks, &theirs, &to); }));
  PetscCall(values_.Connect(P, others, theirs.start.data(), theirs.source.data(), to.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of rows in the order of the box's columns. */
void PetscRRBBoxRows::PutInOrder(const std::vector<PetscInt> &rows, const Number &number, const Blocks &blocks,
                                 Entries *theirs, std::vector<PetscInt> *to) {
  constexpr PetscInt few = 32; /* entries of a row on a grid; longer ones are put in order by one thread */
  struct Entry {
    PetscInt here, source;
  };
  const PetscInt n = (PetscInt)rows.size();
  std::vector<PetscInt> which((std::size_t)n); /* row of its owner's */
  std::vector<PetscInt> longer;
  std::vector<Entry> room;
  const auto size_of = [&](PetscInt p) { return ia_[(std::size_t)p + 1] - ia_[(std::size_t)p]; };
  PetscInt others = 0;

  ia_.assign((std::size_t)n + 2, 0);
  for (PetscInt p = 0; p < n; ++p) {
    const bool mine = is_own(rows[(std::size_t)p]);
    const PetscInt row = which[(std::size_t)p] = mine ? rows[(std::size_t)p] - first_ : others++;
    const PetscInt size =
        mine ? blocks.size(row) : theirs->start[(std::size_t)row + 1] - theirs->start[(std::size_t)row];
    ia_[(std::size_t)p + 1] = ia_[(std::size_t)p] + size;
    if (size > few) longer.push_back(p);
  }
  ia_.back() = ia_[(std::size_t)n] + 1;
  ja_.resize((std::size_t)ia_.back());
  source_.resize((std::size_t)ia_.back());
  source_.data()[ia_[(std::size_t)n]] = Source::elsewhere;
  to->resize(theirs->column.size());
  const auto put = [&](PetscInt p, Entry *entry) {
    const bool mine = is_own(rows[(std::size_t)p]);
    const PetscInt row = which[(std::size_t)p], size = size_of(p), at = ia_[(std::size_t)p];
    const std::size_t begin = mine ? 0 : (std::size_t)theirs->start[(std::size_t)row];
    Entry *end = entry;
    const auto take = [&](PetscInt column, PetscInt source) {
      const PetscInt here = number(column);
      *end++ = {here < 0 ? n : here, source};
    };
    if (mine)
      blocks.each(row, [&](PetscInt column, int b, PetscInt place) { take(column, Source::of(b, place)); });
    else
      for (std::size_t e = begin; e < begin + (std::size_t)size; ++e) take(theirs->column[e], theirs->source[e]);
    std::sort(entry, end, [](const Entry &a, const Entry &b) { return a.here < b.here; });
    for (PetscInt i = 0; i < size; ++i) {
      ja_.data()[at + i] = entry[i].here;
      source_.data()[at + i] = mine ? entry[i].source : Source::elsewhere;
      if (mine) continue;
      theirs->source[begin + (std::size_t)i] = entry[i].source;
      (*to)[begin + (std::size_t)i] = at + i;
    }
  };
#pragma omp parallel for schedule(static) if (n >= petscrrb::rows_for_threads)
  for (PetscInt p = 0; p < n; ++p) {
    Entry entry[few];
    if (size_of(p) <= few) put(p, entry);
  }
  for (const PetscInt p : longer) {
    room.resize((std::size_t)size_of(p));
    put(p, room.data());
  }
}

PetscErrorCode PetscRRBBoxRows::Exchange(Mat P, PetscBool device, PetscScalar *a) {
  return values_.Exchange(P, device, source_.data(), (PetscInt)source_.size(), a);
}
