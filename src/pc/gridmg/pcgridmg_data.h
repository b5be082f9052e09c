/* The data of PCGRIDMG, shared by its files. */
#pragma once

#include "pc/gridmg/core/gridmg.hpp"
#include "pc/near_null.h"
#include "pc/vectors.h"
#include "petscrrb.h"

PETSC_INTERN PetscErrorCode PCCreate_GridMG(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_GridMG(PC, PetscRRBOptionItems);
PETSC_INTERN PetscErrorCode PCGridMGComposeParameters(PC, PetscBool);

/* What has been found already: the grid of Pmat as it is now. */
PETSC_INTERN PetscErrorCode PCGridMGExpectGrid(PC, const petscrrb::Grid &);

class PetscRRBStream;
class PetscRRBBoxVectors;
class PCGridMGDistribution;

/* What an iteration on PCGRIDMG's grids (KSPRRB) is made of. */
struct PCGridMGParts {
  petscrrb::gridmg::GridMG *grids;
  PetscRRBStream *stream;            /* NULL on the host */
  PetscInt64 build;                  /* which grids these are, of all of them */
  const PetscRRBBoxVectors *vectors; /* of this rank's box; NULL on one rank */
  std::size_t points;                /* of that box */
};

/* Of one rank, or of several, where all is collective: which it is for good, once it was asked for their distribution. */
class PCGridMGBackend : public PetscRRBBackend {
public:
  virtual PCGridMGDistribution &distribution() = 0;
  /* What does not depend on values; on several ranks, of the grid that their distribution has found. Before that there is nothing, as on a rank
     without rows: then nothing is applied. */
  virtual PetscRRBTrouble Create(PC, const petscrrb::Grid &, const petscrrb::gridmg::Options &, PCGridMGPrecision) = 0;
  virtual PetscRRBTrouble Refresh(PC, const PetscRRBMatrix &, const PetscRRBNearNull &,
                                  petscrrb::gridmg::Findings *) = 0;
  /* What multigrid reads of Pmat as it is now: all rows, or those of this rank's box, and of what is around it. May throw. */
  virtual petscrrb::Csr Rows(PC, const PetscRRBMatrix &) = 0;
  virtual PetscErrorCode ViewRanks(PetscViewer) = 0;
  virtual PetscErrorCode Apply(PC, Vec, Vec) = 0;
  virtual double bytes() const = 0;
  virtual PCGridMGParts parts() = 0;
};

struct PCGridMGExpected {
  petscrrb::Grid grid;
  PetscRRBMatrixState of;
};

struct PCGridMGState : PetscRRBState<PCGridMGBackend> {
  petscrrb::gridmg::Findings found; /* with several ranks of all */
  PetscRRBNearNull near_null;
  bool fresh = false; /* with several ranks: the grid is a new one, which no values have been put on */
};

/* What a user can set, as it was set. */
typedef struct {
  PCGridMGCoarsening coarsening;
  PCGridMGSmoother smoother;
  PCGridMGPrecision precision;
  PetscInt smooths, grids, coarse_size, gather_size;
  PCRRBTransport transport;
  PetscInt grid[3];
  PCGridMGExpected *expected; /* NULL: nothing */
  PetscRRBKnownValues *known;
  PCGridMGState *state;
} PC_GridMG;

constexpr PetscInt PCGridMGDefaultGatherSize = 16 * 16 * 16, PCGridMGDefaultGatherSizeOnDevices = 32 * 32 * 32;

/* In use, once there is a backend. All directions of a grid are coarsened before one that is on every rank. */
static inline PetscInt PCGridMGGatherSize(const PC_GridMG *mg) {
  PetscInt size = mg->gather_size;
  if (size == PETSC_DECIDE)
    size = mg->state->backend->on_device() ? PCGridMGDefaultGatherSizeOnDevices : PCGridMGDefaultGatherSize;
  return PetscMax(size, 4 * PetscMin(mg->coarse_size, PETSC_MAX_INT / 4));
}
