/* What a user can set of PCBLOCKRELAX: the options, and what the setters and getters of pcblockrelax_interface*.cxx do. */
#include "blockrelax/pcblockrelax_impl.h"

const char *const PCBlockRelaxTypes[] = {"jacobi", "chaotic", "coloured", "PCBlockRelaxType", "PC_BLOCKRELAX_TYPE_",
                                         nullptr};
const char *const PCBlockRelaxInverses[] = {"auto", "tensor", "dense", "PCBlockRelaxInverse", "PC_BLOCKRELAX_INVERSE_",
                                            nullptr};
const char *const PCBlockRelaxParallels[] = {
    "auto", "patches", "blocks", "both", "PCBlockRelaxParallel", "PC_BLOCKRELAX_PARALLEL_", nullptr};

template <class T, T PC_BlockRelax::*member> constexpr auto Set = PetscRRBSet<PC_BlockRelax, T, member>;
template <class T, T PC_BlockRelax::*member> constexpr auto Get = PetscRRBGet<PC_BlockRelax, T, member>;

static bool IsReady(const PC_BlockRelax *b) { return b->state && b->state->ready && !b->state->shape.patches.empty(); }

/* The one in use, where there is one. */
static PetscErrorCode PCBlockRelaxGetOmega_BlockRelax(PC pc, PetscReal *omega) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;

  PetscFunctionBegin;
  *omega = IsReady(b) ? b->state->options.omega : b->omega;
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode PCBlockRelaxGetColours_BlockRelax(PC pc, PetscInt *colours) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;

  PetscFunctionBegin;
  *colours = IsReady(b) && b->type == PC_BLOCKRELAX_TYPE_COLOURED ? b->state->options.colours : b->colours;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCBlockRelaxSetBlockSize_BlockRelax(PC pc, PetscInt bx, PetscInt by, PetscInt bz) {
  PC_BlockRelax *b = (PC_BlockRelax *)pc->data;

  PetscFunctionBegin;
  if (b->block[0] == bx && b->block[1] == by && b->block[2] == bz) PetscFunctionReturn(PETSC_SUCCESS);
  b->block[0] = bx;
  b->block[1] = by;
  b->block[2] = bz;
  PetscCall(PetscRRBRebuild(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCBlockRelaxGetBlockSize_BlockRelax(PC pc, PetscInt *bx, PetscInt *by, PetscInt *bz) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PetscInt *const to[] = {bx, by, bz};

  PetscFunctionBegin;
  for (int d = 0; d < 3; ++d)
    if (to[d]) *to[d] = IsReady(b) ? b->state->options.block[d] : b->block[d];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCBlockRelaxSetGrid_BlockRelax(PC pc, PetscInt nx, PetscInt ny, PetscInt nz) {
  PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  const PetscInt n[] = {nx, ny, nz};

  PetscFunctionBegin;
  PetscCall(PetscRRBSetGridOfRank(pc, n, b->sizes != nullptr, b->grid));
  PetscCall(PetscFree(b->sizes));
  b->patches = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The one in use, where there is one. */
static PetscErrorCode PCBlockRelaxGetGrid_BlockRelax(PC pc, PetscInt *nx, PetscInt *ny, PetscInt *nz) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PetscInt *const to[] = {nx, ny, nz};

  PetscFunctionBegin;
  for (int d = 0; d < 3; ++d)
    if (to[d]) *to[d] = IsReady(b) && !b->sizes ? (PetscInt)b->state->grid.n[d] : b->grid[d];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyPatches(PetscInt patches, const PetscInt sizes[], PetscInt **copy) {
  PetscFunctionBegin;
  PetscCheck(patches >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Number of patches %" PetscInt_FMT " must not be negative", patches);
  PetscCheck(patches == 0 || sizes, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 3");
  for (PetscInt p = 0; p < patches; ++p)
    PetscCheck(sizes[3 * p] >= 1 && sizes[3 * p + 1] >= 1 && sizes[3 * p + 2] >= 1, PETSC_COMM_SELF,
               PETSC_ERR_ARG_OUTOFRANGE,
               "Patch %" PetscInt_FMT " of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
               " points: all sizes must be positive",
               p, sizes[3 * p], sizes[3 * p + 1], sizes[3 * p + 2]);
  if (!patches) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(3 * patches, copy));
  PetscCall(PetscArraycpy(*copy, sizes, 3 * patches));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* They may be others on each rank: what is bad on one is an error on all. */
static PetscErrorCode PCBlockRelaxSetPatches_BlockRelax(PC pc, PetscInt patches, const PetscInt sizes[]) {
  PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PetscInt *copy = nullptr;

  PetscFunctionBegin;
  const PetscErrorCode code = PetscRRBCallTogether(PetscObjectComm((PetscObject)pc), PetscRRBSay("PCBLOCKRELAX"),
                                                   [&] { return CopyPatches(patches, sizes, &copy); });
  if (code) PetscCall(PetscFree(copy));
  PetscCall(code);
  PetscCall(PetscFree(b->sizes));
  b->sizes = copy;
  b->patches = patches;
  PetscCall(PetscRRBRebuild(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCBlockRelaxGetPatches_BlockRelax(PC pc, PetscInt *patches, const PetscInt *sizes[]) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;

  PetscFunctionBegin;
  if (patches) *patches = b->patches;
  if (sizes) *sizes = b->sizes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two or three sizes, the third of which is then 1. */
static PetscErrorCode OptionSizes(PC pc, PetscRRBOptionItems PetscOptionsObject, const char *option, const char *text,
                                  const char *function, const PetscInt now[],
                                  PetscErrorCode (*set)(PC, PetscInt, PetscInt, PetscInt)) {
  PetscInt n[4] = {now[0], now[1], now[2], 0}, sizes = 4;
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsIntArray(option, text, function, n, &sizes, &given));
  if (!given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(sizes == 2 || sizes == 3, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "%s needs two or three sizes, x,y[,z]; got %" PetscInt_FMT, option, sizes);
  PetscCall(set(pc, n[0], n[1], sizes == 3 ? n[2] : 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How the blocks are inverted and shared, and where they are. */
static PetscErrorCode MoreOptions(PC pc, PetscRRBOptionItems PetscOptionsObject) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PCBlockRelaxInverse inverse = b->inverse;
  PCBlockRelaxParallel parallel = b->parallel;
  PetscReal memory = b->memory;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_blockrelax_inverse", "How blocks are inverted", "PCBlockRelaxSetInverse",
                             PCBlockRelaxInverses, (PetscEnum)inverse, (PetscEnum *)&inverse, &set));
  if (set) PetscCall(PCBlockRelaxSetInverse(pc, inverse));
  PetscCall(PetscOptionsEnum("-pc_blockrelax_parallel", "What threads share on the host", "PCBlockRelaxSetParallel",
                             PCBlockRelaxParallels, (PetscEnum)parallel, (PetscEnum *)&parallel, &set));
  if (set) PetscCall(PCBlockRelaxSetParallel(pc, parallel));
  PetscCall(PetscOptionsReal("-pc_blockrelax_memory", "Bytes that the blocks' factors may take; 0: no limit",
                             "PCBlockRelaxSetMemory", memory, &memory, &set));
  if (set) PetscCall(PCBlockRelaxSetMemory(pc, memory));
  PetscCall(OptionSizes(pc, PetscOptionsObject, "-pc_blockrelax_block_size", "Cells of a block in x, y and z",
                        "PCBlockRelaxSetBlockSize", b->block, PCBlockRelaxSetBlockSize));
  PetscCall(OptionSizes(pc, PetscOptionsObject, "-pc_blockrelax_grid", "Unknowns in x, y and z", "PCBlockRelaxSetGrid",
                        b->grid, PCBlockRelaxSetGrid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_BlockRelax(PC pc, PetscRRBOptionItems PetscOptionsObject) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PCBlockRelaxType type = b->type;
  PetscReal omega = b->omega;
  PetscInt sweeps = b->sweeps, colours = b->colours;
  PetscBool symmetric = b->symmetric, set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Block relaxation options");
  PetscCall(PetscOptionsEnum("-pc_blockrelax_type", "Which blocks see which", "PCBlockRelaxSetType", PCBlockRelaxTypes,
                             (PetscEnum)type, (PetscEnum *)&type, &set));
  if (set) PetscCall(PCBlockRelaxSetType(pc, type));
  PetscCall(PetscOptionsReal("-pc_blockrelax_omega", "The relaxation; -1: the type's default", "PCBlockRelaxSetOmega",
                             omega, &omega, &set));
  if (set) PetscCall(PCBlockRelaxSetOmega(pc, omega));
  PetscCall(PetscOptionsInt("-pc_blockrelax_sweeps", "Sweeps an application", "PCBlockRelaxSetSweeps", sweeps, &sweeps,
                            &set));
  if (set) PetscCall(PCBlockRelaxSetSweeps(pc, sweeps));
  PetscCall(PetscOptionsInt("-pc_blockrelax_colours", "Colours of the blocks; -1: as few as will do",
                            "PCBlockRelaxSetColours", colours, &colours, &set));
  if (set) PetscCall(PCBlockRelaxSetColours(pc, colours));
  PetscCall(PetscOptionsBool("-pc_blockrelax_symmetric", "The colours forth and back", "PCBlockRelaxSetSymmetric",
                             symmetric, &symmetric, &set));
  if (set) PetscCall(PCBlockRelaxSetSymmetric(pc, symmetric));
  PetscCall(MoreOptions(pc, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on: let the public functions find their methods; off: before the type goes away */
PetscErrorCode PCBlockRelaxComposeSetters(PC pc, PetscBool on) {
  using P = PC_BlockRelax;
  using Parallel = PCBlockRelaxParallel;
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxSetType_C", Set<PCBlockRelaxType, &P::type>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxGetType_C", Get<PCBlockRelaxType, &P::type>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxSetBlockSize_C", PCBlockRelaxSetBlockSize_BlockRelax));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxGetBlockSize_C", PCBlockRelaxGetBlockSize_BlockRelax));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxSetOmega_C", Set<PetscReal, &P::omega>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxGetOmega_C", PCBlockRelaxGetOmega_BlockRelax));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxSetSweeps_C", Set<PetscInt, &P::sweeps>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxGetSweeps_C", Get<PetscInt, &P::sweeps>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxSetColours_C", Set<PetscInt, &P::colours>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxGetColours_C", PCBlockRelaxGetColours_BlockRelax));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxSetSymmetric_C", Set<PetscBool, &P::symmetric>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxGetSymmetric_C", Get<PetscBool, &P::symmetric>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxSetInverse_C", Set<PCBlockRelaxInverse, &P::inverse>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxGetInverse_C", Get<PCBlockRelaxInverse, &P::inverse>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxSetParallel_C", Set<Parallel, &P::parallel>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxGetParallel_C", Get<Parallel, &P::parallel>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxSetMemory_C", Set<PetscReal, &P::memory>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxGetMemory_C", Get<PetscReal, &P::memory>));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxSetGrid_C", PCBlockRelaxSetGrid_BlockRelax));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxGetGrid_C", PCBlockRelaxGetGrid_BlockRelax));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxSetPatches_C", PCBlockRelaxSetPatches_BlockRelax));
  PetscCall(PetscRRBCompose(o, on, "PCBlockRelaxGetPatches_C", PCBlockRelaxGetPatches_BlockRelax));
  PetscFunctionReturn(PETSC_SUCCESS);
}
