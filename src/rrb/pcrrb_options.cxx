/* What a user can set of PCRRB: the options, and what the setters and getters of pcrrb_interface.cxx do. */
#include "rrb/pcrrb_impl.h"

const char *const PCRRBLumpNodesTypes[] = {"red", "both", "PCRRBLumpNodes", "PC_RRB_LUMP_", nullptr};
const char *const PCRRBStorageTypes[] = {"naive", "r1r2b1b2", "PCRRBStorage", "PC_RRB_STORAGE_", nullptr};
const char *const PCRRBCoarseTypes[] = {"cholesky", "inverse", "ksp", "PCRRBCoarse", "PC_RRB_COARSE_", nullptr};
const char *const PCRRBCycles[] = {"v", "amli", "PCRRBCycle", "PC_RRB_CYCLE_", nullptr};
const char *const PCRRBPrecisions[] = {"double", "single", "PCRRBPrecision", "PC_RRB_PRECISION_", nullptr};
const char *const PCRRBTransports[] = {"auto", "stores", "nccl", "sf", "PCRRBTransport", "PC_RRB_TRANSPORT_", nullptr};

template <class T, T PC_RRB::*member> constexpr auto Set = PetscRRBSet<PC_RRB, T, member>;
template <class T, T PC_RRB::*member> constexpr auto Get = PetscRRBGet<PC_RRB, T, member>;

/* of those that have a default that depends on the grid: the value in use */
template <PetscInt PC_RRB::*member, int petscrrb::rrb::Options::*used>
static PetscErrorCode GetUsed(PC pc, PetscInt *value) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  *value = rrb->state && rrb->state->core ? rrb->state->core->options().*used : rrb->*member;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBSetGrid_RRB(PC pc, PetscInt nx, PetscInt ny) {
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  if (rrb->grid[0] != nx || rrb->grid[1] != ny) {
    rrb->grid[0] = nx;
    rrb->grid[1] = ny;
    PetscCall(PetscRRBRebuild(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBGetGrid_RRB(PC pc, PetscInt *nx, PetscInt *ny) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  if (nx) *nx = rrb->state ? (PetscInt)rrb->state->grid.n[0] : rrb->grid[0];
  if (ny) *ny = rrb->state ? (PetscInt)rrb->state->grid.n[1] : rrb->grid[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of those whose default depends on the grid and on where it is: as it was set, or in use. */
template <class T, T PC_RRB::*member, PetscBool PC_RRB::*was_set> static PetscErrorCode SetChoice(PC pc, T value) {
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  if (!(rrb->*was_set) || rrb->*member != value) {
    rrb->*member = value;
    rrb->*was_set = PETSC_TRUE;
    PetscCall(PetscRRBRebuild(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, T PC_RRB::*member, T PCRRBState::*used> static PetscErrorCode GetChoice(PC pc, T *value) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  *value = rrb->state && rrb->state->core ? rrb->state->*used : rrb->*member;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBGetGatherSize_RRB(PC pc, PetscInt *points) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  *points = rrb->state && rrb->state->backend ? PCRRBGatherSize(rrb) : rrb->gather_size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBGetCoarseKSP_RRB(PC pc, KSP *ksp) {
  PetscFunctionBegin;
  PetscCall(PCRRBCreateCoarseKSP(pc));
  *ksp = ((PC_RRB *)pc->data)->coarse_ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBCreateCoarseKSP(PC pc) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  const char *prefix;
  PC inner;

  PetscFunctionBegin;
  if (rrb->coarse_ksp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &rrb->coarse_ksp));
  PetscCall(KSPSetErrorIfNotConverged(rrb->coarse_ksp, pc->erroriffailure));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)rrb->coarse_ksp, (PetscObject)pc, 1));
  PetscCall(KSPSetOptionsPrefix(rrb->coarse_ksp, prefix));
  PetscCall(KSPAppendOptionsPrefix(rrb->coarse_ksp, "rrb_coarse_"));
  PetscCall(KSPSetType(rrb->coarse_ksp, KSPPREONLY));
  PetscCall(KSPGetPC(rrb->coarse_ksp, &inner));
  PetscCall(PCSetType(inner, PCCHOLESKY));
  PetscCall(PCFactorSetMatOrderingType(inner, MATORDERINGND));
  PetscCall(PCFactorSetShiftType(inner, MAT_SHIFT_INBLOCKS)); /* the last pivot of a singular block */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RanksOptions(PC pc, PetscRRBOptionItems PetscOptionsObject) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;
  PetscInt gather = rrb->gather_size;
  PCRRBTransport transport = rrb->transport;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-pc_rrb_gather_size", "Points of grids that are on every rank", "PCRRBSetGatherSize",
                            gather, &gather, &set));
  if (set) PetscCall(PCRRBSetGatherSize(pc, gather));
  PetscCall(PetscOptionsEnum("-pc_rrb_transport", "How values travel between devices", "PCRRBSetTransport",
                             PCRRBTransports, (PetscEnum)transport, (PetscEnum *)&transport, &set));
  if (set) PetscCall(PCRRBSetTransport(pc, transport));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those about the last block, the coarse grids and the arithmetic. */
static PetscErrorCode CoarseGridOptions(PC pc, PetscRRBOptionItems PetscOptionsObject) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBCoarse coarse = rrb->coarse;
  PCRRBCycle cycle = rrb->cycle;
  PCRRBPrecision precision = rrb->precision;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_rrb_coarse", "Solver of the last Schur complement", "PCRRBSetCoarse",
                             PCRRBCoarseTypes, (PetscEnum)coarse, (PetscEnum *)&coarse, &set));
  if (set) PetscCall(PCRRBSetCoarse(pc, coarse));
  PetscCall(PetscOptionsEnum("-pc_rrb_cycle", "How often the coarse grids are visited", "PCRRBSetCycle", PCRRBCycles,
                             (PetscEnum)cycle, (PetscEnum *)&cycle, &set));
  if (set) PetscCall(PCRRBSetCycle(pc, cycle));
  PetscCall(PetscOptionsEnum("-pc_rrb_precision", "Precision of the factor L", "PCRRBSetPrecision", PCRRBPrecisions,
                             (PetscEnum)precision, (PetscEnum *)&precision, &set));
  if (set) PetscCall(PCRRBSetPrecision(pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_RRB(PC pc, PetscRRBOptionItems PetscOptionsObject) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PetscInt levels = rrb->levels, grids = rrb->storage_grids, block = rrb->compute_block, n[3], sizes = 3;
  PetscReal lumping = rrb->lumping;
  PCRRBLumpNodes nodes = rrb->lump_nodes;
  PCRRBStorage storage = rrb->storage;
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "RRB options");
  PetscCall(PetscOptionsInt("-pc_rrb_levels", "Number of red-black levels", "PCRRBSetLevels", levels, &levels, &set));
  if (set) PetscCall(PCRRBSetLevels(pc, levels));
  PetscCall(PetscOptionsReal("-pc_rrb_lumping", "Part of the dropped entries that goes to the diagonal",
                             "PCRRBSetLumping", lumping, &lumping, &set));
  if (set) PetscCall(PCRRBSetLumping(pc, lumping));
  PetscCall(PetscOptionsEnum("-pc_rrb_lump_nodes", "Nodes whose dropped entries are lumped", "PCRRBSetLumpNodes",
                             PCRRBLumpNodesTypes, (PetscEnum)nodes, (PetscEnum *)&nodes, &set));
  if (set) PetscCall(PCRRBSetLumpNodes(pc, nodes));
  n[0] = rrb->grid[0];
  n[1] = rrb->grid[1];
  n[2] = 1;
  PetscCall(PetscOptionsIntArray("-pc_rrb_grid", "Unknowns in x and y", "PCRRBSetGrid", n, &sizes, &set));
  if (set) {
    PetscCheck(sizes == 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
               "-pc_rrb_grid needs two sizes, nx,ny; got %" PetscInt_FMT, sizes);
    PetscCall(PCRRBSetGrid(pc, n[0], n[1]));
  }
  PetscCall(PetscOptionsEnum("-pc_rrb_storage", "Order in which the factor is stored", "PCRRBSetStorage",
                             PCRRBStorageTypes, (PetscEnum)storage, (PetscEnum *)&storage, &set));
  if (set) PetscCall(PCRRBSetStorage(pc, storage));
  PetscCall(PetscOptionsInt("-pc_rrb_storage_grids", "Grids in r1/r2/b1/b2 storage", "PCRRBSetStorageGrids", grids,
                            &grids, &set));
  if (set) PetscCall(PCRRBSetStorageGrids(pc, grids));
  PetscCall(PetscOptionsInt("-pc_rrb_compute_block", "Padding of the r1/r2/b1/b2 arrays", "PCRRBSetComputeBlock", block,
                            &block, &set));
  if (set) PetscCall(PCRRBSetComputeBlock(pc, block));
  PetscCall(CoarseGridOptions(pc, PetscOptionsObject));
  PetscCall(RanksOptions(pc, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on: let the public functions find their methods; off: before the type goes away */
PetscErrorCode PCRRBComposeSetters(PC pc, PetscBool on) {
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetLevels_C", Set<PetscInt, &PC_RRB::levels>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetLevels_C", GetUsed<&PC_RRB::levels, &petscrrb::rrb::Options::levels>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetLumping_C", Set<PetscReal, &PC_RRB::lumping>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetLumping_C", Get<PetscReal, &PC_RRB::lumping>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetLumpNodes_C", Set<PCRRBLumpNodes, &PC_RRB::lump_nodes>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetLumpNodes_C", Get<PCRRBLumpNodes, &PC_RRB::lump_nodes>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetGrid_C", PCRRBSetGrid_RRB));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetGrid_C", PCRRBGetGrid_RRB));
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetStorage_C", Set<PCRRBStorage, &PC_RRB::storage>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetStorage_C", Get<PCRRBStorage, &PC_RRB::storage>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetStorageGrids_C", Set<PetscInt, &PC_RRB::storage_grids>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetStorageGrids_C",
                            GetUsed<&PC_RRB::storage_grids, &petscrrb::rrb::Options::storage_grids>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetComputeBlock_C", Set<PetscInt, &PC_RRB::compute_block>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetComputeBlock_C", Get<PetscInt, &PC_RRB::compute_block>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetGatherSize_C", Set<PetscInt, &PC_RRB::gather_size>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetGatherSize_C", PCRRBGetGatherSize_RRB));
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetTransport_C", Set<PCRRBTransport, &PC_RRB::transport>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetTransport_C", Get<PCRRBTransport, &PC_RRB::transport>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetCoarse_C", SetChoice<PCRRBCoarse, &PC_RRB::coarse, &PC_RRB::coarse_set>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetCoarse_C", GetChoice<PCRRBCoarse, &PC_RRB::coarse, &PCRRBState::coarse>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetCoarseKSP_C", PCRRBGetCoarseKSP_RRB));
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetCycle_C", SetChoice<PCRRBCycle, &PC_RRB::cycle, &PC_RRB::cycle_set>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetCycle_C", GetChoice<PCRRBCycle, &PC_RRB::cycle, &PCRRBState::cycle>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBSetPrecision_C", Set<PCRRBPrecision, &PC_RRB::precision>));
  PetscCall(PetscRRBCompose(o, on, "PCRRBGetPrecision_C", Get<PCRRBPrecision, &PC_RRB::precision>));
  PetscFunctionReturn(PETSC_SUCCESS);
}
