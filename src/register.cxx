/* Every type that the plugin adds, and its two entry points: -dll_append and PetscRRBInitializePackage(). */
#include "petsc/about/citations.h"
#include "petsc/about/version.h"
#include "petsc/matrix.h"
#include "petsc/compat.h"
#include "petscrrb.h"

/* What is registered: of PETSc's class, under a name, made by a function. A new type is a line here. */
// clang-format off
#define PETSCRRB_TYPES(type)                   \
  type(PC, PCRRB, PCCreate_RRB)                \
  type(PC, PCNEUMANN, PCCreate_Neumann)        \
  type(PC, PCMIC, PCCreate_MIC)                \
  type(PC, PCBLOCKRELAX, PCCreate_BlockRelax)  \
  type(PC, PCGRIDMG, PCCreate_GridMG)          \
  type(KSP, KSPRRB, KSPCreate_RRB)             \
  type(KSP, KSPFUSEDCG, KSPCreate_FusedCG)     \
  type(PC, PCSUBDOMAINDEFLATION, PCCreate_SubdomainDeflation)
// clang-format on

#define PETSCRRB_DECLARE(Class, name, create)  PETSC_INTERN PetscErrorCode create(Class);
#define PETSCRRB_REGISTER(Class, name, create) PetscCall(Class##Register(name, create));

PETSCRRB_TYPES(PETSCRRB_DECLARE)

PETSC_INTERN PetscErrorCode KSPDeflationStartHook(void);
PETSC_INTERN PetscErrorCode KSPDeflationStopHook(void);

static PetscBool initialized = PETSC_FALSE;

/* PETSc's internal structures change between minor versions: a plugin built for another one would corrupt memory. */
static PetscErrorCode CheckVersion(void) {
  PetscInt major, minor, subminor, release;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "petscrrb was built for PETSc %d.%d, but this program runs PETSc %" PetscInt_FMT ".%" PetscInt_FMT
             ": rebuild petscrrb with this program's PETSC_DIR",
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadTimeout(void) {
  PetscReal seconds;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-petscrrb_timeout", &seconds, &set));
  if (set) PetscCall(PetscRRBSetTimeout(seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   PetscRRBFinalizePackage - Undoes `PetscRRBInitializePackage()`; called by `PetscFinalize()`

   Not Collective

   Level: developer

.seealso: `PetscRRBInitializePackage()`
@*/
PetscErrorCode PetscRRBFinalizePackage(void) {
  PetscFunctionBegin;
  PetscCall(PetscRRBForgetCitations());
  PetscCall(KSPDeflationStopHook());
  initialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   PetscRRBInitializePackage - Registers the types of petscrrb with PETSc, for programs that link the library

   Not Collective, but all ranks must call it

   Options Database Key:
.  -petscrrb_timeout <seconds> - how long kernels of a device wait for others, see `PetscRRBSetTimeout()`

   Level: beginner

   Notes:
   Call it after `PetscInitialize()`. Further calls do nothing. Programs that load the library with -dll_append need not
   call it. After `PetscFinalize()` and another `PetscInitialize()` it must be called again.

   Errors:
   `PETSC_ERR_LIB` if the running PETSc has a different minor version from the one that petscrrb was built for.

.seealso: `PCRRB`, `PCNEUMANN`, `PCMIC`, `PCBLOCKRELAX`, `PCGRIDMG`, `KSPRRB`, `KSPFUSEDCG`, `KSPSetDeflation()`, `PetscRRBSetTimeout()`
@*/
PetscErrorCode PetscRRBInitializePackage(void) {
  PetscFunctionBegin;
  if (initialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckVersion());
  PetscCall(PetscRRBInfoBuild());
  PetscCall(ReadTimeout());
  PETSCRRB_TYPES(PETSCRRB_REGISTER)
  PetscCall(KSPDeflationStartHook());
  PetscCall(PetscRegisterFinalize(PetscRRBFinalizePackage));
  initialized = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What -dll_append and PetscDLLibraryAppend() look for in libpetscrrb.so. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petscrrb(void) {
  PetscFunctionBegin;
  PetscCall(PetscRRBInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}
