/* The data of PCRRB, shared by pcrrb.cxx (the PC's methods) and pcrrb_parameters.cxx (what a user can set). */
#pragma once

#include "pc/near_null.h"
#include "pc/rrb/pcrrb_backend.h"
#include "pc/rrb/pcrrb_everywhere.h"

PETSC_INTERN PetscErrorCode PCCreate_RRB(PC);
PETSC_INTERN PetscErrorCode PCSetUp_RRB(PC);
PETSC_INTERN PetscErrorCode PCReset_RRB(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_RRB(PC, PetscRRBOptionItems);
PETSC_INTERN PetscErrorCode PCRRBComposeParameters(PC, PetscBool);
PETSC_INTERN PetscErrorCode PCRRBCreateCoarseKSP(PC);

/* `failed` is of all ranks. */
struct PCRRBState : PetscRRBState<PCRRBBackend> {
  PetscRRBNearNull near_null; /* see prepare.hpp for its rounding */
  PCRRBValues values;
  std::unique_ptr<PCRRBEverywhere>
      everywhere; /* of several ranks that each factor all; the backend and the rows are as on one */
  std::unique_ptr<PCRRBBackend::Core> core; /* refers to the backend; NULL of a matrix without rows */
  petscrrb::rrb::Outcome outcome;
  bool omega_dropped = false;                  /* the factorization was done again with omega = 0 */
  PCRRBCoarse coarse = PC_RRB_COARSE_CHOLESKY; /* in use */
  PCRRBCycle cycle = PC_RRB_CYCLE_V;           /* likewise; AMLI may fall back to V at a refresh */
  PetscBool support = PETSC_FALSE;             /* red nodes are chosen by it */
  PetscBool on_graph = PETSC_FALSE;            /* the matrix is on no grid; they are chosen by support then */
  PetscBool as_built = PETSC_FALSE;            /* the core: it is factored by the values that were read last */
  PetscBool in_double = PETSC_FALSE;           /* pivots may be out of the range of single precision, if it is mixed */
  PetscBool tested = PETSC_FALSE;              /* plain red nodes, in full: refreshes look at what nodes lose only */
  PetscMPIInt ranks_on_machine = 0;            /* on that which has most; 0: nobody has asked yet */
  PetscInt64 failing = 0;                      /* plain red nodes, which is why */
  PetscInt64 build = 0;                        /* which hierarchy this is, of all of them */

  petscrrb::Positive positive() const { return support ? petscrrb::Positive::stays : petscrrb::Positive::moves; }
};

/* What a user can set, as it was set; PETSC_DECIDE means our choice. */
typedef struct {
  PetscInt levels;
  PetscReal lumping;
  PCRRBLumpNodes lump_nodes;
  PetscInt grid[2];
  PCRRBStorage storage;
  PetscInt storage_grids;
  PetscInt compute_block;
  PCRRBCoarse coarse;
  PetscBool coarse_set; /* by the user; otherwise it may depend on where the matrix is */
  PCRRBCycle cycle;
  PetscBool cycle_set; /* by the user; otherwise it depends on the number of levels */
  PCRRBRedNodes red_nodes;
  PCRRBPrecision precision;
  PetscInt gather_size;
  PCRRBTransport transport;
  KSP coarse_ksp;
  PetscRRBKnownValues *known;
  PCRRBState *state;
  std::weak_ptr<const void> *schur_wanted; /* NULL: never yet */
} PC_RRB;

/* As long as somebody holds this, set-ups make the first Schur complement as well, where the core can; before the first one, too. NULL where there is no memory:
   nothing depends on it. */
std::shared_ptr<const void> PCRRBWantSchur(PC);

/* The hierarchy, its last block and who has a share in it, as pcrrb_levels.cxx makes them of the values that were read; and with which
   lumping these are factored. */
PetscErrorCode PCRRBBuildLevels(PC, PetscReal omega);
/* Before the values are read, where red nodes will be plain ones as far as is known. */
PetscErrorCode PCRRBExpectLevels(PC);
petscrrb::rrb::Lumping PCRRBLumpingOf(PC, PetscReal omega);
/* The cycle in use, and why, where it is another one than what was set; may throw. */
std::string PCRRBDescribeCycle(const PCRRBState &);
/* Whether plain red nodes are given up where they do no justice to the matrix. */
PetscBool PCRRBMayChoose(PC);

/* Grids with at most so many points are on every rank, where the user says nothing (docs/design_ranks.md, "The gather"). */
constexpr PetscInt PCRRBDefaultGatherSize = 32 * 32, PCRRBDefaultGatherSizeOnDevices = 256 * 256,
                   PCRRBDefaultGatherSizeOnGraphs = 8192; /* of a host: small levels are visited several times */

/* in use, after PCSetUp() */
static inline PetscInt PCRRBGatherSize(const PC_RRB *rrb) {
  if (rrb->gather_size != PETSC_DECIDE) return rrb->gather_size;
  if (rrb->state->backend->on_device()) return PCRRBDefaultGatherSizeOnDevices;
  return rrb->state->on_graph ? PCRRBDefaultGatherSizeOnGraphs : PCRRBDefaultGatherSize;
}

/* of an application: a red node has 4 couplings down, 4 couplings and a pivot up; with AMLI those from a step's grid on once
   more, and a product with that grid's matrix, whatever the steps before repeat. A rank has the share that its points are. */
static inline PetscLogDouble PCRRBFlops(PC pc, petscrrb::rrb::Part part) {
  PCRRBState &s = *((PC_RRB *)pc->data)->state;
  const PetscLogDouble all = (PetscLogDouble)(s.grid.n[0] * s.grid.n[1] * s.grid.n[2]),
                       last = (PetscLogDouble)s.core->last_block().size(),
                       own = (PetscLogDouble)(s.everywhere ? s.everywhere->mine() : s.core->extent().nodes()),
                       share = own / all;

  if (part != petscrrb::rrb::Part::whole) return share * 9.0 * (all - last);
  PetscLogDouble flops = 17.0 * (all - last), visits = 1;
  for (int k = 0; k < s.core->steps(); ++k) {
    const petscrrb::rrb::AmliReport amli = s.core->step(k).amli();
    const PetscLogDouble again = (PetscLogDouble)(amli.nx * amli.ny);
    if (!amli.used) continue;
    flops += visits * (17.0 * (again - last) + 29.0 * again);
    visits *= 2;
  }
  return share * flops;
}
