/* What backends of types have in common whose rows are one rank's: on the host, and on a device. */
#pragma once

#include "pc/findgrid.h"
#include "pc/vectors.h"

/* Backend: the type's interface, with on_device() and rows(); type: whose work it is, for errors and -info */
template <class Backend> class PetscRRBOnHost : public Backend {
public:
  explicit PetscRRBOnHost(const char type[]) : say_(type) {}
  PetscBool on_device() const final { return PETSC_FALSE; }
  PetscRRBRows rows(const petscrrb::Csr &a) final { return PetscRRBRowsOnHost(a, say_); }

protected:
  const PetscRRBSay say_;
  PetscRRBVectorsOnHost vectors_;
};

#if PETSCRRB_ON_DEVICES

  #include "petsc/stream_cuda.h"

template <class Backend> class PetscRRBOnDevice : public Backend {
public:
  explicit PetscRRBOnDevice(const char type[]) : stream_(type) {}
  PetscErrorCode Start() { return stream_.Start(); } /* before anything else */
  PetscBool on_device() const final { return PETSC_TRUE; }
  PetscRRBRows rows(const petscrrb::Csr &a) final { return PetscRRBRowsOnDevice(stream_, a); }

protected:
  PetscRRBStream stream_;
  PetscRRBVectorsOnDevice vectors_;
};

#endif
