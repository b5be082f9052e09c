/* PCSetUp() of PCBLOCKRELAX: the grid or the patches, their blocks, the values, and what all ranks say of them together. */
#include "pc/blockrelax/core/layout.hpp"
#include "pc/blockrelax/pcblockrelax_data.h"
#include "pc/set_up.h"

#include <algorithm>

using namespace petscrrb;

static PetscErrorCode CheckChoices(PC pc) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const bool coloured = b->type == PC_BLOCKRELAX_TYPE_COLOURED;

  PetscFunctionBegin;
  PetscCheck(
      coloured || !b->symmetric, comm, PETSC_ERR_ARG_INCOMP,
      "-pc_blockrelax_symmetric requires -pc_blockrelax_type coloured: jacobi is always symmetric, chaotic never");
  PetscCheck(coloured || b->colours == PETSC_DECIDE, comm, PETSC_ERR_ARG_INCOMP,
             "-pc_blockrelax_colours requires -pc_blockrelax_type coloured");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static_assert((int)blockrelax::Order::coloured == PC_BLOCKRELAX_TYPE_COLOURED &&
                  (int)blockrelax::Inverse::dense == PC_BLOCKRELAX_INVERSE_DENSE &&
                  (int)blockrelax::Parallel::both == PC_BLOCKRELAX_PARALLEL_BOTH,
              "they have the same values");

/* A block is no longer than the longest patch. */
static blockrelax::Options OptionsOf(const PC_BlockRelax *b, const blockrelax::Domain &domain) {
  using namespace blockrelax;
  const bool solid = domain.longest(2) > 1;
  const PetscInt by_default[3] = {solid ? 8 : 32, solid ? 8 : 32, 8};
  Options o;
  o.order = (Order)b->type;
  for (int d = 0; d < 3; ++d) o.block[d] = (int)std::min(b->block[d] ? b->block[d] : by_default[d], domain.longest(d));
  o.omega = b->omega;
  if (b->omega == PETSC_DECIDE) o.omega = o.order == Order::jacobi ? 0.8 : 1;
  o.colours = b->colours == PETSC_DECIDE ? least_colours(domain, o.cut()) : (int)b->colours;
  o.symmetric = b->symmetric;
  o.inverse = (Inverse)b->inverse;
  o.parallel = (Parallel)b->parallel;
  o.memory = b->memory;
  return o;
}

/* The patches that were set, one after the other; their stencil is not known yet. */
static void UsePatches(PC pc, PetscRRBTrouble *trouble) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PCBlockRelaxState *s = b->state;
  const index_t rows = s->rows.csr.n;
  index_t first = 0;
  bool fits = true;
  for (PetscInt p = 0; p < b->patches && fits; ++p) {
    const PetscInt *n = b->sizes + 3 * p;
    s->shape.patches.push_back({{n[0], n[1], n[2]}, (PetscInt)first});
    fits = n[0] <= rows && n[1] <= rows / n[0] && n[2] <= rows / n[0] / n[1];
    if (fits) first += (index_t)n[0] * n[1] * n[2];
    fits = fits && first <= rows;
  }
  if (!fits || first != rows)
    *trouble = {"the patches given to PCBlockRelaxSetPatches() have " + std::string(fits ? "fewer" : "more") +
                    " unknowns than the matrix has rows, " + std::to_string(rows),
                PETSC_ERR_ARG_INCOMP};
  s->shape.points = s->shape.longest(2) > 1 ? 7 : 5;
}

static PetscErrorCode UseGrid(PC pc, PetscRRBTrouble *trouble) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PCBlockRelaxState *s = b->state;

  PetscFunctionBegin;
  PetscCall(PetscRRBFindGridOnRank(pc, pc->pmat, Widest::box, b->grid, "-pc_blockrelax_grid",
                                   s->backend->rows(s->rows.csr), &s->grid, trouble));
  if (*trouble) PetscFunctionReturn(PETSC_SUCCESS);
  const Grid &g = s->grid;
  s->shape.patches = {{{(PetscInt)g.n[0], (PetscInt)g.n[1], (PetscInt)g.n[2]}, 0}};
  s->shape.points = g.points;
  std::copy(g.periodic, g.periodic + 3, s->shape.periodic);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateBlocks(PC pc, PetscRRBTrouble *trouble) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PCBlockRelaxState *s = b->state;

  PetscFunctionBegin;
  s->options = OptionsOf(b, s->shape);
  const int needed = blockrelax::least_colours(s->shape, s->options.cut());
  if (s->options.order == blockrelax::Order::coloured && s->options.colours < needed) {
    *trouble = {"-pc_blockrelax_colours " + std::to_string(s->options.colours) + " is too few: blocks of " +
                    std::to_string(s->shape.points) + "-point matrices need " + std::to_string(needed) +
                    " here, so that no two of the same colour are coupled",
                PETSC_ERR_ARG_INCOMP};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *trouble = s->backend->Create(s->shape, s->options);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything that depends on the pattern and on the options, but not on values. */
static PetscErrorCode Build(PC pc, PetscRRBTrouble *trouble) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PCBlockRelaxState *s = b->state;

  PetscFunctionBegin;
  s->shape = blockrelax::Domain();
  if (b->sizes)
    UsePatches(pc, trouble);
  else
    PetscCall(UseGrid(pc, trouble));
  if (!*trouble) PetscCall(CreateBlocks(pc, trouble));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two for each coupling; of a cell 4 (bx + by + bz) in sine bases, else 2 for each entry of its row and column of a factor,
   or of its row of an inverse. */
static void CountFlops(PCBlockRelaxState *s) {
  const blockrelax::Options &o = s->options;
  const double bx = o.block[0], by = o.block[1], bz = o.block[2];
  const double of_cell = s->found.used == "tensor"  ? 4 * (bx + by + bz)
                         : s->found.used == "dense" ? 2 * bx * by * bz
                                                    : 4 * bx * (bz > 1 ? by : 1);
  const double turns = o.order != blockrelax::Order::coloured || !o.symmetric ? 1
                       : o.omega == 1                                         ? 2 - 1.0 / o.colours
                                                                              : 2;
  s->residual_flops = turns * (double)s->rows.csr.n * 2 * s->shape.points;
  s->inverse_flops = turns * (double)s->rows.csr.n * of_cell;
}

/* *rebuild where there is a coupling that has no place in the blocks: those of patches have places for corners, too, where
   there are some. */
static PetscErrorCode ReadValues(PC pc, PetscBool *rebuild, PetscRRBTrouble *trouble) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PCBlockRelaxState *s = b->state;

  PetscFunctionBegin;
  PetscCall(PetscRRBReadValues(s, "PCBLOCKRELAX", rebuild, trouble));
  if (!*rebuild || !b->sizes || s->shape.points == 9 || s->shape.points == 27) PetscFunctionReturn(PETSC_SUCCESS);
  s->shape.points = s->shape.points == 7 ? 27 : 9;
  *rebuild = PETSC_FALSE;
  PetscCall(CreateBlocks(pc, trouble));
  if (!*trouble) PetscCall(PetscRRBReadValues(s, "PCBLOCKRELAX", rebuild, trouble));
  if (*rebuild)
    *trouble = {"PCBLOCKRELAX cannot use this matrix: within a patch, a row couples with one that is not a neighbour",
                PETSC_ERR_ARG_WRONG};
  *rebuild = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckPivots(PC pc, PetscRRBTrouble *trouble) {
  PCBlockRelaxState *s = ((PC_BlockRelax *)pc->data)->state;
  const blockrelax::Findings &f = s->found;
  const bool diagonal = f.read.bad_pivot != no_row;
  PetscInt first;

  PetscFunctionBegin;
  CountFlops(s);
  if (!diagonal && f.pivot == no_row) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(pc->pmat, &first, nullptr));
  const std::string row = "row " + std::to_string(first + (diagonal ? f.read.bad_pivot : f.pivot));
  *trouble = {diagonal ? "the diagonal entry of " + row + " is not positive: the matrix is not positive definite"
                       : "the block of " + row + " is not positive definite",
              PETSC_ERR_MAT_LU_ZRPVT};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_BlockRelax(PC pc) {
  const PetscRRBSteps<PCBlockRelaxBackend> steps = {
      "PCBLOCKRELAX", PCBlockRelaxCreateBackend, CheckChoices, Build, ReadValues, CheckPivots};
  PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(PetscRRBSetUpDiagonalBlock<PC_BlockRelax>(pc, steps));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  b->state->one_rank = (PetscBool)(ranks == 1);
  PetscCall(b->state->values.Take(pc->pmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}
