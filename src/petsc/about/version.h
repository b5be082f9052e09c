/* Which petscrrb this is: a line in PCView(), and how it was built for -info. */
#pragma once

#include <petscviewer.h>

PETSC_INTERN PetscErrorCode PetscRRBViewVersion(PetscViewer);
PETSC_INTERN PetscErrorCode PetscRRBInfoBuild(void);
