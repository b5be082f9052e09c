/* The data of PCNEUMANN, shared by its files; and how M^-1 is kept, by the grid and by where the matrix is. */
#pragma once

#include "petsc/overlap.h"
#include "pc/vectors.h"
#include "stencil/facts.hpp"
#include "pc/neumann/core/series.hpp"
#include "pc/neumann/core/sparse.hpp"
#include "petscrrb.h"

PETSC_INTERN PetscErrorCode PCCreate_Neumann(PC);
PETSC_INTERN PetscErrorCode PCSetUp_Neumann(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_Neumann(PC, PetscRRBOptionItems);
PETSC_INTERN PetscErrorCode PCNeumannComposeParameters(PC, PetscBool);

/* Either fused loops on a grid, or PETSc's products with sparse matrices. */
class PCNeumannForm {
public:
  virtual ~PCNeumannForm() = default;
  virtual PetscErrorCode Refresh(PC, const petscrrb::Csr &, petscrrb::RowFacts *) = 0;
  virtual PetscErrorCode Apply(PC, Vec, Vec) = 0;
  virtual PetscErrorCode Bytes(PetscLogDouble *) = 0;
  virtual PetscRRBEnqueued enqueued() { return {}; }
};

/* Implemented in pcneumann_backend.cxx. */
class PCNeumannBackend : public PetscRRBBackend {
public:
  virtual PetscRRBTrouble CreateOnGrid(const petscrrb::Grid &, const petscrrb::neumann::Series &,
                                       std::unique_ptr<PCNeumannForm> *) = 0;
  /* overlap: of a matrix on several ranks, in the place of the rows' arrays, else NULL */
  virtual PetscErrorCode CreateSparse(PC, PetscRRBOverlap *overlap, const petscrrb::Csr &,
                                      const petscrrb::neumann::Series &, petscrrb::neumann::Kept, double threshold,
                                      std::unique_ptr<PCNeumannForm> *) = 0;
};

PetscErrorCode PCNeumannCreateBackend(PetscBool device, std::unique_ptr<PCNeumannBackend> *);

struct PCNeumannState : PetscRRBState<PCNeumannBackend> {
  std::unique_ptr<PetscRRBOverlap> overlap; /* on several ranks */
  std::unique_ptr<PCNeumannForm> form;
  petscrrb::RowFacts found;
};

/* What a user can set, as it was set. */
typedef struct {
  PetscInt terms;
  PetscReal omega;
  PCNeumannType type;
  PetscBool scale;
  PCNeumannDrop drop;
  PetscReal threshold;
  PetscInt grid[3];
  PetscRRBKnownValues *known;
  PCNeumannState *state;
} PC_Neumann;
