/* PCSetUp() of PCNEUMANN: the grid if there is one, on several ranks rows with ghosts; the form that M^-1 is kept in, the values, what is
   said of them. */
#include "pc/neumann/pcneumann_data.h"
#include "pc/set_up.h"

#include "petsc/rank_rows.h"
#include "stencil/refusal.hpp"

using namespace petscrrb;

static neumann::Series SeriesOf(const PC_Neumann *n) {
  return n->type == PC_NEUMANN_SERIES ? neumann::neumann((int)n->terms, n->omega)
                                      : neumann::incomplete_poisson(n->scale != PETSC_FALSE);
}

static PetscErrorCode CheckChoices(PC pc) {
  const PC_Neumann *n = (PC_Neumann *)pc->data;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(n->type == PC_NEUMANN_SERIES || n->omega == 1, comm, PETSC_ERR_ARG_INCOMP,
             "Incomplete Poisson has no relaxation: -pc_neumann_omega requires -pc_neumann_type series");
  if (n->type == PC_NEUMANN_POISSON) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(
      n->scale, comm, PETSC_ERR_ARG_INCOMP,
      "A Neumann series is always that of the scaled matrix: -pc_neumann_scale 0 requires -pc_neumann_type poisson");
  PetscCheck(n->drop == PC_NEUMANN_DROP_NONE, comm, PETSC_ERR_ARG_INCOMP,
             "A Neumann series drops nothing: -pc_neumann_drop requires -pc_neumann_type poisson");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The words of the rank that found the first bad entry, with global rows. Collective. */
static PetscErrorCode SayRefusedOnRanks(PCNeumannState *s, PetscRRBTrouble *trouble) {
  const auto words = [s](PetscInt row, PetscInt column) {
    return plain_words(s->overlap->global(row), s->overlap->global(column));
  };
  const auto explain = [&](const Csr &rows, const Flags &identity) {
    return s->found.not_finite ? where_not_finite(RankRows(rows), words) : where_asymmetric(rows, identity, words);
  };

  return PetscRRBExplain("PCNEUMANN", *s->overlap, s->rows.on_ranks, trouble, explain);
}

/* The first bad entry in words. */
static PetscErrorCode SayRefused(PCNeumannState *s, PetscRRBTrouble *trouble) {
  std::string why;

  PetscFunctionBegin;
  if (s->overlap)
    PetscCall(SayRefusedOnRanks(s, trouble));
  else {
    *trouble = s->backend->WhyRefused(s->rows.csr, &why);
    if (!*trouble) *trouble = {why, PETSC_ERR_ARG_WRONG};
  }
  if (trouble->code == PETSC_ERR_ARG_WRONG) trouble->why = "PCNEUMANN cannot use this matrix: " + trouble->why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What all ranks found, with a global row. Collective. */
static PetscErrorCode Agree(MPI_Comm comm, PCNeumannState *s) {
  if (s->found.bad_pivot != no_row) s->found.bad_pivot = s->overlap->global((PetscInt)s->found.bad_pivot);
  return PetscRRBAgreeOnFacts(comm, &s->found);
}

/* Values of Pmat into the form; *rebuild where there is a coupling that the grid has no place for. */
static PetscErrorCode ReadValues(PC pc, PetscBool *rebuild, PetscRRBTrouble *trouble) {
  PCNeumannState *s = ((PC_Neumann *)pc->data)->state;

  PetscFunctionBegin;
  PetscCall(s->form->Refresh(pc, s->rows.csr, &s->found));
  if (s->overlap) PetscCall(Agree(PetscObjectComm((PetscObject)pc), s));
  const ReadResult result = s->found.result();
  if (result == ReadResult::refused) PetscCall(SayRefused(s, trouble));
  *rebuild = (PetscBool)(result == ReadResult::rebuild);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of L~ L~^T reaches the neighbours' neighbours. */
static PetscErrorCode BuildOverlap(PC pc) {
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

/* Everything that depends on the pattern and on the options, but not on values. */
static PetscErrorCode Build(PC pc, PetscRRBTrouble *trouble) {
  const PC_Neumann *n = (PC_Neumann *)pc->data;
  PCNeumannState *s = n->state;
  const bool asked = n->grid[0] > 0;
  Csr rows = s->rows.csr;

  PetscFunctionBegin;
  s->form.reset();
  s->overlap.reset();
  s->grid = Grid();
  if (s->rows.on_ranks) {
    PetscCall(BuildOverlap(pc));
    rows = s->overlap->rows(nullptr);
  } else if (n->drop == PC_NEUMANN_DROP_NONE || asked) {
    PetscCall(PetscRRBFindGridOrNone(pc, pc->pmat, Widest::star, n->grid, "-pc_neumann_grid", s->backend->rows(rows),
                                     PETSC_FALSE, &s->grid));
  }
  if (s->grid.n[0] && n->drop == PC_NEUMANN_DROP_NONE) {
    *trouble = s->backend->CreateOnGrid(s->grid, SeriesOf(n), &s->form);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const neumann::Kept kept = n->drop == PC_NEUMANN_DROP_NONE      ? neumann::Kept::triangles
                             : n->drop == PC_NEUMANN_DROP_PATTERN ? neumann::Kept::pattern
                                                                  : neumann::Kept::threshold;
  PetscCall(s->backend->CreateSparse(pc, s->overlap.get(), rows, SeriesOf(n), kept, n->threshold, &s->form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpFromRows(PC pc, PetscBool *rebuild, PetscRRBTrouble *trouble) {
  PCNeumannState *s = ((PC_Neumann *)pc->data)->state;
  const auto choose = [&] {
    return PetscRRBChooseBackend(
        s, PCNeumannCreateBackend, [&] { s->form.reset(); }, rebuild);
  };

  PetscFunctionBegin;
  PetscCall(PetscRRBCallTogether(PetscObjectComm((PetscObject)pc), "PCNEUMANN", choose));
  PetscCall(PetscRRBReadOrBuild(pc, s, *rebuild, trouble, Build, ReadValues));
  if (!*trouble && s->found.norm >= 1 && s->found.bad_pivot == no_row)
    PetscCall(
        PetscInfo(pc,
                  "The largest row sum of the scaled triangle is %g, not below 1: the terms of the Neumann series "
                  "need not decrease, and more terms may not help\n",
                  s->found.norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several ranks each step is collective. */
PetscErrorCode PCSetUp_Neumann(PC pc) {
  PC_Neumann *n = (PC_Neumann *)pc->data;
  char why[128];

  PetscFunctionBegin;
  PetscCall(PetscRRBSetUp<PC_Neumann>(
      pc, PETSC_COMM_SELF, "PCNEUMANN", [&] { return CheckChoices(pc); },
      [&] { return PetscRRBMatrixGet(pc, pc->pmat, &n->state->rows); },
      [&](PetscBool *rebuild, PetscRRBTrouble *trouble) { return SetUpFromRows(pc, rebuild, trouble); }));
  if (n->state->found.bad_pivot == no_row) PetscFunctionReturn(PETSC_SUCCESS);
  n->state->failed = PETSC_TRUE;
  PetscCall(PetscSNPrintf(
      why, sizeof(why), "Neumann: the diagonal entry of row %lld is not positive: the matrix is not positive definite",
      (long long)n->state->found.bad_pivot));
  PetscCall(PetscRRBFailed(pc, PETSC_ERR_MAT_LU_ZRPVT, "", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}
