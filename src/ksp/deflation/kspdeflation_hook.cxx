/* The hook: -ksp_deflation on any KSP. Each that is created gets our options handler. */
#include "ksp/deflation/kspdeflation_data.h"

static PetscErrorCode Created(PetscObject object) {
  PetscFunctionBegin;
  if (object->classid == KSP_CLASSID)
    PetscCall(PetscObjectAddOptionsHandler(object, KSPDeflationSetFromOptions, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSCRRB_LOG_HANDLERS

/* PetscFinalize() takes the handler away. */
PetscErrorCode KSPDeflationStartHook(void) {
  PetscFunctionBegin;
  PetscCall(PetscLogLegacyCallbacksBegin(nullptr, nullptr, Created, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDeflationStopHook(void) { return PETSC_SUCCESS; }

#elif defined(PETSC_USE_LOG)

static PetscErrorCode (*before)(PetscObject) = nullptr;

static PetscErrorCode CreatedHere(PetscObject object) {
  PetscFunctionBegin;
  if (before) PetscCall((*before)(object));
  PetscCall(Created(object));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDeflationStartHook(void) {
  PetscFunctionBegin;
  before = PetscLogPHC == CreatedHere ? nullptr : PetscLogPHC;
  PetscLogPHC = CreatedHere;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDeflationStopHook(void) {
  PetscFunctionBegin;
  if (PetscLogPHC == CreatedHere) PetscLogPHC = before;
  before = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

PetscErrorCode KSPDeflationStartHook(void) {
  PetscFunctionBegin;
  (void)Created;
  PetscCall(
      PetscInfo(nullptr, "This PETSc was built without logging: -ksp_deflation is not seen, KSPSetDeflation() is\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDeflationStopHook(void) { return PETSC_SUCCESS; }

#endif
