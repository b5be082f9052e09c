/*
   Where the work of a type is done whose rows are one rank's. Its backend is one class, a template over one of the two places
   below, which PetscRRBCreateBackend() makes for the place of the matrix.
*/
#pragma once

#include "pc/findgrid.h"
#include "pc/vectors.h"

/* type: whose work it is, for errors and -info */
class PetscRRBHostWork {
public:
  static constexpr PetscBool device = PETSC_FALSE;
  explicit PetscRRBHostWork(const char type[]) : say(type), type_(type) {}
  PetscErrorCode Start() { return PETSC_SUCCESS; }

  const PetscRRBSay say;

  PetscRRBRows Rows(const petscrrb::Csr &a) { return PetscRRBRowsOnHost(a, say); } /* for finding their grid */
  /* make(on...), with the place where it is no host */
  template <class F> auto Make(const F &make) { return make(); }
  /* f(), which may throw */
  template <class F> PetscRRBTrouble Attempt(const F &f) { return PetscRRBTroubleOf(say, f); }
  template <class F> PetscErrorCode Try(const F &f) { return PetscRRBTry(say, f); }
  /* f(rows) with rows that the host reads */
  template <class F> PetscRRBTrouble AttemptOnHost(const petscrrb::Csr &rows, const F &f) {
    return Attempt([&] { f(rows); });
  }
  /* apply(r, z) with the arrays of vectors here: PetscRRBVectorsOnHost */
  template <class Apply> PetscErrorCode Use(PC pc, Vec x, Vec y, const Apply &apply, PetscBool reads_y = PETSC_FALSE) {
    return vectors_.Use(pc, type_, x, y, apply, reads_y);
  }
  /* apply(r, from, z, to, columns), which may throw, with the arrays of dense matrices: column k begins at r + k from and
     z + k to. *done: they are here, otherwise nothing is called. A rank without rows has nothing to apply, and Y counts as
     written there, too. */
  template <class Apply> PetscErrorCode UseColumns(Mat X, Mat Y, PetscBool *done, const Apply &apply) {
    const PetscScalar *r;
    PetscScalar *z;
    PetscInt rows, columns, from, to;
    PetscErrorCode applied = PETSC_SUCCESS;

    PetscFunctionBegin;
    *done = PETSC_TRUE;
    PetscCall(MatGetSize(X, nullptr, &columns));
    PetscCall(MatGetLocalSize(X, &rows, nullptr));
    PetscCall(MatDenseGetLDA(X, &from));
    PetscCall(MatDenseGetLDA(Y, &to));
    PetscCall(MatDenseGetArrayRead(X, &r));
    PetscCall(MatDenseGetArrayWrite(Y, &z));
    if (rows) applied = Try([&] { apply(r, from, z, to, (int)columns); });
    PetscCall(MatDenseRestoreArrayWrite(Y, &z));
    PetscCall(MatDenseRestoreArrayRead(X, &r));
    PetscCall(applied);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode LogFlops(PetscLogDouble n) { return PetscLogFlops(n); }

private:
  const char *type_;
  PetscRRBVectorsOnHost vectors_;
};

#if PETSCRRB_ON_DEVICES

  #include "grid/cuda/csr.hpp"
  #include "petsc/stream_cuda.h"

/* All of it goes to the current PetscDeviceContext's stream. */
class PetscRRBDeviceWork {
public:
  static constexpr PetscBool device = PETSC_TRUE;
  explicit PetscRRBDeviceWork(const char type[]) : stream(type), say(stream.say), type_(type) {}
  PetscErrorCode Start() { return stream.Start(); }

  PetscRRBStream stream;
  const PetscRRBSay &say;

  PetscRRBRows Rows(const petscrrb::Csr &a) { return PetscRRBRowsOnDevice(stream, a); }
  template <class F> auto Make(const F &make) { return make(stream.cuda); }
  template <class F> PetscRRBTrouble Attempt(const F &f) { return stream.Attempt(f); }
  template <class F> PetscErrorCode Try(const F &f) { return stream.Run(f); }
  template <class F> PetscRRBTrouble AttemptOnHost(const petscrrb::Csr &rows, const F &f) {
    return Attempt([&] {
      const petscrrb::cuda::HostCopy copy(rows, stream.cuda.stream);
      f(copy.csr());
    });
  }
  template <class Apply> PetscErrorCode Use(PC pc, Vec x, Vec y, const Apply &apply, PetscBool reads_y = PETSC_FALSE) {
    return vectors_.Use(pc, type_, stream, x, y, apply, reads_y);
  }
  template <class Apply> PetscErrorCode UseColumns(Mat X, Mat Y, PetscBool *done, const Apply &apply) {
    const PetscScalar *r;
    PetscScalar *z;
    PetscInt rows, columns, from, to;
    PetscBool x, y;
    PetscErrorCode applied = PETSC_SUCCESS;

    PetscFunctionBegin;
    PetscCall(DenseOnDevice(X, &x));
    PetscCall(DenseOnDevice(Y, &y));
    *done = (PetscBool)(x && y);
    if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatGetSize(X, nullptr, &columns));
    PetscCall(MatGetLocalSize(X, &rows, nullptr));
    PetscCall(MatDenseGetLDA(X, &from));
    PetscCall(MatDenseGetLDA(Y, &to));
    PetscCall(MatDenseGetArrayReadAndMemType(X, &r, nullptr));
    PetscCall(MatDenseGetArrayWriteAndMemType(Y, &z, nullptr));
    PetscCall(PetscLogGpuTimeBegin());
    if (rows) applied = Try([&] { apply(r, from, z, to, (int)columns); });
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(MatDenseRestoreArrayWriteAndMemType(Y, &z));
    PetscCall(MatDenseRestoreArrayReadAndMemType(X, &r));
    PetscCall(applied);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode LogFlops(PetscLogDouble n) { return PetscLogGpuFlops(n); }

private:
  static PetscErrorCode DenseOnDevice(Mat A, PetscBool *yes) {
    PetscBool bound;

    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompareAny((PetscObject)A, yes, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
    PetscCall(MatBoundToCPU(A, &bound));
    if (bound) *yes = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const char *type_;
  PetscRRBVectorsOnDevice vectors_;
};

#endif

/* Made<PetscRRBHostWork> or Made<PetscRRBDeviceWork>. Error: PETSC_ERR_SUP without CUDA. */
template <template <class> class Made, class Interface>
PetscErrorCode PetscRRBCreateBackend(PetscBool device, const char type[], std::unique_ptr<Interface> *backend) {
  PetscFunctionBegin;
  if (!device)
    PetscCall(PetscRRBTry(PetscRRBSay(type), [&] { *backend = std::make_unique<Made<PetscRRBHostWork>>(); }));
  else
    PetscCall(PETSCRRB_ON_DEVICE(PetscRRBCreateOnDevice<Made<PetscRRBDeviceWork>>)(type, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}
