/*
   Where the work of a type is done whose rows are one rank's. Its backend is one class, a template over one of the two places
   below, which PetscRRBCreateBackend() makes for the place of the matrix.
*/
#pragma once

#include "exec/host/host.hpp"
#include "pc/vectors.h"
#include "stencil/refusal.hpp"

/* apply(r, from, z, to, columns), which may throw, with the arrays of dense matrices: column k begins at r + k from and
   z + k to. *done: they are where the work is, otherwise nothing is called. A rank without rows has nothing to apply, and Y
   counts as written there, too. */
template <class Where, class Apply>
PetscErrorCode PetscRRBUseColumns(Where &where, Mat X, Mat Y, PetscBool *done, const Apply &apply) {
  const PetscScalar *r;
  PetscScalar *z;
  PetscInt rows, columns, from, to;
  PetscErrorCode applied = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(where.Has(X, Y, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(X, nullptr, &columns));
  PetscCall(MatGetLocalSize(X, &rows, nullptr));
  PetscCall(MatDenseGetLDA(X, &from));
  PetscCall(MatDenseGetLDA(Y, &to));
  PetscCall(where.Get(X, Y, &r, &z));
  if (rows) applied = where.Compute([&] { apply(r, from, z, to, (int)columns); });
  PetscCall(where.Restore(X, Y, &r, &z));
  PetscCall(applied);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of vectors: apply(r, z); together: all ranks call it, those without rows, too. Those on one side are written on ranks without rows, too: all have their norms, or none. */
template <class Where, class Apply>
PetscErrorCode PetscRRBUseVectors(Where &where, Vec x, Vec y, PetscBool reads_y, PetscBool together,
                                  const Apply &apply) {
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &rows));
  PetscCall(PetscRRBUseArrays(Where::device, x, y, reads_y, [&](const PetscScalar *r, PetscScalar *z) {
    return rows || together ? where.Compute([&] { apply(r, z); }) : PETSC_SUCCESS;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

class PetscRRBStream;

/* type: whose work it is, for errors and -info */
class PetscRRBHostWork {
public:
  static constexpr PetscBool device = PETSC_FALSE;
  template <class T> using Array = petscrrb::host::Buffer<T>;
  explicit PetscRRBHostWork(const char type[]) : say(type), type_(type) {}
  PetscErrorCode Start() { return PETSC_SUCCESS; }
  PetscRRBStream *Stream() { return nullptr; }
  /* apply(r, z, terms) as PetscRRBEnqueued has it: nothing where it is no work on a stream */
  template <class Apply> decltype(PetscRRBEnqueued::apply) Enqueues(const Apply &) { return {}; }

  const PetscRRBSay say;

  PetscRRBRows Rows(const petscrrb::Csr &a) { return PetscRRBRowsOnHost(a, say); } /* for finding their grid */
  /* make(on...), with the place where it is no host */
  template <class F> auto Make(const F &make) { return make(); }
  /* f(), which may throw */
  template <class F> PetscRRBTrouble Attempt(const F &f) { return PetscRRBTroubleOf(say, f); }
  /* f() makes many arrays */
  template <class F> PetscRRBTrouble AttemptSetUp(const F &f) { return Attempt(f); }
  template <class F> PetscErrorCode Try(const F &f) { return PetscRRBTry(say, f); }
  template <class F> PetscErrorCode Compute(const F &f) { return Try(f); } /* and its time is logged */
  /* f(rows) with rows that the host reads; throws on */
  template <class F> void OnHost(const petscrrb::Csr &rows, const F &f) { f(rows); }
  /* apply(r, z), which may throw, with the arrays of x and y here, all of which it writes; reads_y: it reads what is there;
     together: all ranks do so */
  template <class Apply>
  PetscErrorCode Use(PC pc, Vec x, Vec y, const Apply &apply, PetscBool reads_y = PETSC_FALSE,
                     PetscBool together = PETSC_FALSE) {
    PetscFunctionBegin;
    PetscCall(vectors_.SayOf(pc, type_, x));
    PetscCall(PetscRRBUseVectors(*this, x, y, reads_y, together, apply));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* the array of a vector here, to read */
  PetscErrorCode Get(Vec x, const PetscScalar **array) { return VecGetArrayRead(x, array); }
  PetscErrorCode Restore(Vec x, const PetscScalar **array) { return VecRestoreArrayRead(x, array); }
  /* whether dense matrices have their arrays here */
  PetscErrorCode Has(Mat, Mat, PetscBool *yes) {
    *yes = PETSC_TRUE;
    return PETSC_SUCCESS;
  }
  PetscErrorCode Get(Mat X, Mat Y, const PetscScalar **r, PetscScalar **z) {
    PetscFunctionBegin;
    PetscCall(MatDenseGetArrayRead(X, r));
    PetscCall(MatDenseGetArrayWrite(Y, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore(Mat X, Mat Y, const PetscScalar **r, PetscScalar **z) {
    PetscFunctionBegin;
    PetscCall(MatDenseRestoreArrayWrite(Y, z));
    PetscCall(MatDenseRestoreArrayRead(X, r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode LogFlops(PetscLogDouble n) { return PetscLogFlops(n); }

private:
  const char *type_;
  PetscRRBVectors vectors_{PETSC_FALSE};
};

#if PETSCRRB_ON_DEVICES

  #include "grid/cuda/csr.hpp"
  #include "petsc/stream_cuda.h"

/* All of it goes to the current PetscDeviceContext's stream. */
class PetscRRBDeviceWork {
public:
  static constexpr PetscBool device = PETSC_TRUE;
  template <class T> using Array = petscrrb::cuda::Buffer<T>;
  explicit PetscRRBDeviceWork(const char type[]) : stream(type), say(stream.say), type_(type) {}
  PetscErrorCode Start() { return stream.Start(); }
  PetscRRBStream *Stream() { return &stream; }
  template <class Apply> decltype(PetscRRBEnqueued::apply) Enqueues(const Apply &apply) {
    return [this, apply](const petscrrb::Cuda &on, const PetscScalar *r, PetscScalar *z, double *terms) {
      stream.cuda.stream = on.stream;
      apply(r, z, terms);
    };
  }

  PetscRRBStream stream;
  const PetscRRBSay &say;

  PetscRRBRows Rows(const petscrrb::Csr &a) { return PetscRRBRowsOnDevice(stream, a); }
  template <class F> auto Make(const F &make) {
    (void)stream.Ready();
    return make(stream.cuda);
  }
  template <class F> PetscRRBTrouble Attempt(const F &f) { return stream.Attempt(f); }
  template <class F> PetscRRBTrouble AttemptSetUp(const F &f) {
    return Attempt([&] {
      const petscrrb::cuda::Pool pool(stream.cuda.stream);
      f();
    });
  }
  template <class F> PetscErrorCode Try(const F &f) { return stream.Run(f); }
  template <class F> PetscErrorCode Compute(const F &f) {
    PetscFunctionBegin;
    PetscCall(PetscLogGpuTimeBegin());
    const PetscErrorCode computed = Try(f);
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(computed);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <class F> void OnHost(const petscrrb::Csr &rows, const F &f) {
    const petscrrb::cuda::HostCopy copy(rows, stream.Ready());
    f(copy.csr());
  }
  template <class Apply>
  PetscErrorCode Use(PC pc, Vec x, Vec y, const Apply &apply, PetscBool reads_y = PETSC_FALSE,
                     PetscBool together = PETSC_FALSE) {
    return vectors_.Use(
        pc, type_, x, y, [&](Vec r, Vec z) { return PetscRRBUseVectors(*this, r, z, reads_y, together, apply); },
        reads_y);
  }
  PetscErrorCode Get(Vec x, const PetscScalar **array) {
    PetscMemType memory;
    PetscInt n;

    PetscFunctionBegin;
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(VecGetArrayReadAndMemType(x, array, &memory));
    PetscCheck(!n || PetscMemTypeDevice(memory), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "A vector of this matrix is on the host");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore(Vec x, const PetscScalar **array) { return VecRestoreArrayReadAndMemType(x, array); }
  PetscErrorCode Has(Mat X, Mat Y, PetscBool *yes) {
    PetscBool bound;

    PetscFunctionBegin;
    *yes = PETSC_TRUE;
    for (const Mat A : {X, Y}) {
      if (*yes) PetscCall(PetscObjectTypeCompareAny((PetscObject)A, yes, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
      PetscCall(MatBoundToCPU(A, &bound));
      if (bound) *yes = PETSC_FALSE;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Get(Mat X, Mat Y, const PetscScalar **r, PetscScalar **z) {
    PetscFunctionBegin;
    PetscCall(MatDenseGetArrayReadAndMemType(X, r, nullptr));
    PetscCall(MatDenseGetArrayWriteAndMemType(Y, z, nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore(Mat X, Mat Y, const PetscScalar **r, PetscScalar **z) {
    PetscFunctionBegin;
    PetscCall(MatDenseRestoreArrayWriteAndMemType(Y, z));
    PetscCall(MatDenseRestoreArrayReadAndMemType(X, r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode LogFlops(PetscLogDouble n) { return PetscLogGpuFlops(n); }

private:
  const char *type_;
  PetscRRBVectors vectors_{PETSC_TRUE};
};

#endif

/* What the backends of types have in common; Interface: derived from PetscRRBBackend. */
template <class Where, class Interface> class PetscRRBBackendAt : public Interface {
public:
  explicit PetscRRBBackendAt(const char type[]) : where_(type) {}
  PetscErrorCode Start() { return where_.Start(); }
  PetscBool on_device() const override { return Where::device; }
  PetscRRBRows rows(const petscrrb::Csr &a) override { return where_.Rows(a); }
  PetscRRBTrouble WhyRefused(const petscrrb::Csr &rows, std::string *why) override {
    return where_.Attempt(
        [&] { where_.OnHost(rows, [&](const petscrrb::Csr &here) { *why = petscrrb::why_refused(here); }); });
  }

protected:
  Where where_;
};

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
