/* Which preconditioner KSPRRB takes where nobody has chosen one. */
#include "ksp/rrb/ksprrb_data.h"
#include "pc/gridmg/pcgridmg_data.h"
#include "pc/rrb/pcrrb_data.h"

#include <petscdmda.h>

/* Whether a PC of this type may be there because nobody chose one: it is what PETSc takes for these operators, or without
   operators. */
static PetscErrorCode IsDefault(KSP ksp, PCType type, PetscBool *is) {
  PetscFunctionBegin;
  *is = PETSC_FALSE;
  for (int operators = 0; operators < 2 && !*is; ++operators) {
    PC pc;
    PCType other;

    PetscCall(PCCreate(PetscObjectComm((PetscObject)ksp), &pc));
    if (operators) PetscCall(PCSetOperators(pc, ksp->pc->mat, ksp->pc->pmat));
    PetscCall(PCSetOptionsPrefix(pc, "petscrrb_default_"));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCGetType(pc, &other));
    PetscCall(PetscStrcmp(type, other, is));
    PetscCall(PCDestroy(&pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether dm is a DMDA, and of more than one point in all three directions. */
static PetscErrorCode AskDM(DM dm, PetscBool *da, PetscBool *solid) {
  PetscInt n[3];

  PetscFunctionBegin;
  *da = PETSC_FALSE;
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, da));
  if (!*da) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(dm, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  *solid = (PetscBool)(n[0] > 1 && n[1] > 1 && n[2] > 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the matrix is on a 3D grid, by a DMDA, or by its nonzeros: then on that one. */
static PetscErrorCode IsSolid(KSP ksp, PetscBool *solid, petscrrb::Grid *grid) {
  constexpr PetscLogDouble tiny = 4096; /* rows: below it 3D grids may have no more nonzeros than 2D ones */
  PetscBool da, aij, assembled;
  MatInfo info;
  PetscInt rows;
  DM dms[2];

  PetscFunctionBegin;
  *solid = PETSC_FALSE;
  if (!ksp->pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetDM(ksp->pc, &dms[0]));
  PetscCall(MatGetDM(ksp->pc->pmat, &dms[1]));
  for (const DM dm : dms) {
    PetscCall(AskDM(dm, &da, solid));
    if (da) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)ksp->pc->pmat, MATSEQAIJ, &aij)); /* on one rank, then */
  PetscCall(MatAssembled(ksp->pc->pmat, &assembled));
  if (!aij || !assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(ksp->pc->pmat, &rows, nullptr));
  PetscCall(MatGetInfo(ksp->pc->pmat, MAT_LOCAL, &info));
  if (rows >= tiny && info.nz_used <= 5.0 * rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBFindGridOfPattern(ksp->pc->pmat, grid));
  *solid = (PetscBool)(grid->n[0] > 0 && grid->dim == 3);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How the residual of CG with the preconditioner falls, of a random right-hand side and in the natural norm, from the first iteration on: what that
   one gains, which is that of rough errors, says nothing about the others. */
struct Fall {
  PetscInt iterations = 0; /* taken */
  PetscReal left = 1;      /* 0: they broke down, of which the solve itself will tell, or have solved */

  bool slow() const { return left > 1e-3; } /* as long as it is not `decided` */
  bool decided() const { return iterations == 16 || !slow() || (iterations == 5 && left > 0.4); }
};

/* The same on a host and on a device, whose own random numbers take longer than a test. */
static PetscErrorCode SetRough(Vec v) {
  PetscScalar *to;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &to));
  for (PetscInt i = 0; i < n; ++i) to[i] = petscrrb::rrb::hashed(i, 0);
  PetscCall(VecRestoreArrayWrite(v, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindFall(PC pc, Fall *fall) {
  constexpr PetscReal solved = 1e-6; /* of the right-hand side */
  const Mat A = pc->pmat;
  MatNullSpace null;
  Vec *work, like;
  PetscScalar energy = 0, start = 0, first = 0, before = 0, slope;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &like, nullptr));
  PetscCall(VecDuplicateVecs(like, 4, &work));
  PetscCall(VecDestroy(&like));
  const Vec r = work[0], z = work[1], p = work[2], w = work[3];
  PetscCall(SetRough(r));
  PetscCall(MatGetNullSpace(pc->mat, &null));
  if (null) PetscCall(MatNullSpaceRemove(null, r));
  for (PetscInt k = 0;; ++k) {
    PetscCall(PCApply(pc, r, z));
    if (null) PetscCall(MatNullSpaceRemove(null, z));
    before = energy;
    PetscCall(VecDot(r, z, &energy));
    if (k == 0) start = first = energy;
    if (k == 1) first = PetscMin(first, energy);
    fall->iterations = k;
    fall->left = energy > solved * solved * start ? PetscSqrtReal(energy / first) : 0;
    if (fall->decided()) break;
    if (k == 0)
      PetscCall(VecCopy(z, p));
    else
      PetscCall(VecAYPX(p, energy / before, z));
    PetscCall(MatMult(A, p, w));
    PetscCall(VecDot(p, w, &slope));
    if (!(slope > 0)) fall->left = 0;
    if (fall->left == 0) break;
    PetscCall(VecAXPY(r, -energy / slope, w));
  }
  PetscCall(VecDestroyVecs(4, &work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether PCGRIDMG, which nobody chose, will take far more iterations than PCRRB on the graph (docs/ksprrb.md, "In 3D"). */
static PetscErrorCode IsSlow(KSP ksp, PetscBool *slow) {
  constexpr double rough = 4.0; /* a spread, from which on it may be */
  PCFailedReason failed;
  MatNullSpace null;
  Fall fall;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  *slow = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &ranks));
  if (ranks > 1 || !ksp->pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetErrorIfFailure(ksp->pc, ksp->errorifnotconverged));
  PetscCall(PCSetUp(ksp->pc));
  PetscCall(PCGetFailedReason(ksp->pc, &failed));
  const petscrrb::gridmg::Findings &found = ((PC_GridMG *)ksp->pc->data)->state->found;
  PetscCall(MatGetNullSpace(ksp->pc->mat, &null));
  const bool inconsistent = found.null_directions && !null; /* a random system */
  if (failed || inconsistent || !(found.spread > rough)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindFall(ksp->pc, &fall));
  *slow = (PetscBool)fall.slow();
  if (*slow)
    PetscCall(PetscInfo(ksp,
                        "gridmg converges slowly: after %" PetscInt_FMT
                        " iterations of a test the residual is %.2g of that after the "
                        "first one. rrb takes its place (-pc_type gridmg keeps it)\n",
                        fall.iterations, (double)fall.left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetPCType(KSP ksp, PCType type) {
  PetscFunctionBegin;
  PetscCall(PCSetType(ksp->pc, type));
  if (ksp->setfromoptionscalled) PetscCall(PCSetFromOptions(ksp->pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPRRBChoosePC(KSP ksp) {
  PCType type;
  const char *prefix;
  PetscBool chosen = PETSC_FALSE, is_default = PETSC_FALSE, solid, slow;
  const KSPRRBInside *inside = nullptr;
  petscrrb::Grid grid;

  PetscFunctionBegin;
  PetscCall(PCGetType(ksp->pc, &type));
  PetscCall(PCGetOptionsPrefix(ksp->pc, &prefix));
  PetscCall(PetscOptionsHasName(((PetscObject)ksp->pc)->options, prefix, "-pc_type", &chosen));
  if (type) PetscCall(KSPRRBFindInside(ksp->pc, &inside));
  if (inside || (chosen && type)) PetscFunctionReturn(PETSC_SUCCESS);
  if (type) PetscCall(IsDefault(ksp, type, &is_default));
  if (type && !is_default) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(IsSolid(ksp, &solid, &grid));
  if (!solid) {
    PetscCall(SetPCType(ksp, PCRRB));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCSetType(ksp->pc, PCGRIDMG));
  if (grid.n[0]) PetscCall(PCGridMGExpectGrid(ksp->pc, grid));
  if (ksp->setfromoptionscalled) PetscCall(PCSetFromOptions(ksp->pc));
  PetscCall(IsSlow(ksp, &slow));
  if (!slow) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SetPCType(ksp, PCRRB));
  if (((const PC_RRB *)ksp->pc->data)->red_nodes == PC_RRB_RED_NODES_PLAIN) /* that are of 2D grids only */
    PetscCall(SetPCType(ksp, PCGRIDMG));
  PetscFunctionReturn(PETSC_SUCCESS);
}
