/* What a user can set of PCMIC: the options, and what the setters and getters of pcmic_interface*.cxx do. */
#include "mic/pcmic_impl.h"

const char *const PCMICTypes[] = {"mic", "ssor", "PCMICType", "PC_MIC_TYPE_", nullptr};
const char *const PCMICPrecisions[] = {"double", "single", "PCMICPrecision", "PC_MIC_PRECISION_", nullptr};

template <class T, T PC_MIC::*member> constexpr auto Set = PetscRRBSet<PC_MIC, T, member>;
template <class T, T PC_MIC::*member> constexpr auto Get = PetscRRBGet<PC_MIC, T, member>;

/* The one in use, where there is one. */
static PetscErrorCode PCMICGetOmega_MIC(PC pc, PetscReal *omega) {
  const PC_MIC *mic = (PC_MIC *)pc->data;

  PetscFunctionBegin;
  *omega = mic->state && mic->state->ready ? mic->state->options.omega : mic->omega;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMICSetGrid_MIC(PC pc, PetscInt nx, PetscInt ny, PetscInt nz) {
  const PetscInt n[] = {nx, ny, nz};
  return PetscRRBSetGridOfRank(pc, n, false, ((PC_MIC *)pc->data)->grid);
}

/* The one in use, where there is one. */
static PetscErrorCode PCMICGetGrid_MIC(PC pc, PetscInt *nx, PetscInt *ny, PetscInt *nz) {
  const PC_MIC *mic = (PC_MIC *)pc->data;
  const PCMICState *s = mic->state;
  PetscInt *const to[] = {nx, ny, nz};

  PetscFunctionBegin;
  for (int d = 0; d < 3; ++d)
    if (to[d]) *to[d] = s && s->ready ? (PetscInt)s->grid.n[d] : mic->grid[d];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of the factor's pivots and blocks, and the grid. */
static PetscErrorCode MoreOptions(PC pc, PetscRRBOptionItems PetscOptionsObject) {
  const PC_MIC *mic = (PC_MIC *)pc->data;
  PetscReal shift = mic->shift;
  PetscInt lines = mic->block_lines, n[4] = {mic->grid[0], mic->grid[1], mic->grid[2], 0}, sizes = 4;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsReal("-pc_mic_shift", "Pivots below so much of the diagonal entry are raised to that",
                             "PCMICSetShift", shift, &shift, &set));
  if (set) PetscCall(PCMICSetShift(pc, shift));
  PetscCall(PetscOptionsInt("-pc_mic_block_lines", "Lines of a block that is not coupled to the others; 0: no blocks",
                            "PCMICSetBlockLines", lines, &lines, &set));
  if (set) PetscCall(PCMICSetBlockLines(pc, lines));
  PetscCall(PetscOptionsIntArray("-pc_mic_grid", "Unknowns in x, y and z", "PCMICSetGrid", n, &sizes, &set));
  if (set) {
    PetscCheck(sizes == 2 || sizes == 3, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
               "-pc_mic_grid needs two or three sizes, nx,ny[,nz]; got %" PetscInt_FMT, sizes);
    PetscCall(PCMICSetGrid(pc, n[0], n[1], sizes == 3 ? n[2] : 1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_MIC(PC pc, PetscRRBOptionItems PetscOptionsObject) {
  const PC_MIC *mic = (PC_MIC *)pc->data;
  PCMICType type = mic->type;
  PetscReal omega = mic->omega;
  PCMICPrecision precision = mic->precision;
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "MIC options");
  PetscCall(PetscOptionsEnum("-pc_mic_type", "Incomplete Cholesky, or SSOR", "PCMICSetType", PCMICTypes,
                             (PetscEnum)type, (PetscEnum *)&type, &set));
  if (set) PetscCall(PCMICSetType(pc, type));
  PetscCall(PetscOptionsReal("-pc_mic_omega", "From IC(0), 0, to MIC(0), 1; or the relaxation of SSOR", "PCMICSetOmega",
                             omega, &omega, &set));
  if (set) PetscCall(PCMICSetOmega(pc, omega));
  PetscCall(PetscOptionsEnum("-pc_mic_precision", "The precision in which the factor is stored", "PCMICSetPrecision",
                             PCMICPrecisions, (PetscEnum)precision, (PetscEnum *)&precision, &set));
  if (set) PetscCall(PCMICSetPrecision(pc, precision));
  PetscCall(MoreOptions(pc, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on: let the public functions find their methods; off: before the type goes away */
PetscErrorCode PCMICComposeSetters(PC pc, PetscBool on) {
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscRRBCompose(o, on, "PCMICSetType_C", Set<PCMICType, &PC_MIC::type>));
  PetscCall(PetscRRBCompose(o, on, "PCMICGetType_C", Get<PCMICType, &PC_MIC::type>));
  PetscCall(PetscRRBCompose(o, on, "PCMICSetOmega_C", Set<PetscReal, &PC_MIC::omega>));
  PetscCall(PetscRRBCompose(o, on, "PCMICGetOmega_C", PCMICGetOmega_MIC));
  PetscCall(PetscRRBCompose(o, on, "PCMICSetPrecision_C", Set<PCMICPrecision, &PC_MIC::precision>));
  PetscCall(PetscRRBCompose(o, on, "PCMICGetPrecision_C", Get<PCMICPrecision, &PC_MIC::precision>));
  PetscCall(PetscRRBCompose(o, on, "PCMICSetShift_C", Set<PetscReal, &PC_MIC::shift>));
  PetscCall(PetscRRBCompose(o, on, "PCMICGetShift_C", Get<PetscReal, &PC_MIC::shift>));
  PetscCall(PetscRRBCompose(o, on, "PCMICSetBlockLines_C", Set<PetscInt, &PC_MIC::block_lines>));
  PetscCall(PetscRRBCompose(o, on, "PCMICGetBlockLines_C", Get<PetscInt, &PC_MIC::block_lines>));
  PetscCall(PetscRRBCompose(o, on, "PCMICSetGrid_C", PCMICSetGrid_MIC));
  PetscCall(PetscRRBCompose(o, on, "PCMICGetGrid_C", PCMICGetGrid_MIC));
  PetscFunctionReturn(PETSC_SUCCESS);
}
