/*
   What differs between PETSc 3.18 and 3.26, and what this library asks of any PETSc.
*/
#pragma once

#include <petscsys.h>

#if defined(PETSC_USE_COMPLEX)
  #error "petscrrb needs a PETSc with real scalars: configure PETSc with --with-scalar-type=real"
#endif
#if !defined(PETSC_USE_REAL_DOUBLE)
  #error "petscrrb needs a PETSc in double precision: configure PETSc with --with-precision=double"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS ((PetscErrorCode)0)
#endif
