/* Vectors where the matrix is. Those on the other side of the bus PETSc copies in every application, and -info says so. */
#pragma once

#include "exec/not_copied.hpp"
#include "petsc/matrix.h"
#include "pc/pc.h"

/* A vector that is elsewhere is of no use any more. */
inline PetscErrorCode PetscRRBKeepVecWhere(PetscBool device, Vec *work) {
  PetscBool there;

  PetscFunctionBegin;
  if (!*work) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBVecOnDevice(*work, &there));
  if (there != device) PetscCall(VecDestroy(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *work: a vector like x, in the memory where x is now; kept as long as it fits. Destroyed by whoever has it. */
inline PetscErrorCode PetscRRBWorkVec(Vec x, Vec *work) {
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PetscRRBVecOnDevice(x, &device));
  PetscCall(PetscRRBKeepVecWhere(device, work));
  if (!*work) PetscCall(VecDuplicate(x, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for the vectors that the matrix makes: a product writes into one that is where its rows are now, and would leave what
   the host has of another as it was. */
inline PetscErrorCode PetscRRBWorkVecOf(Mat A, Vec *work) {
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PetscRRBMatOnDevice(A, &device));
  PetscCall(PetscRRBKeepVecWhere(device, work));
  if (!*work) PetscCall(MatCreateVecs(A, work, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* apply(r, z) with the arrays of x and y; it writes all of y; reads_y: it reads what is there, too. device: arrays where the
   vectors are now, otherwise the host's. */
template <class Apply>
PetscErrorCode PetscRRBUseArrays(PetscBool device, Vec x, Vec y, PetscBool reads_y, const Apply &apply) {
  const PetscScalar *r;
  PetscScalar *z;

  PetscFunctionBegin;
  PetscCall(device ? VecGetArrayReadAndMemType(x, &r, nullptr) : VecGetArrayRead(x, &r));
  if (device)
    PetscCall(reads_y ? VecGetArrayAndMemType(y, &z, nullptr) : VecGetArrayWriteAndMemType(y, &z, nullptr));
  else
    PetscCall(reads_y ? VecGetArray(y, &z) : VecGetArrayWrite(y, &z));
  const PetscErrorCode applied = apply(r, z);
  if (device)
    PetscCall(reads_y ? VecRestoreArrayAndMemType(y, &z) : VecRestoreArrayWriteAndMemType(y, &z));
  else
    PetscCall(reads_y ? VecRestoreArray(y, &z) : VecRestoreArrayWrite(y, &z));
  PetscCall(device ? VecRestoreArrayReadAndMemType(x, &r) : VecRestoreArrayRead(x, &r));
  PetscCall(applied);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* device: where the matrix is; type: of the PC, for messages */
class PetscRRBVectors : petscrrb::NotCopied {
public:
  explicit PetscRRBVectors(PetscBool device) : device_(device) {}
  ~PetscRRBVectors() {
    (void)VecDestroy(&x_);
    (void)VecDestroy(&y_);
  }

  /* apply(x, y) with vectors there, which writes y; reads_y: what was in y is there, too */
  template <class Apply>
  PetscErrorCode Use(PC pc, const char type[], Vec x, Vec y, const Apply &apply, PetscBool reads_y = PETSC_FALSE) {
    PetscBool r, z;

    PetscFunctionBegin;
    PetscCall(PetscRRBVecOnDevice(x, &r));
    PetscCall(PetscRRBVecOnDevice(y, &z));
    if (r == device_ && z == device_) {
      PetscCall(apply(x, y));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(Say(pc, type));
    if (!x_) PetscCall(MakeLike(x));
    PetscCall(VecCopy(x, x_));
    if (reads_y) PetscCall(VecCopy(y, y_));
    PetscCall(apply(x_, y_));
    PetscCall(VecCopy(y_, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* for whoever asks for the arrays of x there by itself */
  PetscErrorCode SayOf(PC pc, const char type[], Vec x) {
    PetscBool device;

    PetscFunctionBegin;
    if (said_) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscRRBVecOnDevice(x, &device));
    if (device != device_) PetscCall(Say(pc, type));
    said_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode Say(PC pc, const char type[]) {
    PetscFunctionBegin;
    if (!said_)
      PetscCall(PetscInfo(pc,
                          "%s: the matrix is on the %s and the vectors are on the %s: the vectors are copied there and "
                          "back in every application\n",
                          type, device_ ? "device" : "host", device_ ? "host" : "device"));
    said_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* The matrix may be another one by now, elsewhere, where the preconditioner is kept (KSPSetReusePreconditioner()). */
  PetscErrorCode MakeLike(Vec x) {
    PetscInt own, all;

    PetscFunctionBegin;
    PetscCall(VecGetLocalSize(x, &own));
    PetscCall(VecGetSize(x, &all));
    PetscCall(VecCreate(PetscObjectComm((PetscObject)x), &x_));
    PetscCall(VecSetSizes(x_, own, all));
    PetscCall(VecSetType(x_, device_ ? VECCUDA : VECSTANDARD));
    PetscCall(VecDuplicate(x_, &y_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const PetscBool device_;
  bool said_ = false;
  Vec x_ = nullptr, y_ = nullptr;
};

/* Vectors that A is multiplied with. One on a device does not see what the host writes into its vectors, and writes to arrays
   that these have not; one on the host gets from any vector what it needs. */
class PetscRRBProductVectors {
public:
  /* As PetscRRBVectors::Use(). */
  template <class Apply>
  PetscErrorCode Use(Mat A, PC pc, const char type[], Vec x, Vec y, const Apply &apply,
                     PetscBool reads_y = PETSC_FALSE) {
    PetscBool device;

    PetscFunctionBegin;
    PetscCall(PetscRRBMatOnDevice(A, &device));
    PetscCall(device ? there_.Use(pc, type, x, y, apply, reads_y) : apply(x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscRRBVectors there_{PETSC_TRUE};
};
