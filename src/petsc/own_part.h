/* What a rank has of a parallel matrix or vector, as an object of its own. On one rank it is the object itself. */
#pragma once

#include "petsc/compat.h"

#include <petscmat.h>

#include <string>

/* M's rows on this rank, with all columns: a dense matrix's own ones, a copy of a sparse matrix's. reuse: new values of the
   same pattern. Collective. */
inline PetscErrorCode PetscRRBGetOwnRows(Mat M, MatReuse reuse, Mat *own) {
  PetscBool sparse, dense;
  MatType type;
  Mat rows = M;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)M, MATMPIAIJ, &sparse));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)M, MATMPIDENSE, &dense));
  if (sparse) {
    PetscCall(MatMPIAIJGetLocalMat(M, reuse, own));
    if (reuse == MAT_REUSE_MATRIX) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatMPIAIJGetSeqAIJ(M, &rows, nullptr, nullptr));
    PetscCall(MatGetType(rows, &type)); /* it may be on a device */
    PetscCall(MatConvert(*own, type, MAT_INPLACE_MATRIX, own));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (dense) PetscCall(MatDenseGetLocalMatrix(M, &rows));
  if (reuse == MAT_INITIAL_MATRIX) *own = nullptr;
  PetscCall(PetscObjectReference((PetscObject)rows));
  PetscCall(MatDestroy(own));
  *own = rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

class PetscRRBOwnValues {
public:
  /* until Restore(); writes: into them, otherwise v may be locked */
  PetscErrorCode Get(Vec v, PetscBool writes, Vec *own) {
    PetscMPIInt ranks;

    PetscFunctionBegin;
    *own = v;
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &ranks));
    if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Fit(v));
    PetscCall(writes ? VecGetLocalVector(v, own_) : VecGetLocalVectorRead(v, own_));
    *own = own_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore(Vec v, PetscBool writes, Vec *own) {
    PetscFunctionBegin;
    if (*own != v) PetscCall(writes ? VecRestoreLocalVector(v, own_) : VecRestoreLocalVectorRead(v, own_));
    *own = nullptr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Reset() { return VecDestroy(&own_); }

private:
  PetscErrorCode Fit(Vec v) {
    VecType type;

    PetscFunctionBegin;
    PetscCall(VecGetType(v, &type));
    if (own_ && type_ != type) PetscCall(VecDestroy(&own_));
    if (!own_) PetscCall(VecCreateLocalVector(v, &own_));
    type_ = type;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Vec own_ = nullptr;
  std::string type_; /* of the whole vector */
};
