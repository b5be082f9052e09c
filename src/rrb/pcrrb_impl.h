/* The data of PCRRB, shared by pcrrb.cxx (the PC's methods) and pcrrb_options.cxx (what a user can set). */
#pragma once

#include <petsc/private/pcimpl.h>

#include "backend/host.hpp"
#include "glue/matrix.h"
#include "glue/petsc_compat.h"
#include "grid/stencil.hpp"
#include "petscrrb.h"
#include "rrb/coarse.hpp"

PETSC_INTERN PetscErrorCode PCCreate_RRB(PC);
PETSC_INTERN PetscErrorCode PCSetUp_RRB(PC);
PETSC_INTERN PetscErrorCode PCReset_RRB(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_RRB(PC, PetscRRBOptionItems);
PETSC_INTERN PetscErrorCode PCRRBComposeSetters(PC, PetscBool);
PETSC_INTERN PetscErrorCode PCRRBCreateCoarseKSP(PC);

/* What PCSetUp() makes; all of it goes with PCReset(). */
struct PCRRBState {
  petscrrb::Grid grid;
  petscrrb::Stencil stencil;
  petscrrb::StencilFacts facts;
  double rounding = 0; /* see prepare.hpp */
  petscrrb::Host host;
  std::unique_ptr<petscrrb::rrb::Factorization<PetscInt>> core;
  petscrrb::rrb::CoarseSolver coarse;
  petscrrb::rrb::Outcome outcome;
  bool omega_dropped = false; /* the factorization was done again with omega = 0 */
  bool failed = false;        /* there is no factorization */
  PetscRRBMatrix rows = {};
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
  PCRRBCycle cycle;
  PCRRBPrecision precision;
  KSP coarse_ksp;
  PCRRBState *state;
} PC_RRB;
