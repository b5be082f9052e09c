/*
   Asks who may know the grid of a matrix, in order, and holds every answer against the rows.
*/
#include "pc/findgrid.h"

#include "grid/find.hpp"
#include "petsc/matrix.h"
#include "petsc/overlap.h"
#include "pc/pc.h"
#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES
  #include "grid/cuda/find.hpp"
  #include "petsc/stream_cuda.h"
#endif

#include <petscdmda.h>

#include <algorithm>

using petscrrb::Grid;
using petscrrb::Widest;

#if PETSCRRB_ON_DEVICES
PetscRRBRows PetscRRBRowsOnDevice(PetscRRBStream &on, const petscrrb::Csr &a) {
  return {
      a.n,
      [&](Widest w, const char *option, Grid &g) { return petscrrb::cuda::find_grid(a, w, option, g, on.Ready()); },
      [&](Widest w, const char *option, Grid &g) { return petscrrb::cuda::check_grid(a, w, option, g, on.Ready()); },
      on.say};
}
#endif

PetscRRBRows PetscRRBRowsOnHost(const petscrrb::Csr &a, const PetscRRBSay &say) {
  return {a.n, [&a](Widest w, const char *option, Grid &g) { return petscrrb::find_grid(a, w, option, g); },
          [&a](Widest w, const char *option, Grid &g) { return petscrrb::check_grid(a, w, option, g); }, say};
}

/* Whether dm is a DMDA whose points on this rank are the rows; the sizes of its box are then in g. A 3D one with a side of
   one point is a 2D one. Any other DM, and one of another size (Galerkin coarse matrices may carry the DM of the fine
   grid), is no answer. needed: several unknowns a point are trouble, otherwise no answer either. */
static PetscErrorCode AskDMDA(PC pc, DM dm, Widest widest, const PetscRRBRows &A, PetscBool needed, Grid *g,
                              PetscBool *answers, PetscRRBTrouble *no) {
  PetscInt sides, n[3], dof, thick = 0;
  PetscBool da = PETSC_FALSE;

  PetscFunctionBegin;
  *answers = PETSC_FALSE;
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &da));
  if (!da) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(dm, &sides, NULL, NULL, NULL, NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(dm, NULL, NULL, NULL, &n[0], &n[1], &n[2]));
  for (PetscInt x = sides; x < 3; x++) n[x] = 1;
  if ((PetscInt64)n[0] * n[1] * n[2] * dof != A.n || (dof > 1 && !needed)) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt x = 0; x < 3; x++) thick += n[x] > 1;
  PetscCall(PetscRRBRefuseDMDA(pc, dof, n, (PetscBool)(widest == Widest::flat), no));
  *g = Grid();
  g->dim = dof == 1 && thick == 3 ? 3 : 2;
  if (*no) PetscFunctionReturn(PETSC_SUCCESS);
  if (sides < 3 || thick == 3)
    std::copy(n, n + 3, g->n);
  else {
    PetscInt used = 0;
    g->n[0] = g->n[1] = 1;
    for (PetscInt x = 0; x < 3; x++)
      if (n[x] > 1) g->n[used++] = n[x];
  }
  *answers = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBFullName(PC pc, const char *option, std::string *name) {
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  *name = std::string("-") + (prefix ? prefix : "") + (option + 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A DM that is the wrong one for this matrix is passed over: its nonzeros may still show the grid. */
static PetscErrorCode TryDM(PC pc, DM dm, Widest widest, const char *option, const char *source, const PetscRRBRows &A,
                            PetscBool needed, Grid *g, std::string *why, PetscBool *found, PetscRRBTrouble *no) {
  PetscFunctionBegin;
  PetscCall(AskDMDA(pc, dm, widest, A, needed, g, found, no));
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  const std::string reason = A.check(widest, option, *g);
  g->source = source;
  if (reason.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  *found = PETSC_FALSE;
  PetscCall(PetscInfo(pc, "The grid of the %s is ignored. %s\n", source, reason.c_str()));
  if (why->empty()) *why = reason + " (the grid is that of the " + source + ")";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* needed: a DMDA that shows why there can be no grid is an error; otherwise it is no answer. in_words: why the nonzeros are on none */
static PetscErrorCode Find(PC pc, Mat P, Widest widest, const PetscInt n[], const char *option, const PetscRRBRows &A,
                           PetscBool needed, PetscBool in_words, Grid *g, PetscRRBTrouble *no) {
  DM dm;
  PetscBool found = PETSC_FALSE;
  std::string name, why;

  PetscFunctionBegin;
  PetscCall(PetscRRBFullName(pc, option, &name));
  *g = Grid();
  *no = PetscRRBTrouble();
  if (n && n[0] > 0 && n[1] > 0) {
    g->dim = widest != Widest::flat && n[2] > 1 ? 3 : 2;
    std::copy(n, n + g->dim, g->n);
    g->source = "option";
    *no = {A.check(widest, name.c_str(), *g), PETSC_ERR_ARG_INCOMP};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGetDM(pc, &dm));
  PetscCall(TryDM(pc, dm, widest, name.c_str(), "PC's DMDA", A, needed, g, &why, &found, no));
  if (!found && !*no) {
    PetscCall(MatGetDM(P, &dm));
    PetscCall(TryDM(pc, dm, widest, name.c_str(), "Mat's DMDA", A, needed, g, &why, &found, no));
  }
  if (!found && !*no) {
    *g = Grid();
    const std::string reason = A.find(widest, in_words ? name.c_str() : nullptr, *g);
    g->source = "matrix pattern";
    if (!reason.empty()) *no = {why.empty() || !needed ? reason : why, PETSC_ERR_ARG_WRONG};
  }
  if (no->why.empty())
    PetscCall(PetscInfo(pc,
                        "Grid of %" PetscInt64_FMT " x %" PetscInt64_FMT " x %" PetscInt64_FMT " points, from the %s\n",
                        (PetscInt64)g->n[0], (PetscInt64)g->n[1], (PetscInt64)g->n[2], g->source.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindOrSay(PC pc, Mat P, Widest widest, const PetscInt n[], const char *option,
                                const PetscRRBRows &A, PetscBool needed, PetscBool in_words, Grid *g,
                                PetscRRBTrouble *no) {
  PetscFunctionBegin;
  try {
    PetscCall(Find(pc, P, widest, n, option, A, needed, in_words, g, no));
  } catch (const std::exception &e) {
    *no = A.say(e);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBFindGrid(PC pc, Mat P, Widest widest, const PetscInt n[], const char *option,
                                const PetscRRBRows &A, Grid *g) {
  PetscRRBTrouble no;

  PetscFunctionBegin;
  PetscCall(FindOrSay(pc, P, widest, n, option, A, PETSC_TRUE, PETSC_TRUE, g, &no));
  PetscCheck(no.why.empty(), PetscObjectComm((PetscObject)pc), no.code, "%s", no.why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBFindGridOrNone(PC pc, Mat P, Widest widest, const PetscInt n[], const char *option,
                                      const PetscRRBRows &A, PetscBool dmda, Grid *g) {
  PetscRRBTrouble no;
  PetscBool told;

  PetscFunctionBegin;
  PetscCall(PetscInfoEnabled(PC_CLASSID, &told));
  PetscCall(FindOrSay(pc, P, widest, n, option, A, dmda, told, g, &no));
  if (no.why.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(no.code == PETSC_ERR_ARG_WRONG || (widest == Widest::flat && g->dim == 3),
             PetscObjectComm((PetscObject)pc), no.code, "%s", no.why.c_str());
  *g = Grid();
  PetscCall(PetscInfo(pc, "There is no such grid. %s\n", no.why.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBFindGridOnRank(PC pc, Mat P, Widest widest, const PetscInt n[], const char *option,
                                      const PetscRRBRows &A, Grid *g, PetscRRBTrouble *no) {
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(FindOrSay(pc, P, widest, n, option, A, PETSC_TRUE, PETSC_TRUE, g, no));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (*no && ranks > 1 && (no->code == PETSC_ERR_ARG_WRONG || no->code == PETSC_ERR_ARG_INCOMP))
    no->why += ". With several ranks, the rows of each must form a grid: a box of the DMDA, or whole lines or planes";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRefuseNinePoints(PC pc, const Grid &g, const char *instead, PetscRRBTrouble *no) {
  PetscRRBUse use;

  PetscFunctionBegin;
  if (g.points != 9) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBNameUse(pc, &use));
  *no = {std::string(use.option) + use.value +
             " takes 5 points on a 2D grid and 7 on a 3D one, but the matrix has 9: use " + instead,
         PETSC_ERR_SUP};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBFindStarOnRank(PC pc, Mat P, const PetscInt n[], const char *option, const PetscRRBRows &A,
                                      const char *instead, Grid *g, PetscRRBTrouble *no) {
  PetscFunctionBegin;
  PetscCall(PetscRRBFindGridOnRank(pc, P, Widest::star, n, option, A, g, no));
  if (!*no) PetscCall(PetscRRBRefuseNinePoints(pc, *g, instead, no));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBSetGridOfRank(PC pc, const PetscInt n[3], bool also, PetscInt now[3]) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const int here = also || !std::equal(n, n + 3, now);
  int anywhere;
  PetscRRBTrouble trouble;

  PetscFunctionBegin;
  if (n[0] < 1 || n[1] < 1 || n[2] < 1)
    trouble = {"Grid of " + std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " + std::to_string(n[2]) +
                   " points: all sizes must be positive",
               PETSC_ERR_ARG_OUTOFRANGE};
  PetscCall(PetscRRBFirstTrouble(comm, &trouble));
  PetscCheck(!trouble, comm, trouble.code, "%s", trouble.why.c_str());
  PetscCallMPI(MPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_MAX, comm));
  std::copy(n, n + 3, now);
  if (anywhere) PetscCall(PetscRRBRebuild(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBFindGridOfPattern(Mat A, Grid *grid) {
  const PetscRRBSay say("the matrix");
  PetscBool device;
  petscrrb::Csr rows;
  MatInfo info;
  std::string why;

  PetscFunctionBegin;
  *grid = Grid();
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  if (info.nz_used == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBMatOnDevice(A, &device));
  PetscCall(PetscRRBRowsGet(A, device, &rows));
  const auto find = [&](const PetscRRBRows &of) { why = of.find(Widest::star, nullptr, *grid); };
  PetscErrorCode found = PETSC_SUCCESS;
  if (!device) found = PetscRRBTry(say, [&] { find(PetscRRBRowsOnHost(rows, say)); });
#if PETSCRRB_ON_DEVICES
  if (device) {
    PetscRRBStream stream("the matrix");
    found = stream.Start();
    if (!found) found = stream.Run([&] { find(PetscRRBRowsOnDevice(stream, rows)); });
  }
#endif
  PetscCall(PetscRRBRowsRestore(A, device, &rows));
  PetscCall(found);
  grid->source = "matrix pattern";
  if (!why.empty()) *grid = Grid();
  PetscFunctionReturn(PETSC_SUCCESS);
}
