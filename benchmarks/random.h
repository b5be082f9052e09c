/* Random numbers that are the same on every machine. */
#pragma once

#include <petscvec.h>

/* Uniform in [0, 1). */
static PetscReal Uniform(uint64_t *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (PetscReal)(*state >> 11) / 9007199254740992.0;
}

/* Normal, by Box and Muller. */
static inline PetscReal Normal(uint64_t *state) {
  const PetscReal radius = PetscSqrtReal(-2 * PetscLogReal(1 - Uniform(state)));

  return radius * PetscCosReal(2 * PETSC_PI * Uniform(state));
}
