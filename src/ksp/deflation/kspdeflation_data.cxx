/* What is composed with a KSP that has ever had deflation. */
#include "ksp/deflation/kspdeflation_data.h"

#include <utility>

static const char key[] = "PetscRRBDeflation";

using Shared = std::shared_ptr<KSPDeflation>;

/* A PC that lives longer than its KSP has its share, and is destroyed before PETSc ends, too. */
KSPDeflation::~KSPDeflation() {
  (void)VecDestroy(&phi);
  (void)MatDestroy(&Z);
}

static PetscErrorCode Forget(void *contents) {
  Shared *shared = (Shared *)PetscRRBContents(contents);

  PetscFunctionBegin;
  (*shared)->ksp = nullptr;
  delete shared;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDeflationFind(KSP ksp, PetscBool create, Shared *found) {
  PetscContainer container;
  void *contents;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)ksp, key, (PetscObject *)&container));
  if (container) {
    PetscCall(PetscContainerGetPointer(container, &contents));
    *found = *(Shared *)contents;
  } else if (create) {
    std::unique_ptr<Shared> made;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)ksp), PetscRRBSay("deflation"),
                                  [&] { made = std::make_unique<Shared>(std::make_shared<KSPDeflation>(ksp)); }));
    *found = *made;
    PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)ksp), &container));
    PetscCall(PetscContainerSetPointer(container, made.release()));
    PetscCall(PetscRRBContainerSetDestroy(container, Forget));
    PetscCall(PetscObjectCompose((PetscObject)ksp, key, (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
  } else
    found->reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}
