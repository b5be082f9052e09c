/* The columns of dense matrices as arrays, for preconditioners that apply to several at once. */
#pragma once

#include "pc/pc.h"

#include <petscmat.h>

/* apply(r, from, z, to, columns), which may throw, with arrays on the host: column k begins at r + k from and z + k to. A rank
   without rows has nothing to apply, and Y counts as written there, too. */
template <class Apply> PetscErrorCode PetscRRBUseColumns(const PetscRRBSay &say, Mat X, Mat Y, const Apply &apply) {
  const PetscScalar *r;
  PetscScalar *z;
  PetscInt rows, columns, from, to;
  PetscErrorCode applied = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, nullptr, &columns));
  PetscCall(MatGetLocalSize(X, &rows, nullptr));
  PetscCall(MatDenseGetLDA(X, &from));
  PetscCall(MatDenseGetLDA(Y, &to));
  PetscCall(MatDenseGetArrayRead(X, &r));
  PetscCall(MatDenseGetArrayWrite(Y, &z));
  if (rows) applied = PetscRRBTry(say, [&] { apply(r, from, z, to, (int)columns); });
  PetscCall(MatDenseRestoreArrayWrite(Y, &z));
  PetscCall(MatDenseRestoreArrayRead(X, &r));
  PetscCall(applied);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSCRRB_ON_DEVICES

  #include "petsc/stream_cuda.h"

static inline PetscErrorCode PetscRRBDenseOnDevice(Mat A, PetscBool *yes) {
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, yes, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
  PetscCall(MatBoundToCPU(A, &bound));
  if (bound) *yes = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with arrays on a device; *done: both matrices are there, otherwise nothing is called. */
template <class Apply>
PetscErrorCode PetscRRBUseColumnsOnDevice(PetscRRBStream &stream, Mat X, Mat Y, PetscBool *done, const Apply &apply) {
  const PetscScalar *r;
  PetscScalar *z;
  PetscInt rows, columns, from, to;
  PetscBool x, y;
  PetscErrorCode applied = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscRRBDenseOnDevice(X, &x));
  PetscCall(PetscRRBDenseOnDevice(Y, &y));
  *done = (PetscBool)(x && y);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(X, nullptr, &columns));
  PetscCall(MatGetLocalSize(X, &rows, nullptr));
  PetscCall(MatDenseGetLDA(X, &from));
  PetscCall(MatDenseGetLDA(Y, &to));
  PetscCall(MatDenseGetArrayReadAndMemType(X, &r, nullptr));
  PetscCall(MatDenseGetArrayWriteAndMemType(Y, &z, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  if (rows) applied = stream.Run([&] { apply(r, from, z, to, (int)columns); });
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatDenseRestoreArrayWriteAndMemType(Y, &z));
  PetscCall(MatDenseRestoreArrayReadAndMemType(X, &r));
  PetscCall(applied);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
