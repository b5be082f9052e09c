/* The coefficients k of problems whose k belongs to points: smooth random ones, those of two phases, and hard ones. */
#pragma once

#include "matrix.h"

#define MODES 24

typedef struct {
  PetscReal k[3], phase, strength;
} Wave;

/* Random directions and phases; long waves are the strongest. */
static void DrawWaves(PetscInt dim, Wave *waves) {
  uint64_t state = 20170815;

  for (int w = 0; w < MODES; ++w) {
    PetscReal square = 0;

    for (PetscInt d = 0; d < 3; ++d) {
      waves[w].k[d] = d < dim ? PETSC_PI * (16 * Uniform(&state) - 8) : 0;
      square += waves[w].k[d] * waves[w].k[d];
    }
    waves[w].phase = 2 * PETSC_PI * Uniform(&state);
    waves[w].strength = 1 / (1 + PetscSqrtReal(square));
  }
}

/* Their sum at points points[d] a side, from one side of the unit square or cube to the other. */
static PetscErrorCode AddWaves(PetscInt dim, const PetscInt points[3], PetscReal *s) {
  const PetscInt n = points[0], lines = points[1] * points[2];
  Wave waves[MODES];
  PetscReal *cosine, *sine;

  PetscFunctionBeginUser;
  DrawWaves(dim, waves);
  PetscCall(PetscMalloc2(MODES * n, &cosine, MODES * n, &sine));
  for (int w = 0; w < MODES; ++w) {
    for (PetscInt i = 0; i < n; ++i) {
      cosine[w * n + i] = waves[w].strength * PetscCosReal(waves[w].k[0] * i / (n - 1) + waves[w].phase);
      sine[w * n + i] = waves[w].strength * PetscSinReal(waves[w].k[0] * i / (n - 1) + waves[w].phase);
    }
  }
#pragma omp parallel for
  for (PetscInt line = 0; line < lines; ++line) {
    PetscReal *const out = s + line * n;

    for (PetscInt i = 0; i < n; ++i) out[i] = 0;
    for (int w = 0; w < MODES; ++w) {
      PetscReal angle = waves[w].k[1] * (line % points[1]) / (points[1] - 1);

      if (dim == 3) angle += waves[w].k[2] * (line / points[1]) / (points[2] - 1);
      const PetscReal c = PetscCosReal(angle), d = PetscSinReal(angle);
      for (PetscInt i = 0; i < n; ++i) out[i] += cosine[w * n + i] * c - sine[w * n + i] * d;
    }
  }
  PetscCall(PetscFree2(cosine, sine));
  PetscFunctionReturn(0);
}

/* Smooth random coefficients between 10^-1.5 and 10^1.5; the field is the same for every n. */
static PetscErrorCode RandomCoefficients(Problem *p) {
  const PetscInt m = p->dim == 2 ? 257 : 65, sample[3] = {m, m, p->dim == 2 ? 1 : m};
  const PetscInt points[3] = {p->n[0] + 2, p->n[1] + 2, p->dim == 2 ? 1 : p->n[2] + 2};
  const PetscInt count = points[0] * points[1] * points[2];
  PetscReal *s, low = PETSC_MAX_REAL, high = PETSC_MIN_REAL;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(sample[0] * sample[1] * sample[2], &s));
  PetscCall(AddWaves(p->dim, sample, s));
  for (PetscInt i = 0; i < sample[0] * sample[1] * sample[2]; ++i) {
    low = PetscMin(low, s[i]);
    high = PetscMax(high, s[i]);
  }
  PetscCall(PetscFree(s));
  PetscCall(PetscMalloc1(count, &p->k));
  PetscCall(AddWaves(p->dim, points, p->k));
#pragma omp parallel for
  for (PetscInt i = 0; i < count; ++i) p->k[i] = PetscPowReal(10, 3 * (p->k[i] - low) / (high - low) - 1.5);
  PetscFunctionReturn(0);
}

/* One circle in each of 4 x 4 squares, near its middle, 0.5 to 0.7 of it wide. */
static PetscBool InBubble(PetscInt n, PetscInt i, PetscInt j) {
  const PetscReal x = 4 * (i + 0.5) / n, y = 4 * (j + 0.5) / n;
  uint64_t state = (uint64_t)(4 * (int)y + (int)x);
  const PetscReal cx = (int)x + 0.4 + 0.2 * Uniform(&state), cy = (int)y + 0.4 + 0.2 * Uniform(&state);
  const PetscReal radius = 0.25 + 0.1 * Uniform(&state);

  return (PetscBool)((x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius);
}

/* One sphere in each of 3 x 3 x 3 boxes, in the same way; x: from one side of the grid to the other, 0 to 1. */
static PetscBool InSphere(const PetscReal x[3]) {
  PetscReal distance = 0;
  uint64_t state = 0;
  PetscInt box[3];

  for (int d = 0; d < 3; ++d) {
    box[d] = PetscMax(0, PetscMin(2, (PetscInt)(3 * x[d])));
    state = 3 * state + (uint64_t)box[d];
  }
  for (int d = 0; d < 3; ++d) distance += PetscSqr(3 * x[d] - (PetscReal)box[d] - 0.4 - 0.2 * Uniform(&state));
  return (PetscBool)(distance < PetscSqr(0.25 + 0.1 * Uniform(&state)));
}

/* 1 in light spheres and 1/jump around them. */
static PetscErrorCode SphereCoefficients(Problem *p) {
  const PetscInt points[3] = {p->n[0] + 2, p->n[1] + 2, p->n[2] + 2}, lines = points[1] * points[2];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(points[0] * lines, &p->k));
#pragma omp parallel for
  for (PetscInt line = 0; line < lines; ++line) {
    for (PetscInt i = 0; i < points[0]; ++i) {
      const PetscReal x[3] = {(PetscReal)i / (points[0] - 1), (PetscReal)(line % points[1]) / (points[1] - 1),
                              (PetscReal)(line / points[1]) / (points[2] - 1)};

      p->k[line * points[0] + i] = InSphere(x) ? 1 : 1 / p->jump;
    }
  }
  PetscFunctionReturn(0);
}

/* 1 in light cells and 1/jump in heavy ones, on n x n cells. The harmonic mean with 0 is a wall without flow, that with the
   cell's own coefficient is the wall at the top. */
static PetscErrorCode PhaseCoefficients(Problem *p) {
  const PetscInt n = p->n[0], line = n + 2;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(line * line, &p->k));
#pragma omp parallel for
  for (PetscInt j = 0; j < n; ++j) {
    for (PetscInt i = 0; i < n; ++i) {
      const PetscBool light = p->kind == BUBBLES ? InBubble(n, i, j) : (PetscBool)(j >= n / 2);

      p->k[(j + 1) * line + i + 1] = light ? 1 : 1 / p->jump;
    }
  }
  PetscCall(PetscArraycpy(p->k + (n + 1) * line, p->k + n * line, line));
  PetscFunctionReturn(0);
}

/* Of cell i of n, where they grow geometrically from both sides to the middle, where it is 1. Those outside have no size. */
static PetscReal CellSize(PetscInt n, PetscInt i) {
  const PetscInt from_side = PetscMin(i, n - 1 - i), most = PetscMax(1, (n - 1) / 2);

  return from_side < 0 ? 0 : PetscPowReal(1000, (PetscReal)from_side / most - 1);
}

static PetscBool InChannel(PetscInt d, PetscInt i) {
  uint64_t state = 2 * (uint64_t)i + (uint64_t)d;

  (void)Uniform(&state);
  return (PetscBool)(Uniform(&state) < 0.15);
}

/* What plain red and black cannot do: of cell (i, j). */
static PetscReal HardCoefficient(const Problem *p, PetscInt i, PetscInt j, uint64_t *state) {
  switch (p->kind) {
  case LOGNORMAL: return PetscExpReal(p->sigma * Normal(state));
  case CELLS: return Uniform(state) < 0.1 ? 1e6 : 1;
  case MASK: return Uniform(state) < 0.3 ? 0 : 1;
  case CHANNELS: return InChannel(0, i) || InChannel(1, j) ? 1e4 : 1;
  default:
    return CellSize(p->n[1], j) /
           CellSize(p->n[0], i); /* the coupling of two such halves is that of cells that touch */
  }
}

static PetscErrorCode HardCoefficients(Problem *p) {
  const PetscInt line = p->n[0] + 2, lines = (p->n[1] + 2) * (p->dim == 3 ? p->n[2] + 2 : 1);
  uint64_t state = 2025;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(line * lines, &p->k));
  for (PetscInt j = 0; j < lines; ++j)
    for (PetscInt i = 0; i < line; ++i) p->k[j * line + i] = HardCoefficient(p, i - 1, j - 1, &state);
  PetscFunctionReturn(0);
}
