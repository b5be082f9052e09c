/* Which petscrrb this is: a line in PCView(), and how it was built for -info. */
#include "petsc/about/version.h"

#include "petsc/compat.h"
#include "petscrrb.h"

PetscErrorCode PetscRRBViewVersion(PetscViewer viewer) {
  return PetscViewerASCIIPrintf(viewer, "petscrrb %d.%d.%d\n", PETSCRRB_VERSION_MAJOR, PETSCRRB_VERSION_MINOR,
                                PETSCRRB_VERSION_SUBMINOR);
}

PetscErrorCode PetscRRBInfoBuild(void) {
#if defined(_OPENMP)
  [[maybe_unused]] const char openmp[] = "yes";
#else
  [[maybe_unused]] const char openmp[] = "no";
#endif
#if defined(PETSCRRB_HAVE_NCCL)
  [[maybe_unused]] const char nccl[] = "yes";
#else
  [[maybe_unused]] const char nccl[] = "no";
#endif

  PetscFunctionBegin;
  PetscCall(PetscInfo(nullptr,
                      "petscrrb %d.%d.%d, built with PETSc %d.%d.%d, %d-bit indices, OpenMP: %s, CUDA: %s, NCCL: %s\n",
                      PETSCRRB_VERSION_MAJOR, PETSCRRB_VERSION_MINOR, PETSCRRB_VERSION_SUBMINOR, PETSC_VERSION_MAJOR,
                      PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, (int)(8 * sizeof(PetscInt)), openmp,
                      PETSCRRB_ON_DEVICES ? "yes" : "no", nccl));
  PetscFunctionReturn(PETSC_SUCCESS);
}
