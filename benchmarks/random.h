/* Random numbers that are the same on every machine. */
#pragma once

#include <petscvec.h>

/* Uniform in [0, 1). */
static PetscReal Uniform(uint64_t *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (PetscReal)(*state >> 11) / 9007199254740992.0;
}
