/* What of PCRRB depends on where the matrix is: implemented in pcrrb_host.cxx and pcrrb_cuda.cxx, for several ranks in
   pcrrb_on_ranks.cxx and pcrrb_on_ranks_cuda.cxx. */
#pragma once

#include "petsc/findgrid.h"
#include "petsc/matrix.h"
#include "pc/pc.h"
#include "pc/vectors.h"
#include "stencil/stencil.hpp"
#include "petscrrb.h"
#include "pc/rrb/pcrrb_coarse.h"
#include "pc/rrb/core/cycle.hpp"
#include "pc/rrb/core/rrb.hpp"

#include <new>

/* What the values of a matrix turned out to be. */
struct PCRRBValues {
  petscrrb::ReadResult result = petscrrb::ReadResult::refused;
  PetscBool not_positive = PETSC_FALSE; /* a diagonal entry: there is no factorization */
  std::string why;                      /* of a refusal, or which one is not positive */
  petscrrb::index_t identity_rows = 0, positive = 0;
  PetscBool simpler =
      PETSC_FALSE; /* than the grid: no value crosses a periodic side, or there are no corners any more */
  PetscBool scaled = PETSC_FALSE; /* by the near null vector */
};

class KSPRRBSolver; /* ksp/rrb/ksprrb_solver.h */

class PCRRBBackend {
public:
  using Core = petscrrb::rrb::Factorization<PetscInt>;

  virtual ~PCRRBBackend() = default;
  virtual PetscBool on_device() const = 0;
  virtual PetscErrorCode FindGrid(PC, const petscrrb::Csr &, petscrrb::Grid *) = 0;

  /* csr: of one rank; several read PCRRBState's on_ranks. near_null: NULL for the constant vector; see prepare.hpp for
     `rounding` */
  virtual PetscErrorCode Read(PC, const petscrrb::Csr &, const petscrrb::Grid &, Vec near_null, double rounding,
                              PCRRBValues *) = 0;
  virtual void weights(double *x, double *y) const = 0; /* the sums of the couplings' */
  virtual PetscErrorCode Build(PC, const petscrrb::rrb::Extent &, const petscrrb::rrb::Options &, PetscBool single,
                               std::unique_ptr<Core> *) = 0;
  virtual PetscErrorCode Factor(Core &, petscrrb::rrb::Lumping) = 0;

  /* the last block; the type in use may be another one than what was asked for, if nothing was */
  virtual PetscErrorCode SetUpLastBlock(PC, Core &, PCRRBCoarse, KSP) = 0;
  /* also waits for the factorization and says how it went; *spd: the last block too */
  virtual PetscErrorCode FactorLastBlock(Core &, petscrrb::rrb::Outcome *, PetscBool *spd) = 0;
  virtual PetscErrorCode EstimateForCycle(Core &) = 0; /* once the last block is factored */
  virtual PetscInt null_directions() const = 0;

  /* z = M^-1 r or a half of it, with the vectors' arrays wherever they are */
  virtual PetscErrorCode Apply(PC, Core &, Vec r, Vec z, petscrrb::rrb::Part) = 0;
  virtual double bytes() const = 0;                                       /* but for the core's */
  virtual PetscErrorCode ViewRanks(PetscViewer) { return PETSC_SUCCESS; } /* what of it is where */

  /* the iteration of KSPRRB on this factorization; full: on all nodes */
  virtual PetscErrorCode CreateSolver(PC, Core &, PetscBool full, std::unique_ptr<KSPRRBSolver> *) = 0;
  virtual const double *scaling() const = 0; /* v of V A V, where the matrix is; NULL: V = I */
};

PetscErrorCode PCRRBCreateHost(std::unique_ptr<PCRRBBackend> *);
PetscErrorCode PCRRBCreateCuda(std::unique_ptr<PCRRBBackend> *);
PetscErrorCode PCRRBCreateOnRanks(std::unique_ptr<PCRRBBackend> *);
PetscErrorCode PCRRBCreateOnRanksCuda(std::unique_ptr<PCRRBBackend> *);
