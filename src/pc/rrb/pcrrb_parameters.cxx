/* What a user can set of PCRRB. */
#include "pc/parameter.h"
#include "pc/rrb/pcrrb_data.h"

const char *const PCRRBLumpNodesTypes[] = {"red", "both", "PCRRBLumpNodes", "PC_RRB_LUMP_", nullptr};
const char *const PCRRBStorageTypes[] = {"naive", "r1r2b1b2", "PCRRBStorage", "PC_RRB_STORAGE_", nullptr};
const char *const PCRRBCoarseTypes[] = {"cholesky", "inverse", "ksp", "PCRRBCoarse", "PC_RRB_COARSE_", nullptr};
const char *const PCRRBCycles[] = {"v", "amli", "PCRRBCycle", "PC_RRB_CYCLE_", nullptr};
const char *const PCRRBRedNodesTypes[] = {"auto", "plain", "support", "PCRRBRedNodes", "PC_RRB_RED_NODES_", nullptr};
const char *const PCRRBPrecisions[] = {"double", "single", "mixed", "PCRRBPrecision", "PC_RRB_PRECISION_", nullptr};
const char *const PCRRBTransports[] = {"auto", "stores", "nccl", "sf", "PCRRBTransport", "PC_RRB_TRANSPORT_", nullptr};

/* Of those whose default depends on the grid and on where it is. */
template <PetscInt PC_RRB::*member, int petscrrb::rrb::Options::*used> static PetscInt InUse(const PC_RRB &rrb) {
  return rrb.state && rrb.state->ready ? rrb.state->core->options().*used : rrb.*member;
}
template <class T, T PC_RRB::*member, T PCRRBState::*used> static T ChoiceInUse(const PC_RRB &rrb) {
  return rrb.state && rrb.state->ready ? rrb.state->*used : rrb.*member;
}
static PetscInt GatherSizeInUse(const PC_RRB &rrb) {
  return rrb.state && rrb.state->backend ? PCRRBGatherSize(&rrb) : rrb.gather_size;
}

/*@
   PCRRBSetLevels - Sets the number of red-black levels of `PCRRB`

   Input Parameters:
+  pc - the preconditioner context
-  l - number of red-black levels, at least 1, or `PETSC_DECIDE`

   Options Database Key:
.  -pc_rrb_levels <l> - the number of red-black levels

   Level: beginner

   Notes:
   More levels make a cheaper but less accurate preconditioner. The default is the fewest levels that leave at most 1024
   unknowns for the last block. More than 2 ceil(log2(max(nx, ny))) + 1 (de Jong and Vuik 2016, eq. (2.1)) are reduced
   to that. With one level a 5-point matrix is factored exactly.

.seealso: `PCRRB`, `PCRRBGetLevels()`
@*/
PETSCRRB_PARAMETER(
    RRB, Levels, PetscInt, &PC_RRB::levels, "-pc_rrb_levels", "Number of red-black levels",
    [](PetscInt l) { return l == PETSC_DECIDE || l >= 1; }, "Number of levels %" PetscInt_FMT " must be at least 1",
    InUse<&PC_RRB::levels, &petscrrb::rrb::Options::levels>);

/*@
   PCRRBSetLumping - Sets how much of the dropped entries `PCRRB` adds to the diagonal

   Input Parameters:
+  pc - the preconditioner context
-  omega - relaxation of the lumping, 0 <= omega <= 1

   Options Database Key:
.  -pc_rrb_lumping <omega> - how much of the dropped entries is added to the diagonal

   Level: intermediate

   Notes:
   With 1, the default, dropped entries are added to the diagonal in full, so that M v = A v for constant vectors v, or
   for the matrix's near null space (`MatSetNearNullSpace()`); the condition number grows far slower than with less:
   0.999 doubles the iterations of a 1023 x 1023 Poisson problem. This is omega of de Jong and Vuik 2016, eqs. (2.12),
   (2.13).

.seealso: `PCRRB`, `PCRRBGetLumping()`
@*/
PETSCRRB_PARAMETER(
    RRB, Lumping, PetscReal, &PC_RRB::lumping, "-pc_rrb_lumping",
    "Fraction of the dropped entries that is added to the diagonal",
    [](PetscReal omega) { return omega >= 0 && omega <= 1; }, "Lumping %g must be between 0 and 1");

/*@
   PCRRBSetLumpNodes - Sets the nodes whose dropped couplings `PCRRB` lumps

   Input Parameters:
+  pc - the preconditioner context
-  nodes - `PC_RRB_LUMP_RED` (default) or `PC_RRB_LUMP_BOTH`

   Options Database Key:
.  -pc_rrb_lump_nodes <red,both> - the nodes whose dropped couplings are lumped

   Level: intermediate

   Notes:
   Together with `PCRRBSetLumping()` these are the variants M1u (red, 0), M1m (red, 1), M2u (both, 0) and M2m (both, 1)
   of de Jong and Vuik 2016, Table 1.

.seealso: `PCRRB`, `PCRRBGetLumpNodes()`
@*/
PETSCRRB_PARAMETER(RRB, LumpNodes, PCRRBLumpNodes, &PC_RRB::lump_nodes, "-pc_rrb_lump_nodes",
                   "Nodes whose dropped entries are lumped", PCRRBLumpNodesTypes);

/*@
   PCRRBSetGrid - Sets the grid of the matrix of `PCRRB`

.seealso: `PCRRB`, `PCRRBGetGrid()`
@*/
PETSCRRB_TWO_SIZES(RRB, Grid, &PC_RRB::grid, "-pc_rrb_grid", "Unknowns in x and y",
                   "Grid of %" PetscInt_FMT " x %" PetscInt_FMT " points: both sizes must be positive",
                   PetscRRBGridInUse);

/*@
   PCRRBSetStorage - Sets the order in which `PCRRB` stores the factor

   Input Parameters:
+  pc - the preconditioner context
-  storage - `PC_RRB_STORAGE_R1R2B1B2` (default) or `PC_RRB_STORAGE_NAIVE`

   Options Database Key:
.  -pc_rrb_storage <naive,r1r2b1b2> - the order in which the factor is stored

   Level: intermediate

   Notes:
   The storage changes the speed and, through rounding, the last digits, but not the method. See de Jong et al. 2017,
   section 3.1.

.seealso: `PCRRB`, `PCRRBGetStorage()`
@*/
PETSCRRB_PARAMETER(RRB, Storage, PCRRBStorage, &PC_RRB::storage, "-pc_rrb_storage",
                   "Order in which the factor is stored", PCRRBStorageTypes);

/*@
   PCRRBSetStorageGrids - Sets how many grids `PCRRB` stores in r1/r2/b1/b2 order

   Input Parameters:
+  pc - the preconditioner context
-  g - number of grids in r1/r2/b1/b2 storage, 2g <= l, or `PETSC_DECIDE`

   Options Database Key:
.  -pc_rrb_storage_grids <g> - how many grids are in r1/r2/b1/b2 storage

   Level: intermediate

   Notes:
   The levels below them are kept in natural order. The default is g_max of de Jong and Vuik 2016, eq. (3.1),
   ceil(log2(max(nx, ny) / dcb)), but at most half of the levels. Not used with `PC_RRB_STORAGE_NAIVE`.

.seealso: `PCRRB`, `PCRRBGetStorageGrids()`
@*/
PETSCRRB_PARAMETER(
    RRB, StorageGrids, PetscInt, &PC_RRB::storage_grids, "-pc_rrb_storage_grids", "Grids in r1/r2/b1/b2 storage",
    [](PetscInt g) { return g == PETSC_DECIDE || g >= 0; },
    "Number of storage grids %" PetscInt_FMT " must not be negative",
    InUse<&PC_RRB::storage_grids, &petscrrb::rrb::Options::storage_grids>);

/*@
   PCRRBSetComputeBlock - Sets the padding of the r1/r2/b1/b2 arrays of `PCRRB`

   Input Parameters:
+  pc - the preconditioner context
-  dcb - width in nodes, a power of two from 8 to 4096

   Options Database Key:
.  -pc_rrb_compute_block <dcb> - the padding of the r1/r2/b1/b2 arrays

   Level: intermediate

   Notes:
   Rows of the r1/r2/b1/b2 arrays begin at multiples of this many nodes and have a border of that width (de Jong and Vuik
   2016, Figure 9); it also enters the default of `PCRRBSetStorageGrids()`.

.seealso: `PCRRB`, `PCRRBGetComputeBlock()`
@*/
PETSCRRB_PARAMETER(
    RRB, ComputeBlock, PetscInt, &PC_RRB::compute_block, "-pc_rrb_compute_block", "Padding of the r1/r2/b1/b2 arrays",
    [](PetscInt dcb) { return dcb >= 8 && dcb <= 4096 && !(dcb & (dcb - 1)); },
    "Compute block %" PetscInt_FMT " must be a power of two, from 8 to 4096");

/*@
   PCRRBSetCoarse - Sets the solver of the last Schur complement of `PCRRB`

   Input Parameters:
+  pc - the preconditioner context
-  coarse - `PC_RRB_COARSE_CHOLESKY` (default), `PC_RRB_COARSE_INVERSE` or `PC_RRB_COARSE_KSP`

   Options Database Key:
.  -pc_rrb_coarse <cholesky,inverse,ksp> - the solver of the last Schur complement

   Level: intermediate

   Notes:
   The last block is singular for singular matrices: then Cholesky and the inverse act as its pseudo-inverse, and the
   matrix of the inner `KSP` has a null space. The inverse is dense: n^2 numbers for n unknowns, at most 4096 of them.

.seealso: `PCRRB`, `PCRRBGetCoarse()`
@*/
PETSCRRB_PARAMETER(RRB, Coarse, PCRRBCoarse, &PC_RRB::coarse, "-pc_rrb_coarse", "Solver of the last Schur complement",
                   PCRRBCoarseTypes, ChoiceInUse<PCRRBCoarse, &PC_RRB::coarse, &PCRRBState::coarse>,
                   &PC_RRB::coarse_set);

/*@
   PCRRBGetCoarseKSP - Gets the `KSP` that `PCRRB` uses for the last Schur complement with `PC_RRB_COARSE_KSP`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  ksp - the inner solver; its options prefix is that of `pc` followed by `rrb_coarse_`

   Level: advanced

   Notes:
   Its matrix and right-hand sides are scaled by a power of 2, so that the largest diagonal is between 1 and 2.

   Its default is one application of PETSc's sparse Cholesky factorization (`KSPPREONLY`, `PCCHOLESKY`). For `PCRRB` to be
   a symmetric operator, as `KSPCG` needs it, the inner solver must be linear and symmetric: `KSPPREONLY` with a
   symmetric preconditioner, or a fixed number of `KSPCHEBYSHEV` or `KSPRICHARDSON` steps. Do not destroy it.

.seealso: `PCRRB`, `PCRRBSetCoarse()`
@*/
PetscErrorCode PCRRBGetCoarseKSP(PC pc, KSP *ksp) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(ksp, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetCoarseKSP_C", (PC, KSP *), (pc, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetCycle - Sets how often an application of `PCRRB` visits the coarse grids

   Input Parameters:
+  pc - the preconditioner context
-  cycle - `PC_RRB_CYCLE_V` or `PC_RRB_CYCLE_AMLI`; default: AMLI from 8 levels on, V below

   Options Database Key:
.  -pc_rrb_cycle <v,amli> - how often the coarse grids are visited

   Level: intermediate

   Notes:
   With `PC_RRB_CYCLE_AMLI` one coarse grid, with about half of the levels above it, and all coarser ones are visited twice, and a Chebyshev
   polynomial of degree 2 combines the two visits. It lowers iteration counts on large grids at the price of two small cycles. The
   polynomial needs the largest eigenvalue on that grid, which is estimated at every `PCSetUp()`. Where it is too large for the polynomial
   to help, as with strong anisotropy, and where there is no such grid, the cycle is V; `PCView()` and -info say so.
   `PCApplySymmetricLeft()` and `PCApplySymmetricRight()` are halves of the V-cycle; if AMLI was set, they are refused.

.seealso: `PCRRB`, `PCRRBGetCycle()`
@*/
PETSCRRB_PARAMETER(RRB, Cycle, PCRRBCycle, &PC_RRB::cycle, "-pc_rrb_cycle", "How often the coarse grids are visited",
                   PCRRBCycles, ChoiceInUse<PCRRBCycle, &PC_RRB::cycle, &PCRRBState::cycle>, &PC_RRB::cycle_set);

/*@
   PCRRBSetRedNodes - Sets how `PCRRB` chooses the nodes that it eliminates

   Input Parameters:
+  pc - the preconditioner context
-  red_nodes - `PC_RRB_RED_NODES_AUTO` (default), `PC_RRB_RED_NODES_PLAIN` or `PC_RRB_RED_NODES_SUPPORT`

   Options Database Key:
.  -pc_rrb_red_nodes <auto,plain,support> - how red nodes are chosen

   Level: intermediate

   Notes:
   Plain RRB colours the grid. If one direction couples far more strongly than the other, or coefficients jump, it drops couplings that
   nothing else replaces, and takes hundreds of iterations. By support, a node is red only if the remaining couplings carry what is dropped
   with it, and weak couplings that make rows long are moved to stronger ones: 9 to 20 iterations for all coefficients. Levels are then
   graphs, without regular storage: an application takes two to three times as long as a plain one, a refresh four to ten times, a first
   set-up ten to twenty times. If one direction of a 5-point matrix couples more strongly at all points, it is halved in arrays instead,
   which takes about as long as plain red nodes. `KSPRRB` iterates on all nodes.

   With `PC_RRB_RED_NODES_AUTO` plain red nodes are tested in a first `PCSetUp()`. If a coupling that is dropped is 30 times its support, as
   with a ratio of 60 between directions, red nodes are chosen by support, which pays off within one or two solves. A refresh keeps the
   choice until its own, cheaper test fails: if a red node loses 30 times as much as it keeps, or a mask moves. `-ksp_view` and -info say
   which nodes are used and why.

   By support, each of several ranks has the whole matrix, and takes the iterations, the time and the memory of one rank.
   `PC_RRB_RED_NODES_AUTO` does so on at most 2^26 points divided by the number of ranks on a machine.

   By support, `-pc_rrb_levels` is an upper bound, `-pc_rrb_storage` and its options have no effect, and black nodes are not lumped.

.seealso: `PCRRB`, `PCRRBRedNodes`, `PCRRBGetRedNodes()`
@*/
PETSCRRB_PARAMETER(RRB, RedNodes, PCRRBRedNodes, &PC_RRB::red_nodes, "-pc_rrb_red_nodes", "How red nodes are chosen",
                   PCRRBRedNodesTypes);

/*@
   PCRRBSetPrecision - Sets the precision in which `PCRRB` stores the factor

   Input Parameters:
+  pc - the preconditioner context
-  precision - `PC_RRB_PRECISION_MIXED` (default), `PC_RRB_PRECISION_DOUBLE` or `PC_RRB_PRECISION_SINGLE`

   Options Database Key:
.  -pc_rrb_precision <double,single,mixed> - the precision of the factor

   Level: intermediate

   Notes:
   In single precision the couplings and inverse pivots of L take half of the memory and bandwidth. The matrix, from
   which they are computed in double precision, and all vectors and sums stay double.

   Mixed is double on the finest grid and single on the coarser ones: `KSPRRB` takes the finest grid's matrix from its
   factor. It is double everywhere if pivots are out of the range of single precision, with `-pc_rrb_storage naive`, and if
   red nodes are chosen by support.

.seealso: `PCRRB`, `PCRRBGetPrecision()`
@*/
PETSCRRB_PARAMETER(RRB, Precision, PCRRBPrecision, &PC_RRB::precision, "-pc_rrb_precision", "Precision of the factor L",
                   PCRRBPrecisions);

/*@
   PCRRBSetGatherSize - Sets the size of the largest grid that `PCRRB` keeps on every one of several MPI ranks

   Input Parameters:
+  pc - the preconditioner context
-  points - the maximum number of points of all ranks together, 0 or more; or `PETSC_DECIDE` (default)

   Options Database Key:
.  -pc_rrb_gather_size <points> - the maximum number of points of a grid that is on every rank; default 1024, on devices 65536; on no 2D
                                  grid 8192, on devices 65536

   Level: intermediate

   Notes:
   Finer grids are distributed. The first grid with at most this many points is gathered from all ranks, and each of them computes it and
   all coarser ones, without further messages. With 0 only the grid of the last block is gathered; with the number of rows of the matrix,
   all grids are. The preconditioner is the same operator, up to rounding. Of a matrix on no 2D grid every rank has the factor, and it is
   the vectors that are gathered, at a step of AMLI or at the last block.

   A distributed grid costs two exchanges with the neighbours in each application, a gathered one the work of all its points on
   every rank. On one rank it has no effect.

.seealso: `PCRRB`, `PCRRBGetGatherSize()`
@*/
PETSCRRB_PARAMETER(
    RRB, GatherSize, PetscInt, &PC_RRB::gather_size, "-pc_rrb_gather_size",
    "Maximum number of points of a grid that is on every rank",
    [](PetscInt points) { return points >= 0 || points == PETSC_DECIDE; },
    "Gather size %" PetscInt_FMT " must be 0 or more, or PETSC_DECIDE", GatherSizeInUse);

/*@
   PCRRBSetTransport - Sets how `PCRRB` sends values between the devices of several ranks

   Input Parameters:
+  pc - the preconditioner context
-  transport - `PC_RRB_TRANSPORT_AUTO` (default), `PC_RRB_TRANSPORT_STORES`, `PC_RRB_TRANSPORT_NCCL` or `PC_RRB_TRANSPORT_SF`

   Options Database Key:
.  -pc_rrb_transport <auto,stores,nccl,sf> - how values travel

   Level: advanced

   Notes:
   With stores an exchange is one kernel, and a solve with `KSPRRB` one graph that repeats itself. NCCL takes some microseconds more;
   its iterations are graphs that the host launches. With `PetscSF` the host takes part in every exchange, and values go through its
   memory, unless MPI is device-aware (`-use_gpu_aware_mpi`).

   Stores and NCCL need a device for each rank. If ranks share a device, `PetscSF` is used.

   A transport that is not possible is an error at `PCSetUp()`, with the reason; with `PC_RRB_TRANSPORT_AUTO` the next one is tried,
   and `-ksp_view` says which one is in use. On hosts, and on one rank, there is no choice.

   It takes effect at the next `PCSetUp()` that builds the hierarchy.

.seealso: `PCRRB`, `PCRRBTransport`, `PCRRBGetTransport()`
@*/
PETSCRRB_PARAMETER(RRB, Transport, PCRRBTransport, &PC_RRB::transport, "-pc_rrb_transport",
                   "How values travel between devices", PCRRBTransports);

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

using Parameters = PetscRRBParameters<Grid, Levels, Lumping, LumpNodes, Storage, StorageGrids, ComputeBlock, Coarse,
                                      Cycle, RedNodes, Precision, GatherSize, Transport>;

PetscErrorCode PCRRBComposeParameters(PC pc, PetscBool on) {
  PetscFunctionBegin;
  PetscCall(Parameters::Compose(pc, on));
  PetscCall(PetscRRBCompose((PetscObject)pc, on, "PCRRBGetCoarseKSP_C", PCRRBGetCoarseKSP_RRB));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_RRB(PC pc, PetscRRBOptionItems items) {
  return Parameters::SetFromOptions(pc, items, "RRB options");
}
