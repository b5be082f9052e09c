// The rows of a sparse matrix as PETSc stores them, borrowed. No PETSc objects.
#pragma once

#include "exec/range.hpp"

#include <petscsystypes.h>

#include <vector>

namespace petscrrb {

// Columns of a row come in any order, without duplicates; a diagonal may be missing.
struct Csr {
  PetscInt n = 0;                 // rows, and columns
  const PetscInt *ia = nullptr;   // n + 1 row starts, from 0
  const PetscInt *ja = nullptr;   // columns, from 0
  const PetscScalar *a = nullptr; // values
};

using Flags = std::vector<unsigned char>;

// 0 where there is none
PETSCRRB_HD inline double entry(const Csr &A, PetscInt row, PetscInt column) {
  for (PetscInt e = A.ia[row]; e < A.ia[row + 1]; ++e)
    if (A.ja[e] == column) return A.a[e];
  return 0;
}

// A row without nonzeros off the diagonal is an identity row.
PETSCRRB_HD inline bool is_identity(const Csr &A, PetscInt row) {
  for (PetscInt e = A.ia[row]; e < A.ia[row + 1]; ++e)
    if (A.ja[e] != row && A.a[e] != 0) return false;
  return true;
}

// A running test for infinities and NaNs without a branch: 0 as long as all were finite.
PETSCRRB_HD inline double not_finite(double value) { return value * 0.0; }

// Below this waking the threads costs more than reading the matrix.
constexpr PetscInt rows_for_threads = 2048;

} // namespace petscrrb
