/* The options of deflation, of any KSP. */
#include "deflation/kspdeflation_impl.h"

const char *const KSPDeflationTypes[] = {"none", "stripe",           "block",          "levelset",
                                         "user", "KSPDeflationType", "KSP_DEFLATION_", nullptr};
const char *const KSPDeflationVariants[] = {"adef2", "def1", "KSPDeflationVariant", "KSP_DEFLATION_", nullptr};
const char *const KSPDeflationInverses[] = {"explicit", "cholesky", "KSPDeflationInverse", "KSP_DEFLATION_", nullptr};

/* Two or three sizes; the third is 1 where there are two. */
static PetscErrorCode Sizes(KSP ksp, PetscRRBOptionItems PetscOptionsObject, const char option[], const char text[],
                            const char setter[], PetscErrorCode (*get)(KSP, PetscInt *, PetscInt *, PetscInt *),
                            PetscErrorCode (*set)(KSP, PetscInt, PetscInt, PetscInt)) {
  PetscInt now[3], n[4] = {0, 0, 1, 0}, three = 3, count = 4;
  PetscBool given;

  PetscFunctionBegin;
  PetscCall((*get)(ksp, &now[0], &now[1], &now[2])); /* for -help */
  PetscCall(PetscOptionsIntArray(option, text, setter, now, &three, &given));
  if (!given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      PetscOptionsGetIntArray(((PetscObject)ksp)->options, ((PetscObject)ksp)->prefix, option, n, &count, &given));
  PetscCheck(count == 2 || count == 3, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONG,
             "%s needs two or three sizes, nx,ny or nx,ny,nz; got %" PetscInt_FMT, option, count);
  PetscCall((*set)(ksp, n[0], n[1], n[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubdomainOptions(KSP ksp, PetscRRBOptionItems PetscOptionsObject) {
  PetscInt lines, cuts;
  PetscReal jump;
  PetscBool first, second, set;

  PetscFunctionBegin;
  PetscCall(KSPDeflationGetStripes(ksp, &lines, &cuts));
  PetscCall(PetscOptionsInt("-ksp_deflation_stripe_lines", "Grid lines in a stripe", "KSPDeflationSetStripes", lines,
                            &lines, &first));
  PetscCall(PetscOptionsInt("-ksp_deflation_stripe_cuts", "Pieces that a line is cut into", "KSPDeflationSetStripes",
                            cuts, &cuts, &second));
  if (first || second) PetscCall(KSPDeflationSetStripes(ksp, lines, cuts));
  PetscCall(Sizes(ksp, PetscOptionsObject, "-ksp_deflation_blocks",
                  "Number of blocks each way, 0: of 8 points, at most 64 x 64 or 16 x 16 x 16", "KSPDeflationSetBlocks",
                  KSPDeflationGetBlocks, KSPDeflationSetBlocks));
  PetscCall(Sizes(ksp, PetscOptionsObject, "-ksp_deflation_grid", "Unknowns each way, 0: found", "KSPDeflationSetGrid",
                  KSPDeflationGetGrid, KSPDeflationSetGrid));
  PetscCall(KSPDeflationGetJump(ksp, &jump));
  PetscCall(PetscOptionsReal("-ksp_deflation_jump", "Diagonals that differ by this factor are of two phases",
                             "KSPDeflationSetJump", jump, &jump, &set));
  if (set) PetscCall(KSPDeflationSetJump(ksp, jump));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPSetFromOptions() of every KSP comes here. */
PetscErrorCode KSPDeflationSetFromOptions(PetscObject object, PetscRRBOptionItems PetscOptionsObject, void *) {
  KSP ksp = (KSP)object;
  KSPDeflationType type;
  KSPDeflationVariant variant;
  KSPDeflationInverse inverse;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(KSPGetDeflation(ksp, &type));
  PetscCall(PetscOptionsEnum("-ksp_deflation", "Subdomains that are deflated", "KSPSetDeflation", KSPDeflationTypes,
                             (PetscEnum)type, (PetscEnum *)&type, &set));
  if (!set && type == KSP_DEFLATION_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetDeflation(ksp, type)); /* also where an application has set another PC since */
  PetscCall(SubdomainOptions(ksp, PetscOptionsObject));
  PetscCall(KSPDeflationGetVariant(ksp, &variant));
  PetscCall(PetscOptionsEnum("-ksp_deflation_variant", "Where the projection is applied", "KSPDeflationSetVariant",
                             KSPDeflationVariants, (PetscEnum)variant, (PetscEnum *)&variant, &set));
  if (set) PetscCall(KSPDeflationSetVariant(ksp, variant));
  PetscCall(KSPDeflationGetInverse(ksp, &inverse));
  PetscCall(PetscOptionsEnum(
      "-ksp_deflation_inverse", "How E = Z^T A Z is solved with; by default explicit on a device and for user",
      "KSPDeflationSetInverse", KSPDeflationInverses, (PetscEnum)inverse, (PetscEnum *)&inverse, &set));
  if (set) PetscCall(KSPDeflationSetInverse(ksp, inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
