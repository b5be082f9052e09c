/*
   petscrrb: structured-grid preconditioners as a PETSc plugin. This header is the whole public API.
*/
#pragma once

#include <petscpc.h>
#include <petscksp.h>

#define PETSCRRB_VERSION_MAJOR    0
#define PETSCRRB_VERSION_MINOR    1
#define PETSCRRB_VERSION_SUBMINOR 0

#define PCRRB        "rrb"
#define PCNEUMANN    "neumann"
#define PCMIC        "mic"
#define KSPRRB       "rrb"
#define KSPFUSEDCG   "fusedcg"
#define PCBLOCKRELAX "blockrelax"
#define PCGRIDMG     "gridmg"

/*E
   PCRRBLumpNodes - the nodes whose dropped couplings are added to the diagonal in `PCRRB`

   Values:
+  `PC_RRB_LUMP_RED`  - the red nodes of a level (variants M1u and M1m of de Jong and Vuik 2016, Table 1)
-  `PC_RRB_LUMP_BOTH` - red and black nodes of a level (variants M2u and M2m)

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetLumpNodes()`, `PCRRBSetLumping()`
E*/
typedef enum {
  PC_RRB_LUMP_RED,
  PC_RRB_LUMP_BOTH
} PCRRBLumpNodes;

/*E
   PCRRBStorage - how `PCRRB` stores the factor and its vectors

   Values:
+  `PC_RRB_STORAGE_NAIVE`    - in natural order; level k reads with stride 2^((k-1)/2) (the papers' solver S1)
-  `PC_RRB_STORAGE_R1R2B1B2` - four dense arrays per grid, for its nodes r1, r2, b1 and b2 (solvers S2 and, with threads, S3)

   Level: advanced

.seealso: `PCRRB`, `PCRRBSetStorage()`, `PCRRBSetStorageGrids()`
E*/
typedef enum {
  PC_RRB_STORAGE_NAIVE,
  PC_RRB_STORAGE_R1R2B1B2
} PCRRBStorage;

/*E
   PCRRBCoarse - how `PCRRB` solves with the last Schur complement

   Values:
+  `PC_RRB_COARSE_CHOLESKY` - PETSc's sparse Cholesky factorization
.  `PC_RRB_COARSE_INVERSE`  - its dense inverse, up to 4096 unknowns
-  `PC_RRB_COARSE_KSP`      - an inner `KSP` with the options prefix `rrb_coarse_`

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetCoarse()`, `PCRRBGetCoarseKSP()`
E*/
typedef enum {
  PC_RRB_COARSE_CHOLESKY,
  PC_RRB_COARSE_INVERSE,
  PC_RRB_COARSE_KSP
} PCRRBCoarse;

/*E
   PCRRBCycle - how often `PCRRB` visits its coarse grids in one application

   Values:
+  `PC_RRB_CYCLE_V`    - once: down to the last block and up again, as in the papers
-  `PC_RRB_CYCLE_AMLI` - twice from one coarse grid on, combined by a Chebyshev polynomial of degree 2 (an algebraic
                         multilevel iteration), if that lowers the condition number

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetCycle()`
E*/
typedef enum {
  PC_RRB_CYCLE_V,
  PC_RRB_CYCLE_AMLI
} PCRRBCycle;

/*E
   PCRRBRedNodes - how `PCRRB` chooses the nodes that it eliminates

   Values:
+  `PC_RRB_RED_NODES_AUTO` (default) - plain if they pass a test, otherwise by support
.  `PC_RRB_RED_NODES_PLAIN`          - by the colours of the grid, as in the papers
-  `PC_RRB_RED_NODES_SUPPORT`        - by the support of what is dropped: for stretched grids, jumps, channels, masks

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetRedNodes()`
E*/
typedef enum {
  PC_RRB_RED_NODES_AUTO,
  PC_RRB_RED_NODES_PLAIN,
  PC_RRB_RED_NODES_SUPPORT
} PCRRBRedNodes;

/*E
   PCRRBPrecision - the precision in which `PCRRB` stores its factor L

   Values:
+  `PC_RRB_PRECISION_DOUBLE` - double
.  `PC_RRB_PRECISION_SINGLE` - single for couplings and inverse pivots; the matrix, vectors and arithmetic stay double
-  `PC_RRB_PRECISION_MIXED`  - double on the finest grid, single on the coarser ones

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetPrecision()`
E*/
typedef enum {
  PC_RRB_PRECISION_DOUBLE,
  PC_RRB_PRECISION_SINGLE,
  PC_RRB_PRECISION_MIXED
} PCRRBPrecision;

/*E
   PCRRBTransport - how values travel between the devices of several ranks in `PCRRB` and `PCGRIDMG`

   Values:
+  `PC_RRB_TRANSPORT_AUTO` (default)  - the first one of the following that is possible
.  `PC_RRB_TRANSPORT_STORES`          - kernels store into other devices' memory: one GPU per rank, all on one machine,
                                        or all within reach of NCCL's windows
.  `PC_RRB_TRANSPORT_NCCL`            - NCCL messages: one GPU per rank
-  `PC_RRB_TRANSPORT_SF`              - `PetscSF`, with MPI

   Level: advanced

.seealso: `PCRRB`, `PCRRBSetTransport()`, `PCGridMGSetTransport()`
E*/
typedef enum {
  PC_RRB_TRANSPORT_AUTO,
  PC_RRB_TRANSPORT_STORES,
  PC_RRB_TRANSPORT_NCCL,
  PC_RRB_TRANSPORT_SF
} PCRRBTransport;

/*E
   KSPDeflationType - the subdomains whose constant vectors are deflated from a `KSP`

   Values:
+  `KSP_DEFLATION_NONE`     - no deflation
.  `KSP_DEFLATION_STRIPE`   - grid lines along x, or pieces of them
.  `KSP_DEFLATION_BLOCK`    - blocks of grid points
.  `KSP_DEFLATION_LEVELSET` - connected phases, or the parts of them that lie in one block
-  `KSP_DEFLATION_USER`     - no subdomains: the columns of a matrix

   Level: beginner

.seealso: `KSPSetDeflation()`, `KSPDeflationSetStripes()`, `KSPDeflationSetBlocks()`, `KSPDeflationSetLevelSet()`,
          `KSPDeflationSetSpace()`
E*/
typedef enum {
  KSP_DEFLATION_NONE,
  KSP_DEFLATION_STRIPE,
  KSP_DEFLATION_BLOCK,
  KSP_DEFLATION_LEVELSET,
  KSP_DEFLATION_USER
} KSPDeflationType;

/*E
   KSPDeflationVariant - how the projection P = I - A Q, Q = Z E^-1 Z^T, is applied in a `KSP`

   Values:
+  `KSP_DEFLATION_ADEF2` - as part of the preconditioner, P^T M^-1 + Q; the residual is that of A x = b
-  `KSP_DEFLATION_DEF1`  - as part of the operator: P A x^ = P b, x = Q b + P^T x^ (Gupta, van Gijzen and Vuik, Algorithm 1)

   Level: intermediate

.seealso: `KSPSetDeflation()`, `KSPDeflationSetVariant()`
E*/
typedef enum {
  KSP_DEFLATION_ADEF2,
  KSP_DEFLATION_DEF1
} KSPDeflationVariant;

/*E
   KSPDeflationInverse - how systems with E = Z^T A Z are solved

   Values:
+  `KSP_DEFLATION_EXPLICIT` - its dense inverse is formed; each application is one product
-  `KSP_DEFLATION_CHOLESKY` - two triangular solves with its Cholesky factor

   Level: intermediate

.seealso: `KSPSetDeflation()`, `KSPDeflationSetInverse()`
E*/
typedef enum {
  KSP_DEFLATION_EXPLICIT,
  KSP_DEFLATION_CHOLESKY
} KSPDeflationInverse;

/*E
   PCNeumannType - which polynomial of the triangles `PCNEUMANN` applies

   Values:
+  `PC_NEUMANN_SERIES`  - K^T K, K the Neumann series of (I + L~)^-1 cut off after some terms (Gupta, van Gijzen, Vuik, eq. (14))
-  `PC_NEUMANN_POISSON` - the incomplete Poisson preconditioner (I - L D^-1)(I - D^-1 L^T) (eq. (7) of the same paper)

   Level: beginner

.seealso: `PCNEUMANN`, `PCNeumannSetType()`, `PCNeumannSetTerms()`
E*/
typedef enum {
  PC_NEUMANN_SERIES,
  PC_NEUMANN_POISSON
} PCNeumannType;

/*E
   PCNeumannDrop - which entries `PCNEUMANN` leaves out of the incomplete Poisson preconditioner

   Values:
+  `PC_NEUMANN_DROP_NONE`      - none: its two factors are applied one after the other
.  `PC_NEUMANN_DROP_PATTERN`   - those where the matrix has no coupling
-  `PC_NEUMANN_DROP_THRESHOLD` - those off the diagonal that are smaller than a threshold

   Level: intermediate

.seealso: `PCNEUMANN`, `PCNeumannSetDrop()`, `PCNeumannSetDropThreshold()`
E*/
typedef enum {
  PC_NEUMANN_DROP_NONE,
  PC_NEUMANN_DROP_PATTERN,
  PC_NEUMANN_DROP_THRESHOLD
} PCNeumannDrop;

/*E
   PCMICType - which diagonal D the factors of `PCMIC` have, M = (D + L) D^-1 (D + L^T)

   Values:
+  `PC_MIC_TYPE_MIC`  - that of the modified incomplete Cholesky factorization, with omega 0 that of IC(0)
-  `PC_MIC_TYPE_SSOR` - the matrix's diagonal over omega, with M over 2 - omega: symmetric successive overrelaxation

   Level: beginner

.seealso: `PCMIC`, `PCMICSetType()`, `PCMICSetOmega()`
E*/
typedef enum {
  PC_MIC_TYPE_MIC,
  PC_MIC_TYPE_SSOR
} PCMICType;

/*E
   PCMICPrecision - the precision in which `PCMIC` stores its factor

   Values:
+  `PC_MIC_PRECISION_DOUBLE` - double
-  `PC_MIC_PRECISION_SINGLE` - single for couplings and inverse pivots; vectors and arithmetic stay double

   Level: intermediate

.seealso: `PCMIC`, `PCMICSetPrecision()`
E*/
typedef enum {
  PC_MIC_PRECISION_DOUBLE,
  PC_MIC_PRECISION_SINGLE
} PCMICPrecision;

/*E
   PCGridMGCoarsening - which directions `PCGRIDMG` coarsens

   Values:
+  `PC_GRIDMG_COARSENING_AUTO` - those in which a grid is strongly coupled
.  `PC_GRIDMG_COARSENING_FULL` - all
-  `PC_GRIDMG_COARSENING_SEMI` - only the most strongly coupled one

   Level: intermediate

.seealso: `PCGRIDMG`, `PCGridMGSetCoarsening()`
E*/
typedef enum {
  PC_GRIDMG_COARSENING_AUTO,
  PC_GRIDMG_COARSENING_FULL,
  PC_GRIDMG_COARSENING_SEMI
} PCGridMGCoarsening;

/*E
   PCGridMGSmoother - how `PCGRIDMG` smooths

   Values:
+  `PC_GRIDMG_SMOOTHER_AUTO`   - by lines in the directions in which points are coupled more strongly than in others, otherwise by points
.  `PC_GRIDMG_SMOOTHER_POINTS` - by red-black points
-  `PC_GRIDMG_SMOOTHER_LINES`  - by zebra lines in all directions

   Level: intermediate

.seealso: `PCGRIDMG`, `PCGridMGSetSmoother()`
E*/
typedef enum {
  PC_GRIDMG_SMOOTHER_AUTO,
  PC_GRIDMG_SMOOTHER_POINTS,
  PC_GRIDMG_SMOOTHER_LINES
} PCGridMGSmoother;

/*E
   PCGridMGPrecision - the precision of the cycle of `PCGRIDMG`

   Values:
+  `PC_GRIDMG_PRECISION_AUTO`   - single, unless the coefficients jump so much that it would take more iterations
.  `PC_GRIDMG_PRECISION_DOUBLE` - double
-  `PC_GRIDMG_PRECISION_SINGLE` - single, except for coarsening and the coarsest grid

   Level: intermediate

.seealso: `PCGRIDMG`, `PCGridMGSetPrecision()`
E*/
typedef enum {
  PC_GRIDMG_PRECISION_AUTO,
  PC_GRIDMG_PRECISION_DOUBLE,
  PC_GRIDMG_PRECISION_SINGLE
} PCGridMGPrecision;

/*E
   PCBlockRelaxType - which blocks of `PCBLOCKRELAX` use new values of others in the same sweep

   Values:
+  `PC_BLOCKRELAX_TYPE_JACOBI`   - none: all are computed from the old vector
.  `PC_BLOCKRELAX_TYPE_CHAOTIC`  - those relaxed later, in no particular order: block Gauss-Seidel that differs from run to run
-  `PC_BLOCKRELAX_TYPE_COLOURED` - those of later colours: block Gauss-Seidel that is the same in every run

   Level: beginner

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetType()`
E*/
typedef enum {
  PC_BLOCKRELAX_TYPE_JACOBI,
  PC_BLOCKRELAX_TYPE_CHAOTIC,
  PC_BLOCKRELAX_TYPE_COLOURED
} PCBlockRelaxType;

/*E
   PCBlockRelaxInverse - how `PCBLOCKRELAX` inverts its blocks

   Values:
+  `PC_BLOCKRELAX_INVERSE_AUTO`   - whichever is faster
.  `PC_BLOCKRELAX_INVERSE_TENSOR` - where coefficients are constant, in the sine bases of the block's sides
-  `PC_BLOCKRELAX_INVERSE_DENSE`  - as a dense matrix

   Level: intermediate

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetInverse()`
E*/
typedef enum {
  PC_BLOCKRELAX_INVERSE_AUTO,
  PC_BLOCKRELAX_INVERSE_TENSOR,
  PC_BLOCKRELAX_INVERSE_DENSE
} PCBlockRelaxInverse;

/*E
   PCBlockRelaxParallel - how `PCBLOCKRELAX` divides its work among threads on the host

   Values:
+  `PC_BLOCKRELAX_PARALLEL_AUTO`    - chosen by the numbers of patches, blocks and threads
.  `PC_BLOCKRELAX_PARALLEL_PATCHES` - by patches: each thread takes whole ones
.  `PC_BLOCKRELAX_PARALLEL_BLOCKS`  - by the blocks of one patch after the other
-  `PC_BLOCKRELAX_PARALLEL_BOTH`    - by all blocks of all patches

   Level: advanced

.seealso: `PCBLOCKRELAX`, `PCBlockRelaxSetParallel()`
E*/
typedef enum {
  PC_BLOCKRELAX_PARALLEL_AUTO,
  PC_BLOCKRELAX_PARALLEL_PATCHES,
  PC_BLOCKRELAX_PARALLEL_BLOCKS,
  PC_BLOCKRELAX_PARALLEL_BOTH
} PCBlockRelaxParallel;

PETSC_EXTERN const char *const PCRRBLumpNodesTypes[];
PETSC_EXTERN const char *const PCRRBStorageTypes[];
PETSC_EXTERN const char *const PCRRBCoarseTypes[];
PETSC_EXTERN const char *const PCRRBCycles[];
PETSC_EXTERN const char *const PCRRBRedNodesTypes[];
PETSC_EXTERN const char *const PCRRBPrecisions[];
PETSC_EXTERN const char *const PCRRBTransports[];
PETSC_EXTERN const char *const KSPDeflationTypes[];
PETSC_EXTERN const char *const KSPDeflationVariants[];
PETSC_EXTERN const char *const KSPDeflationInverses[];
PETSC_EXTERN const char *const PCNeumannTypes[];
PETSC_EXTERN const char *const PCNeumannDrops[];
PETSC_EXTERN const char *const PCMICTypes[];
PETSC_EXTERN const char *const PCMICPrecisions[];
PETSC_EXTERN const char *const PCGridMGCoarsenings[];
PETSC_EXTERN const char *const PCGridMGSmoothers[];
PETSC_EXTERN const char *const PCGridMGPrecisions[];
PETSC_EXTERN const char *const PCBlockRelaxTypes[];
PETSC_EXTERN const char *const PCBlockRelaxInverses[];
PETSC_EXTERN const char *const PCBlockRelaxParallels[];

PETSC_EXTERN PetscErrorCode PetscRRBInitializePackage(void);
PETSC_EXTERN PetscErrorCode PetscRRBFinalizePackage(void);
PETSC_EXTERN PetscErrorCode PetscRRBSetTimeout(PetscReal);
PETSC_EXTERN PetscErrorCode PetscRRBGetTimeout(PetscReal *);

PETSC_EXTERN PetscErrorCode PCRRBSetLevels(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCRRBGetLevels(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCRRBSetLumping(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCRRBGetLumping(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCRRBSetLumpNodes(PC, PCRRBLumpNodes);
PETSC_EXTERN PetscErrorCode PCRRBGetLumpNodes(PC, PCRRBLumpNodes *);
PETSC_EXTERN PetscErrorCode PCRRBSetGrid(PC, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCRRBGetGrid(PC, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode PCRRBSetStorage(PC, PCRRBStorage);
PETSC_EXTERN PetscErrorCode PCRRBGetStorage(PC, PCRRBStorage *);
PETSC_EXTERN PetscErrorCode PCRRBSetStorageGrids(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCRRBGetStorageGrids(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCRRBSetComputeBlock(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCRRBGetComputeBlock(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCRRBSetGatherSize(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCRRBGetGatherSize(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCRRBSetCoarse(PC, PCRRBCoarse);
PETSC_EXTERN PetscErrorCode PCRRBGetCoarse(PC, PCRRBCoarse *);
PETSC_EXTERN PetscErrorCode PCRRBGetCoarseKSP(PC, KSP *);
PETSC_EXTERN PetscErrorCode PCRRBSetCycle(PC, PCRRBCycle);
PETSC_EXTERN PetscErrorCode PCRRBGetCycle(PC, PCRRBCycle *);
PETSC_EXTERN PetscErrorCode PCRRBSetRedNodes(PC, PCRRBRedNodes);
PETSC_EXTERN PetscErrorCode PCRRBGetRedNodes(PC, PCRRBRedNodes *);
PETSC_EXTERN PetscErrorCode PCRRBSetPrecision(PC, PCRRBPrecision);
PETSC_EXTERN PetscErrorCode PCRRBGetPrecision(PC, PCRRBPrecision *);
PETSC_EXTERN PetscErrorCode PCRRBSetTransport(PC, PCRRBTransport);
PETSC_EXTERN PetscErrorCode PCRRBGetTransport(PC, PCRRBTransport *);

PETSC_EXTERN PetscErrorCode PCNeumannSetTerms(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCNeumannGetTerms(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCNeumannSetOmega(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCNeumannGetOmega(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCNeumannSetType(PC, PCNeumannType);
PETSC_EXTERN PetscErrorCode PCNeumannGetType(PC, PCNeumannType *);
PETSC_EXTERN PetscErrorCode PCNeumannSetScale(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCNeumannGetScale(PC, PetscBool *);
PETSC_EXTERN PetscErrorCode PCNeumannSetDrop(PC, PCNeumannDrop);
PETSC_EXTERN PetscErrorCode PCNeumannGetDrop(PC, PCNeumannDrop *);
PETSC_EXTERN PetscErrorCode PCNeumannSetDropThreshold(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCNeumannGetDropThreshold(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCNeumannSetGrid(PC, PetscInt, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCNeumannGetGrid(PC, PetscInt *, PetscInt *, PetscInt *);

PETSC_EXTERN PetscErrorCode PCMICSetType(PC, PCMICType);
PETSC_EXTERN PetscErrorCode PCMICGetType(PC, PCMICType *);
PETSC_EXTERN PetscErrorCode PCMICSetOmega(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCMICGetOmega(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCMICSetPrecision(PC, PCMICPrecision);
PETSC_EXTERN PetscErrorCode PCMICGetPrecision(PC, PCMICPrecision *);
PETSC_EXTERN PetscErrorCode PCMICSetShift(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCMICGetShift(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCMICSetBlockLines(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCMICGetBlockLines(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCMICSetGrid(PC, PetscInt, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCMICGetGrid(PC, PetscInt *, PetscInt *, PetscInt *);

PETSC_EXTERN PetscErrorCode PCGridMGSetCoarsening(PC, PCGridMGCoarsening);
PETSC_EXTERN PetscErrorCode PCGridMGGetCoarsening(PC, PCGridMGCoarsening *);
PETSC_EXTERN PetscErrorCode PCGridMGSetSmoother(PC, PCGridMGSmoother);
PETSC_EXTERN PetscErrorCode PCGridMGGetSmoother(PC, PCGridMGSmoother *);
PETSC_EXTERN PetscErrorCode PCGridMGSetPrecision(PC, PCGridMGPrecision);
PETSC_EXTERN PetscErrorCode PCGridMGGetPrecision(PC, PCGridMGPrecision *);
PETSC_EXTERN PetscErrorCode PCGridMGSetSmooths(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCGridMGGetSmooths(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCGridMGSetGrids(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCGridMGGetGrids(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCGridMGSetCoarseSize(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCGridMGGetCoarseSize(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCGridMGSetGatherSize(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCGridMGGetGatherSize(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCGridMGSetTransport(PC, PCRRBTransport);
PETSC_EXTERN PetscErrorCode PCGridMGGetTransport(PC, PCRRBTransport *);
PETSC_EXTERN PetscErrorCode PCGridMGSetGrid(PC, PetscInt, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCGridMGGetGrid(PC, PetscInt *, PetscInt *, PetscInt *);

PETSC_EXTERN PetscErrorCode PCBlockRelaxSetType(PC, PCBlockRelaxType);
PETSC_EXTERN PetscErrorCode PCBlockRelaxGetType(PC, PCBlockRelaxType *);
PETSC_EXTERN PetscErrorCode PCBlockRelaxSetOmega(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCBlockRelaxGetOmega(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCBlockRelaxSetSweeps(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCBlockRelaxGetSweeps(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCBlockRelaxSetColours(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCBlockRelaxGetColours(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCBlockRelaxSetSymmetric(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCBlockRelaxGetSymmetric(PC, PetscBool *);
PETSC_EXTERN PetscErrorCode PCBlockRelaxSetInverse(PC, PCBlockRelaxInverse);
PETSC_EXTERN PetscErrorCode PCBlockRelaxGetInverse(PC, PCBlockRelaxInverse *);
PETSC_EXTERN PetscErrorCode PCBlockRelaxSetParallel(PC, PCBlockRelaxParallel);
PETSC_EXTERN PetscErrorCode PCBlockRelaxGetParallel(PC, PCBlockRelaxParallel *);
PETSC_EXTERN PetscErrorCode PCBlockRelaxSetMemory(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCBlockRelaxGetMemory(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCBlockRelaxSetBlockSize(PC, PetscInt, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCBlockRelaxGetBlockSize(PC, PetscInt *, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode PCBlockRelaxSetGrid(PC, PetscInt, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCBlockRelaxGetGrid(PC, PetscInt *, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode PCBlockRelaxSetPatches(PC, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode PCBlockRelaxGetPatches(PC, PetscInt *, const PetscInt *[]);

PETSC_EXTERN PetscErrorCode KSPSetDeflation(KSP, KSPDeflationType);
PETSC_EXTERN PetscErrorCode KSPGetDeflation(KSP, KSPDeflationType *);
PETSC_EXTERN PetscErrorCode KSPDeflationSetStripes(KSP, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode KSPDeflationGetStripes(KSP, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode KSPDeflationSetBlocks(KSP, PetscInt, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode KSPDeflationGetBlocks(KSP, PetscInt *, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode KSPDeflationSetLevelSet(KSP, Vec);
PETSC_EXTERN PetscErrorCode KSPDeflationGetLevelSet(KSP, Vec *);
PETSC_EXTERN PetscErrorCode KSPDeflationSetJump(KSP, PetscReal);
PETSC_EXTERN PetscErrorCode KSPDeflationGetJump(KSP, PetscReal *);
PETSC_EXTERN PetscErrorCode KSPDeflationSetSpace(KSP, Mat);
PETSC_EXTERN PetscErrorCode KSPDeflationGetSpace(KSP, Mat *);
PETSC_EXTERN PetscErrorCode KSPDeflationSetGrid(KSP, PetscInt, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode KSPDeflationGetGrid(KSP, PetscInt *, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode KSPDeflationSetVariant(KSP, KSPDeflationVariant);
PETSC_EXTERN PetscErrorCode KSPDeflationGetVariant(KSP, KSPDeflationVariant *);
PETSC_EXTERN PetscErrorCode KSPDeflationSetInverse(KSP, KSPDeflationInverse);
PETSC_EXTERN PetscErrorCode KSPDeflationGetInverse(KSP, KSPDeflationInverse *);
PETSC_EXTERN PetscErrorCode KSPDeflationGetPC(KSP, PC *);
