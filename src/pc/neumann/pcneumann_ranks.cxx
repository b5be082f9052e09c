/* PCNEUMANN on several ranks: their rows with ghosts in natural order, and what they have to agree about. */
#include "pc/neumann/pcneumann_data.h"

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
             "A grid of %" PetscInt64_FMT " points is not one of the matrix, which has %" PetscInt_FMT
             " rows. Correct -pc_neumann_grid, or leave it out",
             points, rows);
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), PetscRRBSay("PCNEUMANN"),
                                [&] { s->overlap = std::make_unique<PetscRRBOverlap>(); }));
  PetscCall(s->overlap->Build(pc, pc->pmat, s->rows.on_ranks, n->drop == PC_NEUMANN_DROP_THRESHOLD ? 2 : 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNeumannAgree(PC pc, CouplingFindings *f) {
  const PetscRRBOverlap *overlap = ((PC_Neumann *)pc->data)->state->overlap.get();
  const bool bad = f->bad_pivot != no_row;
  double most[] = {f->not_finite ? 1.0 : 0.0, f->diagonal, f->asymmetry, f->norm,
                   bad ? -(double)overlap->global((PetscInt)f->bad_pivot) : -PETSC_INFINITY};
  double rows = (double)f->identity_rows;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  if (f->not_finite) most[1] = most[2] = most[3] = 0; /* a maximum with NaN is anything */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 5, MPI_DOUBLE, MPI_MAX, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &rows, 1, MPI_DOUBLE, MPI_SUM, comm));
  f->not_finite = most[0] > 0;
  f->diagonal = most[1];
  f->asymmetry = most[2];
  f->norm = most[3];
  f->bad_pivot = most[4] == -PETSC_INFINITY ? no_row : (index_t)-most[4];
  f->identity_rows = (index_t)rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the matrix once more, on the host. */
PetscErrorCode PCNeumannWhyRefusedOnRanks(PC pc, PetscRRBTrouble *trouble) {
  const PCNeumannState *s = ((PC_Neumann *)pc->data)->state;
  const PetscRRBOverlap &overlap = *s->overlap;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const PetscRRBSay say("PCNEUMANN");
  std::vector<PetscScalar> a;
  Flags identity;

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(comm, say, [&] { a.resize((std::size_t)overlap.entries()); }));
  PetscCall(s->overlap->Exchange(s->rows.on_ranks, PETSC_FALSE, a.data()));
  const auto words = [&](PetscInt row, PetscInt column) {
    return "row " + text(index_t(overlap.global(row))) + ", column " + text(index_t(overlap.global(column)));
  };
  PetscRRBCatch(say, trouble, [&]() -> PetscErrorCode {
    Csr rows = overlap.rows(a.data());
    trouble->code = PETSC_ERR_ARG_WRONG;
    if (s->found.not_finite)
      trouble->why = where_not_finite(RankRows(rows), words);
    else {
      rows.n += overlap.ghosts();
      identity.resize((std::size_t)rows.n);
      (void)mark_identity(RankRows(rows), identity.data());
      rows.n = overlap.own();
      trouble->why = where_asymmetric(rows, identity, s->found.diagonal, words);
    }
    return PETSC_SUCCESS;
  });
  PetscCall(PetscRRBFirstTrouble(comm, trouble));
  PetscFunctionReturn(PETSC_SUCCESS);
}
