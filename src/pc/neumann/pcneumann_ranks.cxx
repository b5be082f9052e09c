/* PCNEUMANN on several ranks: their rows with ghosts in natural order, and what they have to agree about. */
#include "pc/neumann/pcneumann_data.h"

#include "petsc/rank_rows.h"
#include "stencil/refusal.hpp"
#include "grid/text.hpp"

using namespace petscrrb;

neumann::Ghosts PCNeumannGhosts(const PetscRRBOverlap *overlap) {
  return overlap ? neumann::Ghosts{overlap->ghosts(), overlap->order()} : neumann::Ghosts();
}

/* A row of L~ L~^T reaches the neighbours' neighbours. */
PetscErrorCode PCNeumannBuildOverlap(PC pc) {
  const PC_Neumann *n = (PC_Neumann *)pc->data;
  PCNeumannState *s = n->state;
  const PetscInt64 points = (PetscInt64)n->grid[0] * n->grid[1] * PetscMax(n->grid[2], 1);
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(pc->pmat, &rows, nullptr));
  PetscCheck(!n->grid[0] || points == rows, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "A grid of %" PetscInt64_FMT " points does not match the matrix, which has %" PetscInt_FMT
             " rows. Correct -pc_neumann_grid, or omit it",
             points, rows);
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), "PCNEUMANN",
                                [&] { s->overlap = std::make_unique<PetscRRBOverlap>(); }));
  PetscCall(s->overlap->Build(pc, pc->pmat, s->rows.on_ranks, n->drop == PC_NEUMANN_DROP_THRESHOLD ? 2 : 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNeumannAgree(PC pc, RowFacts *f) {
  if (f->bad_pivot != no_row) f->bad_pivot = ((PC_Neumann *)pc->data)->state->overlap->global((PetscInt)f->bad_pivot);
  return PetscRRBAgreeOnFacts(PetscObjectComm((PetscObject)pc), f);
}

PetscErrorCode PCNeumannWhyRefusedOnRanks(PC pc, PetscRRBTrouble *trouble) {
  const PCNeumannState *s = ((PC_Neumann *)pc->data)->state;
  PetscRRBOverlap &overlap = *s->overlap;
  const auto words = [&](PetscInt row, PetscInt column) {
    return "row " + text(index_t(overlap.global(row))) + ", column " + text(index_t(overlap.global(column)));
  };

  return PetscRRBExplain("PCNEUMANN", overlap, s->rows.on_ranks, trouble, [&](const Csr &rows, const Flags &identity) {
    return s->found.not_finite ? where_not_finite(RankRows(rows), words) : where_asymmetric(rows, identity, words);
  });
}
