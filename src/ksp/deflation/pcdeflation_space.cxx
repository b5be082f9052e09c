/* The subdomains that were chosen, as the mathematics wants them: their grid is found, defaults are filled in. */
#include "ksp/deflation/pcdeflation_backend.h"
#include "petsc/overlap.h"
#include "grid/text.hpp"

using namespace petscrrb;
using namespace petscrrb::deflation;

/* Deflation takes any couplings. So whoever names the grid need not fit the nonzeros, only their number; but a grid that
   must be told from the nonzeros is that of a stencil. */
static PetscRRBRows AnyStencil(const PetscRRBRows &rows) {
  PetscRRBRows out = rows;
  out.check = [n = rows.n](Widest, const char *option, Grid &g) {
    const index_t points = g.n[0] * g.n[1] * (g.dim == 3 ? g.n[2] : 1);
    if (points == n) return std::string();
    return std::string("A grid of ") + sizes(g) + " has " + text(points) + " points, but the matrix has " +
           text(index_t(n)) + " rows (" + option + ")";
  };
  return out;
}

static const PetscRRBSay say("the boxes of deflation");

/* E^-1 of 64 x 64 or 16 x 16 x 16 blocks is still cheap beside the fine grid. */
static index_t DefaultBlocks(const Grid &g, int d) {
  return d < g.dim ? PetscMin((g.n[d] + 7) / 8, g.dim == 3 ? 16 : 64) : 1;
}

PetscErrorCode PCDeflationDescribe(PC pc, Mat A, const KSPDeflationChoice &choice, const PetscRRBRows &rows,
                                   Space *space) {
  const PetscBool blocks = (PetscBool)(choice.blocks[0] > 0);
  MatNullSpace null;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  *space = Space();
  space->phases = choice.type == KSP_DEFLATION_LEVELSET;
  space->jump = choice.jump;
  PetscCall(MatGetNullSpace(A, &null));
  if (null) space->rounding = 1e-10; /* where the application says that A v = 0, small row sums are errors */
  if (space->phases && !blocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &ranks));
  if (ranks > 1)
    PetscCall(PetscRRBFindGridOfAllRanks(pc, A, choice.grid, "-ksp_deflation_grid", &space->grid));
  else
    PetscCall(
        PetscRRBFindGrid(pc, A, Widest::star, choice.grid, "-ksp_deflation_grid", AnyStencil(rows), &space->grid));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)A), say, [&] {
    index_t parts[3];
    for (int d = 0; d < 3; ++d) parts[d] = blocks ? choice.blocks[d] : DefaultBlocks(space->grid, d);
    space->boxes = choice.type == KSP_DEFLATION_STRIPE ? stripes_of(space->grid, choice.stripes[0], choice.stripes[1])
                                                       : blocks_of(space->grid, parts);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string PCDeflationWords(const KSPDeflationChoice &choice, PetscBool phi, const Space &space) {
  const auto boxes = [&] {
    std::string s = text(index_t(space.boxes.count[0])) + " x " + text(index_t(space.boxes.count[1]));
    return space.grid.dim == 3 ? s + " x " + text(index_t(space.boxes.count[2])) : s;
  };
  const auto grid = [&] { return " of the grid of " + sizes(space.grid) + ", from the " + space.grid.source; };
  if (choice.type == KSP_DEFLATION_STRIPE)
    return "stripes of " + text(index_t(choice.stripes[0])) + " lines, each in " + text(index_t(space.boxes.count[0])) +
           " pieces," + grid();
  if (choice.type == KSP_DEFLATION_BLOCK) return boxes() + " blocks" + grid();
  std::string s = phi ? "phases by the sign of a level set" : "phases by the jump of diagonals, " + text(choice.jump);
  return space.boxes.none() ? s : s + ", cut by " + boxes() + " blocks" + grid();
}
