// The rows of a sparse matrix as PETSc stores them, borrowed. No PETSc objects.
#pragma once

#include <petscsystypes.h>

namespace petscrrb {

// Columns of a row come in any order, without duplicates; a diagonal may be missing.
struct Csr {
  PetscInt n = 0;                 // rows, and columns
  const PetscInt *ia = nullptr;   // n + 1 row starts, from 0
  const PetscInt *ja = nullptr;   // columns, from 0
  const PetscScalar *a = nullptr; // values
};

} // namespace petscrrb
