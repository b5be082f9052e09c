/* Vectors that are on the other side of the bus than the matrix: PETSc copies them in every application, and -info says so. */
#pragma once

#include "petsc/matrix.h"
#include "pc/pc.h"

/* *work: a vector like x, in the memory where x is now; kept as long as it fits. Destroyed by whoever has it. */
inline PetscErrorCode PetscRRBWorkVec(Vec x, Vec *work) {
  PetscBool x_there, work_there;

  PetscFunctionBegin;
  if (*work) {
    PetscCall(PetscRRBVecOnDevice(x, &x_there));
    PetscCall(PetscRRBVecOnDevice(*work, &work_there));
    if (x_there != work_there) PetscCall(VecDestroy(work));
  }
  if (!*work) PetscCall(VecDuplicate(x, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a matrix on the host, whose PC asks for the arrays of vectors there. */
class PetscRRBVectorsOnHost {
public:
  /* apply(r, z), which may throw, with the arrays of x and y, all of which it writes; reads_y: it reads what is there, too.
     A rank without rows has nothing to apply, and y counts as written there, too: all have its norm, or none has. */
  template <class Apply>
  PetscErrorCode Use(PC pc, const char type[], Vec x, Vec y, const Apply &apply, PetscBool reads_y = PETSC_FALSE) {
    const PetscScalar *r;
    PetscScalar *z;
    PetscInt rows;
    PetscErrorCode applied = PETSC_SUCCESS;

    PetscFunctionBegin;
    PetscCall(Say(pc, type, x));
    PetscCall(VecGetLocalSize(y, &rows));
    PetscCall(VecGetArrayRead(x, &r));
    PetscCall(reads_y ? VecGetArray(y, &z) : VecGetArrayWrite(y, &z));
    if (rows) applied = PetscRRBTry(PetscRRBSay(type), [&] { apply(r, z); });
    PetscCall(reads_y ? VecRestoreArray(y, &z) : VecRestoreArrayWrite(y, &z));
    PetscCall(VecRestoreArrayRead(x, &r));
    PetscCall(applied);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* says once where x is; type: of the PC, for the message */
  PetscErrorCode Say(PC pc, const char type[], Vec x) {
    PetscBool device;

    PetscFunctionBegin;
    if (said_) PetscFunctionReturn(PETSC_SUCCESS);
    said_ = true;
    PetscCall(PetscRRBVecOnDevice(x, &device));
    if (device)
      PetscCall(PetscInfo(pc,
                          "%s: the matrix is on the host and the vectors are on the device: they are copied there and "
                          "back in every application\n",
                          type));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  bool said_ = false;
};

/* For a matrix on the device: apply(x, y) is called with vectors there, and writes y; reads_y: what was in y is there, too. */
class PetscRRBVectorsOnDevice {
public:
  PetscRRBVectorsOnDevice() = default;
  PetscRRBVectorsOnDevice(const PetscRRBVectorsOnDevice &) = delete;
  PetscRRBVectorsOnDevice &operator=(const PetscRRBVectorsOnDevice &) = delete;
  ~PetscRRBVectorsOnDevice() {
    (void)VecDestroy(&x_);
    (void)VecDestroy(&y_);
  }

  template <class Apply>
  PetscErrorCode Use(PC pc, const char type[], Vec x, Vec y, const Apply &apply, PetscBool reads_y = PETSC_FALSE) {
    PetscBool r, z;

    PetscFunctionBegin;
    PetscCall(PetscRRBVecOnDevice(x, &r));
    PetscCall(PetscRRBVecOnDevice(y, &z));
    if (r && z) {
      PetscCall(apply(x, y));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (!x_) {
      PetscCall(PetscInfo(pc,
                          "%s: the matrix is on the device and the vectors are on the host: they are copied there and "
                          "back in every application\n",
                          type));
      PetscCall(MakeLike(x));
    }
    PetscCall(VecCopy(x, x_));
    if (reads_y) PetscCall(VecCopy(y, y_));
    PetscCall(apply(x_, y_));
    PetscCall(VecCopy(y_, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* The same with arrays there, for what may throw: apply(r, z), on the stream. As on the host on a rank without rows. */
  template <class Stream, class Apply>
  PetscErrorCode Use(PC pc, const char type[], Stream &stream, Vec x, Vec y, const Apply &apply,
                     PetscBool reads_y = PETSC_FALSE) {
    const auto here = [&](Vec b, Vec u) -> PetscErrorCode {
      const PetscScalar *r;
      PetscScalar *z;
      PetscInt rows;
      PetscErrorCode applied = PETSC_SUCCESS;

      PetscFunctionBegin;
      PetscCall(VecGetLocalSize(u, &rows));
      PetscCall(VecGetArrayReadAndMemType(b, &r, nullptr));
      PetscCall(reads_y ? VecGetArrayAndMemType(u, &z, nullptr) : VecGetArrayWriteAndMemType(u, &z, nullptr));
      PetscCall(PetscLogGpuTimeBegin());
      if (rows) applied = stream.Run([&] { apply(r, z); });
      PetscCall(PetscLogGpuTimeEnd());
      PetscCall(reads_y ? VecRestoreArrayAndMemType(u, &z) : VecRestoreArrayWriteAndMemType(u, &z));
      PetscCall(VecRestoreArrayReadAndMemType(b, &r));
      PetscCall(applied);
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    return Use(pc, type, x, y, here, reads_y);
  }

private:
  /* The matrix may be another one by now, on the host, where the preconditioner is kept (KSPSetReusePreconditioner()). */
  PetscErrorCode MakeLike(Vec x) {
    PetscInt own, all;

    PetscFunctionBegin;
    PetscCall(VecGetLocalSize(x, &own));
    PetscCall(VecGetSize(x, &all));
    PetscCall(VecCreate(PetscObjectComm((PetscObject)x), &x_));
    PetscCall(VecSetSizes(x_, own, all));
    PetscCall(VecSetType(x_, VECCUDA));
    PetscCall(VecDuplicate(x_, &y_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Vec x_ = nullptr, y_ = nullptr;
};
