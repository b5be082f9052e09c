/* The data of PCBLOCKRELAX, shared by its files; and what of it depends on where the matrix is. */
#pragma once

#include "pc/blockrelax/core/blockrelax.hpp"
#include "pc/vectors.h"
#include "petscrrb.h"

#include <vector>

PETSC_INTERN PetscErrorCode PCCreate_BlockRelax(PC);
PETSC_INTERN PetscErrorCode PCSetUp_BlockRelax(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_BlockRelax(PC, PetscRRBOptionItems);
PETSC_INTERN PetscErrorCode PCBlockRelaxComposeParameters(PC, PetscBool);
PETSC_INTERN PetscErrorCode PCPreSolve_BlockRelax(PC, KSP, Vec, Vec);
PETSC_INTERN PetscErrorCode PCPostSolve_BlockRelax(PC, KSP, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApplyRichardson_BlockRelax(PC, Vec, Vec, Vec, PetscReal, PetscReal, PetscReal, PetscInt,
                                                         PetscBool, PetscInt *, PCRichardsonConvergedReason *);

/* Implemented in pcblockrelax_backend.cxx. */
class PCBlockRelaxBackend : public PetscRRBBackend {
public:
  /* The blocks, without values. Before that there are none, as on a rank without rows: then nothing is relaxed. */
  virtual PetscRRBTrouble Create(const petscrrb::blockrelax::Domain &, const petscrrb::blockrelax::Options &) = 0;
  virtual PetscRRBTrouble Refresh(const petscrrb::Csr &, petscrrb::blockrelax::Findings *) = 0;
  virtual PetscErrorCode Sweep(PC, Vec b, Vec x, PetscInt sweeps, PetscBool from_zero) = 0;
  /* sweeps from zero for each column of dense matrices; not *done: their memory is not that of the blocks */
  virtual PetscErrorCode SweepColumns(PC, Mat B, Mat X, PetscInt sweeps, PetscBool *done) = 0;
  virtual double bytes() const = 0;
};

/* x <- what the sweeps of an application make of zero */
PETSC_INTERN PetscErrorCode PCBlockRelaxSweeps(PC, Vec b, Vec x);

PetscErrorCode PCBlockRelaxCreateBackend(PetscBool device, std::unique_ptr<PCBlockRelaxBackend> *);

/* With several ranks each has its own grid and blocks. The grid has no points where there are patches. */
struct PCBlockRelaxState : PetscRRBState<PCBlockRelaxBackend> {
  ~PCBlockRelaxState() {
    for (Vec *v : {&work[0], &work[1], &correction, &residual}) (void)VecDestroy(v);
  }

  petscrrb::blockrelax::Domain shape;
  petscrrb::blockrelax::Options options;
  petscrrb::blockrelax::Findings found;
  PetscRRBMatrixState values; /* which the blocks have */
  PetscBool one_rank = PETSC_FALSE;
  Vec work[2] = {};         /* residual and correction between the sweeps of an application, on several ranks */
  Vec correction = nullptr; /* of Richardson's iteration where the blocks do not know all of Amat */
  Vec residual = nullptr;   /* likewise, where Amat is and the KSP's vectors are not */
  PetscRRBProductVectors there, iterated;               /* for Pmat in the sweeps, for Amat in Richardson's iteration */
  PetscLogDouble residual_flops = 0, inverse_flops = 0; /* of one sweep */
};

/* What PCApplyRichardson() is not told of the test of the KSP that is solving. */
typedef struct {
  PetscBool no_norm;                /* there is none, as in smoothers */
  PetscBool to_initial, to_smaller; /* rtol refers to the initial residual, or to the smaller of that and b */
  PetscBool its_suffice;            /* max_it iterations are convergence */
  PetscInt untested, least;         /* norms are of no interest, or of none yet */
} PCBlockRelaxTest;
static const PCBlockRelaxTest PCBlockRelaxNoKSP = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, -1, 0};

/* What a user can set, as it was set. */
typedef struct {
  PCBlockRelaxType type;
  PetscInt block[3]; /* zeros: by the dimension */
  PetscReal omega;   /* PETSC_DECIDE: by the type */
  PetscInt sweeps;
  PetscInt colours; /* PETSC_DECIDE: as few as will do */
  PetscBool symmetric;
  PCBlockRelaxInverse inverse;
  PCBlockRelaxParallel parallel;
  PetscReal memory;
  PetscInt grid[3];
  PetscInt patches, *sizes; /* three for each patch */
  PCBlockRelaxTest test;
  PetscReal norm; /* the last that a KSP's solve computed of a residual; negative: none */
  PetscBool said; /* -info has been told about the KSP */
  PetscRRBKnownValues *known;
  PCBlockRelaxState *state;
} PC_BlockRelax;

/* Whether M is symmetric where the matrix is, and the same in each application. */
static inline PetscBool PCBlockRelaxIsSymmetric(const PC_BlockRelax *b) {
  return (PetscBool)(b->type == PC_BLOCKRELAX_TYPE_JACOBI || (b->type == PC_BLOCKRELAX_TYPE_COLOURED && b->symmetric));
}

/* of so many sweeps; Jacobi from zero needs no residual */
static inline PetscLogDouble PCBlockRelaxFlops(PC pc, PetscInt sweeps, PetscBool from_zero) {
  const PCBlockRelaxState *s = ((PC_BlockRelax *)pc->data)->state;
  const bool without = from_zero && s->options.order == petscrrb::blockrelax::Order::jacobi;
  return (PetscLogDouble)sweeps * s->inverse_flops +
         (PetscLogDouble)(without ? sweeps - 1 : sweeps) * s->residual_flops;
}
