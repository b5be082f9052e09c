/* What differs between the PETSc versions that we build against, 3.18 to 3.26, in one place. */
#pragma once

#include <petscsys.h>

#if defined(PETSC_USE_COMPLEX)
  #error "petscrrb needs a PETSc with real scalars (--with-scalar-type=real)"
#endif
#if !defined(PETSC_USE_REAL_DOUBLE)
  #error "petscrrb needs a PETSc in double precision (--with-precision=double)"
#endif
#if PETSC_VERSION_LT(3, 18, 0)
  #error "petscrrb needs PETSc 3.18 or later"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS ((PetscErrorCode)0)
#endif

/* The argument of PCSetFromOptions methods became a pointer that has no `*` to write in 3.23. */
#if PETSC_VERSION_LT(3, 23, 0)
  #define PetscRRBOptionItems PetscOptionItems *
#else
  #define PetscRRBOptionItems PetscOptionItems
#endif

/* What destroys a container's contents got a pointer to their pointer in 3.23. */
#if PETSC_VERSION_LT(3, 23, 0)
  #define PetscRRBContainerSetDestroy PetscContainerSetUserDestroy
  #define PetscRRBContents(contents)  (contents)
#else
  #define PetscRRBContainerSetDestroy PetscContainerSetCtxDestroy
  #define PetscRRBContents(contents)  (*(void **)(contents))
#endif

/* Who hears of every new PetscObject: a log handler since 3.20, before that whoever stands in PetscLogPHC. */
#if defined(PETSC_USE_LOG) && PETSC_VERSION_GE(3, 20, 0)
  #define PETSCRRB_LOG_HANDLERS 1
#else
  #define PETSCRRB_LOG_HANDLERS 0
#endif

/* min_it of a KSP is newer than some PETSc that we build with. */
#if defined(__cplusplus)
template <class K> auto PetscRRBLeastIterations(K ksp, int) -> decltype(ksp->min_it) { return ksp->min_it; }
template <class K> PetscInt PetscRRBLeastIterations(K, long) { return 0; }
#endif

/* Where PetscErrorMessage() puts an error's words, which are constant in newer PETSc. */
#if defined(__cplusplus)
struct PetscRRBWords {
  const char *text = nullptr;
  operator char **() { return const_cast<char **>(&text); }
  operator const char **() { return &text; }
};
#endif

/* Devices: where PETSc has CUDA and so have we. The first PETSc with PetscDeviceContextGetStreamHandle() is 3.20. */
#if defined(PETSCRRB_HAVE_CUDA) && defined(PETSC_HAVE_CUDA) && PETSC_VERSION_GE(3, 20, 0)
  #define PETSCRRB_ON_DEVICES 1
#else
  #define PETSCRRB_ON_DEVICES 0
#endif

#if defined(__cplusplus)
/* create() where there are devices, else the error that there are none. */
  #if PETSCRRB_ON_DEVICES
    #define PETSCRRB_ON_DEVICE(create) create
  #else
    #define PETSCRRB_ON_DEVICE(create) PetscRRBNoDevices
template <class... Args> PetscErrorCode PetscRRBNoDevices(Args...) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "petscrrb was built without CUDA");
}
  #endif
#endif
