static char help[] =
    "Flow around a sphere in a channel: a pressure projection with masked cells in each step, on any number of ranks.\n\
obstacle.py in C. The channel is 2 long and 1 x 1 wide; the fluid starts from rest, slips along the walls, comes in from the\n\
left with velocity 1 and goes out on the right, where the pressure is 0.\n\
  -n <32>           cells across; there are 2n x n x n\n\
  -steps <20>       time steps; the first one gives potential flow\n\
  -radius <0.2>     of the sphere\n\
  -viscosity <0>\n\
For a GPU: -dm_mat_type aijcusparse -dm_vec_type cuda. -p_view vtk:obstacle.vts writes the pressure at the end.\n";

#include <petscdmda.h>
#include <petscrrb.h>

/* A velocity is at the middle of a face; u[k][j][i][d] belongs to the face between the cell (i, j, k) and the next one along
   direction d (x, y, z). */
typedef PetscScalar Velocity[3];

typedef struct {
  PetscInt n[3];
  PetscReal h, radius, viscosity;
  DM cells, faces; /* one number a cell; three */
  Mat A;
  Vec p, b;
  KSP ksp;
} Channel;

/* A cell, and its neighbour along a direction. */
typedef struct {
  PetscInt at[3];
} Cell;

static Cell Next(Cell c, int d, PetscInt step) {
  c.at[d] += step;
  return c;
}

static PetscBool IsInside(const Channel *channel, Cell c) {
  for (int d = 0; d < 3; ++d)
    if (c.at[d] < 0 || c.at[d] >= channel->n[d]) return PETSC_FALSE;
  return PETSC_TRUE;
}

static PetscBool IsFluid(const Channel *channel, Cell c) {
  const PetscReal middle[] = {0.7, 0.5, 0.5};
  PetscReal square = 0;

  for (int d = 0; d < 3; ++d) square += PetscSqr(channel->h * (c.at[d] + 0.5) - middle[d]);
  return square > PetscSqr(channel->radius) ? PETSC_TRUE : PETSC_FALSE;
}

/* How the pressure acts on the upper face of a cell: 0 at walls, at the inlet and at the sphere; 2 at the outlet, where half a
   cell lies between. */
static PetscReal Weight(const Channel *channel, Cell c, int d) {
  const Cell next = Next(c, d, 1);

  if (!IsInside(channel, next)) return d == 0 ? 2 : 0;
  return IsInside(channel, c) && IsFluid(channel, c) && IsFluid(channel, next) ? 1 : 0;
}

/* The rows of the pressure's matrix; those of the sphere's cells are the identity's. */
static PetscErrorCode Assemble(Channel *channel) {
  DMDALocalInfo at;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(channel->cells, &channel->A));
  PetscCall(DMDAGetLocalInfo(channel->cells, &at));
  for (PetscInt k = at.zs; k < at.zs + at.zm; ++k)
    for (PetscInt j = at.ys; j < at.ys + at.ym; ++j)
      for (PetscInt i = at.xs; i < at.xs + at.xm; ++i) {
        const Cell c = {{i, j, k}};
        MatStencil columns[7] = {{k, j, i, 0}};
        PetscScalar values[7] = {IsFluid(channel, c) ? 0 : 1};
        PetscInt count = 1;

        for (int side = 0; side < 6; ++side) {
          const int d = side / 2;
          const Cell near = Next(c, d, side % 2 ? 1 : -1);
          const PetscReal weight = Weight(channel, side % 2 ? c : near, d);

          values[0] += weight;
          if (!IsInside(channel, near)) continue;
          columns[count] = (MatStencil){near.at[2], near.at[1], near.at[0], 0};
          values[count++] = -weight;
        }
        PetscCall(MatSetValuesStencil(channel->A, 1, columns, count, columns, values, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(channel->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(channel->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode ChannelCreate(Channel *channel) {
  const PetscInt *n = channel->n;
  PetscInt ranks[3];

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                         n[0], n[1], n[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL,
                         &channel->cells));
  PetscCall(DMSetFromOptions(channel->cells));
  PetscCall(DMSetUp(channel->cells));
  PetscCall(DMDASetUniformCoordinates(channel->cells, 0, 2, 0, 1, 0, 1));
  PetscCall(DMDAGetInfo(channel->cells, NULL, NULL, NULL, NULL, &ranks[0], &ranks[1], &ranks[2], NULL, NULL, NULL, NULL,
                        NULL, NULL));
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0],
                         n[1], n[2], ranks[0], ranks[1], ranks[2], 3, 1, NULL, NULL, NULL, &channel->faces));
  PetscCall(DMSetUp(channel->faces));
  PetscCall(Assemble(channel));
  PetscCall(DMCreateGlobalVector(channel->cells, &channel->p));
  PetscCall(VecDuplicate(channel->p, &channel->b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &channel->ksp));
  PetscCall(KSPSetOperators(channel->ksp, channel->A, channel->A));
  PetscCall(KSPSetType(channel->ksp, KSPRRB));
  PetscCall(KSPSetTolerances(channel->ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetNormType(channel->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetInitialGuessNonzero(channel->ksp, PETSC_TRUE)); /* the last step's solution */
  PetscCall(KSPSetErrorIfNotConverged(channel->ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(channel->ksp));
  PetscFunctionReturn(0);
}

/* The velocity at the upper face of a cell; beyond a wall that of the cell beside it. */
static PetscReal At(const Channel *channel, Velocity ***u, Cell c, int d) {
  if (c.at[d] < 0) return d == 0 ? 1 : 0; /* the inlet, and walls */
  for (int e = 0; e < 3; ++e) c.at[e] = PetscMax(0, PetscMin(c.at[e], channel->n[e] - 1));
  return PetscRealPart(u[c.at[2]][c.at[1]][c.at[0]][d]);
}

/* The velocity along direction e, where that along d is. */
static PetscReal Speed(const Channel *channel, Velocity ***u, Cell c, int d, int e) {
  Cell next = Next(c, d, 1);

  if (e == d) return At(channel, u, c, d);
  if (!IsInside(channel, next)) next = c;
  return (At(channel, u, c, e) + At(channel, u, Next(c, e, -1), e) + At(channel, u, next, e) +
          At(channel, u, Next(next, e, -1), e)) /
         4;
}

/* What moves and rubs: -(u . grad) u + viscosity laplace u, upwind. */
static PetscReal Change(const Channel *channel, Velocity ***u, Cell c, int d) {
  const PetscReal middle = At(channel, u, c, d);
  PetscReal total = 0;

  for (int e = 0; e < 3; ++e) {
    const PetscReal left = (middle - At(channel, u, Next(c, e, -1), d)) / channel->h;
    const PetscReal right = (At(channel, u, Next(c, e, 1), d) - middle) / channel->h;
    const PetscReal speed = Speed(channel, u, c, d, e);

    total += channel->viscosity * (right - left) / channel->h - speed * (speed > 0 ? left : right);
  }
  return total;
}

/* One explicit step of all but the pressure. */
static PetscErrorCode Advance(Channel *channel, PetscReal dt, Vec u) {
  DMDALocalInfo at;
  Velocity ***from, ***to;
  Vec near;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(channel->faces, &at));
  PetscCall(DMGetLocalVector(channel->faces, &near));
  PetscCall(DMGlobalToLocal(channel->faces, u, INSERT_VALUES, near));
  PetscCall(DMDAVecGetArrayRead(channel->faces, near, &from));
  PetscCall(DMDAVecGetArray(channel->faces, u, &to));
  for (PetscInt k = at.zs; k < at.zs + at.zm; ++k)
    for (PetscInt j = at.ys; j < at.ys + at.ym; ++j)
      for (PetscInt i = at.xs; i < at.xs + at.xm; ++i)
        for (int d = 0; d < 3; ++d) {
          const Cell c = {{i, j, k}};

          if (Weight(channel, c, d) > 0) to[k][j][i][d] += dt * Change(channel, from, c, d);
        }
  PetscCall(DMDAVecRestoreArray(channel->faces, u, &to));
  PetscCall(DMDAVecRestoreArrayRead(channel->faces, near, &from));
  PetscCall(DMRestoreLocalVector(channel->faces, &near));
  PetscFunctionReturn(0);
}

/* b = -h divergence(u) in the fluid. */
static PetscErrorCode Diverge(Channel *channel, Vec u, Vec b) {
  DMDALocalInfo at;
  Velocity ***v;
  PetscScalar ***values;
  Vec near;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(channel->faces, &at));
  PetscCall(DMGetLocalVector(channel->faces, &near));
  PetscCall(DMGlobalToLocal(channel->faces, u, INSERT_VALUES, near));
  PetscCall(DMDAVecGetArrayRead(channel->faces, near, &v));
  PetscCall(DMDAVecGetArrayWrite(channel->cells, b, &values));
  for (PetscInt k = at.zs; k < at.zs + at.zm; ++k)
    for (PetscInt j = at.ys; j < at.ys + at.ym; ++j)
      for (PetscInt i = at.xs; i < at.xs + at.xm; ++i) {
        const Cell c = {{i, j, k}};

        values[k][j][i] = 0;
        for (int d = 0; d < 3; ++d)
          if (IsFluid(channel, c)) values[k][j][i] += At(channel, v, Next(c, d, -1), d) - At(channel, v, c, d);
      }
  PetscCall(DMDAVecRestoreArrayWrite(channel->cells, b, &values));
  PetscCall(DMDAVecRestoreArrayRead(channel->faces, near, &v));
  PetscCall(DMRestoreLocalVector(channel->faces, &near));
  PetscFunctionReturn(0);
}

/* u -= h gradient(p); p is 0 behind the outlet. */
static PetscErrorCode Correct(Channel *channel, Vec p, Vec u) {
  DMDALocalInfo at;
  Velocity ***v;
  const PetscScalar ***values;
  Vec near;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(channel->cells, &at));
  PetscCall(DMGetLocalVector(channel->cells, &near));
  PetscCall(DMGlobalToLocal(channel->cells, p, INSERT_VALUES, near));
  PetscCall(DMDAVecGetArrayRead(channel->cells, near, &values));
  PetscCall(DMDAVecGetArray(channel->faces, u, &v));
  for (PetscInt k = at.zs; k < at.zs + at.zm; ++k)
    for (PetscInt j = at.ys; j < at.ys + at.ym; ++j)
      for (PetscInt i = at.xs; i < at.xs + at.xm; ++i)
        for (int d = 0; d < 3; ++d) {
          const Cell c = {{i, j, k}}, next = Next(c, d, 1);
          const PetscScalar beyond = IsInside(channel, next) ? values[next.at[2]][next.at[1]][next.at[0]] : 0;

          v[k][j][i][d] -= Weight(channel, c, d) * (beyond - values[k][j][i]);
        }
  PetscCall(DMDAVecRestoreArray(channel->faces, u, &v));
  PetscCall(DMDAVecRestoreArrayRead(channel->cells, near, &values));
  PetscCall(DMRestoreLocalVector(channel->cells, &near));
  PetscFunctionReturn(0);
}

/* The fluid all starts at once: 1 where it may flow along the channel. */
static PetscErrorCode Start(Channel *channel, Vec u) {
  DMDALocalInfo at;
  Velocity ***v;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(channel->faces, &at));
  PetscCall(DMDAVecGetArrayWrite(channel->faces, u, &v));
  for (PetscInt k = at.zs; k < at.zs + at.zm; ++k)
    for (PetscInt j = at.ys; j < at.ys + at.ym; ++j)
      for (PetscInt i = at.xs; i < at.xs + at.xm; ++i)
        for (int d = 0; d < 3; ++d) v[k][j][i][d] = d == 0 && Weight(channel, (Cell){{i, j, k}}, d) > 0;
  PetscCall(DMDAVecRestoreArrayWrite(channel->faces, u, &v));
  PetscFunctionReturn(0);
}

/* The kinetic energy of what the sphere disturbs, over that of a sphere of fluid: 1/2 and more for potential flow, by its added mass. */
static PetscErrorCode AddedMass(Channel *channel, Vec u, PetscReal *added) {
  DMDALocalInfo at;
  Velocity ***v;
  PetscReal sums[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(channel->faces, &at));
  PetscCall(DMDAVecGetArrayRead(channel->faces, u, &v));
  for (PetscInt k = at.zs; k < at.zs + at.zm; ++k)
    for (PetscInt j = at.ys; j < at.ys + at.ym; ++j)
      for (PetscInt i = at.xs; i < at.xs + at.xm; ++i) {
        const Cell c = {{i, j, k}};

        for (int d = 0; d < 3; ++d)
          if (Weight(channel, c, d) > 0) sums[0] += PetscSqr(PetscRealPart(v[k][j][i][d]) - (d == 0));
        sums[1] += !IsFluid(channel, c);
      }
  PetscCall(DMDAVecRestoreArrayRead(channel->faces, u, &v));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  *added = sums[0] / sums[1];
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  Channel channel = {.radius = 0.2, .viscosity = 0};
  PetscInt n = 32, steps = 20, its;
  PetscReal time = 0, fastest, divergence, added = 0;
  Vec u;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscRRBInitializePackage()); /* registers the types of petscrrb */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-radius", &channel.radius, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-viscosity", &channel.viscosity, NULL));
  channel.n[0] = 2 * n;
  channel.n[1] = channel.n[2] = n;
  channel.h = 1.0 / n;
  PetscCall(ChannelCreate(&channel));
  PetscCall(DMCreateGlobalVector(channel.faces, &u));
  PetscCall(Start(&channel, u));

  fastest = 1;
  for (PetscInt step = 1; step <= steps; ++step) {
    if (step > 1) {
      const PetscReal dt = 0.3 * channel.h / PetscMax(1, fastest); /* 1: what comes in */

      PetscCall(Advance(&channel, dt, u));
      time += dt;
    }
    PetscCall(Diverge(&channel, u, channel.b));
    PetscCall(KSPSolve(channel.ksp, channel.b, channel.p));
    PetscCall(Correct(&channel, channel.p, u));

    PetscCall(KSPGetIterationNumber(channel.ksp, &its));
    PetscCall(VecNorm(u, NORM_INFINITY, &fastest));
    PetscCall(Diverge(&channel, u, channel.b));
    PetscCall(VecNorm(channel.b, NORM_INFINITY, &divergence));
    PetscCall(AddedMass(&channel, u, &added));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "step %" PetscInt_FMT " time %.4f iterations %" PetscInt_FMT
                          " divergence %.1e fastest %.4f added %.4f\n",
                          step, (double)time, its, (double)divergence, (double)fastest, (double)added));
  }
  PetscCall(VecViewFromOptions(channel.p, NULL, "-p_view"));

  PetscCall(KSPDestroy(&channel.ksp));
  PetscCall(VecDestroy(&channel.b));
  PetscCall(VecDestroy(&channel.p));
  PetscCall(MatDestroy(&channel.A));
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&channel.faces));
  PetscCall(DMDestroy(&channel.cells));
  PetscCall(PetscFinalize());
  return 0;
}
