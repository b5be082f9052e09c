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

/* A rank's box, where the matrix is on several. */
class PCGridMGBox {
public:
  virtual ~PCGridMGBox() = default;
  /* The rows of the box, and of what is around it, of P, Pmat as it is now. Collective; may throw. */
  virtual petscrrb::Csr Rows(PC, Mat P) = 0;
  virtual const PetscRRBBoxVectors &vectors() const = 0;
  virtual std::size_t points() const = 0;
};

/* What an iteration on PCGRIDMG's grids (KSPRRB) is made of. */
struct PCGridMGParts {
  petscrrb::gridmg::GridMG *grids;
  PetscRRBStream *stream; /* NULL on the host */
  PetscInt64 build;       /* which grids these are, of all of them */
  PCGridMGBox *box;       /* NULL on one rank */
};

class PCGridMGDistribution;

class PCGridMGBackend : public PetscRRBBackend {
public:
  /* What does not depend on values. Before that there is nothing, as on a rank without rows: then nothing is applied. */
  virtual PetscRRBTrouble Create(const petscrrb::Grid &, const petscrrb::gridmg::Options &, PCGridMGPrecision) = 0;
  virtual PetscRRBTrouble Refresh(const petscrrb::Csr &, const PetscRRBNearNull &, petscrrb::gridmg::Findings *) = 0;
  /* The same of P on several ranks. Between the two, FindGrid() of that ranks' distribution is called. Collective. */
  virtual PCGridMGDistribution &distribution() = 0;
  virtual PetscRRBTrouble CreateOnRanks(PC, int points, const petscrrb::gridmg::Options &, PCGridMGPrecision) = 0;
  virtual PetscRRBTrouble RefreshOnRanks(PC, Mat P, const PetscRRBNearNull &, petscrrb::gridmg::Findings *) = 0;
  virtual PetscErrorCode ViewRanks(PetscViewer) = 0;
  virtual PetscErrorCode Apply(PC, Vec, Vec) = 0;
  virtual std::vector<petscrrb::gridmg::GridReport> report() const = 0;
  virtual bool single() const = 0; /* the precision in use */
  virtual bool scaled() const = 0; /* by a near null vector */
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
