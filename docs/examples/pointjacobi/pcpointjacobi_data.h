/* The data of PCPOINTJACOBI, and what of it depends on where the matrix is. */
#pragma once

#include "pc/pc.h"
#include "pc/pointjacobi/core/pointjacobi.hpp"

#define PCPOINTJACOBI "pointjacobi"

/* Implemented in pcpointjacobi_backend.cxx. */
class PCPointJacobiBackend : public PetscRRBBackend {
public:
  virtual PetscRRBTrouble Create(const petscrrb::Grid &) = 0;
  virtual PetscRRBTrouble Refresh(const petscrrb::Csr &, petscrrb::index_t *bad_row) = 0;
  virtual PetscErrorCode Apply(PC, double omega, Vec, Vec) = 0;
  virtual double bytes() const = 0;
};

PetscErrorCode PCPointJacobiCreateBackend(PetscBool device, std::unique_ptr<PCPointJacobiBackend> *);

/* What PCSetUp() makes; all of it goes with PCReset(). */
struct PCPointJacobiState : PetscRRBState<PCPointJacobiBackend> {
  petscrrb::index_t bad_row = petscrrb::no_row;
};

/* What a user can set, as it was set. */
typedef struct {
  PetscReal omega;
  PetscInt grid[3];
  PetscRRBKnownValues *known;
  PCPointJacobiState *state;
} PC_PointJacobi;
