// Where the values of a MATMPIAIJ's rows are on the rank that has them.
#pragma once

#include "exec/range.hpp"

#include <petscsystypes.h>

#include <limits>

namespace petscrrb {

// A place in the diagonal block, or -1 - a place in the other one.
struct Source {
  static constexpr PetscInt elsewhere = std::numeric_limits<PetscInt>::min(); // on another rank

  static PetscInt of(int block, PetscInt place) { return block ? -1 - place : place; }
  static int block(PetscInt source) { return source < 0; }
  static PetscInt place(PetscInt source) { return source < 0 ? -1 - source : source; }
  // first, second: the values of the two blocks
  PETSCRRB_HD static void put(const PetscScalar *first, const PetscScalar *second, PetscInt source, PetscScalar *to) {
    if (source >= 0)
      *to = first[source];
    else if (source != elsewhere)
      *to = second[-1 - source];
  }
};

} // namespace petscrrb
