/* The data of PCMIC, shared by its files; and what of it depends on where the matrix is. */
#pragma once

#include "pc/vectors.h"
#include "pc/mic/core/mic.hpp"
#include "petscrrb.h"

PETSC_INTERN PetscErrorCode PCCreate_MIC(PC);
PETSC_INTERN PetscErrorCode PCSetUp_MIC(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_MIC(PC, PetscRRBOptionItems);
PETSC_INTERN PetscErrorCode PCMICComposeParameters(PC, PetscBool);

/* Which part of M^-1 = C^-T C^-1. */
enum class PCMICPart {
  all,
  left,
  right
};

/* Implemented in pcmic_backend.cxx. */
class PCMICBackend : public PetscRRBBackend {
public:
  /* The factor for a grid, without values. Before that there is none, as on a rank without rows: then nothing is applied. */
  virtual PetscRRBTrouble Create(const petscrrb::Grid &, const petscrrb::mic::Options &) = 0;
  virtual PetscRRBTrouble Refresh(const petscrrb::Csr &, petscrrb::mic::Findings *) = 0;
  virtual PetscErrorCode Apply(PC, PCMICPart, Vec, Vec) = 0;
  /* columns of dense matrices; *done: PETSC_FALSE where they are not arrays in the right memory */
  virtual PetscErrorCode MatApply(Mat, Mat, PetscBool *done) = 0;
  virtual double bytes() const = 0;
  virtual PetscRRBEnqueued enqueued() = 0;
};

PetscErrorCode PCMICCreateBackend(PetscBool device, std::unique_ptr<PCMICBackend> *);

/* With several ranks each has its own grid and factor. */
struct PCMICState : PetscRRBState<PCMICBackend> {
  petscrrb::mic::Options options;
  petscrrb::mic::Findings found;
};

/* What a user can set, as it was set. */
typedef struct {
  PCMICType type;
  PetscReal omega; /* PETSC_DECIDE: by the grid */
  PCMICPrecision precision;
  PetscReal shift;
  PetscInt block_lines;
  PetscInt grid[3];
  PetscRRBKnownValues *known;
  PCMICState *state;
} PC_MIC;
