/* The data of PCPOINTJACOBI, and what of it depends on where the matrix is. */
#pragma once

#include "pc/findgrid.h"
#include "pc/known_values.h"
#include "pc/pc.h"
#include "pc/pointjacobi/core/pointjacobi.hpp"

#define PCPOINTJACOBI "pointjacobi"

/* Implemented in pcpointjacobi_backend.cxx. */
class PCPointJacobiBackend {
public:
  virtual ~PCPointJacobiBackend() = default;
  virtual PetscBool on_device() const = 0;
  virtual PetscRRBRows rows(const petscrrb::Csr &) = 0; /* for finding their grid */
  virtual PetscRRBTrouble Create(const petscrrb::Grid &) = 0;
  virtual PetscRRBTrouble Refresh(const petscrrb::Csr &, petscrrb::index_t *bad_row) = 0;
  virtual PetscErrorCode Apply(PC, double omega, Vec, Vec) = 0;
  virtual double bytes() const = 0;
};

PetscErrorCode PCPointJacobiCreateBackend(PetscBool device, std::unique_ptr<PCPointJacobiBackend> *);

/* What PCSetUp() makes; all of it goes with PCReset(). */
struct PCPointJacobiState {
  std::unique_ptr<PCPointJacobiBackend> backend;
  PetscBool ready = PETSC_FALSE; /* there is all that does not depend on values */
  petscrrb::Grid grid;
  petscrrb::index_t bad_row = petscrrb::no_row;
  PetscBool failed = PETSC_FALSE; /* on some rank */
  PetscRRBMatrix rows = {};
};

/* What a user can set, as it was set. */
typedef struct {
  PetscReal omega;
  PetscInt grid[3];
  PetscRRBKnownValues *known;
  PCPointJacobiState *state;
} PC_PointJacobi;
