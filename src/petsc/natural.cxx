/* The natural order of the rows of a matrix on several ranks. */
#include "petsc/overlap.h"

#include "petsc/agree.h"
#include "petsc/matrix.h"
#include "petsc/compat.h"

#include <petscdmda.h>

#include <numeric>
#include <utility>

/* *answers: dm is a DMDA whose points on each rank are its rows, all unknowns of a point following one another. all: points a
   side; at, n: the rank's box. */
static PetscErrorCode AskDMDA(DM dm, Mat P, PetscInt all[3], PetscInt at[3], PetscInt n[3], PetscInt *dof,
                              PetscBool *answers) {
  PetscInt sides, rows;
  PetscBool da = PETSC_FALSE;
  PetscMPIInt mine, everyone;

  PetscFunctionBegin;
  *answers = PETSC_FALSE;
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &da));
  if (!da) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(P, &rows, NULL));
  PetscCall(DMDAGetInfo(dm, &sides, &all[0], &all[1], &all[2], NULL, NULL, NULL, dof, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(dm, &at[0], &at[1], &at[2], &n[0], &n[1], &n[2]));
  for (PetscInt d = sides; d < 3; ++d) {
    at[d] = 0;
    n[d] = all[d] = 1;
  }
  mine = (PetscInt64)n[0] * n[1] * n[2] * *dof == rows;
  PetscCallMPI(MPI_Allreduce(&mine, &everyone, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)P)));
  *answers = (PetscBool)everyone;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* source: NULL where nobody answers. */
static PetscErrorCode Ask(PC pc, Mat P, PetscInt all[3], PetscInt at[3], PetscInt n[3], PetscInt *dof,
                          const char **source, DM *dm) {
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(PCGetDM(pc, dm));
  *source = "PC's DMDA";
  PetscCall(AskDMDA(*dm, P, all, at, n, dof, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDM(P, dm));
  *source = "Mat's DMDA";
  PetscCall(AskDMDA(*dm, P, all, at, n, dof, &found));
  if (!found) *source = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBNaturalOrder(PC pc, Mat P, std::vector<PetscInt> *order, std::string *source) {
  PetscInt first, last, all[3], at[3], n[3], dof;
  const char *name;
  DM dm;

  PetscFunctionBegin;
  PetscCall(Ask(pc, P, all, at, n, &dof, &name, &dm));
  PetscCall(MatGetOwnershipRange(P, &first, &last));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)P), PetscRRBSayOfRows, [&] {
    *source = name ? name : "numbering of the rows";
    order->resize((std::size_t)(last - first));
    auto to = order->begin();
    if (!name)
      std::iota(to, order->end(), first);
    else
      for (PetscInt k = at[2]; k < at[2] + n[2]; ++k)
        for (PetscInt j = at[1]; j < at[1] + n[1]; ++j)
          for (PetscInt i = at[0] * dof; i < (at[0] + n[0]) * dof; ++i) *to++ = (k * all[1] + j) * all[0] * dof + i;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRefuseDMDA(PC pc, PetscInt dof, const PetscInt n[3], PetscBool flat, PetscRRBTrouble *no) {
  PetscRRBUse use;

  PetscFunctionBegin;
  *no = PetscRRBTrouble();
  PetscCall(PetscRRBNameUse(pc, &use));
  const std::string name = std::string(use.option) + use.value;
  if (dof > 1)
    *no = {name + " takes one unknown per grid point, but the DMDA has dof = " + std::to_string(dof) +
               ": split the fields with -pc_type fieldsplit and use it for each field, or use -pc_type gamg",
           PETSC_ERR_SUP};
  else if (flat && (n[0] > 1) + (n[1] > 1) + (n[2] > 1) > 2)
    *no = {name + " is for 2D grids, but the DMDA is 3D, " + std::to_string(n[0]) + " x " + std::to_string(n[1]) +
               " x " + std::to_string(n[2]) +
               " points: use another one, for example -pc_type gridmg if its stencils have 7 points, otherwise gamg",
           PETSC_ERR_SUP};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on all ranks, as an error. */
static PetscErrorCode CheckDMDA(PC pc, PetscInt dof, const PetscInt n[3], PetscBool flat) {
  PetscRRBTrouble no;

  PetscFunctionBegin;
  PetscCall(PetscRRBRefuseDMDA(pc, dof, n, flat, &no));
  PetscCheck(!no, PetscObjectComm((PetscObject)pc), no.code, "%s", no.why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sides of one point go last: what is thin is 2D. */
PetscErrorCode PetscRRBFindGridOfAllRanks(PC pc, Mat P, const PetscInt sizes[3], const char *option,
                                          petscrrb::Grid *g) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscInt rows, all[3], at[3], n[3], dof = 1;
  const char *name;
  DM dm;

  PetscFunctionBegin;
  PetscCall(MatGetSize(P, &rows, NULL));
  if (sizes[0] > 0) {
    for (int d = 0; d < 3; ++d) all[d] = PetscMax(sizes[d], 1);
    name = "option";
  } else
    PetscCall(Ask(pc, P, all, at, n, &dof, &name, &dm));
  PetscCheck(name, comm, PETSC_ERR_ARG_WRONG,
             "With several ranks, the grid must come from a DMDA, or from %s with rows numbered in natural order",
             option);
  PetscCall(CheckDMDA(pc, dof, all, PETSC_FALSE));
  PetscCheck((PetscInt64)all[0] * all[1] * all[2] == rows, comm, PETSC_ERR_ARG_INCOMP,
             "A grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
             " points does not match the matrix, which has %" PetscInt_FMT " rows (%s)",
             all[0], all[1], all[2], rows, option);
  *g = petscrrb::Grid();
  for (int side = 0; side < 2; ++side)
    for (int d = 0; d < 2 && all[2] > 1; ++d)
      if (all[d] == 1) std::swap(all[d], all[d + 1]);
  for (int d = 0; d < 3; ++d) g->n[d] = all[d];
  g->dim = all[2] > 1 ? 3 : 2;
  g->source = name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBCutsOfDMDA(PC pc, Mat P, PetscBool flat, petscrrb::Grid *g, PetscRRBCuts *cuts,
                                  PetscBool *found) {
  PetscInt all[3], at[3], n[3], dof, sides, parts[3], thick = 0, used = 0;
  const PetscInt *sizes[3] = {};
  const char *name;
  DM dm;

  PetscFunctionBegin;
  PetscCall(Ask(pc, P, all, at, n, &dof, &name, &dm));
  *found = (PetscBool)(name != NULL);
  if (!name) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckDMDA(pc, dof, all, flat));
  for (int d = 0; d < 3; ++d) thick += all[d] > 1;
  PetscCall(
      DMDAGetInfo(dm, &sides, NULL, NULL, NULL, &parts[0], &parts[1], &parts[2], NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(dm, &sizes[0], &sizes[1], &sizes[2]));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), PetscRRBSayOfRows, [&] {
    std::vector<petscrrb::index_t> *const of[] = {&cuts->x, &cuts->y, &cuts->z};
    *g = petscrrb::Grid();
    g->source = name;
    g->dim = thick > 2 ? 3 : 2;
    for (int d = 0; d < 3; ++d) g->n[d] = 1, *of[d] = {0, 1};
    for (int d = 0; d < sides; ++d) {
      if (sides == 3 && all[d] == 1) continue; /* and so on one rank only */
      std::vector<petscrrb::index_t> &c = *of[used];
      c = {0};
      for (PetscInt i = 0; i < parts[d]; ++i) c.push_back(c.back() + sizes[d][i]);
      g->n[used++] = all[d];
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBCutsOfRows(Mat P, const petscrrb::Grid &g, PetscRRBCuts *cuts, PetscBool *whole) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  const PetscInt *ranges;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRanges(P, &ranges));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  *whole = PETSC_TRUE;
  PetscCall(PetscRRBTryTogether(comm, PetscRRBSayOfRows, [&] {
    cuts->x = {0, g.n[0]};
    cuts->y.clear();
    for (PetscMPIInt r = 0; r <= ranks; ++r) {
      cuts->y.push_back((ranges[r] + g.n[0] - 1) / g.n[0]);
      if (ranges[r] % g.n[0]) *whole = PETSC_FALSE;
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
