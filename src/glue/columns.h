/* The columns of dense matrices as arrays, for preconditioners that apply to several at once. */
#pragma once

#include "glue/petsc_compat.h"

#include <petscmat.h>

/* apply(r, from, z, to, columns), with arrays on the host: column k begins at r + k from and z + k to. */
template <class Apply> PetscErrorCode PetscRRBUseColumns(Mat X, Mat Y, const Apply &apply) {
  const PetscScalar *r;
  PetscScalar *z;
  PetscInt columns, from, to;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, nullptr, &columns));
  PetscCall(MatDenseGetLDA(X, &from));
  PetscCall(MatDenseGetLDA(Y, &to));
  PetscCall(MatDenseGetArrayRead(X, &r));
  PetscCall(MatDenseGetArrayWrite(Y, &z));
  PetscCall(apply(r, from, z, to, (int)columns));
  PetscCall(MatDenseRestoreArrayWrite(Y, &z));
  PetscCall(MatDenseRestoreArrayRead(X, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSCRRB_ON_DEVICES

static inline PetscErrorCode PetscRRBDenseOnDevice(Mat A, PetscBool *yes) {
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, yes, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
  PetscCall(MatBoundToCPU(A, &bound));
  if (bound) *yes = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with arrays on a device; *done: both matrices are there, otherwise nothing is called. */
template <class Apply> PetscErrorCode PetscRRBUseColumnsOnDevice(Mat X, Mat Y, PetscBool *done, const Apply &apply) {
  const PetscScalar *r;
  PetscScalar *z;
  PetscInt columns, from, to;
  PetscBool x, y;

  PetscFunctionBegin;
  PetscCall(PetscRRBDenseOnDevice(X, &x));
  PetscCall(PetscRRBDenseOnDevice(Y, &y));
  *done = (PetscBool)(x && y);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(X, nullptr, &columns));
  PetscCall(MatDenseGetLDA(X, &from));
  PetscCall(MatDenseGetLDA(Y, &to));
  PetscCall(MatDenseGetArrayReadAndMemType(X, &r, nullptr));
  PetscCall(MatDenseGetArrayWriteAndMemType(Y, &z, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(apply(r, from, z, to, (int)columns));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatDenseRestoreArrayWriteAndMemType(Y, &z));
  PetscCall(MatDenseRestoreArrayReadAndMemType(X, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
