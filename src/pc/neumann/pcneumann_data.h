/* The data of PCNEUMANN, shared by its files; and how M^-1 is kept, by the grid and by where the matrix is. */
#pragma once

#include "pc/findgrid.h"
#include "pc/known_values.h"
#include "petsc/matrix.h"
#include "petsc/overlap.h"
#include "pc/pc.h"
#include "pc/vectors.h"
#include "stencil/facts.hpp"
#include "pc/neumann/core/series.hpp"
#include "pc/neumann/core/sparse.hpp"
#include "petscrrb.h"

#include <memory>

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
};

/* What of PCNEUMANN depends on where the matrix is: implemented in pcneumann_host.cxx and pcneumann_cuda.cxx. */
class PCNeumannBackend {
public:
  virtual ~PCNeumannBackend() = default;
  virtual PetscBool on_device() const = 0;
  virtual PetscRRBRows rows(const petscrrb::Csr &) = 0; /* for finding their grid */
  virtual PetscRRBTrouble CreateOnGrid(const petscrrb::Grid &, const petscrrb::neumann::Series &,
                                       std::unique_ptr<PCNeumannForm> *) = 0;
  /* overlap: of a matrix on several ranks, in the place of the rows' arrays, else NULL */
  virtual PetscErrorCode CreateSparse(PC, PetscRRBOverlap *overlap, const petscrrb::Csr &,
                                      const petscrrb::neumann::Series &, petscrrb::neumann::Kept, double threshold,
                                      std::unique_ptr<PCNeumannForm> *) = 0;
  virtual PetscRRBTrouble WhyRefused(const petscrrb::Csr &, std::string *) = 0;
};

PetscErrorCode PCNeumannCreateHost(std::unique_ptr<PCNeumannBackend> *);
PetscErrorCode PCNeumannCreateCuda(std::unique_ptr<PCNeumannBackend> *);

/* What PCSetUp() makes; all of it goes with PCReset(). */
struct PCNeumannState {
  std::unique_ptr<PCNeumannBackend> backend;
  PetscBool ready = PETSC_FALSE; /* there is a form, and all went well */
  petscrrb::Grid grid;
  PetscBool on_grid = PETSC_FALSE;          /* there is one */
  std::unique_ptr<PetscRRBOverlap> overlap; /* on several ranks */
  std::unique_ptr<PCNeumannForm> form;
  petscrrb::RowFacts found;
  PetscBool failed = PETSC_FALSE; /* a diagonal entry is not positive */
  PetscRRBMatrix rows = {};
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

/* On several ranks (pcneumann_ranks.cxx): the rows that each works with; what all of them found, with global rows; the words
   of the rank that found the first bad entry. Collective. */
PETSC_INTERN PetscErrorCode PCNeumannBuildOverlap(PC);
PETSC_INTERN PetscErrorCode PCNeumannAgree(PC, petscrrb::RowFacts *);
PETSC_INTERN PetscErrorCode PCNeumannWhyRefusedOnRanks(PC, PetscRRBTrouble *);
petscrrb::neumann::Ghosts PCNeumannGhosts(const PetscRRBOverlap *);

/* of an application on a grid: two for each coupling, term and triangle, and the diagonal */
static inline PetscLogDouble PCNeumannFlops(const petscrrb::Grid &g, int terms) {
  return (PetscLogDouble)(g.n[0] * g.n[1] * g.n[2]) * (2.0 + 4.0 * terms * (g.points / 2));
}
